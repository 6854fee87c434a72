"""Which APIs a broker listener serves, in which versions: what ApiVersions advertises and dispatch accepts.

A small table, so that neither the start nor an ApiVersions request imports every handler. A test compares it
with `VERSIONS` of each module under `handlers/`: an API is here if and only if its handler exists.
"""

from __future__ import annotations

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
    23: ("offset_for_leader_epoch", 2, 4),
    32: ("describe_configs", 1, 4),
    33: ("alter_configs", 0, 2),
    35: ("describe_log_dirs", 1, 5),
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

#: Lowest versions that ApiVersions names although the handler starts elsewhere. Produce: old librdkafka
#: switches features off when version 0 is missing (KAFKA-18659), so Kafka names it and closes the connection
#: when it is used. OffsetCommit and OffsetFetch 0 were for ZooKeeper: answered, with UNSUPPORTED_VERSION.
ADVERTISED_MIN: dict[int, int] = {0: 0, 8: 1, 9: 1}
