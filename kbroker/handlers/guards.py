"""What a client must be allowed to do for each API, where there is an authorizer.

A guard stands before a handler: it looks at who asks, lets through what he may, and answers the rest as Kafka
does. Where `services.authorizer` is None there are no guards, handlers are called as they are.

`CLUSTER` names the APIs that one operation on the cluster decides as a whole; `GUARDS` the modules
(`guard_*.py`) with a function of the API's name for what is decided item by item; `OWN` those that ask
`services.allows` themselves, or nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode, default_message
from kbroker.handlers.context import CONTROLLER
from kbroker.security.acl import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

#: `handle(services, context, request)` of a handler.
Handle = Callable[[Any, Any, Any], Any]

#: API key -> operations on the cluster of which one has to be allowed.
CLUSTER: dict[int, tuple[Operation, ...]] = {
    4: (Operation.CLUSTER_ACTION,),  # LeaderAndIsr
    5: (Operation.CLUSTER_ACTION,),  # StopReplica
    6: (Operation.CLUSTER_ACTION,),  # UpdateMetadata
    7: (Operation.CLUSTER_ACTION,),  # ControlledShutdown
    27: (Operation.ALTER, Operation.CLUSTER_ACTION),  # WriteTxnMarkers
    29: (Operation.DESCRIBE,),  # DescribeAcls
    30: (Operation.ALTER,),  # CreateAcls
    31: (Operation.ALTER,),  # DeleteAcls
    43: (Operation.ALTER,),  # ElectLeaders
    45: (Operation.ALTER,),  # AlterPartitionReassignments
    46: (Operation.DESCRIBE,),  # ListPartitionReassignments
    48: (Operation.DESCRIBE_CONFIGS,),  # DescribeClientQuotas
    49: (Operation.ALTER_CONFIGS,),  # AlterClientQuotas
    50: (Operation.DESCRIBE,),  # DescribeUserScramCredentials
    51: (Operation.ALTER,),  # AlterUserScramCredentials
    52: (Operation.CLUSTER_ACTION,),  # Vote
    53: (Operation.CLUSTER_ACTION,),  # BeginQuorumEpoch
    54: (Operation.CLUSTER_ACTION,),  # EndQuorumEpoch
    55: (Operation.DESCRIBE,),  # DescribeQuorum
    56: (Operation.CLUSTER_ACTION,),  # AlterPartition
    57: (Operation.ALTER,),  # UpdateFeatures
    58: (Operation.CLUSTER_ACTION,),  # Envelope
    59: (Operation.CLUSTER_ACTION,),  # FetchSnapshot
    62: (Operation.CLUSTER_ACTION,),  # BrokerRegistration
    63: (Operation.CLUSTER_ACTION,),  # BrokerHeartbeat
    64: (Operation.ALTER,),  # UnregisterBroker
    67: (Operation.CLUSTER_ACTION,),  # AllocateProducerIds
    70: (Operation.CLUSTER_ACTION,),  # ControllerRegistration
    73: (Operation.CLUSTER_ACTION,),  # AssignReplicasToDirs
    74: (Operation.DESCRIBE_CONFIGS,),  # ListConfigResources
    80: (Operation.ALTER,),  # AddRaftVoter
    81: (Operation.ALTER,),  # RemoveRaftVoter
    82: (Operation.CLUSTER_ACTION,),  # UpdateRaftVoter
    94: (Operation.ALTER,),  # UnregisterController
}

#: API key -> (module under `kbroker.handlers`, function).
GUARDS: dict[int, tuple[str, str]] = {
    1: ("guard_cluster", "fetch_metadata"),  # at a controller; a broker's Fetch asks itself
    2: ("guard_topics", "list_offsets"),
    3: ("guard_metadata", "metadata"),
    8: ("guard_offsets", "offset_commit"),
    9: ("guard_offsets", "offset_fetch"),
    10: ("guard_groups", "find_coordinator"),
    11: ("guard_groups", "member"),
    12: ("guard_groups", "member"),
    13: ("guard_groups", "member"),
    14: ("guard_groups", "member"),
    15: ("guard_groups", "describe_groups"),
    16: ("guard_groups", "list_groups"),
    19: ("guard_admin", "create_topics"),
    20: ("guard_admin", "delete_topics"),
    21: ("guard_topics", "delete_records"),
    22: ("guard_transactions", "init_producer_id"),
    23: ("guard_topics", "offset_for_leader_epoch"),
    24: ("guard_transactions", "add_partitions_to_txn"),
    25: ("guard_transactions", "add_offsets_to_txn"),
    26: ("guard_transactions", "end_txn"),
    28: ("guard_transactions", "txn_offset_commit"),
    32: ("guard_admin", "describe_configs"),
    33: ("guard_admin", "alter_configs"),
    34: ("guard_cluster", "alter_replica_log_dirs"),
    35: ("guard_cluster", "describe_log_dirs"),
    37: ("guard_admin", "create_partitions"),
    42: ("guard_groups", "delete_groups"),
    44: ("guard_admin", "alter_configs"),
    47: ("guard_offsets", "offset_delete"),
    60: ("guard_cluster", "describe_cluster"),
    61: ("guard_topics", "describe_producers"),
    65: ("guard_transactions", "describe_transactions"),
    66: ("guard_transactions", "list_transactions"),
    68: ("guard_groups", "subscriber"),
    69: ("guard_groups", "describe_members"),
    75: ("guard_metadata", "describe_topic_partitions"),
    76: ("guard_groups", "subscriber"),
    77: ("guard_groups", "describe_members"),
    78: ("guard_groups", "member"),  # and topics by itself
    79: ("guard_share", "share_acknowledge"),
    83: ("guard_cluster", "share_state"),
    84: ("guard_cluster", "share_state"),
    85: ("guard_cluster", "share_state"),
    86: ("guard_cluster", "share_state"),
    87: ("guard_cluster", "share_state"),
    88: ("guard_groups", "streams_heartbeat"),
    89: ("guard_groups", "describe_streams"),
    90: ("guard_share", "describe_offsets"),
    91: ("guard_share", "alter_offsets"),
    92: ("guard_share", "delete_offsets"),
    93: ("guard_groups", "member"),
    19266: ("guard_cluster", "kbroker_command"),
}

#: Produce asks itself; logins, versions and telemetry are for everybody; tokens ask themselves.
OWN = frozenset({0, 17, 18, 36, 38, 39, 40, 41, 71, 72})


_DENIED = default_message(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
#: Where Kafka has no words for it: DescribeClientQuotas.
_WITHOUT_TEXT = frozenset({48})


def guarded(services: Services, api_key: int, handle: Handle) -> Handle:
    """The handler of an API, behind its guard if there is an authorizer."""
    if services.authorizer is None or api_key in OWN:
        return handle
    operations = CLUSTER.get(api_key)
    if operations is not None:

        def whole(services: Services, context: RequestContext, request: Any) -> Any:
            check_cluster(services, context, *operations, text=None if api_key in _WITHOUT_TEXT else _DENIED)
            return handle(services, context, request)

        return whole
    module, name = GUARDS[api_key]
    guard: Callable[..., Any] = getattr(import_module(f"kbroker.handlers.{module}"), name)
    return lambda services, context, request: guard(services, context, request, handle)


def check_cluster(
    services: Services, context: RequestContext, *operations: Operation, text: str | None = _DENIED
) -> None:
    """One of the operations on the cluster.

    Raises:
        ApiError: CLUSTER_AUTHORIZATION_FAILED.
    """
    for operation in operations:
        if services.allows(context, operation, ResourceType.CLUSTER, CLUSTER_NAME):
            return
    raise ApiError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, text)


def may_on_cluster(services: Services, context: RequestContext, operation: Operation) -> bool:
    """Whether an operation on the cluster is allowed, where that only saves looking at single resources."""
    assert services.authorizer is not None
    return services.authorizer.allows(context, operation, ResourceType.CLUSTER, CLUSTER_NAME, quietly=True)


def is_controller(context: RequestContext) -> bool:
    """Whether the request came to a controller, or inside an Envelope."""
    return context.connection.role == CONTROLLER
