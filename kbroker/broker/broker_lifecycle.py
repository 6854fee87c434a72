"""A broker's place in the cluster: it registers, is let in, shows that it lives, and leaves (KIP-631).

    start   -> BrokerRegistration, until a controller takes it; then wait for the own record in the metadata
    serve   -> heartbeats that ask to be unfenced; afterwards one every `broker.heartbeat.interval.ms`
    leave   -> heartbeats that ask to be shut down, until the controller has moved what this broker leads

All of it goes over the controller channel, also where the controller is in this very process.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from kbroker.broker.broker_registration import BrokerRegistration, Pauses
from kbroker.broker.deferred import Deferred
from kbroker.controller.brokers import NodeRegistration
from kbroker.errors import ApiError, ConfigError, ErrorCode, error_code
from kbroker.metadata.image import ClusterImage
from kbroker.plain import plain
from kbroker.protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kbroker.types import Uuid

if TYPE_CHECKING:
    from kbroker.broker.controller_channel import ControllerChannel
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse

_log = logging.getLogger(__name__)

#: How long a broker that stops waits for a controller that does not answer; and while there is none, as when
#: a whole cluster is stopped. Whoever goes without leave is fenced at once.
_LEAVE_MS = 10_000.0
_LEAVE_ALONE_MS = 400.0
#: A start that takes longer tells what it waits for.
_SILENT_MS = 3000.0
#: The cluster has forgotten this broker, or let another one have its id.
_UNKNOWN = (ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED)


class BrokerState(Enum):
    """Kafka's numbers for the metric of this name."""

    NOT_RUNNING = 0
    STARTING = 1
    RECOVERY = 2
    RUNNING = 3
    PENDING_CONTROLLED_SHUTDOWN = 6
    SHUTTING_DOWN = 7


class CommittedCluster(Protocol):
    """What the lifecycle needs of the metadata (broker/kraft_node.py)."""

    def when(self, test: Callable[[ClusterImage], bool]) -> Deferred[ClusterImage]:
        """The first committed image that passes `test`."""
        ...


@plain(frozen=True, kw_only=True)
class LifecycleTimes:
    """Kafka's settings: broker.heartbeat.interval.ms, broker.session.timeout.ms,
    initial.broker.registration.timeout.ms, log.dir.failure.timeout.ms; and how long a controlled shutdown may
    take."""

    heartbeat_ms: float = 2000
    session_ms: float = 9000
    registration_ms: float = 60_000
    directory_failure_ms: float = 30_000
    shutdown_ms: float = 300_000


def lifecycle_times(config: BrokerConfig) -> LifecycleTimes:
    """As the settings have them."""
    return LifecycleTimes(
        heartbeat_ms=config.get_int("broker.heartbeat.interval.ms"),
        session_ms=config.get_int("broker.session.timeout.ms"),
        registration_ms=config.get_int("initial.broker.registration.timeout.ms"),
        directory_failure_ms=config.get_int("log.dir.failure.timeout.ms"),
    )


class BrokerLifecycle:
    """See the module.

    Args:
        cluster_id: the cluster this node belongs to.
        node: what it says of itself.
        offline_directories: log directories that have failed.
        cordoned_directories: those closed for new replicas; None where the cluster cannot be told yet.
        applied_offset: up to where this node has applied the metadata.
        migrating: the node is one of a cluster in ZooKeeper that moves to KRaft (KIP-866): it serves whether
            the quorum takes it or not, and asks until it does.
    """

    def __init__(
        self,
        cluster_id: str,
        node: NodeRegistration,
        channel: ControllerChannel,
        cluster: CommittedCluster,
        clock: Clock,
        timer: Timer,
        times: LifecycleTimes,
        *,
        offline_directories: Callable[[], Sequence[Uuid]],
        cordoned_directories: Callable[[], list[Uuid] | None],
        applied_offset: Callable[[], int],
        migrating: bool = False,
    ) -> None:
        self._migrating = migrating
        self._node = node
        self.registration = BrokerRegistration(
            cluster_id, node, channel, clock, timer, times, migrating=migrating
        )
        self._channel = channel
        self._cluster = cluster
        self._clock = clock
        self._timer = timer
        self._times = times
        self._offline_directories = offline_directories
        self._cordoned_directories = cordoned_directories
        self._applied_offset = applied_offset
        #: Failed directories that the controller has heard of, and those of the heartbeat on its way.
        self._reported: set[Uuid] = set()
        self._reporting: list[Uuid] = []
        self.state = BrokerState.NOT_RUNNING
        self.epoch = -1
        self._told_offset = -1
        #: What the controller says; a broker that is fenced leads nothing.
        self.fenced = True
        self._wants_in = False
        self._registered: Deferred[None] = Deferred()
        self._unfenced: Deferred[None] = Deferred()
        self._left: Deferred[None] = Deferred()
        #: When this broker asked for leave.
        self._leaves_ms = 0.0
        self._pauses = Pauses()
        self._alarm: TimerHandle | None = None
        self._registering = False
        #: Told why the controllers refuse this broker for good, after it had been one of them.
        self.on_refused: Callable[[str], object] = _log.error
        #: Which controllers are not reached, and why.
        self.troubles: Callable[[], list[str]] = list
        #: Done first of all by one who leaves: lets another node be the active controller.
        self.hand_over: Callable[[], Deferred[None]] = _nothing_to_hand_over
        #: A heartbeat is on its way; `_again_at_once`: what it says is old already.
        self._beating = False
        self._again_at_once = False
        #: When the last heartbeat that was accepted was sent, and the one that is on its way.
        self._heard_ms: float | None = None
        self._sent_ms = 0.0

    # -- the way in ------------------------------------------------------------------------------------------

    def start(self) -> Deferred[None]:
        """Register; resolved when the own registration is in the metadata of this node.

        It fails with ConfigError: the controllers refuse this node, or there are none.
        """
        self.state = BrokerState.STARTING
        self._timer.call_later(_SILENT_MS, self._tell_waiting)
        self._register()
        return self._registered

    def adopt(self, epoch: int) -> Deferred[None]:
        """Instead of `start`: this broker was registered and unfenced in the step that made its quorum."""
        self.epoch = epoch
        self.fenced = False
        self._wants_in = True
        self.state = BrokerState.RUNNING
        self._registered.resolve(None)
        self._unfenced.resolve(None)
        self._arm(self._times.heartbeat_ms)
        return self._registered

    def serve(self) -> Deferred[None]:
        """Everything is ready: ask to be unfenced. Resolved when this broker is."""
        self._wants_in = True
        self._pauses.begin_anew()
        if self._offline_directories():
            self.directory_failed()
        elif self.fenced or self._cordoned_directories():
            self.beat_now()
        return self._unfenced

    def directory_failed(self) -> None:
        """The controller must hear of a directory that has failed, or this broker keeps leaderships that it
        cannot serve: it stops if it is not heard in time (KIP-858; Kafka, too, asks not what lies there).
        """
        self.beat_now()
        failed = set(self._offline_directories())
        if failed - self._reported:
            self._timer.call_later(self._times.directory_failure_ms, lambda: self._stop_if_unheard(failed))

    def _stop_if_unheard(self, failed: set[Uuid]) -> None:
        unheard = failed - self._reported
        if unheard and self.state is not BrokerState.SHUTTING_DOWN:
            self._fail(
                f"no controller has heard within {self._times.directory_failure_ms / 1000:g} s "
                f"(log.dir.failure.timeout.ms) that {len(unheard)} of its log directories failed"
            )

    def on_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        """Subscribed to the metadata cache: a broker that was fenced by mistake says so at once. One that
        leaves waits until all others have heard of it, so they say at once that they have.
        """
        # Whoever takes and gives up leaderships has been told before.
        self._told_offset = new.offset
        if self.state is not BrokerState.RUNNING:
            return
        if old.brokers is new.brokers and old.topics is new.topics:
            return
        broker = new.brokers.get(self._node.id)
        fenced = broker is not None and broker.epoch == self.epoch and broker.fenced and not self.fenced
        # Who leaves may give up many partitions in more than one step.
        if fenced or any(each.in_controlled_shutdown and not each.fenced for each in new.brokers.values()):
            self.beat_now()

    # -- the way out -----------------------------------------------------------------------------------------

    def leave(self) -> Deferred[None]:
        """Have the controller move what this broker leads. Resolved when it has, or cannot be waited for."""
        if self.state is not BrokerState.RUNNING or self.fenced:
            self.stop()
        else:
            self.hand_over().then(lambda _: self._ask_for_leave())
        return self._left

    def _ask_for_leave(self) -> None:
        if self.state is not BrokerState.RUNNING:
            return
        self.state = BrokerState.PENDING_CONTROLLED_SHUTDOWN
        self._leaves_ms = self._clock.monotonic_ms()
        self._pauses.begin_anew()
        self.beat_now()
        self._timer.call_later(_LEAVE_ALONE_MS, self._leave_if_alone)

    def _leave_if_alone(self) -> None:
        if self.state is not BrokerState.PENDING_CONTROLLED_SHUTDOWN:
            return
        if self._channel.knows_controller:
            self._timer.call_later(_LEAVE_ALONE_MS, self._leave_if_alone)
        else:
            _log.info("stopping without a controller's leave: there is none")
            self.stop()

    def stop(self) -> None:
        """Nothing is said any more."""
        self.state = BrokerState.SHUTTING_DOWN
        self._disarm()
        self.registration.stop()
        self._left.resolve(None)

    # -- registration ----------------------------------------------------------------------------------------

    def _register(self) -> None:
        self._registering = True
        self._disarm()
        self.registration.ask().then(self._taken)

    def _taken(self, done: Deferred[int]) -> None:
        try:
            self.epoch = done.result()
        except ConfigError as refusal:
            self._fail(str(refusal))
            return
        self._cluster.when(self._has_me).then(self._caught_up)

    def _has_me(self, image: ClusterImage) -> bool:
        broker = image.brokers.get(self._node.id)
        return broker is not None and broker.epoch == self.epoch

    def _caught_up(self, done: Deferred[ClusterImage]) -> None:
        self._registering = False
        self._pauses.begin_anew()
        if self.state in (BrokerState.RUNNING, BrokerState.RECOVERY):
            self.beat_now()
        elif self.state is BrokerState.STARTING:
            self.state = BrokerState.RECOVERY
            # From now on the controller expects to hear from us.
            self._arm(self._times.heartbeat_ms)
            self._registered.resolve(None)

    def namesake_leads(self) -> None:
        """The active controller has our id; it may be what is left of an earlier life of this node."""
        if self.registration.is_duplicate(self._clock.monotonic_ms()):
            self.refuse(f"another node with node.id {self._node.id} is running: it is the active controller")

    def refuse(self, text: str) -> None:
        """This node cannot be let in, as it turns out by other ways than by its registration."""
        if not self._registered.done:
            self._fail(text)

    def _fail(self, text: str) -> None:
        self.stop()
        if self._registered.done:
            self.on_refused(text)
        else:
            self._registered.fail(ConfigError(text))

    def _tell_waiting(self) -> None:
        if self.state is BrokerState.STARTING:
            self.registration.tell_waiting(self.troubles())

    # -- heartbeats ------------------------------------------------------------------------------------------

    def beat_now(self) -> None:
        """Something has changed that the controller should know."""
        if self._beating:
            self._again_at_once = True
        elif self.epoch >= 0 and not self._registering and self.state is not BrokerState.SHUTTING_DOWN:
            self._beat()

    def _beat(self) -> None:
        self._disarm()
        self._beating, self._again_at_once = True, False
        self._reporting = list(self._offline_directories())
        request = BrokerHeartbeatRequest(
            broker_id=self._node.id,
            broker_epoch=self.epoch,
            current_metadata_offset=max(self._applied_offset(), self._told_offset),
            want_fence=not self._wants_in,
            want_shut_down=self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN,
            offline_log_dirs=self._reporting,
            cordoned_log_dirs=self._cordoned_directories(),
        )
        leaving = self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
        patience_ms = min(self._times.session_ms / 2, _LEAVE_MS if leaving else self._times.session_ms)
        self._sent_ms = self._clock.monotonic_ms()
        sent = self._channel.send(request, patience_ms, channel="heartbeat")
        sent.then(self._beat_answered)

    def _beat_answered(self, done: Deferred[BrokerHeartbeatResponse]) -> None:
        self._beating = False
        if self.state is BrokerState.SHUTTING_DOWN:
            return
        try:
            response = done.result()
            code = error_code(response.error_code)
        except ApiError as error:
            code = error.code
        problem = "" if code is ErrorCode.NONE else code.name
        leaving = self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
        waited_ms = self._clock.monotonic_ms() - self._leaves_ms
        if leaving and code is ErrorCode.REQUEST_TIMED_OUT and waited_ms < _LEAVE_MS:
            # It may have much to move.
            self._beat()
        elif problem and leaving:
            if code in _UNKNOWN:
                _log.info("stopping: the controller does not know this broker any more")
            elif code is ErrorCode.REQUEST_TIMED_OUT:
                _log.warning("stopping without the controller's leave: it does not answer")
            else:
                _log.warning("stopping without the controller's leave: it answers %s", problem)
            self.stop()
        elif code in _UNKNOWN and (self.state is BrokerState.RUNNING or self._migrating):
            _log.warning("the controller does not know this broker any more: it registers anew")
            self.fenced = True
            self._register()
        elif problem:
            _log.info("a heartbeat of this broker was refused: %s", problem)
            self._arm(self._pauses.next_ms())
        else:
            self._heard(response)

    def is_heard(self) -> bool:
        """False if the controller may have given what this broker leads to others, unheard by it.

        A new controller counts sessions from half a session before it took over at the most, and the one
        before it tells nobody that all is read when another may have been elected.
        """
        if self._heard_ms is None:
            return True
        if self._clock.monotonic_ms() - self._heard_ms <= self._times.session_ms / 2:
            return True
        self.beat_now()
        return False

    def _heard(self, response: Any) -> None:
        if response.is_caught_up and not response.is_fenced:
            # Else others may lead what we believe to be ours: we have not read yet that it was taken from us.
            self._heard_ms = self._sent_ms
        self._reported.update(self._reporting)
        if self.fenced and not response.is_fenced and self._wants_in:
            self.fenced = False
            if self.state is BrokerState.RECOVERY:
                self.state = BrokerState.RUNNING
            self._unfenced.resolve(None)
        leaving = self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
        if response.is_fenced and not self.fenced:
            self.fenced = True
            if not leaving:
                _log.warning("the controller has fenced this broker: it was not heard of for too long")
        waited_ms = self._clock.monotonic_ms() - self._leaves_ms
        if leaving and (response.should_shut_down or waited_ms > self._times.shutdown_ms):
            if not response.should_shut_down:
                _log.warning("the controller has not moved all that this broker leads; stopping anyway")
            self.stop()
        elif self._again_at_once:
            self._beat()
        elif leaving or (self.fenced and self._wants_in):
            self._arm(self._pauses.next_ms())
        else:
            self._pauses.begin_anew()
            self._arm(self._times.heartbeat_ms)

    def _arm(self, delay_ms: float) -> None:
        self._disarm()
        self._alarm = self._timer.call_later(delay_ms, self._beat)

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


def _nothing_to_hand_over() -> Deferred[None]:
    done: Deferred[None] = Deferred()
    done.resolve(None)
    return done
