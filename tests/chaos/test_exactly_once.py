"""Consume, transform, produce in transactions, while the broker is killed again and again: each record of the
input is in the output once.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kbroker.testing import Broker
from tests.chaos.three_nodes import ThreeNodes

KILLS = 5
PARTITIONS = 3
WAIT_SECONDS = 90
OFFSETS_SECONDS = 8
STUCK_SECONDS = 20

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

_PATIENT = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100, "log_level": 0}
#: librdkafka 2.16 forgets its brokers when none can be reached, as with one broker, and then sends the
#: offsets of a transaction to a group coordinator that it has forgotten, for ever. Told not to forget, it
#: waits in a cluster for the one that died.
_LONE = {"metadata.recovery.strategy": "none"}


class Pipeline:
    """Moves what lies in `source` to `target`, some records a transaction; every seventh is given up once."""

    def __init__(self, bootstrap: str, source: str, target: str) -> None:
        self._bootstrap, self._source, self._target = bootstrap, source, target
        self._patient = _PATIENT | ({} if "," in bootstrap else _LONE)
        self.transactions = 0
        self.lives = 0
        self.failure: BaseException | None = None
        self._current = threading.Thread()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Leave alone what goes on, for good: librdkafka 2.16 waits without end for a coordinator of the
        group that it decommissioned, as it was not in the metadata for a moment."""
        self._current = threading.Thread(target=self._work, daemon=True)
        self._current.start()

    @property
    def _goes_on(self) -> bool:
        return self._current is threading.current_thread()

    def _work(self) -> None:
        while self._goes_on:
            self.lives += 1
            try:
                self._live()
            except KafkaException:
                continue  # fenced, or timed out: another life
            except BaseException as error:
                self.failure = error
                return

    def _live(self) -> None:
        """A producer and a consumer, until something cannot be mended."""
        consumer = Consumer(
            self._patient
            | {
                "bootstrap.servers": self._bootstrap,
                "group.id": self._target,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 6000,
                # Who is left alone must leave its partitions to those that go on.
                "max.poll.interval.ms": 15_000,
            }
        )
        producer = Producer(
            self._patient
            | {
                "bootstrap.servers": self._bootstrap,
                "transactional.id": self._target,
                "transaction.timeout.ms": 30_000,
                "linger.ms": 2,
            }
        )
        try:
            producer.init_transactions(WAIT_SECONDS)
            consumer.subscribe([self._source])
            while self._goes_on:
                messages = [m for m in consumer.consume(40, 0.2) if m.error() is None]
                if messages:
                    self._one_transaction(producer, consumer, messages)
        finally:
            consumer.close()

    def _one_transaction(self, producer: Producer, consumer: Consumer, messages: list) -> None:
        self.transactions += 1
        producer.begin_transaction()
        try:
            ends: dict[int, int] = {}
            for message in messages:
                producer.produce(self._target, message.value(), partition=message.partition())
                ends[message.partition()] = message.offset() + 1
            if self.transactions % 7 == 0:
                producer.flush(WAIT_SECONDS)
                raise _GivenUp
            offsets = [TopicPartition(self._source, p, offset) for p, offset in ends.items()]
            group = consumer.consumer_group_metadata()
            _retried(lambda: producer.send_offsets_to_transaction(offsets, group, OFFSETS_SECONDS))
            _retried(lambda: producer.commit_transaction(WAIT_SECONDS))
        except (KafkaException, _GivenUp) as error:
            if isinstance(error, KafkaException) and not error.args[0].txn_requires_abort():
                raise
            _retried(lambda: producer.abort_transaction(WAIT_SECONDS))
            self._rewind(consumer, messages)

    def _rewind(self, consumer: Consumer, messages: list) -> None:
        """Read again what was given up: from the first of each partition on."""
        first: dict[int, int] = {}
        for message in messages:
            first.setdefault(message.partition(), message.offset())
        for partition, offset in first.items():
            consumer.seek(TopicPartition(self._source, partition, offset))

    def stop(self) -> None:
        last, self._current = self._current, threading.Thread()
        last.join(WAIT_SECONDS)
        assert not last.is_alive()


class _GivenUp(Exception):
    pass


def _retried(action: Callable[[], object]) -> None:
    while True:
        try:
            action()
            return
        except KafkaException as error:
            if not error.args[0].retriable():
                raise


def read(bootstrap: str, topic: str, isolation: str) -> list[bytes]:
    """All values, partition by partition."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "reader", "isolation.level": isolation}
        | {"enable.partition.eof": True, "enable.auto.commit": False}
    )
    values: list[bytes] = []
    try:
        for partition in range(PARTITIONS):
            consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
            deadline = time.monotonic() + WAIT_SECONDS
            while True:
                assert time.monotonic() < deadline
                message = consumer.poll(1)
                if message is None:
                    continue
                if message.error() is not None:
                    break  # the end
                values.append(message.value())
    finally:
        consumer.close()
    return values


class Feeder:
    """Fills `source` with numbers, two hundred a second, until it is stopped."""

    def __init__(self, bootstrap: str) -> None:
        self.count = 0
        self._producer = Producer(_PATIENT | {"bootstrap.servers": bootstrap, "enable.idempotence": True})
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while not self._stopping.wait(0.1):
            for _ in range(20):
                self._producer.produce("source", b"%d" % self.count, partition=self.count % PARTITIONS)
                self.count += 1
            self._producer.poll(0)

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        assert self._producer.flush(WAIT_SECONDS) == 0


def moved_once(bootstrap: str, replicas: int, kill: Callable[[], None]) -> None:
    """Feed, move and kill; then everything must have been moved once."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = [NewTopic(name, PARTITIONS, replicas) for name in ("source", "target")]
    for done in admin.create_topics(topics).values():
        done.result(WAIT_SECONDS)
    feeder = Feeder(bootstrap)
    pipeline = Pipeline(bootstrap, "source", "target")
    for _ in range(KILLS):
        _until_moving(pipeline)
        kill()
    _until_moving(pipeline)
    feeder.stop()
    moved: list[bytes] = []
    deadline = time.monotonic() + WAIT_SECONDS
    while len(moved) < feeder.count:
        assert pipeline.failure is None, pipeline.failure
        assert time.monotonic() < deadline, f"moved {len(moved)} of {feeder.count}"
        moved = read(bootstrap, "target", "read_committed")
    pipeline.stop()
    moved = read(bootstrap, "target", "read_committed")
    assert sorted(map(int, moved)) == list(range(feeder.count))
    assert len(read(bootstrap, "target", "read_uncommitted")) > feeder.count


def test_59_each_record_is_moved_once_whatever_dies(tmp_path: Path) -> None:
    with Broker(subprocess=True, data=str(tmp_path / "data")) as broker:

        def kill() -> None:
            broker.kill()
            broker.start()

        moved_once(broker.bootstrap, 1, kill)


def test_59_each_record_is_moved_once_in_a_cluster(tmp_path: Path) -> None:
    """One node after the other dies: leaders, coordinators and controllers."""
    with ThreeNodes(tmp_path) as nodes:
        victims = itertools.cycle((1, 2, 3))

        def kill() -> None:
            victim = next(victims)
            nodes.kill(victim)
            time.sleep(1)
            nodes.start(victim)
            nodes.wait_in_sync()  # the next death must find two of three

        moved_once(nodes.bootstrap, 3, kill)


def _until_moving(pipeline: Pipeline) -> None:
    """A few more transactions, so that the kill comes into the midst of one."""
    goal, deadline = pipeline.transactions + 10, time.monotonic() + WAIT_SECONDS
    seen, since = pipeline.transactions, time.monotonic()
    while pipeline.transactions < goal and pipeline.failure is None:
        now = time.monotonic()
        assert now < deadline, "nothing moves"
        if pipeline.transactions != seen:
            seen, since = pipeline.transactions, now
        elif now - since > STUCK_SECONDS:
            pipeline.begin_anew()
            since = now
        time.sleep(0.005)
