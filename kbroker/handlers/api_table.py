"""Which APIs a broker listener serves, in which versions: what ApiVersions advertises and dispatch accepts.

One broker answers every version from Kafka 0.8 to 4.4, unless `kbroker.compatibility` names a release: then
just that one's (`protocol/releases.py`), as far as we have them.

A small table, so that neither the start nor an ApiVersions request imports every handler. A test compares it
with `VERSIONS` of each module under `handlers/`: an API is here if and only if its handler exists.
"""

from __future__ import annotations

from functools import lru_cache

from kbroker.protocol.releases import release

#: API key -> (handler module under `kbroker.handlers`, lowest version, highest version).
API_TABLE: dict[int, tuple[str, int, int]] = {
    0: ("produce", 3, 13),
    1: ("fetch", 4, 18),
    2: ("list_offsets", 1, 11),
    3: ("metadata", 0, 13),
    8: ("offset_commit", 0, 10),
    9: ("offset_fetch", 0, 10),
    10: ("find_coordinator", 0, 6),
    11: ("join_group", 0, 9),
    12: ("heartbeat", 0, 4),
    13: ("leave_group", 0, 5),
    14: ("sync_group", 0, 5),
    15: ("describe_groups", 0, 6),
    16: ("list_groups", 0, 5),
    18: ("api_versions", 0, 5),
    19: ("create_topics", 0, 7),
    20: ("delete_topics", 0, 6),
    21: ("delete_records", 0, 2),
    22: ("init_producer_id", 0, 5),
    23: ("offset_for_leader_epoch", 0, 4),
    32: ("describe_configs", 0, 4),
    33: ("alter_configs", 0, 2),
    34: ("alter_replica_log_dirs", 0, 2),
    35: ("describe_log_dirs", 0, 5),
    37: ("create_partitions", 0, 3),
    42: ("delete_groups", 0, 3),
    44: ("incremental_alter_configs", 0, 1),
    47: ("offset_delete", 0, 0),
    55: ("describe_quorum", 0, 2),
    57: ("update_features", 0, 2),
    60: ("describe_cluster", 0, 2),
    61: ("describe_producers", 0, 0),
    74: ("list_config_resources", 0, 1),
    75: ("describe_topic_partitions", 0, 0),
}

#: Versions with a module of their own, as they have little in common with what came after.
LEGACY_TABLE: dict[int, tuple[str, int, int]] = {
    0: ("produce_legacy", 0, 2),
    1: ("fetch_legacy", 0, 3),
    2: ("list_offsets_legacy", 0, 0),
}

#: Answered, but named in ApiVersions only where pushes are kept, as by Kafka; else no client asks (KIP-714).
TELEMETRY_TABLE: dict[int, tuple[str, int, int]] = {
    71: ("get_telemetry_subscriptions", 0, 0),
    72: ("push_telemetry", 0, 0),
}
_TELEMETRY_SINCE = (3, 7)

#: Not Kafka's: for kbroker's own client alone, which is told of it (decision 8).
OWN_TABLE: dict[int, tuple[str, int, int]] = {19266: ("kbroker_command", 0, 0)}
OWN_CLIENT = "kbroker"


class ServedApis:
    """The APIs of a node.

    Args:
        compatibility: a release's name, or `all`.
    """

    def __init__(self, compatibility: str = "all") -> None:
        kafka = release(compatibility)
        #: What ApiVersions says to everybody: (key, lowest, highest).
        self.advertised: list[tuple[int, int, int]] = []
        #: What it says besides where pushes are kept.
        self.telemetry: list[tuple[int, int, int]] = []
        self._served: dict[int, tuple[int, int]] = {}
        for key, (_, low, high) in API_TABLE.items():
            low = LEGACY_TABLE[key][1] if key in LEGACY_TABLE else low
            if kafka is None:
                self._served[key] = (low, high)
                self.advertised.append((key, low, high))
            elif key in kafka.served:
                lowest, highest = kafka.served[key]
                self._served[key] = (max(low, lowest), min(high, highest))
                self.advertised.append((key, max(low, kafka.advertised[key][0]), min(high, highest)))
        if kafka is None or kafka.number >= _TELEMETRY_SINCE:
            self.telemetry = [(key, low, high) for key, (_, low, high) in TELEMETRY_TABLE.items()]
        for key, low, high in [*self.telemetry, *((key, *row[1:]) for key, row in OWN_TABLE.items())]:
            self._served[key] = (low, high)

    def module(self, key: int, version: int) -> str | None:
        """Which module under `kbroker.handlers` answers; None: nobody, the connection closes."""
        low, high = self._served.get(key, (0, -1))
        if not low <= version <= high:
            return None
        legacy = LEGACY_TABLE.get(key)
        if legacy is not None and version <= legacy[2]:
            return legacy[0]
        return (API_TABLE.get(key) or TELEMETRY_TABLE.get(key) or OWN_TABLE[key])[0]


@lru_cache(maxsize=8)
def served_apis(compatibility: str) -> ServedApis:
    """See `ServedApis`."""
    return ServedApis(compatibility)
