"""A broker of a cluster in ZooKeeper among the others: its way to the controller, and to brokers.

The controller is a broker and is reached over the listener of brokers; while the cluster moves to KRaft it
may be the quorum's (quorum_tie.py). Each node watches all others: a broker that refuses connections is gone
before its session ends (failure_watch.py).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from kbroker.broker.among_brokers import AmongBrokers
from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import PeerAddress
from kbroker.errors import ApiError, error_code
from kbroker.protocol.generated.controlled_shutdown_request import ControlledShutdownRequest

if TYPE_CHECKING:
    from kbroker.broker.peer import Peers
    from kbroker.broker.quorum_tie import QuorumTie
    from kbroker.broker.timer import Timer
    from kbroker.broker.zk_follower import ZkFollower
    from kbroker.broker.zk_node import ZkNode
    from kbroker.clock import Clock
    from kbroker.metadata.cache import MetadataCache
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage

_log = logging.getLogger(__name__)

#: Of clients' requests while this node has no session with ZooKeeper, or nobody is the controller.
_PATIENCE_MS = 5000.0
#: Of a stop: how long each of so many requests for leave may take, and the pause between.
_LEAVE_TIMEOUT_MS, _LEAVE_TRIES, _LEAVE_PAUSE_MS = 3000.0, 3, 100.0


class ZkMembership(AmongBrokers):
    """See the module. To be made before the first metadata is published.

    Args:
        node_id: this broker.
        zk: its part in ZooKeeper, opened.
        listener: over which brokers are reached.
        request_timeout_ms: how long a client's request looks for a controller.
    """

    #: Brokers live by their znodes here.
    lifecycle = None

    def __init__(
        self,
        node_id: int,
        zk: ZkNode,
        metadata: MetadataCache,
        peers: Peers,
        clock: Clock,
        timer: Timer,
        *,
        listener: str,
        request_timeout_ms: float,
    ) -> None:
        self._zk = zk
        self._tie: QuorumTie | None = None
        self._follower: ZkFollower | None = None
        super().__init__(
            node_id,
            zk.controller,
            metadata,
            peers,
            clock,
            timer,
            broker_lost=lambda broker_id, epoch: zk.broker_lost(broker_id),
            listener=listener,
            request_timeout_ms=request_timeout_ms,
        )
        self.channel.patience_ms = _PATIENCE_MS
        self.channel.why_nobody = self._why_nobody
        self.watch.on_gone = zk.broker_gone
        zk.controller.watch(self)
        zk.controller.producer_ids = self._ids_of_producers()
        metadata.subscribe(self._on_metadata)

    def broker_epoch(self) -> int:
        """Of this process's registration, with the kind of controller that is obeyed; -1: it has none."""
        return self._zk.broker_epoch if self._follower is None else self._follower.own_epoch()

    def follow_quorum(self, tie: QuorumTie, follower: ZkFollower) -> None:
        """The cluster moves to KRaft: the controller is the quorum's from when it is obeyed on."""
        self._tie, self._follower = tie, follower
        follower.quorum_epoch = tie.epoch
        follower.on_other_kind = self.channel.leader_changed
        tie.on_leader_changed = self.channel.leader_changed

    def is_heard(self) -> bool:
        """False while others may lead what this broker believes to lead."""
        tie = self._quorum()
        return self._zk.is_heard() if tie is None else tie.lifecycle.is_heard()

    def leave(self) -> Deferred[None]:
        """Have the controller move what this broker leads, where there are others. Resolved when it has, or
        cannot be waited for.
        """
        left: Deferred[None] = Deferred()
        self._ask_leave(left, _LEAVE_TRIES)
        return left

    # -- ControllerWatcher -----------------------------------------------------------------------------------

    def activated(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`: who is gone already leads nothing."""
        if self._follower is not None:
            self._follower.elected()
        # Not from within: the watch hears of the image that was read in this turn of the loop, too.
        self._timer.call_later(0, self.watch.became_active)
        # It may have been started without one of its log directories.
        self._zk.metadata.when_told(self._zk.tell_own_directories)

    # -- inside ----------------------------------------------------------------------------------------------

    def _quorum(self) -> QuorumTie | None:
        """The quorum, if its controller is obeyed."""
        return self._tie if self._follower is not None and self._follower.is_kraft else None

    def _ask_leave(self, left: Deferred[None], tries: int) -> None:
        tie = self._quorum()
        if tie is not None:
            tie.lifecycle.leave().then(left.follow)
            return
        others = [each for each in self._metadata.image.live_brokers() if each.id != self.node_id]
        if not others or not tries or self.broker_epoch() < 0:
            left.resolve(None)
            return
        request = ControlledShutdownRequest(broker_id=self.node_id, broker_epoch=self.broker_epoch())
        sent = self.channel.send(request, _LEAVE_TIMEOUT_MS, channel="leave")
        sent.then(lambda done: self._heard_leave(left, tries - 1, done))

    def _heard_leave(self, left: Deferred[None], tries: int, done: Deferred[Any]) -> None:
        try:
            response = done.result()
        except ApiError as error:
            if self._quorum() is not None:
                # It has taken over meanwhile, and knows no such request.
                self._ask_leave(left, tries)
                return
            _log.warning("stopping without the controller's leave: %s", error.text or error.code.name)
            left.resolve(None)
            return
        if response.error_code:
            _log.info("the controller's leave: %s", error_code(response.error_code).name)
        elif not response.remaining_partitions:
            left.resolve(None)
            return
        self._timer.call_later(_LEAVE_PAUSE_MS, lambda: self._ask_leave(left, tries))

    def _on_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        if old.controller_id != new.controller_id or old.brokers is not new.brokers:
            self.channel.leader_changed()

    def _why_nobody(self) -> str | None:
        """For those who have asked for the controller in vain."""
        if not self._zk.has_session:
            return f"There is no session with ZooKeeper at {self._zk.servers}, and so no controller."
        return None

    def _find_controller(self) -> PeerAddress | None:
        image = self._zk.metadata.image
        if self._zk.controller.active:
            return PeerAddress(self.node_id, "", 0)
        tie = self._quorum()
        if tie is not None:
            return tie.controller()
        broker = image.brokers.get(image.controller_id)
        if broker is None or broker.id == self.node_id:
            return None
        endpoint = broker.endpoint(self.broker_listener) or next(iter(broker.endpoints), None)
        if endpoint is None:
            return None
        return PeerAddress(broker.id, endpoint.host, endpoint.port, endpoint.security_protocol)
