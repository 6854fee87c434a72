"""Consume, transform, produce: a transaction for some records of `source`, copied to `target`."""

from __future__ import annotations

import threading
import time

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition as Place

from tests.chaos.cluster.history import COUNTER_BITS, History, Key, Move, decode
from tests.chaos.cluster.workload import QUICK, Client

SOURCE, TARGET = "source", "target"
_WAIT_S = 60
_OFFSETS_S = 10


def encode_moved(value: int, transaction: int, size: int) -> bytes:
    """What lies in the output: the input's number, who moved it, and with how many others."""
    return f"{value} {transaction} {size}".encode()


def decode_moved(data: bytes, key: Key) -> int:
    """The input's number."""
    return int(data.split()[0])


class Pipeline(Client):
    """Every seventh transaction is given up; a producer that is fenced or timed out starts anew."""

    def __init__(self, history: History, bootstrap: str, number: int = 1) -> None:
        super().__init__(history, bootstrap, f"pipeline-{number}")
        self._number = number
        self._count = 0
        #: Why it had to begin anew.
        self.restarts: list[str] = []
        #: What its consumer complained of.
        self.problems: list[str] = []
        self._hanging: list[Producer] = []

    def work(self) -> None:
        while not self.stopping.is_set():
            try:
                self._live()
            except (KafkaException, _Hangs) as error:
                self.restarts.append(f"{time.monotonic():.1f} {error!r}")
                self.stopping.wait(0.1)

    def _live(self) -> None:
        consumer = Consumer(
            QUICK
            | {"bootstrap.servers": self.bootstrap, "group.id": "pipeline", "enable.auto.commit": False}
            | {"auto.offset.reset": "earliest", "session.timeout.ms": 6000, "fetch.wait.max.ms": 100}
            | {"isolation.level": "read_committed"}
        )
        producer = Producer(
            QUICK
            | {"bootstrap.servers": self.bootstrap, "transactional.id": self.name, "linger.ms": 2}
            | {"transaction.timeout.ms": 15_000}
        )
        try:
            producer.init_transactions(_WAIT_S)
            consumer.subscribe([SOURCE])
            while not self.stopping.is_set():
                found = consumer.consume(40, 0.2)
                self.problems += [f"{time.monotonic():.1f} {m.error()}" for m in found if m.error()]
                messages = [m for m in found if m.error() is None]
                if messages:
                    self._move(producer, consumer, messages)
        finally:
            consumer.close()

    def _move(self, producer: Producer, consumer: Consumer, messages: list) -> None:
        self._count += 1
        transaction = self._number << COUNTER_BITS | self._count
        keys = [(message.topic(), message.partition()) for message in messages]
        values = [decode(message.value(), key) for key, message in zip(keys, messages)]
        ends = {key: message.offset() + 1 for key, message in zip(keys, messages)}
        outcome = "info"
        try:
            producer.begin_transaction()
            for value, (_, partition) in zip(values, keys):
                data = encode_moved(value, transaction, len(values))
                producer.produce(TARGET, data, partition=partition)
            if self._count % 7 == 0:
                producer.flush(_WAIT_S)
                outcome = self._give_up(producer, consumer, messages)
                return
            places = [Place(*key, offset) for key, offset in ends.items()]
            self._send_offsets(producer, consumer, places)
            _retried(lambda: producer.commit_transaction(_WAIT_S))
            outcome = "ok"
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            outcome = self._give_up(producer, consumer, messages)
        finally:
            self.history.moves.append(Move(transaction, tuple(values), outcome))

    def _send_offsets(self, producer: Producer, consumer: Consumer, places: list[Place]) -> None:
        """librdkafka may wait for ever for a group coordinator that it has forgotten, whatever the time-out
        (its issues 5511 and 5456): then this producer is given up as if its process had died.
        """
        group = consumer.consumer_group_metadata()
        outcome: list[KafkaException | None] = []

        def work() -> None:
            try:
                _retried(lambda: producer.send_offsets_to_transaction(places, group, _OFFSETS_S))
                outcome.append(None)
            except KafkaException as error:
                outcome.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(2 * _OFFSETS_S)
        if not outcome:
            self._hanging.append(producer)
            raise _Hangs
        if outcome[0] is not None:
            raise outcome[0]

    def _give_up(self, producer: Producer, consumer: Consumer, messages: list) -> str:
        """Abort, and read again what was given up."""
        _retried(lambda: producer.abort_transaction(_WAIT_S))
        first: dict[Key, int] = {}
        for message in messages:
            first.setdefault((message.topic(), message.partition()), message.offset())
        mine = {(place.topic, place.partition) for place in consumer.assignment()}
        for key, offset in first.items():
            if key in mine:
                consumer.seek(Place(*key, offset))
        return "fail"


class _Hangs(Exception):
    pass


def _retried(action) -> None:
    deadline = time.monotonic() + _WAIT_S
    while True:
        try:
            return action()
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > deadline:
                raise
