"""Which APIs a listener serves, in which versions: what ApiVersions advertises and dispatch accepts.

A listener for clients and brokers has other ones than one of the controller quorum; which is which is in the
schemas (`listeners=`).

One broker answers every version from Kafka 0.8 to 4.4, unless `kbroker.compatibility` names a release: then
just that one's (`protocol/releases.py`), as far as we have them.

A small table, so that neither the start nor an ApiVersions request imports every handler. A test compares it
with `VERSIONS` of each module under `handlers/`: an API is here if and only if its handler exists.
"""

from __future__ import annotations

from functools import lru_cache

from kbroker.handlers.context import BROKER
from kbroker.protocol.api_keys import FACTS
from kbroker.protocol.releases import is_before, release

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
    17: ("sasl_handshake", 0, 1),
    18: ("api_versions", 0, 5),
    19: ("create_topics", 0, 7),
    20: ("delete_topics", 0, 6),
    21: ("delete_records", 0, 2),
    22: ("init_producer_id", 0, 5),
    23: ("offset_for_leader_epoch", 0, 4),
    24: ("add_partitions_to_txn", 0, 5),
    25: ("add_offsets_to_txn", 0, 4),
    26: ("end_txn", 0, 5),
    27: ("write_txn_markers", 0, 2),
    28: ("txn_offset_commit", 0, 6),
    29: ("describe_acls", 0, 3),
    30: ("create_acls", 0, 3),
    31: ("delete_acls", 0, 3),
    32: ("describe_configs", 0, 4),
    33: ("alter_configs", 0, 2),
    34: ("alter_replica_log_dirs", 0, 2),
    35: ("describe_log_dirs", 0, 5),
    36: ("sasl_authenticate", 0, 2),
    37: ("create_partitions", 0, 3),
    38: ("create_delegation_token", 0, 3),
    39: ("renew_delegation_token", 0, 2),
    40: ("expire_delegation_token", 0, 2),
    41: ("describe_delegation_token", 0, 3),
    42: ("delete_groups", 0, 3),
    43: ("elect_leaders", 0, 2),
    44: ("incremental_alter_configs", 0, 1),
    45: ("alter_partition_reassignments", 0, 1),
    46: ("list_partition_reassignments", 0, 0),
    47: ("offset_delete", 0, 0),
    48: ("describe_client_quotas", 0, 1),
    49: ("alter_client_quotas", 0, 1),
    50: ("describe_user_scram_credentials", 0, 0),
    51: ("alter_user_scram_credentials", 0, 0),
    52: ("vote", 0, 2),
    53: ("begin_quorum_epoch", 0, 1),
    54: ("end_quorum_epoch", 0, 1),
    55: ("describe_quorum", 0, 2),
    56: ("alter_partition", 2, 3),
    57: ("update_features", 0, 2),
    58: ("envelope", 0, 0),
    59: ("fetch_snapshot", 0, 1),
    60: ("describe_cluster", 0, 2),
    61: ("describe_producers", 0, 0),
    62: ("broker_registration", 0, 4),
    63: ("broker_heartbeat", 0, 2),
    64: ("unregister_broker", 0, 0),
    65: ("describe_transactions", 0, 0),
    66: ("list_transactions", 0, 2),
    68: ("consumer_group_heartbeat", 0, 1),
    69: ("consumer_group_describe", 0, 1),
    67: ("allocate_producer_ids", 0, 0),
    76: ("share_group_heartbeat", 1, 1),
    77: ("share_group_describe", 1, 1),
    78: ("share_fetch", 1, 2),
    79: ("share_acknowledge", 1, 2),
    83: ("initialize_share_group_state", 0, 0),
    84: ("read_share_group_state", 0, 0),
    85: ("write_share_group_state", 0, 1),
    86: ("delete_share_group_state", 0, 0),
    87: ("read_share_group_state_summary", 0, 1),
    90: ("describe_share_group_offsets", 0, 1),
    91: ("alter_share_group_offsets", 0, 0),
    92: ("delete_share_group_offsets", 0, 0),
    88: ("streams_group_heartbeat", 0, 1),
    89: ("streams_group_describe", 0, 1),
    93: ("streams_group_topology_description_update", 0, 0),
    70: ("controller_registration", 0, 0),
    73: ("assign_replicas_to_dirs", 0, 0),
    74: ("list_config_resources", 0, 1),
    75: ("describe_topic_partitions", 0, 0),
    80: ("add_raft_voter", 0, 1),
    81: ("remove_raft_voter", 0, 0),
    82: ("update_raft_voter", 0, 0),
    94: ("unregister_controller", 0, 0),
}

#: Versions with a module of their own, as they have little in common with what came after.
LEGACY_TABLE: dict[int, tuple[str, int, int]] = {
    0: ("produce_legacy", 0, 2),
    1: ("fetch_legacy", 0, 3),
    2: ("list_offsets_legacy", 0, 0),
}

#: A controller's listener has handlers of its own for these.
CONTROLLER_TABLE: dict[int, tuple[str, int, int]] = {1: ("fetch_metadata", 4, 18)}

#: Answered, but named in ApiVersions only where pushes are kept, as by Kafka; else no client asks (KIP-714).
TELEMETRY_TABLE: dict[int, tuple[str, int, int]] = {
    71: ("get_telemetry_subscriptions", 0, 0),
    72: ("push_telemetry", 0, 0),
}
_TELEMETRY_SINCE = (3, 7)

#: Not Kafka's: for kbroker's own client alone, which is told of it (decision 8).
OWN_TABLE: dict[int, tuple[str, int, int]] = {19266: ("kbroker_command", 0, 0)}
OWN_CLIENT = "kbroker"


#: Only on nodes of a cluster that ZooKeeper keeps, where there are no listeners of controllers: what the
#: controller sends to brokers, brokers to the controller, and each to the other for its clients.
ZOOKEEPER_TABLE: dict[int, tuple[str, int, int]] = {
    4: ("leader_and_isr", 0, 7),
    5: ("stop_replica", 0, 4),
    6: ("update_metadata", 0, 8),
    7: ("controlled_shutdown", 0, 3),
    56: ("alter_partition", 0, 3),
    58: ("envelope", 0, 0),
    67: ("allocate_producer_ids", 0, 0),
}
#: Of the metadata quorum, which there is not then, and of share and streams groups, whose features it keeps.
#: (Of consumer groups Kafka 3.9 tells there, too, and then answers UNSUPPORTED_VERSION.)
NOT_IN_ZOOKEEPER = frozenset({55, 64, *range(76, 95)})


class ServedApis:
    """The APIs of a listener.

    Args:
        compatibility: a release's name, or `all`.
        role: of the listener (`ConnectionContext.role`).
        zookeeper: whether the cluster is kept in ZooKeeper.
    """

    def __init__(self, compatibility: str = "all", role: str = BROKER, zookeeper: bool = False) -> None:
        kafka = release(compatibility)
        if role != BROKER and is_before(compatibility, (4, 0)):
            kafka = None  # a quorum's nodes speak to each other as they are, whatever clients are to see
        #: What ApiVersions says to everybody: (key, lowest, highest).
        self.advertised: list[tuple[int, int, int]] = []
        #: What it says besides where pushes are kept.
        self.telemetry: list[tuple[int, int, int]] = []
        self._served: dict[int, tuple[int, int]] = {}
        self._role = role
        for key, (_, low, high) in API_TABLE.items():
            if role not in FACTS[key].listeners:
                continue
            if role == BROKER and key in LEGACY_TABLE:
                low = LEGACY_TABLE[key][1]
            if kafka is None or BROKER not in FACTS[key].listeners:
                self._served[key] = (low, high)
                self.advertised.append((key, low, high))
            elif key in kafka.served:
                lowest, highest = kafka.served[key]
                self._served[key] = (max(low, lowest), min(high, highest))
                self.advertised.append((key, max(low, kafka.advertised[key][0]), min(high, highest)))
        if zookeeper:
            self._in_zookeeper()
        elif kafka is not None and role == BROKER:
            # Nobody sends them to a broker without ZooKeeper: they are named, not answered.
            self.advertised += [(key, *versions) for key, versions in kafka.between_brokers.items()]
            self.advertised.sort()
        self._served.update((key, (low, high)) for key, (_, low, high) in OWN_TABLE.items())
        if role == BROKER and (kafka is None or kafka.number >= _TELEMETRY_SINCE):
            self.telemetry = [(key, low, high) for key, (_, low, high) in TELEMETRY_TABLE.items()]
            self._served.update((key, (low, high)) for key, low, high in self.telemetry)

    def _in_zookeeper(self) -> None:
        without = NOT_IN_ZOOKEEPER | ZOOKEEPER_TABLE.keys()
        self.advertised = [each for each in self.advertised if each[0] not in without]
        self.advertised += [(key, low, high) for key, (_, low, high) in ZOOKEEPER_TABLE.items()]
        self.advertised.sort()
        self._served = {key: versions for key, versions in self._served.items() if key not in without}
        self._served.update((key, (low, high)) for key, (_, low, high) in ZOOKEEPER_TABLE.items())

    def versions(self, key: int) -> tuple[int, int]:
        """The lowest and the highest that are answered; (0, -1): none."""
        return self._served.get(key, (0, -1))

    def module(self, key: int, version: int) -> str | None:
        """Which module under `kbroker.handlers` answers; None: nobody, the connection closes."""
        low, high = self.versions(key)
        if not low <= version <= high:
            return None
        if self._role != BROKER and key in CONTROLLER_TABLE:
            return CONTROLLER_TABLE[key][0]
        legacy = LEGACY_TABLE.get(key)
        if legacy is not None and version <= legacy[2]:
            return legacy[0]
        row = API_TABLE.get(key) or TELEMETRY_TABLE.get(key) or OWN_TABLE.get(key)
        return (row or ZOOKEEPER_TABLE[key])[0]


@lru_cache(maxsize=8)
def served_apis(compatibility: str, role: str = BROKER, zookeeper: bool = False) -> ServedApis:
    """See `ServedApis`."""
    return ServedApis(compatibility, role, zookeeper)
