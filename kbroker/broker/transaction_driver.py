"""The transaction coordinator of this broker: `__transaction_state`, shard by shard, and what time does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kbroker.broker.auto_topics import TRANSACTION_STATE
from kbroker.broker.coordinator_driver import SteadyTime
from kbroker.broker.deferred import Deferred
from kbroker.broker.shard_driver import ShardDriver
from kbroker.broker.shard_set import ShardSet
from kbroker.controller.features import TRANSACTION_VERSION
from kbroker.coordinator.shard import Outcome
from kbroker.coordinator.transaction.rules import NeedsProducerId, Producer
from kbroker.coordinator.transaction.transaction_shard import (
    Ended,
    Initialized,
    Listing,
    MarkersDue,
    TransactionShard,
)
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.broker.marker_sender import MarkerSender
    from kbroker.broker.replica_manager import Leadership
    from kbroker.broker.shard_driver import Replicas
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.coordinator.shard import Ticket
    from kbroker.coordinator.transaction.state import Partitions, Transaction
    from kbroker.metadata.cache import MetadataCache
    from kbroker.types import TopicPartition

_RETRY_MS = 100


class TransactionDriver:
    """What handlers ask about transactional ids. Methods raise ApiError (or fail their Deferred with it)
    with NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS when the id is not, or not yet, kept here.

    Args:
        next_producer_id: an id that nobody else gets.
    """

    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock,
        timer: Timer,
        metadata: MetadataCache,
        replicas: Replicas,
        sender: MarkerSender,
        next_producer_id: Callable[[], Deferred[int]],
    ) -> None:
        self.max_timeout_ms = config.get_int("transaction.max.timeout.ms")
        self._expiration_ms = config.get_int("transactional.id.expiration.ms")
        self._time = SteadyTime(clock)
        self._timer = timer
        self._metadata = metadata
        self._replicas = replicas
        self._sender = sender
        self._next_producer_id = next_producer_id
        self._set: ShardSet[TransactionShard] = ShardSet(TRANSACTION_STATE, metadata, timer, self._make)
        self._alarms: dict[str, TimerHandle] = {}
        #: How deep we are in performing decisions: what is committed meanwhile was so at once.
        self._performing = 0
        self._every(
            config.get_int("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
            "time-outs",
            lambda shard, now: shard.abort_timed_out(now),
        )
        self._every(
            config.get_int("transaction.remove.expired.transaction.cleanup.interval.ms"),
            "expiry",
            lambda shard, now: shard.expire(now, self._expiration_ms),
        )

    def _make(self, tp: TopicPartition, leader_epoch: int) -> ShardDriver[TransactionShard]:
        shard = TransactionShard(leader_epoch, self._server_version, lambda due: self._waiter(driver, due))
        driver = ShardDriver(tp, shard, self._replicas, self._timer, self._time.now_ms)
        return driver

    def _server_version(self) -> int:
        return self._metadata.image.features.get(TRANSACTION_VERSION, 0)

    def on_leadership(self, change: Leadership) -> None:
        """A partition of `__transaction_state` came or went (`ReplicaManager.on_leadership`)."""
        self._set.on_leadership(change)

    # -- producers -------------------------------------------------------------------------------------------

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, expected: Producer | None
    ) -> Deferred[Initialized]:
        """InitProducerId with a transactional id."""
        if not 0 < timeout_ms <= self.max_timeout_ms:
            raise ApiError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)

        def decide(shard: TransactionShard, ticket: Ticket, new_id: int | None) -> Outcome:
            now = self._time.now_ms()
            return shard.init_producer_id(ticket, transactional_id, timeout_ms, expected, new_id, now)

        return self._with_producer_id(transactional_id, decide)

    def end(
        self, transactional_id: str, producer: Producer, commit: bool, client_version: int
    ) -> Deferred[Ended]:
        """EndTxn."""

        def decide(shard: TransactionShard, ticket: Ticket, new_id: int | None) -> Outcome:
            now = self._time.now_ms()
            return shard.end(ticket, transactional_id, producer, commit, client_version, new_id, now)

        return self._with_producer_id(transactional_id, decide)

    def add_partitions(
        self, transactional_id: str, producer: Producer, partitions: Partitions, client_version: int
    ) -> Deferred[ErrorCode]:
        """AddPartitionsToTxn of one id; the partitions exist."""
        driver = self._set.find(transactional_id)
        now = self._time.now_ms()
        return driver.submit(
            lambda ticket: driver.shard.add_partitions(
                ticket, transactional_id, producer, partitions, client_version, now
            )
        )

    def verify_partitions(
        self, transactional_id: str, producer: Producer, partitions: Partitions
    ) -> Deferred[dict[tuple[str, int], ErrorCode]]:
        """AddPartitionsToTxn that only asks; raises ApiError if all partitions get the same answer."""
        driver = self._set.find(transactional_id)
        return driver.read(driver.shard.verify_partitions(transactional_id, producer, partitions))

    def _with_producer_id(
        self,
        transactional_id: str,
        decide: Callable[[TransactionShard, Ticket, int | None], Outcome],
    ) -> Deferred[Any]:
        """Submit; if it turns out that a new producer id is needed, get one and submit again."""
        driver = self._set.find(transactional_id)
        try:
            return self._submit(driver, lambda ticket: decide(driver.shard, ticket, None))
        except NeedsProducerId:
            pass
        answer: Deferred[Any] = Deferred()

        def go_on(allocated: Deferred[int]) -> None:
            try:
                new_id = allocated.result()
                driver = self._set.find(transactional_id)
                self._submit(driver, lambda ticket: decide(driver.shard, ticket, new_id)).then(pass_on)
            except ApiError as error:
                answer.fail(error)

        def pass_on(done: Deferred[Any]) -> None:
            try:
                answer.resolve(done.result())
            except ApiError as error:
                answer.fail(error)

        self._next_producer_id().then(go_on)
        return answer

    def _submit(
        self, driver: ShardDriver[TransactionShard], decide: Callable[[Ticket], Outcome]
    ) -> Deferred[Any]:
        self._performing += 1
        try:
            return driver.submit(decide)
        finally:
            self._performing -= 1

    # -- looking ---------------------------------------------------------------------------------------------

    def describe(self, transactional_id: str) -> Transaction:
        """One transactional id; raises ApiError also with TRANSACTIONAL_ID_NOT_FOUND."""
        return self._set.find(transactional_id).shard.describe(transactional_id)

    def list(self, wanted: Listing) -> list[Transaction]:
        """All ids kept here that pass the filters."""
        now = self._time.now_ms()
        return [txn for driver in self._set.all() for txn in driver.shard.list(wanted, now)]

    # -- the end of transactions -----------------------------------------------------------------------------

    def _waiter(self, driver: ShardDriver[TransactionShard], due: MarkersDue) -> Ticket:
        """Who is told once the decision to end a transaction is committed: then the markers go."""
        committed: Deferred[MarkersDue] = Deferred()

        def write(done: Deferred[MarkersDue]) -> None:
            try:
                done.result()
            except ApiError:
                self._later(driver, due, look)
                return
            if self._performing:
                start()
            else:
                self._timer.call_later(0, start)  # see txn_link.py

        def look() -> None:
            """The decision is in the log, and cannot be taken back: whoever asked waited too short a time."""
            driver.after_commit(
                lambda code: start() if code is ErrorCode.NONE else self._later(driver, due, look)
            )

        def start() -> None:
            self._sender.start(
                due, lambda: not driver.closed and driver.shard.is_ending(due.transaction), complete
            )

        def complete() -> None:
            if driver.closed:
                return  # the next coordinator finds the transaction ending
            outcome = driver.shard.markers_written(due.transaction, self._time.now_ms())
            outcome.refused = refused
            driver.perform(outcome)

        def refused(code: ErrorCode) -> Outcome:
            self._later(driver, due, complete)
            return Outcome()

        committed.then(write)
        return committed

    def _later(
        self, driver: ShardDriver[TransactionShard], due: MarkersDue, action: Callable[[], None]
    ) -> None:
        """Try again what an ending transaction needs: replicas may be missing for a while. Without that it
        would stay as it is for as long as this node leads, and its producer would hear
        CONCURRENT_TRANSACTIONS.
        """

        def again() -> None:
            if not driver.closed and driver.shard.is_ending(due.transaction):
                action()

        self._timer.call_later(_RETRY_MS, again)

    # -- time ------------------------------------------------------------------------------------------------

    def _every(
        self,
        interval_ms: int,
        name: str,
        outcomes: Callable[[TransactionShard, int], Iterator[Outcome]],
    ) -> None:
        """Look at all shards at intervals, one by one, so that none holds up requests for long."""

        def look() -> None:
            self._time.follow()
            self._each_in_turn(name, deque(self._set.shards.values()), outcomes)
            self._alarms[name] = self._timer.call_later(interval_ms, look)

        self._alarms[name] = self._timer.call_later(interval_ms, look)

    def _each_in_turn(
        self,
        name: str,
        drivers: deque[ShardDriver[TransactionShard]],
        outcomes: Callable[[TransactionShard, int], Iterator[Outcome]],
    ) -> None:
        if not drivers:
            return
        driver = drivers.popleft()
        if driver.ready and not driver.closed:
            for outcome in outcomes(driver.shard, self._time.now_ms()):
                driver.perform(outcome)
        if drivers:
            self._timer.call_later(0, lambda: self._each_in_turn(name, drivers, outcomes))

    @property
    def shards(self) -> tuple[ShardDriver[TransactionShard], ...]:
        """Those whose partition is led here."""
        return tuple(self._set.shards.values())

    def close(self) -> None:
        """The broker stops: nobody waits any more."""
        for alarm in self._alarms.values():
            alarm.cancel()
        self._set.close()
