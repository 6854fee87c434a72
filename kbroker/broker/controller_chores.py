"""What the active controller does by the clock, and the brokers' sessions.

Nothing here runs while another node is the active controller. One timer is armed, for whatever comes due
next: a session that ends, the round of preferred leaders, the round of unclean elections. A controller that
takes over gives every live broker the rest of a session, since it has not heard the heartbeats before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kbroker.broker.deferred import Deferred
from kbroker.controller.brokers import NodeRegistration, fence_broker, register_broker, unregister_broker
from kbroker.controller.decision import Decision
from kbroker.controller.election_rules import UNCLEAN_ELECTION, election_rules
from kbroker.controller.elections import (
    elect_unclean,
    first_to_move,
    leaderless,
    move_slice,
    rebalance,
)
from kbroker.controller.heartbeats import Heartbeat, HeartbeatReply, heartbeat
from kbroker.controller.liveness import Liveness
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import ZERO_UUID, Uuid

if TYPE_CHECKING:
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.image import ClusterImage

T = TypeVar("T")

_log = logging.getLogger(__name__)

#: After a chore that could not be appended (the disk is full): when it is tried again.
_RETRY_MS = 1000
#: So many refused registrations are remembered, not to be told again.
_REFUSALS_KEPT = 100


class ControllerChores:
    """Sessions, fencing and elections by the clock, while `controller` is active.

    Args:
        controller: where decisions are appended; its own broker needs no heartbeats to stay alive.
        config: of this node.
        incarnation_id: what the broker in this process registers with; as long as it is the registered one
            nobody else gets its id.
        sessions: whether brokers live by their heartbeats; in ZooKeeper they live by their znodes.
    """

    def __init__(
        self,
        controller: ControllerDriver,
        config: BrokerConfig,
        clock: Clock,
        timer: Timer,
        incarnation_id: Uuid = ZERO_UUID,
        *,
        sessions: bool = True,
    ) -> None:
        self._incarnation_id = incarnation_id
        self._controller = controller
        self._config = config
        self._clock = clock
        self._timer = timer
        #: What elections obey; for handlers, too.
        self.rules = election_rules(config)
        self._sessions = sessions
        self._liveness = Liveness(lambda: config.get_int("broker.session.timeout.ms"), controller.node_id)
        self._alarm: TimerHandle | None = None
        self._alarm_ms = float("inf")
        self._rebalance_ms: float | None = None
        self._unclean_ms: float | None = None
        self._seen: ClusterImage | None = None
        #: Brokers that give up what they lead, slice by slice.
        self._leaving: set[int] = set()
        self._refusals: set[tuple[int, Uuid, ErrorCode]] = set()
        controller.watch(self)
        if config.get_str("delegation.token.secret.key"):
            from kbroker.broker.token_expiry import TokenExpiry

            every_ms = config.get_int("delegation.token.expiry.check.interval.ms")
            self._tokens = TokenExpiry(controller, clock, timer, every_ms)

    # -- what handlers ask -----------------------------------------------------------------------------------

    def register(self, node: NodeRegistration) -> Deferred[int]:
        """A broker registers; its epoch. Fails with the ApiErrors of `register_broker`."""
        now = self._now()

        def decide(image: ClusterImage) -> Decision[int]:
            alive = self._is_alive(image, node, now) or self._is_own(image, node.id)
            try:
                decision = register_broker(image, node, self.rules, alive=alive)
            except ApiError as error:
                self.refused(node.id, node.incarnation_id, error)
                raise
            offset = image.offset + len(decision.records)
            self._liveness.registered(node.id, decision.response, offset)
            return decision

        return self._append(decide)

    def refused(self, broker_id: int, incarnation_id: Uuid, error: ApiError) -> None:
        """A registration was refused: told in the log, once for each process and reason."""
        reason = broker_id, incarnation_id, error.code
        if reason not in self._refusals and error.code is not ErrorCode.NOT_CONTROLLER:
            if len(self._refusals) >= _REFUSALS_KEPT:
                self._refusals.clear()
            self._refusals.add(reason)
            _log.warning("broker %d may not register: %s", broker_id, error.text or error.code.name)

    def _is_alive(self, image: ClusterImage, node: NodeRegistration, now_ms: float) -> bool:
        """Whether another process has that id. One that this controller never heard of has not, where the new
        one comes with its directories: they are locked. So a whole cluster that was killed is back at once.
        """
        broker = image.brokers.get(node.id)
        moved_in = broker is not None and not set(broker.log_dirs).isdisjoint(node.log_dirs)
        if moved_in and self._liveness.only_assumed(node.id):
            return False
        return self._liveness.alive(node.id, now_ms)

    def _is_own(self, image: ClusterImage, broker_id: int) -> bool:
        broker = image.brokers.get(broker_id)
        return broker is not None and broker.incarnation_id == self._incarnation_id

    def heartbeat(self, beat: Heartbeat) -> Deferred[HeartbeatReply]:
        """A broker is alive. Fails with STALE_BROKER_EPOCH."""
        now, liveness = self._now(), self._liveness

        def decide(image: ClusterImage) -> Decision[HeartbeatReply]:
            decision = heartbeat(
                image,
                beat,
                self.rules,
                caught_up=liveness.caught_up(beat.broker_id, beat.metadata_offset),
                others_know=liveness.others_know(image, beat.broker_id),
                unrivalled=self._controller.unrivalled(),
            )
            liveness.heard(beat.broker_id, beat.broker_epoch, beat.metadata_offset, now)
            if decision.response.in_controlled_shutdown and decision.records:
                liveness.leaving(beat.broker_id, image.offset + len(decision.records))
            if decision.response.should_shut_down:
                liveness.end(beat.broker_id)
            return decision

        # As Kafka: a broker that waits longer asks again.
        answer = self._append(decide, self._config.get_int("broker.session.timeout.ms") / 2)
        if beat.want_shut_down and first_to_move(self._controller.speculative_image, beat.broker_id):
            self._move_next(beat.broker_id, beat.broker_epoch, leaving=True)
        return answer

    def silences_ms(self) -> dict[int, int]:
        """How long ago each broker was heard of."""
        return self._liveness.silences_ms(self._now())

    def broker_lost(self, broker_id: int, broker_epoch: int) -> Deferred[None]:
        """The broker's process is known to be gone (its port refuses): fenced now, whatever its session says.

        Safe if it is wrong: the broker hears of it in its next heartbeat, and is unfenced again. Fails with
        STALE_BROKER_EPOCH where it was not about this incarnation any more.
        """

        def decide(image: ClusterImage) -> Decision[None]:
            decision = fence_broker(image, broker_id, broker_epoch, self.rules)
            self._liveness.taken_from(image, broker_id, image.offset + len(decision.records))
            self._liveness.end(broker_id)
            return decision

        return self._move_first(broker_id, broker_epoch, lambda: self._append(decide))

    def _move_first(
        self, broker_id: int, broker_epoch: int, then: Callable[[], Deferred[None]]
    ) -> Deferred[None]:
        """`then`, but only when few partitions are left where the broker leads or is in sync: a controller
        that decides on 10,000 at once is deaf for so long that it may lose its office.
        """
        if not first_to_move(self._controller.speculative_image, broker_id):
            return then()
        done: Deferred[None] = Deferred()
        self._move_next(broker_id, broker_epoch, then=lambda: then().then(done.follow))
        return done

    def _move_next(
        self,
        broker_id: int,
        broker_epoch: int,
        *,
        leaving: bool = False,
        then: Callable[[], object] | None = None,
    ) -> None:
        """The next slice of what a broker that goes is to give up, and in later turns of the loop the others.

        Args:
            leaving: only as long as it is in controlled shutdown.
            then: what follows in the end, or when this node is not the active controller any more.
        """

        def decide(image: ClusterImage) -> Decision[bool]:
            broker = image.brokers.get(broker_id)
            if broker is None or broker.epoch != broker_epoch or broker.fenced:
                return Decision(False)
            if leaving and not broker.in_controlled_shutdown:
                return Decision(False)
            records = move_slice(image, self.rules, broker_id)
            if records and leaving:
                self._liveness.leaving(broker_id, image.offset + len(records))
            elif records:
                self._liveness.taken_from(image, broker_id, image.offset + len(records))
            return Decision(bool(records), records, atomic=False)

        def decided(done: Deferred[bool]) -> None:
            try:
                more = done.result()
            except ApiError:
                more = False
            if more:
                self._timer.call_later(0, go_on)
            elif then is not None:
                then()

        def go_on() -> None:
            self._controller.append_records(decide).then(decided)

        if not leaving:
            go_on()
        elif broker_id not in self._leaving:
            # Its heartbeats come in between.
            self._leaving.add(broker_id)
            then = partial(self._leaving.discard, broker_id)
            go_on()

    def unregister(self, broker_id: int) -> Deferred[None]:
        """A broker will not come back. Fails with BROKER_ID_NOT_REGISTERED.

        Or with INVALID_REQUEST for the one in this process: a lone node would serve nothing any more, and any
        other registers again at once.
        """

        def decide(image: ClusterImage) -> Decision[None]:
            if self._is_own(image, broker_id):
                raise ApiError(
                    ErrorCode.INVALID_REQUEST,
                    f"Broker {broker_id} runs, in the process of the active controller: stop it first.",
                )
            decision = unregister_broker(image, broker_id, self.rules)
            self._liveness.forget(broker_id)
            return decision

        return self._append(decide)

    def _append(
        self, decide: Callable[[ClusterImage], Decision[T]], timeout_ms: float | None = None
    ) -> Deferred[T]:
        deferred = self._controller.append_records(decide, timeout_ms, always=True)
        self._arm()
        return deferred

    # -- ControllerWatcher -----------------------------------------------------------------------------------

    def activated(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`."""
        now = self._now()
        # Before a voter asks to lead it has not heard of a leader for so long.
        if self._sessions:
            self._liveness.start(image, now, self._config.get_int("controller.quorum.fetch.timeout.ms"))
        self._seen = image
        if self._config.get_bool("auto.leader.rebalance.enable"):
            self._rebalance_ms = now + self._rebalance_interval_ms()
        self._unclean_ms = now + self._config.get_int("unclean.leader.election.interval.ms")
        self._arm()

    def committed(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`; where unclean elections became allowed, they take place now."""
        seen, self._seen = self._seen, image
        if seen is None or seen.configs is image.configs or self._unclean_ms is None:
            return
        if _unclean_settings(seen) != _unclean_settings(image) and next(leaderless(image), None) is not None:
            self._unclean_ms = self._now()
            self._arm()

    def resigned(self) -> None:
        """See `ControllerWatcher`."""
        self._liveness.stop()
        self._rebalance_ms = self._unclean_ms = self._seen = None
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._alarm_ms = float("inf")

    # -- by the clock ----------------------------------------------------------------------------------------

    def _arm(self) -> None:
        due = [
            instant
            for instant in (self._liveness.deadline(), self._rebalance_ms, self._unclean_ms)
            if instant is not None
        ]
        if not self._controller.active or not due or min(due) >= self._alarm_ms:
            return
        # An alarm that rings too early, after heartbeats, is armed again; it is not moved each time.
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_ms = min(due)
        self._alarm = self._timer.call_later(max(0.0, self._alarm_ms - self._now()), self._ring)

    def _ring(self) -> None:
        self._alarm, self._alarm_ms = None, float("inf")
        now = self._now()
        for broker_id, broker_epoch in self._liveness.expire(now):
            self._fence(broker_id, broker_epoch)
        if self._rebalance_ms is not None and self._rebalance_ms <= now:
            self._rebalance_ms = now + self._rebalance_interval_ms()
            self._chore("preferred leaders", partial(rebalance, rules=self.rules))
        if self._unclean_ms is not None and self._unclean_ms <= now:
            self._unclean_ms = now + self._config.get_int("unclean.leader.election.interval.ms")
            self._chore("unclean elections", partial(elect_unclean, rules=self.rules))
        self._arm()

    def _fence(self, broker_id: int, broker_epoch: int) -> None:
        def decide(image: ClusterImage) -> Decision[None]:
            broker = image.brokers.get(broker_id)
            if broker is None or broker.epoch != broker_epoch:
                return Decision(None)
            if not broker.fenced:
                _log.warning("broker %d was not heard of for its session: it is fenced", broker_id)
            decision = fence_broker(image, broker_id, broker_epoch, self.rules)
            self._liveness.taken_from(image, broker_id, image.offset + len(decision.records))
            return decision

        def fence() -> Deferred[None]:
            return self._controller.append_records(decide, always=True)

        def again() -> None:
            if not self._liveness.alive(broker_id, self._now()):
                self._fence(broker_id, broker_epoch)

        what = f"fencing broker {broker_id}"
        self._watch_chore(what, self._move_first(broker_id, broker_epoch, fence), again)

    def _chore(
        self,
        what: str,
        decide: Callable[[ClusterImage], Decision[None]],
        again: Callable[[], None] | None = None,
    ) -> None:
        self._watch_chore(what, self._controller.append_records(decide), again)

    def _watch_chore(self, what: str, chore: Deferred[None], again: Callable[[], None] | None = None) -> None:
        def done(outcome: Deferred[None]) -> None:
            try:
                outcome.result()
            except ApiError as error:
                if self._controller.active:
                    # In a cluster that is still ZooKeeper's (KIP-866) there is nothing to be done.
                    level = logging.DEBUG if error.code is ErrorCode.NOT_CONTROLLER else logging.WARNING
                    _log.log(level, "%s: %s", what, error.text)
                    if again is not None:
                        self._timer.call_later(_RETRY_MS, again)

        chore.then(done)

    def _rebalance_interval_ms(self) -> int:
        return self._config.get_int("leader.imbalance.check.interval.seconds") * 1000

    def _now(self) -> float:
        return self._clock.monotonic_ms()


def _unclean_settings(image: ClusterImage) -> dict[tuple[int, str], str]:
    return {
        resource: settings[UNCLEAN_ELECTION]
        for resource, settings in image.configs.items()
        if UNCLEAN_ELECTION in settings
    }
