"""What the controller of a cluster in ZooKeeper tells the brokers: LeaderAndIsr, UpdateMetadata, StopReplica.

A broker is told what it has not acknowledged, as it is when the request is built, not each step that led
there: so what is not told yet never grows beyond one image. One request to a broker is under way at once,
in Kafka's order: of brokers that are new it hears first. What fails is told again, as long as the broker
lives in the same epoch.

A broker that refuses connections leads nothing from then on, though its session has not ended yet: it is
asked whether it lives until its registration goes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import PeerAddress, PeerError, PeerFailure
from kbroker.broker.zk_requests import (
    Key,
    Lost,
    Told,
    forgotten,
    former,
    has_former,
    knows_not_all,
    leader_and_isr,
    mark_as_of_quorum,
    of_former_topics,
    offline,
    said,
    stop_replica,
    update_metadata,
)
from kbroker.protocol.generated.leader_and_isr_response import LeaderAndIsrResponse
from kbroker.protocol.generated.stop_replica_request import StopReplicaRequest

if TYPE_CHECKING:
    from kbroker.broker.peer import Peers
    from kbroker.broker.timer import Timer
    from kbroker.metadata.image import BrokerImage, ClusterImage
    from kbroker.protocol.primitives import Message
    from kbroker.types import Uuid

_log = logging.getLogger(__name__)

_AGAIN_MS = 100.0
#: Whoever is fenced because it refuses connections.
_ASK_AGAIN_MS = 500.0
_TIMEOUT_MS = 30_000.0
_CHANNEL = "zk-controller"
#: Makes a request from an image, the controller's id, the broker's, and what that has acknowledged.
Builder: TypeAlias = Callable[["ClusterImage", int, int, Told], "tuple[Message | None, Told]"]


class Suspects(Protocol):
    """Brokers that are registered, and refuse connections; and such as have lost a log directory."""

    def is_suspect(self, broker_id: int, epoch: int) -> bool:
        """Whether it is fenced for that."""
        ...

    def refused(self, broker_id: int, epoch: int) -> None:
        """It refuses connections."""
        ...

    def answered(self, broker_id: int, epoch: int) -> None:
        """One of them answers in this epoch."""
        ...

    def offline(self, broker_id: int, partitions: Collection[Key]) -> None:
        """A broker has these in log directories that have failed."""
        ...

    def all_offline(self) -> Lost:
        """What brokers have in log directories that have failed, this node's own, too."""
        ...

    def has_vanished(self, topic_id: Uuid) -> bool:
        """Whether a topic that is gone was not deleted: its logs are kept."""
        ...


class ZkChannel:
    """A `ControllerWatcher` that tells all live brokers but this node's own.

    Args:
        listener: over which brokers are reached; one that lacks it, over its first.
        suspects: told who refuses connections; it asks these whether they live, now and then.
        of_quorum: this controller is one of KRaft, and tells only brokers that are still in ZooKeeper's mode
            (KIP-866).
    """

    def __init__(
        self,
        node_id: int,
        peers: Peers,
        timer: Timer,
        listener: str,
        suspects: Suspects | None = None,
        *,
        of_quorum: bool = False,
    ) -> None:
        self._node_id = node_id
        self._peers = peers
        self._timer = timer
        self._listener = listener
        self._suspects = suspects
        self._of_quorum = of_quorum
        self._image: ClusterImage | None = None
        self._brokers: dict[int, _Broker] = {}
        #: Whom this node told last, and in which epoch: it may only have to read the cluster again.
        self._former: dict[int, _Broker] = {}
        self._former_epoch = -1

    def activated(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`: a new controller tells everybody everything.

        One that goes on in its epoch also knows what it has told: of what is deleted brokers hear by that
        only.
        """
        self.resigned()
        if self._former_epoch != image.epoch:
            self._former = {}
        self.committed(image)
        self._former = {}

    def committed(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`."""
        self._image = image
        live = {
            each.id: each
            for each in image.brokers.values()
            if each.epoch >= 0
            and (not each.fenced or self._is_suspect(each))
            and (each.is_migrating_zk_broker or not self._of_quorum)
        }
        for broker_id in [each for each in self._brokers if each not in live]:
            self._brokers.pop(broker_id).stop()
        for broker in live.values():
            if broker.id == self._node_id:
                continue
            known = self._brokers.get(broker.id)
            if known is None or known.epoch != broker.epoch:
                if known is not None:
                    known.stop()
                known = self._brokers[broker.id] = _Broker(self, broker)
                former = self._former.get(broker.id)
                if former is not None and former.epoch == broker.epoch:
                    known.told = said(former.told, former.asked)
                    known.wait_for(former)
            known.is_suspect = broker.fenced
            known.tell()

    def ask_for_directories(self, broker_id: int) -> None:
        """One of the broker's log directories has failed: by what it says to all that it leads and follows it
        is known what lay there.
        """
        broker = self._brokers.get(broker_id)
        if broker is not None:
            broker.forget()
            broker.tell()

    def resigned(self) -> None:
        """See `ControllerWatcher`."""
        if self._image is not None:
            self._former, self._former_epoch = dict(self._brokers), self._image.epoch
        self._image = None
        for broker in self._brokers.values():
            broker.stop()
        self._brokers.clear()

    # -- for _Broker -----------------------------------------------------------------------------------------

    def requests(self, broker: _Broker) -> Iterable[tuple[Message, Told]]:
        """What is to be said next, with what the broker knows when it has answered."""
        image, told = self._image, broker.told
        if image is None:
            return
        if broker.is_suspect:
            yield self._question(image, broker), told
            return
        lost = {} if self._suspects is None else self._suspects.all_offline()
        update: Builder = partial(update_metadata, lost=lost)
        stop: Builder = partial(stop_replica, keeps=self._keeps)
        builders: list[Builder] = [leader_and_isr, update, stop]
        if knows_not_all(image, told):
            # Kafka's broker gives up on a leader that it has not heard of as a live broker.
            builders.insert(0, update)
        if has_former(image, told):
            builders.insert(0, stop)
        for build in builders:
            request, after = build(image, self._node_id, broker.id, told)
            if request is not None:
                if self._of_quorum:
                    mark_as_of_quorum(request, told)
                yield request, after

    def send(self, broker: _Broker, request: Message) -> Deferred[Any]:
        """To that broker."""
        return self._peers.send(broker.address, request, timeout_ms=_TIMEOUT_MS, channel=_CHANNEL)

    def address(self, broker: BrokerImage) -> PeerAddress | None:
        """Where it is reached."""
        endpoint = broker.endpoint(self._listener) or next(iter(broker.endpoints), None)
        if endpoint is None:
            return None
        return PeerAddress(broker.id, endpoint.host, endpoint.port, endpoint.security_protocol)

    def later(self, broker: _Broker) -> None:
        """Try again in a moment."""
        self._timer.call_later(_ASK_AGAIN_MS if broker.is_suspect else _AGAIN_MS, broker.tell)

    def refused(self, broker: _Broker) -> None:
        """It refuses connections."""
        if self._suspects is not None:
            self._suspects.refused(broker.id, broker.epoch)

    def answered(self, broker: _Broker) -> None:
        """It lives."""
        if self._suspects is not None and broker.is_suspect:
            self._suspects.answered(broker.id, broker.epoch)

    def led(self, broker: _Broker, response: LeaderAndIsrResponse) -> None:
        """What it leads and follows it has heard, and may have said what it cannot."""
        if self._image is None:
            return
        lost = offline(self._image, response)
        if lost and self._suspects is not None:
            self._suspects.offline(broker.id, lost)
        broker.found_former(former(self._image, response))

    # -- inside ----------------------------------------------------------------------------------------------

    def _is_suspect(self, broker: BrokerImage) -> bool:
        return self._suspects is not None and self._suspects.is_suspect(broker.id, broker.epoch)

    def _keeps(self, topic_id: Uuid) -> bool:
        return self._suspects is not None and self._suspects.has_vanished(topic_id)

    def _question(self, image: ClusterImage, broker: _Broker) -> Message:
        """Asks nothing of a broker but whether it is still in that epoch."""
        return StopReplicaRequest(
            controller_id=self._node_id, controller_epoch=image.epoch, broker_epoch=broker.epoch
        )


class _Broker:
    """One broker in one epoch, and what it has acknowledged."""

    def __init__(self, channel: ZkChannel, broker: BrokerImage) -> None:
        self._channel = channel
        self.id = broker.id
        self.epoch = broker.epoch
        address = channel.address(broker)
        self.address = PeerAddress(broker.id, "", 0) if address is None else address
        self.told = Told()
        #: What it knows if it heard the last request.
        self.asked = self.told
        #: Whose forerunners it was told to delete.
        self._cleared: set[Key] = set()
        #: Told while a request was under way: `told` is to be forgotten after the answer.
        self._forgets = False
        #: It is fenced, and asked whether it lives.
        self.is_suspect = False
        self._under_way = False
        self._stopped = address is None
        self._troubled = False
        #: Who is to go on when the request that is under way is answered.
        self._successor: _Broker | None = None

    def stop(self) -> None:
        """It is gone, or this node is no controller any more."""
        self._stopped = True

    def wait_for(self, former: _Broker) -> None:
        """Say nothing before that one's request is answered: they might overtake each other."""
        if former._under_way:
            self._under_way = True
            former._successor = self

    def _go_on(self) -> None:
        self._under_way = False
        if not self._stopped:
            self.tell()
        elif self._successor is not None:
            self._successor._go_on()

    def forget(self) -> None:
        """It is to be told once more what it leads and follows."""
        self.told = forgotten(self.told)
        self._forgets = self._under_way

    def found_former(self, keys: set[Key]) -> None:
        """It was away when topics were deleted whose names others have now: its replicas go, once."""
        keys -= self._cleared
        if keys:
            _log.info("broker %d has %d replicas of topics that were deleted: they go", self.id, len(keys))
            self._cleared |= keys
            self.told = of_former_topics(self.told, keys)

    def tell(self) -> None:
        """Send the next request, if none is under way and something is to be said."""
        if self._stopped or self._under_way:
            return
        for request, after in self._channel.requests(self):
            self._under_way = True
            self.asked = after
            self._channel.send(self, request).then(lambda done, after=after: self._answered(after, done))  # type: ignore[misc]
            return

    def _answered(self, after: Told, done: Deferred[Any]) -> None:
        if self._stopped:
            self._go_on()
            return
        self._under_way = False
        try:
            response = done.result()
            code = response.error_code
        except PeerError as error:
            if error.reason is PeerFailure.REFUSED:
                self._channel.refused(self)
            self._trouble(str(error))
            return
        if code:
            # Another controller, or another life of the broker: ZooKeeper will tell of either.
            self._trouble(f"broker {self.id} answers with error {code}")
            return
        self._troubled = False
        self.told = forgotten(after) if self._forgets else after
        self._forgets = False
        if self.is_suspect:
            self._channel.answered(self)
            return
        if isinstance(response, LeaderAndIsrResponse):
            self._channel.led(self, response)
        self.tell()

    def _trouble(self, text: str) -> None:
        if not self._troubled:
            self._troubled = True
            _log.info("cannot tell a broker its partitions, trying again: %s", text)
        self._channel.later(self)
