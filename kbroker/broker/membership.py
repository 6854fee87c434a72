"""This node among the others: its way to the controller and to brokers, its life as one of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.broker.absent_brokers import AbsentBrokers
from kbroker.broker.broker_lifecycle import BrokerLifecycle, LifecycleTimes
from kbroker.broker.controller_channel import ControllerChannel
from kbroker.broker.controller_registration import ControllerRegistration
from kbroker.broker.deferred import Deferred
from kbroker.broker.failure_watch import FailureWatch
from kbroker.broker.forwarding import Forwarder
from kbroker.broker.peer import AS_CONTROLLER, PeerAddress, PeerError, Peers
from kbroker.broker.producer_ids import ProducerIdSource
from kbroker.controller.brokers import CORDON_LEVEL, NodeRegistration
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.controller.producer_ids import ProducerIdBlock
from kbroker.errors import ApiError, ErrorCode, error_code
from kbroker.protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kbroker.raft.messages import ResignRequested

if TYPE_CHECKING:
    from kbroker.broker.controller_chores import ControllerChores
    from kbroker.broker.kraft_node import KraftNode, KraftSetup, Leader
    from kbroker.broker.log_directories import LogDirectories
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.cache import MetadataCache
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
    from kbroker.protocol.primitives import Message
    from kbroker.types import Uuid

_log = logging.getLogger(__name__)

_ASK_TIMEOUT_MS = 10_000
#: Produce (0), of dead letters, waits for followers: others must not wait behind it.
_OF_THEIR_OWN: dict[int | None, tuple[str, int]] = {0: ("dead-letters", 40_000)}
#: How long a controller that stops waits for its successor.
_HAND_OVER_MS = 1500.0


class Membership:
    """See the module. To be made before the first metadata is published.

    Args:
        setup: who this node is.
        kraft: its part in the quorum.
        controller_listener, broker_listener: over which controllers, and brokers, are reached.
        previous_broker_epoch: as the logs on the disk have it.
        directories: the log directories of this node.
    """

    def __init__(
        self,
        config: BrokerConfig,
        setup: KraftSetup,
        kraft: KraftNode,
        metadata: MetadataCache,
        chores: ControllerChores,
        peers: Peers,
        clock: Clock,
        timer: Timer,
        *,
        controller_listener: str,
        broker_listener: str,
        previous_broker_epoch: int,
        directories: LogDirectories,
    ) -> None:
        self._setup = setup
        self._kraft = kraft
        self._metadata = metadata
        metadata.pause = lambda go_on: timer.call_later(0, go_on)
        self._peers = peers
        self._clock = clock
        self._timer = timer
        self._controller_listener = controller_listener
        self._foreign: set[PeerAddress] = set()
        self.broker_listener = broker_listener
        #: Asks this node itself; set once its handlers are there.
        self.ask_here: Callable[[Message], Deferred[Any]] = nobody_here
        self.channel = ControllerChannel(
            setup.node_id, peers, clock, timer, self._find_controller, lambda request: self.ask_here(request)
        )
        kraft.on_leader_changed(lambda _: self.channel.leader_changed())
        kraft.previous_broker_epoch = previous_broker_epoch
        self.forward = Forwarder(self.channel, config.get_int("request.timeout.ms"))
        node = NodeRegistration(
            setup.node_id,
            setup.incarnation_id,
            setup.broker_endpoints,
            SUPPORTED_FEATURES,
            setup.rack,
            setup.log_dir_ids,
            previous_broker_epoch,
        )
        self.lifecycle: BrokerLifecycle | None = None
        if setup.is_broker:
            self.lifecycle = BrokerLifecycle(
                setup.cluster_id,
                node,
                self.channel,
                kraft,
                clock,
                timer,
                _times(config),
                offline_directories=directories.offline,
                cordoned_directories=lambda: self._cordoned(directories),
                applied_offset=lambda: kraft.metadata.told_offset,
            )
            metadata.subscribe(self.lifecycle.on_metadata)
            self.lifecycle.hand_over = self._hand_over
            directories.on_cordoned = self.lifecycle.beat_now
            # Also of this node's own controller: one way for all.
            kraft.controller.producer_ids = ProducerIdSource(self._allocate_producer_ids)
        self.absent = AbsentBrokers(timer, clock)
        self.watch = self._watch_brokers(chores)
        metadata.subscribe(self.watch.on_metadata)
        self._registration: ControllerRegistration | None = None
        if setup.is_controller:
            self._registration = ControllerRegistration(node, setup, self.channel, kraft, timer)
            kraft.controller.watch(self)

    def _cordoned(self, directories: LogDirectories) -> list[Uuid] | None:
        level = self._kraft.metadata.image.metadata_version
        return directories.cordoned() if level >= CORDON_LEVEL else None

    def _watch_brokers(self, chores: ControllerChores) -> FailureWatch:
        return FailureWatch(
            self._setup.node_id,
            self._peers,
            self.broker_listener,
            lambda: self._kraft.controller.active,
            lambda broker_id, epoch: _quiet(chores.broker_lost(broker_id, epoch)),
            self.absent,
        )

    def start(self) -> Deferred[None]:
        """Enter the cluster, after the quorum has been joined; resolved when metadata may be published."""
        if self._registration is not None and not self._kraft.is_lone:
            self._registration.start()
        if self.lifecycle is None:
            done: Deferred[None] = Deferred()
            done.resolve(None)
            return done
        if self._kraft.is_lone:
            return self.lifecycle.adopt(self._kraft.metadata.image.brokers[self._setup.node_id].epoch)
        return self.lifecycle.start()

    def broker_epoch(self) -> int:
        """Of this process's registration as a broker; -1: it has none yet."""
        broker = self._kraft.metadata.image.brokers.get(self._setup.node_id)
        if self._kraft.is_lone and broker is not None:
            # It publishes its first metadata before the lifecycle begins.
            return broker.epoch if broker.incarnation_id == self._setup.incarnation_id else -1
        return -1 if self.lifecycle is None else self.lifecycle.epoch

    def stop(self) -> None:
        """Say and hear nothing any more."""
        if self.lifecycle is not None:
            self.lifecycle.stop()
        if self._registration is not None:
            self._registration.stop()
        self.watch.stop()
        self.channel.close()

    def _hand_over(self) -> Deferred[None]:
        """Let another node be the active controller, if one can: it decides who leads what this broker leads,
        while this one goes on to serve. Resolved when there is one, or none was found in time.
        """
        done: Deferred[None] = Deferred()
        raft = self._kraft.raft
        if not self._kraft.controller.active or not raft.node.may_hand_over(self._clock.monotonic_ms()):
            done.resolve(None)
            return done
        _log.info("another node is to be the active controller, as this one stops")
        alarm = self._timer.call_later(_HAND_OVER_MS, lambda: done.resolve(None))

        def heard(leader: Leader) -> None:
            if leader.node_id >= 0:
                alarm.cancel()
                done.resolve(None)

        self._kraft.on_leader_changed(heard)
        raft.step(ResignRequested(raft.node.epoch))
        return done

    def ask_broker(self, broker_id: int, request: Message) -> Deferred[Any]:
        """The answer of another broker; fails with ApiError NETWORK_EXCEPTION if there is none."""
        return ask_broker(self._peers, self._metadata, self.broker_listener, broker_id, request)

    def foreign(self, address: PeerAddress) -> None:
        """That node of the quorum belongs to another cluster; if all do, it is this node that is wrong."""
        if address in self._foreign:
            return
        self._foreign.add(address)
        _log.error("%s belongs to another cluster than %s", address, self._setup.cluster_id)
        asked = [voter for voter in self._setup.static_voters if voter.id != self._setup.node_id]
        if len(self._foreign) >= len(asked or self._setup.bootstrap_controllers):
            text = (
                f"the controllers belong to another cluster than {self._setup.cluster_id}: {address} says so"
            )
            if self.lifecycle is not None:
                self.lifecycle.refuse(text)

    # -- ControllerWatcher: brokers that are known to be gone ------------------------------------------------

    def activated(self, image: ClusterImage) -> None:
        """This node is the active controller."""
        self.watch.became_active()

    def committed(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`."""

    def resigned(self) -> None:
        """See `ControllerWatcher`."""

    # -- inside ----------------------------------------------------------------------------------------------

    def _find_controller(self) -> PeerAddress | None:
        leader = self._kraft.leader()
        if leader.node_id < 0:
            if self.lifecycle is not None and self._kraft.raft.node.namesake_leads:
                self.lifecycle.namesake_leads()
            return None
        if leader.node_id == self._setup.node_id:
            return PeerAddress(leader.node_id, "", 0)
        for endpoint in leader.endpoints:
            if endpoint.name == self._controller_listener:
                return PeerAddress(leader.node_id, endpoint.host, endpoint.port, AS_CONTROLLER)
        first = next(iter(leader.endpoints), None)
        return None if first is None else PeerAddress(leader.node_id, first.host, first.port, AS_CONTROLLER)

    def _allocate_producer_ids(self) -> Deferred[ProducerIdBlock]:
        request = AllocateProducerIdsRequest(broker_id=self._setup.node_id, broker_epoch=self.broker_epoch())
        return self.channel.send(request, _ASK_TIMEOUT_MS).map(given_block)


def ask_broker(
    peers: Peers, metadata: MetadataCache, listener: str, broker_id: int, request: Message
) -> Deferred[Any]:
    """The answer of another broker; fails with ApiError NETWORK_EXCEPTION if there is none."""
    answer: Deferred[Any] = Deferred()
    broker = metadata.image.brokers.get(broker_id)
    endpoint = None if broker is None else broker.endpoint(listener)
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
    peers.send(address, request, timeout_ms=timeout_ms, channel=channel).then(give)
    return answer


def _times(config: BrokerConfig) -> LifecycleTimes:
    return LifecycleTimes(
        heartbeat_ms=config.get_int("broker.heartbeat.interval.ms"),
        session_ms=config.get_int("broker.session.timeout.ms"),
        registration_ms=config.get_int("initial.broker.registration.timeout.ms"),
        directory_failure_ms=config.get_int("log.dir.failure.timeout.ms"),
    )


def given_block(response: AllocateProducerIdsResponse) -> ProducerIdBlock:
    if response.error_code:
        raise ApiError(error_code(response.error_code))
    return ProducerIdBlock(response.producer_id_start, response.producer_id_len)


def _quiet(done: Deferred[None]) -> None:
    def heard(done: Deferred[None]) -> None:
        try:
            done.result()
        except ApiError as error:
            _log.debug("a broker that is gone was not fenced: %s", error.code.name)

    done.then(heard)


def nobody_here(request: Message) -> Deferred[Any]:
    answer: Deferred[Any] = Deferred()
    answer.fail(ApiError(ErrorCode.NOT_CONTROLLER))
    return answer
