"""What an ending transaction needs is tried until it is there: replicas may be missing for a while."""

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.replica_manager import Leadership
from kbroker.broker.shard_loader import RETRY_MS
from kbroker.broker.transaction_driver import TransactionDriver
from kbroker.coordinator.transaction.state import State
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import ZERO_UUID, TopicPartition
from tests.broker.test_shard_driver import Replicas, Timer

TP = TopicPartition("__transaction_state", 0)


class Sender:
    """Markers are written as soon as a test says so."""

    def __init__(self):
        self.asked = []

    def start(self, due, is_wanted, done):
        self.asked.append((due, is_wanted, done))


class World:
    """The coordinator of one partition, with a transaction on partition 0 of `t`."""

    def __init__(self):
        self.replicas, self.timer, self.sender = Replicas(), Timer(), Sender()
        topics = SimpleNamespace(get=lambda _: SimpleNamespace(partitions=[0]))
        image = SimpleNamespace(topics=topics, features={})
        allocated = Deferred()
        allocated.resolve(7)
        self.driver = TransactionDriver(
            SimpleNamespace(get_int=lambda _: 60_000),
            SimpleNamespace(now_ms=lambda: 1_000, monotonic_ms=lambda: 1_000),
            self.timer,
            SimpleNamespace(image=image),
            self.replicas,
            self.sender,
            lambda: allocated,
        )
        self.driver.on_leadership(Leadership(TP, ZERO_UUID, 3))
        self.pass_time()
        begun = self.driver.init_producer_id("x", 5_000, None).result()
        self.producer = begun.producer
        self.driver.add_partitions("x", self.producer, {"t": frozenset([0])}, 0).result()

    def end(self):
        return self.driver.end("x", self.producer, True, 0)

    def pass_time(self, up_to_ms=100):
        for call in [call for call in self.timer.calls if call.delay <= up_to_ms]:
            self.timer.calls.remove(call)
            call.callback()

    @property
    def state(self):
        return self.driver.describe("x").state


@pytest.fixture
def world():
    return World()


def test_the_end_is_recorded_once_the_log_takes_it_again(world):
    world.end().result()
    [(_, _, written)] = world.sender.asked
    world.replicas.refuse = ErrorCode.NOT_ENOUGH_REPLICAS
    written()
    world.pass_time()
    assert world.state is State.PREPARE_COMMIT
    world.replicas.refuse = None
    world.pass_time()
    assert world.state is State.COMPLETE_COMMIT
    assert len(world.sender.asked) == 1


def test_markers_go_when_the_decision_is_committed_after_its_requester_gave_up(world):
    world.replicas.instant = False
    answer = world.end()
    world.pass_time(up_to_ms=5_000)  # as long as a request waits for a commit
    with pytest.raises(ApiError) as refused:
        answer.result()
    assert refused.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    world.pass_time()  # looks again, and waits
    assert not world.sender.asked
    world.replicas.commit()
    [(due, is_wanted, written)] = world.sender.asked
    assert due.transaction.state is State.PREPARE_COMMIT
    assert is_wanted()
    world.replicas.instant = True
    written()
    assert world.state is State.COMPLETE_COMMIT


def test_who_is_no_coordinator_any_more_tries_nothing(world):
    world.end().result()
    [(_, is_wanted, written)] = world.sender.asked
    world.replicas.refuse = ErrorCode.NOT_ENOUGH_REPLICAS
    written()
    world.driver.on_leadership(Leadership(TP, ZERO_UUID, -1))
    world.replicas.refuse = None
    size = len(world.replicas.log)
    world.pass_time()
    written()
    assert not is_wanted()
    assert len(world.replicas.log) == size


@pytest.mark.parametrize("problem", [OSError(5, "I/O error"), ApiError(ErrorCode.KAFKA_STORAGE_ERROR)])
def test_64_a_log_that_cannot_be_read_for_a_while_is_loaded_when_it_can(world, problem):
    """Nobody asks meanwhile: what was decided about the transaction is carried out all the same."""
    world.end().result()
    world.driver.on_leadership(Leadership(TP, ZERO_UUID, -1))
    read = world.replicas.read_internal
    other = TopicPartition(TP.topic, 1)

    def fails(tp, offset, max_bytes=0):
        if tp == TP:
            raise problem
        return b""

    world.replicas.read_internal = fails
    world.driver.on_leadership(Leadership(TP, ZERO_UUID, 4))
    world.driver.on_leadership(Leadership(other, ZERO_UUID, 0))
    for _ in range(4):
        world.pass_time()
    with pytest.raises(ApiError) as refused:
        world.driver.describe("x")
    assert refused.value.code == ErrorCode.NOT_COORDINATOR
    world.replicas.read_internal = lambda tp, offset, max_bytes=0: read(tp, offset) if tp == TP else b""
    assert len(world.sender.asked) == 1
    world.pass_time(RETRY_MS)
    for _ in range(4):
        world.pass_time()
    assert [due.coordinator_epoch for due, _, _ in world.sender.asked] == [3, 4]
    assert world.state is State.PREPARE_COMMIT
