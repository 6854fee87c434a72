"""A node among the others, whoever keeps the metadata: its way to the controller, and to brokers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.broker.absent_brokers import AbsentBrokers
from kbroker.broker.controller_channel import ControllerChannel
from kbroker.broker.deferred import Deferred
from kbroker.broker.failure_watch import FailureWatch
from kbroker.broker.forwarding import Forwarder
from kbroker.broker.peer import PeerAddress, PeerError
from kbroker.broker.producer_ids import ProducerIdSource
from kbroker.controller.producer_ids import ProducerIdBlock
from kbroker.errors import ApiError, ErrorCode, error_code
from kbroker.protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest

if TYPE_CHECKING:
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.peer import Peers
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock
    from kbroker.metadata.cache import MetadataCache
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
    from kbroker.protocol.primitives import Message

_ASK_TIMEOUT_MS = 10_000
#: Produce (0), of dead letters, waits for followers: others must not wait behind it.
_OF_THEIR_OWN: dict[int | None, tuple[str, int]] = {0: ("dead-letters", 40_000)}


class AmongBrokers:
    """See the module; what `Membership` (KRaft) and `ZkMembership` have in common. To be made before the
    first metadata is published.

    Args:
        node_id: this node.
        controller: of this node; active while it is the controller.
        broker_lost: told by the watch on an active controller: a broker (id, epoch) refuses connections.
        listener: over which brokers are reached.
        request_timeout_ms: how long a client's request looks for a controller.
    """

    def __init__(
        self,
        node_id: int,
        controller: ControllerDriver,
        metadata: MetadataCache,
        peers: Peers,
        clock: Clock,
        timer: Timer,
        *,
        broker_lost: Callable[[int, int], object],
        listener: str,
        request_timeout_ms: float,
    ) -> None:
        self.node_id = node_id
        self._metadata = metadata
        metadata.pause = lambda go_on: timer.call_later(0, go_on)
        self._peers = peers
        self._timer = timer
        self.broker_listener = listener
        #: Asks this node itself; set once its handlers are there.
        self.ask_here: Callable[[Message], Deferred[Any]] = _nobody_here
        self.channel = ControllerChannel(
            node_id, peers, clock, timer, self._find_controller, lambda request: self.ask_here(request)
        )
        self.forward = Forwarder(self.channel, request_timeout_ms)
        self.absent = AbsentBrokers(timer, clock)
        self.watch = FailureWatch(
            node_id, peers, listener, lambda: controller.active, broker_lost, self.absent
        )
        metadata.subscribe(self.watch.on_metadata)

    def broker_epoch(self) -> int:
        """Of this process's registration as a broker; -1: it has none yet."""
        raise NotImplementedError

    def ask_broker(self, broker_id: int, request: Message) -> Deferred[Any]:
        """The answer of another broker; fails with ApiError NETWORK_EXCEPTION if there is none."""
        answer: Deferred[Any] = Deferred()
        broker = self._metadata.image.brokers.get(broker_id)
        endpoint = None if broker is None else broker.endpoint(self.broker_listener)
        if endpoint is None:
            answer.fail(ApiError(ErrorCode.NETWORK_EXCEPTION, f"There is no broker {broker_id}."))
            return answer
        address = PeerAddress(broker_id, endpoint.host, endpoint.port, endpoint.security_protocol)

        def give(done: Deferred[Any]) -> None:
            try:
                answer.resolve(done.result())
            except PeerError as error:
                answer.fail(ApiError(ErrorCode.NETWORK_EXCEPTION, str(error)))

        channel, timeout_ms = _OF_THEIR_OWN.get(request.API_KEY, ("markers", _ASK_TIMEOUT_MS))
        self._peers.send(address, request, timeout_ms=timeout_ms, channel=channel).then(give)
        return answer

    def stop(self) -> None:
        """Say and hear nothing any more."""
        self.watch.stop()
        self.channel.close()

    # -- ControllerWatcher: brokers that are known to be gone ------------------------------------------------

    def activated(self, image: ClusterImage) -> None:
        """This node is the active controller."""
        self.watch.became_active()

    def committed(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`."""

    def resigned(self) -> None:
        """See `ControllerWatcher`."""

    # -- for those that know who keeps the metadata ----------------------------------------------------------

    def _find_controller(self) -> PeerAddress | None:
        raise NotImplementedError

    def _ids_of_producers(self) -> ProducerIdSource:
        """From the controller, also where it is this node: one way for all."""
        return ProducerIdSource(self._allocate_producer_ids)

    def _allocate_producer_ids(self) -> Deferred[ProducerIdBlock]:
        request = AllocateProducerIdsRequest(broker_id=self.node_id, broker_epoch=self.broker_epoch())
        return self.channel.send(request, _ASK_TIMEOUT_MS).map(_given_block)


def _given_block(response: AllocateProducerIdsResponse) -> ProducerIdBlock:
    if response.error_code:
        raise ApiError(error_code(response.error_code))
    return ProducerIdBlock(response.producer_id_start, response.producer_id_len)


def _nobody_here(request: Message) -> Deferred[Any]:
    answer: Deferred[Any] = Deferred()
    answer.fail(ApiError(ErrorCode.NOT_CONTROLLER))
    return answer
