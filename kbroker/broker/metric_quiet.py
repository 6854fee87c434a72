"""What Kafka tells of and cannot happen here, so that dashboards and alerts find the 0 that they hope for.

There are no queues between threads, no threads that could die one by one, no remote storage, and no pool of
memory for requests (as in Kafka without `queued.max.request.bytes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.broker.services import Services

_SERVER, _CONTROLLER, _NETWORK = "kafka.server", "KafkaController", "kafka.network"
_MAX_LONG = 2**63 - 1
#: Domain, type, name, value, keys.
_CONSTANT: list[tuple[str, str, str, int, dict[str, str]]] = [
    (_NETWORK, "RequestChannel", "RequestQueueSize", 0, {}),
    (_NETWORK, "RequestChannel", "ResponseQueueSize", 0, {}),
    (_NETWORK, "RequestChannel", "ResponseQueueSize", 0, {"processor": "0"}),
    (_NETWORK, "SocketServer", "MemoryPoolAvailable", _MAX_LONG, {}),
    (_NETWORK, "SocketServer", "MemoryPoolUsed", 0, {}),
    ("kafka.controller", _CONTROLLER, "TimedOutBrokerHeartbeatCount", 0, {}),
    (_SERVER, "ReplicaFetcherManager", "DeadThreadCount", 0, {"clientId": "Replica"}),
    (_SERVER, "ReplicaAlterLogDirsManager", "DeadThreadCount", 0, {"clientId": "ReplicaAlterLogDirs"}),
]
_NEVER_DELAYED = ("AlterAcls", "RemoteFetch", "RemoteListOffsets")


def add(services: Services) -> None:
    """Add the families."""
    for domain, kind, name, value, keys in _CONSTANT:
        services.metrics.gauge(domain, kind, name, lambda value=value: value, **keys)  # type: ignore[misc]
    for operation in _NEVER_DELAYED:
        for name in ("NumDelayedOperations", "PurgatorySize"):
            services.metrics.gauge(
                _SERVER, "DelayedOperationPurgatory", name, lambda: 0, delayedOperation=operation
            )
    # A member for whom there is no room is refused, no other one has to go.
    services.metrics.meter(_SERVER, "ShareSessionCache", "ShareSessionEvictionsPerSec", "evictions")
    if services.extras.get("cleaner") is not None:
        # A worker that ends is begun anew with the next log.
        services.metrics.gauge("kafka.log", "LogCleaner", "DeadThreadCount", lambda: 0)
