"""The command `migrate`: how far the cluster is on its way from ZooKeeper to KRaft (KIP-866).

No arguments. A broker tells how it takes part, and what the quorum's active controller says; a controller
tells what it knows itself. Result: {"broker": …, "quorum": …}, each may be null.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.config.quorum import migrates
from kbroker.errors import ApiError, ProtocolError
from kbroker.handlers.context import CONTROLLER
from kbroker.metadata.image import BEFORE_MIGRATION, MIGRATED, MIGRATING, NOT_MIGRATED
from kbroker.protocol.generated.kbroker_command_request import KbrokerCommandRequest

if TYPE_CHECKING:
    from kbroker.broker.quorum_tie import QuorumTie
    from kbroker.broker.services import Services
    from kbroker.broker.zk_follower import ZkFollower
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import ClusterImage

_PHASES = {
    NOT_MIGRATED: "NONE",
    BEFORE_MIGRATION: "PRE_MIGRATION",
    MIGRATING: "MIGRATION",
    MIGRATED: "POST_MIGRATION",
}
_ASK_TIMEOUT_MS = 5_000


def run(
    services: Services, context: RequestContext, arguments: dict[str, Any]
) -> dict[str, Any] | Deferred[dict[str, Any]]:
    """See the module."""
    if context.connection.role == CONTROLLER:
        return {"broker": None, "quorum": _of_controller(services)}
    tie: QuorumTie | None = services.extras.get("quorum_tie")
    if "zookeeper" in services.extras and tie is None:
        return {"broker": _of_broker(services, None), "quorum": None}
    if tie is None and services.controller.active:
        return {"broker": _of_broker(services, None), "quorum": _of_controller(services)}
    image = services.metadata.image if tie is None else tie.image
    channel = services.to_controller if tie is None else tie.channel
    assert channel is not None
    known = {**_of_log(image), "source": f"broker {services.broker_id}", "leader": image.controller_id}
    found: Deferred[dict[str, Any]] = Deferred()

    def heard(done: Deferred[Any]) -> None:
        try:
            told = json.loads(bytes(done.result().result or b"null"))["quorum"]
        except (ApiError, ProtocolError, ValueError, TypeError, KeyError):
            # Nobody leads, or it is Apache Kafka's.
            told = {}
        found.resolve({"broker": _of_broker(services, tie), "quorum": {**known, **told}})

    channel.send(KbrokerCommandRequest(command="migrate"), _ASK_TIMEOUT_MS, channel="migrate").then(heard)
    return found


def _of_broker(services: Services, tie: QuorumTie | None) -> dict[str, Any]:
    follower: ZkFollower | None = services.extras.get("zookeeper")
    in_zookeeper = follower is not None
    return {
        "node": services.broker_id,
        "mode": "zookeeper" if in_zookeeper else "kraft",
        "migrates": in_zookeeper and migrates(services.config),
        "controller": "quorum" if follower is None or follower.is_kraft else "zookeeper",
        "registered": tie is None or tie.epoch() >= 0,
        "refusal": "" if tie is None else tie.lifecycle.refusal,
    }


def _of_controller(services: Services) -> dict[str, Any]:
    image = services.controller.committed_image
    found = {**_of_log(image), "source": f"controller {services.broker_id}", "leader": image.controller_id}
    migration = services.extras.get("migration")
    if migration is not None and services.controller.active:
        found["driver"] = migration.status()
    return found


def _of_log(image: ClusterImage) -> dict[str, Any]:
    """What everybody knows who reads the metadata log."""
    return {
        "phase": _PHASES.get(image.zk_migration_state, str(image.zk_migration_state)),
        "in_zookeeper_mode": sorted(
            each.id for each in image.brokers.values() if each.is_migrating_zk_broker
        ),
        "in_kraft_mode": sorted(
            each.id for each in image.brokers.values() if not each.is_migrating_zk_broker
        ),
        "fenced": sorted(each.id for each in image.brokers.values() if each.fenced),
        "topics": len(image.topics),
        "offset": image.offset,
    }
