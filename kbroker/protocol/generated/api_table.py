"""Every request key, its name and its versions.

Written by tools/generate_codecs.py; change the schemas instead.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class ApiKey(IntEnum):
    """The first number of a request header."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    LEADER_AND_ISR = 4
    STOP_REPLICA = 5
    UPDATE_METADATA = 6
    CONTROLLED_SHUTDOWN = 7
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    CREATE_DELEGATION_TOKEN = 38
    RENEW_DELEGATION_TOKEN = 39
    EXPIRE_DELEGATION_TOKEN = 40
    DESCRIBE_DELEGATION_TOKEN = 41
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    VOTE = 52
    BEGIN_QUORUM_EPOCH = 53
    END_QUORUM_EPOCH = 54
    DESCRIBE_QUORUM = 55
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    FETCH_SNAPSHOT = 59
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    BROKER_REGISTRATION = 62
    BROKER_HEARTBEAT = 63
    UNREGISTER_BROKER = 64
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69
    CONTROLLER_REGISTRATION = 70
    GET_TELEMETRY_SUBSCRIPTIONS = 71
    PUSH_TELEMETRY = 72
    ASSIGN_REPLICAS_TO_DIRS = 73
    LIST_CLIENT_METRICS_RESOURCES = 74
    LIST_CONFIG_RESOURCES = 74
    DESCRIBE_TOPIC_PARTITIONS = 75
    SHARE_GROUP_HEARTBEAT = 76
    SHARE_GROUP_DESCRIBE = 77
    SHARE_FETCH = 78
    SHARE_ACKNOWLEDGE = 79
    ADD_RAFT_VOTER = 80
    REMOVE_RAFT_VOTER = 81
    UPDATE_RAFT_VOTER = 82
    INITIALIZE_SHARE_GROUP_STATE = 83
    READ_SHARE_GROUP_STATE = 84
    WRITE_SHARE_GROUP_STATE = 85
    DELETE_SHARE_GROUP_STATE = 86
    READ_SHARE_GROUP_STATE_SUMMARY = 87
    STREAMS_GROUP_HEARTBEAT = 88
    STREAMS_GROUP_DESCRIBE = 89
    DESCRIBE_SHARE_GROUP_OFFSETS = 90
    ALTER_SHARE_GROUP_OFFSETS = 91
    DELETE_SHARE_GROUP_OFFSETS = 92
    STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE = 93
    UNREGISTER_CONTROLLER = 94
    KBROKER_COMMAND = 19266


class ApiFacts(NamedTuple):
    """What is known of an API without its codec; `flexible_since` is None where no version is flexible."""

    name: str
    min_version: int
    max_version: int
    flexible_since: int | None
    response_flexible_since: int | None
    listeners: tuple[str, ...]


FACTS: dict[int, ApiFacts] = {
    0: ApiFacts("Produce", 0, 13, 9, 9, ("broker",)),
    1: ApiFacts("Fetch", 0, 18, 12, 12, ("broker", "controller")),
    2: ApiFacts("ListOffsets", 0, 11, 6, 6, ("broker",)),
    3: ApiFacts("Metadata", 0, 13, 9, 9, ("broker",)),
    4: ApiFacts("LeaderAndIsr", 0, 7, 4, 4, ("zkBroker",)),
    5: ApiFacts("StopReplica", 0, 4, 2, 2, ("zkBroker",)),
    6: ApiFacts("UpdateMetadata", 0, 8, 6, 6, ("zkBroker",)),
    7: ApiFacts("ControlledShutdown", 0, 3, 3, 3, ("zkBroker", "controller")),
    8: ApiFacts("OffsetCommit", 0, 10, 8, 8, ("broker",)),
    9: ApiFacts("OffsetFetch", 0, 10, 6, 6, ("broker",)),
    10: ApiFacts("FindCoordinator", 0, 6, 3, 3, ("broker",)),
    11: ApiFacts("JoinGroup", 0, 9, 6, 6, ("broker",)),
    12: ApiFacts("Heartbeat", 0, 4, 4, 4, ("broker",)),
    13: ApiFacts("LeaveGroup", 0, 5, 4, 4, ("broker",)),
    14: ApiFacts("SyncGroup", 0, 5, 4, 4, ("broker",)),
    15: ApiFacts("DescribeGroups", 0, 6, 5, 5, ("broker",)),
    16: ApiFacts("ListGroups", 0, 5, 3, 3, ("broker",)),
    17: ApiFacts("SaslHandshake", 0, 1, None, None, ("broker", "controller")),
    18: ApiFacts("ApiVersions", 0, 5, 3, 3, ("broker", "controller")),
    19: ApiFacts("CreateTopics", 0, 7, 5, 5, ("broker", "controller")),
    20: ApiFacts("DeleteTopics", 0, 6, 4, 4, ("broker", "controller")),
    21: ApiFacts("DeleteRecords", 0, 2, 2, 2, ("broker",)),
    22: ApiFacts("InitProducerId", 0, 6, 2, 2, ("broker",)),
    23: ApiFacts("OffsetForLeaderEpoch", 0, 4, 4, 4, ("broker",)),
    24: ApiFacts("AddPartitionsToTxn", 0, 5, 3, 3, ("broker",)),
    25: ApiFacts("AddOffsetsToTxn", 0, 4, 3, 3, ("broker",)),
    26: ApiFacts("EndTxn", 0, 5, 3, 3, ("broker",)),
    27: ApiFacts("WriteTxnMarkers", 0, 2, 1, 1, ("broker",)),
    28: ApiFacts("TxnOffsetCommit", 0, 6, 3, 3, ("broker",)),
    29: ApiFacts("DescribeAcls", 0, 3, 2, 2, ("broker", "controller")),
    30: ApiFacts("CreateAcls", 0, 3, 2, 2, ("broker", "controller")),
    31: ApiFacts("DeleteAcls", 0, 3, 2, 2, ("broker", "controller")),
    32: ApiFacts("DescribeConfigs", 0, 4, 4, 4, ("broker", "controller")),
    33: ApiFacts("AlterConfigs", 0, 2, 2, 2, ("broker", "controller")),
    34: ApiFacts("AlterReplicaLogDirs", 0, 2, 2, 2, ("broker",)),
    35: ApiFacts("DescribeLogDirs", 0, 5, 2, 2, ("broker",)),
    36: ApiFacts("SaslAuthenticate", 0, 2, 2, 2, ("broker", "controller")),
    37: ApiFacts("CreatePartitions", 0, 3, 2, 2, ("broker", "controller")),
    38: ApiFacts("CreateDelegationToken", 0, 3, 2, 2, ("broker", "controller")),
    39: ApiFacts("RenewDelegationToken", 0, 2, 2, 2, ("broker", "controller")),
    40: ApiFacts("ExpireDelegationToken", 0, 2, 2, 2, ("broker", "controller")),
    41: ApiFacts("DescribeDelegationToken", 0, 3, 2, 2, ("broker", "controller")),
    42: ApiFacts("DeleteGroups", 0, 3, 2, 2, ("broker",)),
    43: ApiFacts("ElectLeaders", 0, 2, 2, 2, ("broker", "controller")),
    44: ApiFacts("IncrementalAlterConfigs", 0, 1, 1, 1, ("broker", "controller")),
    45: ApiFacts("AlterPartitionReassignments", 0, 1, 0, 0, ("broker", "controller")),
    46: ApiFacts("ListPartitionReassignments", 0, 0, 0, 0, ("broker", "controller")),
    47: ApiFacts("OffsetDelete", 0, 0, None, None, ("broker",)),
    48: ApiFacts("DescribeClientQuotas", 0, 1, 1, 1, ("broker",)),
    49: ApiFacts("AlterClientQuotas", 0, 1, 1, 1, ("broker", "controller")),
    50: ApiFacts("DescribeUserScramCredentials", 0, 0, 0, 0, ("broker", "controller")),
    51: ApiFacts("AlterUserScramCredentials", 0, 0, 0, 0, ("broker", "controller")),
    52: ApiFacts("Vote", 0, 2, 0, 0, ("controller",)),
    53: ApiFacts("BeginQuorumEpoch", 0, 1, 1, 1, ("controller",)),
    54: ApiFacts("EndQuorumEpoch", 0, 1, 1, 1, ("controller",)),
    55: ApiFacts("DescribeQuorum", 0, 2, 0, 0, ("broker", "controller")),
    56: ApiFacts("AlterPartition", 0, 3, 0, 0, ("controller",)),
    57: ApiFacts("UpdateFeatures", 0, 2, 0, 0, ("broker", "controller")),
    58: ApiFacts("Envelope", 0, 0, 0, 0, ("controller",)),
    59: ApiFacts("FetchSnapshot", 0, 1, 0, 0, ("controller",)),
    60: ApiFacts("DescribeCluster", 0, 2, 0, 0, ("broker", "controller")),
    61: ApiFacts("DescribeProducers", 0, 0, 0, 0, ("broker",)),
    62: ApiFacts("BrokerRegistration", 0, 4, 0, 0, ("controller",)),
    63: ApiFacts("BrokerHeartbeat", 0, 2, 0, 0, ("controller",)),
    64: ApiFacts("UnregisterBroker", 0, 0, 0, 0, ("broker", "controller")),
    65: ApiFacts("DescribeTransactions", 0, 0, 0, 0, ("broker",)),
    66: ApiFacts("ListTransactions", 0, 2, 0, 0, ("broker",)),
    67: ApiFacts("AllocateProducerIds", 0, 0, 0, 0, ("controller",)),
    68: ApiFacts("ConsumerGroupHeartbeat", 0, 1, 0, 0, ("broker",)),
    69: ApiFacts("ConsumerGroupDescribe", 0, 1, 0, 0, ("broker",)),
    70: ApiFacts("ControllerRegistration", 0, 0, 0, 0, ("controller",)),
    71: ApiFacts("GetTelemetrySubscriptions", 0, 0, 0, 0, ("broker",)),
    72: ApiFacts("PushTelemetry", 0, 0, 0, 0, ("broker",)),
    73: ApiFacts("AssignReplicasToDirs", 0, 0, 0, 0, ("controller",)),
    74: ApiFacts("ListClientMetricsResources", 0, 0, 0, 0, ("broker",)),
    74: ApiFacts("ListConfigResources", 0, 1, 0, 0, ("broker",)),
    75: ApiFacts("DescribeTopicPartitions", 0, 0, 0, 0, ("broker",)),
    76: ApiFacts("ShareGroupHeartbeat", 0, 1, 0, 0, ("broker",)),
    77: ApiFacts("ShareGroupDescribe", 0, 1, 0, 0, ("broker",)),
    78: ApiFacts("ShareFetch", 0, 2, 0, 0, ("broker",)),
    79: ApiFacts("ShareAcknowledge", 0, 2, 0, 0, ("broker",)),
    80: ApiFacts("AddRaftVoter", 0, 1, 0, 0, ("controller", "broker")),
    81: ApiFacts("RemoveRaftVoter", 0, 0, 0, 0, ("controller", "broker")),
    82: ApiFacts("UpdateRaftVoter", 0, 0, 0, 0, ("controller",)),
    83: ApiFacts("InitializeShareGroupState", 0, 0, 0, 0, ("broker",)),
    84: ApiFacts("ReadShareGroupState", 0, 0, 0, 0, ("broker",)),
    85: ApiFacts("WriteShareGroupState", 0, 1, 0, 0, ("broker",)),
    86: ApiFacts("DeleteShareGroupState", 0, 0, 0, 0, ("broker",)),
    87: ApiFacts("ReadShareGroupStateSummary", 0, 1, 0, 0, ("broker",)),
    88: ApiFacts("StreamsGroupHeartbeat", 0, 1, 0, 0, ("broker",)),
    89: ApiFacts("StreamsGroupDescribe", 0, 1, 0, 0, ("broker",)),
    90: ApiFacts("DescribeShareGroupOffsets", 0, 1, 0, 0, ("broker",)),
    91: ApiFacts("AlterShareGroupOffsets", 0, 0, 0, 0, ("broker",)),
    92: ApiFacts("DeleteShareGroupOffsets", 0, 0, 0, 0, ("broker",)),
    93: ApiFacts("StreamsGroupTopologyDescriptionUpdate", 0, 0, 0, 0, ("broker",)),
    94: ApiFacts("UnregisterController", 0, 0, 0, 0, ("broker", "controller")),
    19266: ApiFacts("KbrokerCommand", 0, 0, 0, 0, ("broker",)),
}
