"""The command `migrate`: how far the cluster is on its way from ZooKeeper to KRaft (KIP-866).

A broker tells how it takes part, and what the quorum's active controller says; a controller that is not
active asks that one, too. Argument `here`: nobody else is asked. Result: {"broker": …, "quorum": …}, each may
be null.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.config.quorum import migrates
from kbroker.errors import ApiError, ProtocolError
from kbroker.handlers.context import CONTROLLER
from kbroker.handlers.kbroker_command import argument
from kbroker.metadata.image import BEFORE_MIGRATION, MIGRATED, MIGRATING, NOT_MIGRATED
from kbroker.protocol.generated.kbroker_command_request import KbrokerCommandRequest

if TYPE_CHECKING:
    from kbroker.broker.quorum_tie import QuorumTie
    from kbroker.broker.services import Services
    from kbroker.broker.zk_follower import ZkFollower
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import BrokerImage, ClusterImage

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
    tie: QuorumTie | None = services.extras.get("quorum_tie")
    broker = None if context.connection.role == CONTROLLER else _of_broker(services, tie)
    if "zookeeper" in services.extras and tie is None:
        return {"broker": broker, "quorum": None}
    known = _of_quorum(services, tie)
    channel = services.to_controller if tie is None else tie.channel
    if (
        channel is None
        or argument(arguments, "here", bool, False)
        or (tie is None and services.controller.active)
    ):
        return {"broker": broker, "quorum": known}
    found: Deferred[dict[str, Any]] = Deferred()

    def heard(done: Deferred[Any]) -> None:
        try:
            told = json.loads(bytes(done.result().result or b"null"))["quorum"]
        except (ApiError, ProtocolError, ValueError, TypeError, KeyError):
            # Nobody leads, or it is Apache Kafka's.
            told = {}
        found.resolve({"broker": broker, "quorum": {**known, **told}})

    request = KbrokerCommandRequest(command="migrate", arguments=b'{"here":true}')
    channel.send(request, _ASK_TIMEOUT_MS, channel="migrate").then(heard)
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
        "refusal": "" if tie is None else tie.lifecycle.registration.refusal,
    }


def _of_quorum(services: Services, tie: QuorumTie | None) -> dict[str, Any]:
    """What everybody knows who reads the metadata log; more of it, the active controller."""
    image = services.controller.committed_image if tie is None else tie.image
    found = {**_of_log(image), "source": services.broker_id, "leader": image.controller_id}
    migration = services.extras.get("migration")
    if migration is not None and services.controller.active:
        found["driver"] = migration.status()
    return found


def _of_log(image: ClusterImage) -> dict[str, Any]:
    return {
        "addresses": {str(each.id): _address(each) for each in image.brokers.values()},
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


def _address(broker: BrokerImage) -> str | None:
    return next((f"{each.host}:{each.port}" for each in broker.endpoints), None)
