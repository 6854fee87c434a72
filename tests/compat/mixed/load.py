"""Producers and consumers that go on through faults, and what must be there afterwards."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition


class Load:
    """Produces to a topic with acks=all until the end of the block; `acknowledged` values by their place.

    Args:
        in_flight: requests under way. More than one where Apache Kafka leads, and it may happen that as the
            new leader it refuses the first (it does not know yet that it leads) and the second for its
            sequence. librdkafka then begins a new epoch, in which it sends again what the leader before had
            and did not acknowledge: a record is there twice. Seen in clusters of Kafka alone, too.
    """

    def __init__(
        self, bootstrap: str, topic: str, partitions: int = 1, pause_s: float = 0.002, in_flight: int = 1
    ) -> None:
        self.topic, self.partitions = topic, partitions
        self.acknowledged: dict[tuple[int, int], bytes] = {}
        #: Of those the leader had already, it did not say where.
        self.somewhere: set[bytes] = set()
        self.failed: list[str] = []
        self._bootstrap, self._pause_s = bootstrap, pause_s
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "max.in.flight": in_flight,
                # So that several are under way.
                **({"batch.num.messages": 1} if in_flight > 1 else {}),
                "linger.ms": 5,
                "retry.backoff.ms": 50,
                "topic.metadata.refresh.fast.interval.ms": 50,
                "message.timeout.ms": 120_000,
                "log_level": 0,
            }
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()
        assert self._producer.flush(90) == 0, "not all was acknowledged"

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(self._pause_s):
            self._producer.produce(
                self.topic, b"%d" % number, partition=number % self.partitions, on_delivery=self._told
            )
            self._producer.poll(0)
            number += 1

    def _told(self, error: object, message) -> None:
        if error is not None:
            self.failed.append(str(error))
        elif message.offset() is None or message.offset() < 0:
            self.somewhere.add(message.value())
        else:
            self.acknowledged[message.partition(), message.offset()] = message.value()

    def wait_for_more(self, count: int = 50, patience_s: float = 60) -> None:
        """Until so many more were acknowledged."""
        wanted, deadline = len(self.acknowledged) + count, time.monotonic() + patience_s
        while len(self.acknowledged) < wanted:
            assert time.monotonic() < deadline, f"no acknowledgement for {patience_s} s"
            time.sleep(0.02)

    def check(self, bootstrap: str) -> None:
        """All that was acknowledged is there, where it was said to be, once, and in order."""
        assert not self.failed, self.failed[:3]
        found = read_all(bootstrap, self.topic, self.partitions)
        missing = [place for place, value in self.acknowledged.items() if found.get(place) != value]
        assert not missing, f"lost or changed: {missing[:5]} of {len(self.acknowledged)}"
        assert self.somewhere <= set(found.values())
        for partition in range(self.partitions):
            values = [int(found[place]) for place in sorted(found) if place[0] == partition]
            assert values == sorted(set(values)), f"doubled or out of order in partition {partition}"


class Transactions:
    """Transactions of a few records until the end of the block; every fourth is aborted."""

    SIZE = 4

    def __init__(self, bootstrap: str, topic: str, partitions: int = 1, timeout_ms: int = 60_000) -> None:
        self.topic, self.partitions = topic, partitions
        self.committed: list[int] = []
        self.aborted: set[int] = set()
        self._error: BaseException | None = None
        self._settings = {
            "bootstrap.servers": bootstrap,
            "transactional.id": f"{topic}-txn",
            "transaction.timeout.ms": timeout_ms,
            "retry.backoff.ms": 50,
            "log_level": 0,
        }
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Transactions:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join(120)
        assert self._error is None, repr(self._error)
        assert not self._thread.is_alive(), "a transaction does not end"

    def _run(self) -> None:
        try:
            self._produce()
        except BaseException as error:
            self._error = error

    def _produce(self) -> None:
        producer = Producer(self._settings)
        _insist(lambda: producer.init_transactions(30))
        number = 0
        while not self._stop.wait(0.01):
            number += 1
            producer.begin_transaction()
            try:
                for i in range(self.SIZE):
                    producer.produce(self.topic, b"%d.%d" % (number, i), partition=i % self.partitions)
                # Before an abort, too: else librdkafka may end what the coordinator has not begun yet
                # (INVALID_TXN_STATE).
                producer.flush(30)
                if number % 4:
                    _insist(lambda: producer.commit_transaction(30))
                    self.committed.append(number)
                    continue
            except KafkaException as failure:
                if not failure.args[0].txn_requires_abort():
                    raise
            _insist(lambda: producer.abort_transaction(30))
            self.aborted.add(number)

    def wait_for_more(self, count: int = 5, patience_s: float = 60) -> None:
        """Until so many more were committed."""
        wanted, deadline = len(self.committed) + count, time.monotonic() + patience_s
        while len(self.committed) < wanted:
            assert self._error is None, repr(self._error)
            assert time.monotonic() < deadline, f"no transaction was committed for {patience_s} s"
            time.sleep(0.02)

    def check(self, bootstrap: str) -> None:
        """Each committed transaction is there as a whole and once, and no other."""
        found = read_all(bootstrap, self.topic, self.partitions)
        wanted = {b"%d.%d" % (number, i) for number in self.committed for i in range(self.SIZE)}
        assert len(found) == len(set(found.values())), "a record is there twice"
        assert set(found.values()) == wanted


def _insist(do: Callable[[], object]) -> None:
    """Do it until it is done: failures that may be repeated are those of a coordinator that moves."""
    deadline = time.monotonic() + 90
    while True:
        try:
            do()
            return
        except KafkaException as failure:
            if not failure.args[0].retriable() or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Group:
    """A consumer of a group that commits as it goes, until the end of the block: what it saw, and where
    each of its commits stood."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.seen: set[tuple[int, int]] = set()
        self.commits = 0
        self._topic, self._name, self._bootstrap = topic, f"{topic}-group", bootstrap
        self._last: dict[int, int] = {}
        self._error: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Group:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join(60)
        assert self._error is None, repr(self._error)

    def _run(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": self._name,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 30_000,
                "log_level": 0,
            }
        )
        try:
            consumer.subscribe([self._topic])
            while not self._stop.is_set():
                self._step(consumer)
        except BaseException as error:
            self._error = error
        finally:
            consumer.close()

    def _step(self, consumer: Consumer) -> None:
        messages = [message for message in consumer.consume(500, 0.2) if message.error() is None]
        self.seen.update((message.partition(), message.offset()) for message in messages)
        if not messages:
            return
        try:
            for committed in consumer.commit(asynchronous=False):
                assert committed.error is None, committed
                if committed.offset < 0:
                    continue  # Of a partition that it has read nothing of.
                before = self._last.get(committed.partition, 0)
                assert committed.offset >= before, f"went back from {before} to {committed}"
                self._last[committed.partition] = committed.offset
            self.commits += 1
        except KafkaException:
            pass  # The coordinator moves: the next commit says more than this one.

    def wait_for_more(self, count: int = 3, patience_s: float = 60) -> None:
        """Until it has committed so many times more."""
        wanted, deadline = self.commits + count, time.monotonic() + patience_s
        while self.commits < wanted:
            assert self._error is None, repr(self._error)
            assert time.monotonic() < deadline, f"no commit for {patience_s} s"
            time.sleep(0.02)

    def wait_for(self, places: Iterable[tuple[int, int]], patience_s: float = 60) -> None:
        """Until it saw all of these."""
        wanted, deadline = set(places), time.monotonic() + patience_s
        while not wanted <= self.seen:
            assert self._error is None, repr(self._error)
            assert time.monotonic() < deadline, f"never consumed: {sorted(wanted - self.seen)[:5]}"
            time.sleep(0.05)


def read_all(
    bootstrap: str, topic: str, partitions: int = 1, committed_only: bool = True
) -> dict[tuple[int, int], bytes]:
    """Everything in the topic, by place."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": uuid.uuid4().hex,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed" if committed_only else "read_uncommitted",
            "log_level": 0,
        }
    )
    found: dict[tuple[int, int], bytes] = {}
    left, deadline = set(range(partitions)), time.monotonic() + 60
    try:
        consumer.assign([TopicPartition(topic, part, OFFSET_BEGINNING) for part in left])
        while left:
            assert time.monotonic() < deadline, f"cannot read {topic}"
            for message in consumer.consume(1000, 1.0):
                if message.error() is None:
                    found[message.partition(), message.offset()] = message.value()
                elif message.error().name() == "_PARTITION_EOF":
                    left.discard(message.partition())
    finally:
        consumer.close()
    return found
