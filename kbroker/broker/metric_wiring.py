"""Makes a node's parts known to its metrics; the families themselves are loaded when somebody first looks."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kbroker.metadata.image import RECOVERING

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage

_SOURCES = (
    "node",
    "sockets",
    "peers",
    "replicas",
    "partitions",
    "requests",
    "cluster",
    "groups",
    "access",
    "limits",
    "shares",
    "coordinators",
    "quiet",
)


def wire_metrics(services: Services, **parts: Any) -> None:
    """Let `services.metrics` tell of this node.

    Args:
        parts: what Services has not, by name: `kraft`, `membership`, `directory_reports`.
    """
    services.extras.update(parts)
    registry = services.metrics
    registry.start_ms = int(services.clock.monotonic_ms())
    unclean = registry.meter(
        "kafka.controller", "ControllerStats", "UncleanLeaderElectionsPerSec", "elections"
    )

    eligible = registry.meter(
        "kafka.controller", "ControllerStats", "ElectionFromEligibleLeaderReplicasPerSec", "elections"
    )

    def on_metadata(old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        services.extras["applied_ms"] = services.clock.now_ms()
        if services.controller.active:
            for change in delta.topics.values():
                for index, state in change.partitions.items():
                    before = old.topics.partition(change.new.name, index) if change.new else None
                    if state.leader < 0 or before is None or before.leader_epoch == state.leader_epoch:
                        continue
                    unclean.value += state.leader_recovery_state == RECOVERING
                    eligible.value += state.leader in before.elr and state.leader not in before.isr

    services.metadata.subscribe(on_metadata)
    registry.on_first_use.append(partial(_load, services))


def _load(services: Services) -> None:
    for name in _SOURCES:
        import_module(f"kbroker.broker.metric_{name}").add(services)
