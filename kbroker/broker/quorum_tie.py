"""A broker of a cluster in ZooKeeper that is to move to KRaft: its tie to the quorum (KIP-866).

It is an observer of the quorum: it reads the metadata log, which tells who leads, and applies nothing of it.
It registers as a migrating broker and sends heartbeats. Whether the quorum is there yet, or takes it, it goes
on to serve as ZooKeeper's controller says; once a controller of the quorum tells it of the cluster, requests
go to that one, in the epoch of this registration.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.broker.broker_lifecycle import BrokerLifecycle, lifecycle_times
from kbroker.broker.controller_channel import ControllerChannel
from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import AS_CONTROLLER, PeerAddress
from kbroker.controller.brokers import NodeRegistration
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import MIGRATED

if TYPE_CHECKING:
    from kbroker.broker.kraft_node import KraftNode, KraftSetup, Leader
    from kbroker.broker.log_directories import LogDirectories
    from kbroker.broker.peer import Peers
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.primitives import Message


_log = logging.getLogger(__name__)


class QuorumTie:
    """See the module.

    Args:
        setup: who this node is.
        kraft: its part in the quorum, an observer's.
        controller_listener: over which controllers are reached.
        directories: the log directories of this node.
    """

    def __init__(
        self,
        config: BrokerConfig,
        setup: KraftSetup,
        kraft: KraftNode,
        peers: Peers,
        clock: Clock,
        timer: Timer,
        *,
        controller_listener: str,
        directories: LogDirectories,
    ) -> None:
        self._node_id = setup.node_id
        self._kraft = kraft
        self._listener = controller_listener
        # ZooKeeper's controller is asked by another one, until the quorum's is obeyed.
        self.channel = ControllerChannel(setup.node_id, peers, clock, timer, self.controller, _nobody_here)
        kraft.on_leader_changed(lambda _: self._leader_changed())
        #: Told that another controller leads the quorum.
        self.on_leader_changed: Callable[[], None] = _nothing
        #: This broker as the quorum knows it.
        self.lifecycle = BrokerLifecycle(
            setup.cluster_id,
            NodeRegistration(
                setup.node_id,
                setup.incarnation_id,
                setup.broker_endpoints,
                SUPPORTED_FEATURES,
                setup.rack,
                setup.log_dir_ids,
            ),
            self.channel,
            kraft,
            clock,
            timer,
            lifecycle_times(config),
            offline_directories=directories.offline,
            cordoned_directories=lambda: None,
            applied_offset=lambda: kraft.metadata.image.offset,
            migrating=True,
        )

    def start(self) -> None:
        """Follow the quorum and register, whenever that works; ask to be counted on."""
        self._kraft.start()
        self._kraft.when(lambda image: image.zk_migration_state == MIGRATED).then(self._left_behind)
        self.lifecycle.start().then(self._registered)

    @property
    def image(self) -> ClusterImage:
        """The cluster as the quorum has it, which this broker does not go by."""
        return self._kraft.metadata.image

    def epoch(self) -> int:
        """Of the registration with the quorum; -1: there is none."""
        return self.lifecycle.epoch

    def controller(self) -> PeerAddress | None:
        """The active controller of the quorum; None: it is not known."""
        return controller_address(self._kraft.leader(), self._listener)

    def _registered(self, done: Deferred[None]) -> None:
        self.lifecycle.serve()

    def _left_behind(self, done: Deferred[ClusterImage]) -> None:
        _log.error(
            "the migration to KRaft is over, and nobody tells this broker anything any more: restart it with "
            "process.roles=broker and node.id=%d, without zookeeper.connect",
            self._node_id,
        )

    def _leader_changed(self) -> None:
        self.channel.leader_changed()
        self.on_leader_changed()

    def stop(self, *, clean: bool) -> None:
        """Say and hear nothing any more."""
        self.lifecycle.stop()
        self.channel.close()
        self._kraft.stop(clean=clean)


def controller_address(leader: Leader, listener: str) -> PeerAddress | None:
    """Where a leader of the quorum is asked; None: nobody leads, or nobody knows where."""
    if leader.node_id < 0:
        return None
    named = [each for each in leader.endpoints if each.name == listener]
    endpoint = next(iter([*named, *leader.endpoints]), None)
    if endpoint is None:
        return None
    return PeerAddress(leader.node_id, endpoint.host, endpoint.port, AS_CONTROLLER)


def _nothing() -> None:
    """Until somebody asks to be told."""


def _nobody_here(request: Message) -> Deferred[Any]:
    answer: Deferred[Any] = Deferred()
    answer.fail(ApiError(ErrorCode.NOT_CONTROLLER))
    return answer
