"""The clients of a chaos run, each a thread that writes into the `History` what it did and was told."""

from __future__ import annotations

import random
import sys
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition as Place
from confluent_kafka.admin import AdminClient, NewTopic

from kbroker.client.cluster import Cluster as WireClient
from kbroker.client.errors import ClientError, NotConnected
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.list_offsets import LATEST
from kbroker.protocol.generated.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kbroker.protocol.generated.list_offsets_response import ListOffsetsResponse
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.generated.produce_response import ProduceResponse
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.types import TopicPartition
from tests.chaos.cluster.history import (
    COUNTER_BITS,
    Commit,
    Committed,
    EndSeen,
    Held,
    History,
    Key,
    Read,
    Sent,
    decode,
    encode,
)

QUICK = {
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 200,
    "retry.backoff.ms": 20,
    "retry.backoff.max.ms": 200,
    "topic.metadata.refresh.fast.interval.ms": 50,
    "socket.connection.setup.timeout.ms": 2000,
    "metadata.recovery.strategy": "none",
    "log_level": 0,
}
#: How long a request of an administrator may take, whose broker may have been cut off meanwhile.
_ASKED_S = 20
#: Nothing was written when a broker answers one of these.
_REFUSED = {
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.INVALID_RECORD,
    ErrorCode.INVALID_TIMESTAMP,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


class Client:
    """A thread that works until it is told to stop; what it raises is a problem of the run."""

    def __init__(self, history: History, bootstrap: str, name: str) -> None:
        self.history = history
        self.bootstrap = bootstrap
        self.name = name
        self.stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience_s: float = 90) -> None:
        self.stopping.set()
        self._thread.join(patience_s)
        if self._thread.is_alive():
            frame = sys._current_frames().get(self._thread.ident or 0)
            where = "".join(traceback.format_stack(frame)) if frame else ""
            self.history.problems.append(f"{self.name} does not come to an end\n{where}")

    def _run(self) -> None:
        try:
            self.work()
        except Exception as error:
            self.history.problems.append(f"{self.name}: {error!r}")

    def work(self) -> None:
        raise NotImplementedError


class Sender(Client):
    """librdkafka's producer with acks=all: idempotent, or plain with one request at a time."""

    def __init__(
        self, history: History, bootstrap: str, number: int, keys: list[Key], *, idempotent: bool, rate: float
    ) -> None:
        super().__init__(history, bootstrap, f"sender-{number}")
        self.number = number
        self._keys = cycle(keys)
        self._pause_s = 1 / rate
        self._idempotent = idempotent
        self._count = 0
        self.acknowledged = 0
        if idempotent:
            history.idempotent.add(number)

    def _producer(self) -> Producer:
        settings = QUICK | {
            "bootstrap.servers": self.bootstrap,
            "acks": "all",
            "linger.ms": 0,
            # A message that is given up lets librdkafka send what was in its batch once more: doubles of its
            # own making.
            "message.timeout.ms": 240_000,
            "request.timeout.ms": 10_000,
            "enable.idempotence": self._idempotent,
        }
        if not self._idempotent:
            settings["max.in.flight.requests.per.connection"] = 1
        return Producer(settings)

    def work(self) -> None:
        producer = self._producer()
        while not self.stopping.wait(self._pause_s):
            try:
                self._send(producer)
                producer.poll(0)
            except KafkaException as error:
                # A fatal error of the idempotent producer: the application makes a new one.
                if not error.args[0].fatal():
                    raise
                producer.purge()
                producer.flush(5)
                producer = self._producer()
            except BufferError:
                producer.poll(0.1)
        if producer.flush(60):
            producer.purge()
            producer.flush(5)

    def _send(self, producer: Producer) -> None:
        key = next(self._keys)
        self._count += 1
        order, began = self._count, time.monotonic()
        value = self.number << COUNTER_BITS | order

        def done(error: KafkaError | None, message: object) -> None:
            outcome = "ok" if error is None else "info"
            self.acknowledged += error is None
            # A record that was there already has no offset.
            offset = -1 if error is not None or message.offset() is None else message.offset()
            ended = time.monotonic()
            sent = Sent(self.number, key, value, outcome, offset, began, ended, order, str(error or ""))
            self.history.sent.append(sent)

        producer.produce(key[0], encode(value, key), partition=key[1], on_delivery=done)


class RawSender(Client):
    """Our own client, one record a request, no retry: here a refusal is a refusal."""

    def __init__(self, history: History, bootstrap: str, number: int, keys: list[Key], rate: float) -> None:
        super().__init__(history, bootstrap, f"raw-sender-{number}")
        self.number = number
        self._keys = cycle(keys)
        self._pause_s = 1 / rate
        history.single.add(number)

    def work(self) -> None:
        count = 0
        client = WireClient(self.bootstrap, timeout_s=5)
        while not self.stopping.wait(self._pause_s):
            count += 1
            key = next(self._keys)
            value = self.number << COUNTER_BITS | count
            began = time.monotonic()
            outcome, offset, error = self._once(client, key, value)
            if outcome != "ok":
                client.close()
            sent = Sent(self.number, key, value, outcome, offset, began, time.monotonic(), count, error)
            self.history.sent.append(sent)
        client.close()

    def _once(self, client: WireClient, key: Key, value: int) -> tuple[str, int, str]:
        records = build_batch([Record(-1, int(time.time() * 1000), None, encode(value, key))])
        data = TopicProduceData(
            name=key[0], partition_data=[PartitionProduceData(index=key[1], records=records)]
        )
        request = ProduceRequest(acks=-1, timeout_ms=4000, topic_data=[data])
        try:
            [leader] = client.leaders([TopicPartition(*key)])
            connection = client.node(leader)
        except (ApiError, ClientError, OSError) as error:
            return "fail", -1, repr(error)
        try:
            answer = client._ask_at(connection, request, ProduceResponse, 9)
        except NotConnected as error:
            return "fail", -1, repr(error)
        except (ClientError, OSError) as error:
            return "info", -1, repr(error)
        [part] = answer.responses[0].partition_responses
        if not part.error_code:
            return "ok", part.base_offset, ""
        code = ErrorCode(part.error_code)
        return "fail" if code in _REFUSED else "info", -1, code.name


class Reader(Client):
    """Reads partitions that are assigned, from the beginning; begins a new session now and then."""

    def __init__(
        self,
        history: History,
        bootstrap: str,
        name: str,
        keys: list[Key],
        read: Callable[[bytes, Key], int] = decode,
        isolation: str = "read_uncommitted",
    ) -> None:
        super().__init__(history, bootstrap, name)
        self._keys = keys
        self._read = read
        self._isolation = isolation

    def work(self) -> None:
        session = 0
        while not self.stopping.is_set():
            session += 1
            consumer = Consumer(
                QUICK
                | {"bootstrap.servers": self.bootstrap, "group.id": "nobody", "enable.auto.commit": False}
                | {"isolation.level": self._isolation, "auto.offset.reset": "error"}
                | {"fetch.error.backoff.ms": 50, "fetch.wait.max.ms": 100}
            )
            consumer.assign([Place(topic, partition, 0) for topic, partition in self._keys])
            until = time.monotonic() + 20
            try:
                while time.monotonic() < until and not self.stopping.is_set():
                    for message in consumer.consume(500, 0.2):
                        self._note(session, message)
            finally:
                consumer.close()

    def _note(self, session: int, message: object) -> None:
        error = message.error()
        if error is not None:
            if error.code() == KafkaError._AUTO_OFFSET_RESET:
                self.history.problems.append(f"{self.name}: {error.str()}")
            return
        key = message.topic(), message.partition()
        value = self._read(message.value(), key)
        self.history.read.append(Read(self.name, session, key, message.offset(), value))


class Member(Client):
    """A member of a group: reads what it is assigned, and commits; leaves and comes anew.

    Args:
        modern: by KIP-848.
        lives_s: how long it stays each time, from and to.
    """

    def __init__(
        self,
        history: History,
        bootstrap: str,
        name: str,
        topic: str,
        group: str,
        *,
        modern: bool = False,
        lives_s: tuple[float, float] = (15.0, 15.0),
    ) -> None:
        super().__init__(history, bootstrap, name)
        self._random = random.Random(name)
        self._lives_s = lives_s
        self._since: dict[Key, float] = {}
        self._topic = topic
        self.group = group
        self._protocol = (
            {"group.protocol": "consumer"}
            if modern
            else {"session.timeout.ms": 6000, "heartbeat.interval.ms": 500}
        )
        self._session = 0

    def work(self) -> None:
        life = 0
        while not self.stopping.is_set():
            life += 1
            self._since.clear()
            consumer = Consumer(
                QUICK
                | {"bootstrap.servers": self.bootstrap, "group.id": self.group, "enable.auto.commit": False}
                | {"auto.offset.reset": "earliest", "fetch.wait.max.ms": 100}
                | self._protocol
            )
            consumer.subscribe([self._topic], on_assign=self._got, on_revoke=self._gave_up)
            until = time.monotonic() + self._random.uniform(*self._lives_s)
            try:
                while time.monotonic() < until and not self.stopping.is_set():
                    self._turn(consumer)
            finally:
                consumer.close()

    def _got(self, consumer: Consumer, partitions: list[Place]) -> None:
        self._session += 1
        now = time.monotonic()
        self._since |= {(each.topic, each.partition): now for each in partitions}

    def _gave_up(self, consumer: Consumer, partitions: list[Place]) -> None:
        self._session += 1
        for each in partitions:
            self._since.pop((each.topic, each.partition), None)

    def _turn(self, consumer: Consumer) -> None:
        ends: dict[Key, int] = {}
        before = self._session
        messages = consumer.consume(200, 0.2)
        is_mixed = self._session != before
        for message in messages:
            if message.error() is not None:
                continue
            key = message.topic(), message.partition()
            value = decode(message.value(), key)
            # librdkafka told of another assignment while it gathered these: some are from before it.
            self._session += is_mixed
            self.history.read.append(Read(self.name, self._session, key, message.offset(), value))
            ends[key] = message.offset() + 1
        self._session += is_mixed
        if is_mixed or not ends:
            return
        began = time.monotonic()
        unsure = dict(ends)
        with suppress(KafkaException):
            offsets = [Place(*key, offset) for key, offset in ends.items()]
            for place in consumer.commit(offsets=offsets, asynchronous=False):
                if place.error is None:
                    key = place.topic, place.partition
                    ended = time.monotonic()
                    self.history.commits.append(Commit(self.group, key, place.offset, began, ended))
                    del unsure[key]
                    if since := self._since.get(key):
                        held = Held(self.group, self.name, key, since, began, ended)
                        self.history.held.append(held)
        ended = time.monotonic()
        for key, offset in unsure.items():
            self.history.unsure_commits.append(Commit(self.group, key, offset, began, ended))


class Watcher(Client):
    """Looks at committed offsets and at the ends of partitions, one look after the other."""

    def __init__(
        self, history: History, bootstrap: str, group: str, keys: list[Key], *, looks_at_ends: bool = True
    ) -> None:
        super().__init__(history, bootstrap, f"watcher-{group}")
        self._group = group
        self._keys = keys
        self._end_keys = keys if looks_at_ends else []

    def work(self) -> None:
        consumer = Consumer(
            QUICK
            | {"bootstrap.servers": self.bootstrap, "group.id": self._group, "enable.auto.commit": False}
        )
        client = WireClient(self.bootstrap, timeout_s=2)
        places = [Place(*key) for key in self._keys]
        while not self.stopping.wait(0.2):
            began = time.monotonic()
            with suppress(KafkaException):
                for place in consumer.committed(places, timeout=3):
                    if place.error is None and place.offset >= 0:
                        key = place.topic, place.partition
                        look = Committed(self._group, key, place.offset, began, time.monotonic())
                        self.history.committed.append(look)
            for key in self._end_keys:
                with suppress(ApiError, ClientError, OSError):
                    self._look_at_end(client, key)
        client.close()
        consumer.close()

    def _look_at_end(self, client: WireClient, key: Key) -> None:
        """One question, one answer: librdkafka's get_watermark_offsets asks twice and mixes the answers, so
        that an error for the end beside a start of 0 may come out as an end of 0.
        """
        began = time.monotonic()
        [node] = client.leaders([TopicPartition(*key)])
        wanted = ListOffsetsPartition(partition_index=key[1], timestamp=LATEST)
        topic = ListOffsetsTopic(name=key[0], partitions=[wanted])
        request = ListOffsetsRequest(replica_id=-1, topics=[topic])
        answer = client._ask_at(client.node(node), request, ListOffsetsResponse, 7)
        [part] = answer.topics[0].partitions
        if not part.error_code:
            seen = EndSeen(key, part.offset, began, time.monotonic(), node, part.leader_epoch)
            self.history.ends.append(seen)


class Churner(Client):
    """Creates topics, fills them, reads them, deletes them."""

    def work(self) -> None:
        admin = AdminClient(QUICK | {"bootstrap.servers": self.bootstrap})
        number = 0
        while not self.stopping.wait(0.3):
            number += 1
            name = f"churn-{number}"
            with suppress(KafkaException):  # exists: an answer was lost
                admin.create_topics([NewTopic(name, 3, 3)], request_timeout=_ASKED_S)[name].result(60)
            if self._fill_and_read(name):
                self.history.topics_churned += 1
            with suppress(KafkaException):
                admin.delete_topics([name], request_timeout=_ASKED_S)[name].result(60)

    def _fill_and_read(self, name: str) -> bool:
        acknowledged: dict[Key, dict[int, bytes]] = defaultdict(dict)
        producer = Producer(
            QUICK | {"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "linger.ms": 0}
        )

        def done(error: KafkaError | None, message: object) -> None:
            if error is None:
                acknowledged[message.topic(), message.partition()][message.offset()] = message.value()

        for number in range(30):
            producer.produce(name, f"{name} {number}".encode(), partition=number % 3, on_delivery=done)
        producer.flush(60)
        consumer = Consumer(
            QUICK | {"bootstrap.servers": self.bootstrap, "group.id": "nobody", "enable.auto.commit": False}
        )
        missing = {
            (*key, offset): value for key, found in acknowledged.items() for offset, value in found.items()
        }
        total = len(missing)
        consumer.assign([Place(name, partition, 0) for partition in range(3)])
        deadline = time.monotonic() + 60
        while missing and time.monotonic() < deadline:
            for message in consumer.consume(100, 0.2):
                if message.error() is None:
                    place = message.topic(), message.partition(), message.offset()
                    if missing.pop(place, message.value()) != message.value():
                        self.history.problems.append(f"{place} holds {message.value()!r}")
        consumer.close()
        if missing:
            self.history.problems.append(f"{name}: {len(missing)} of {total} records cannot be read")
        return total > 0 and not missing
