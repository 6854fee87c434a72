"""One node without sockets for the tests: real logs on a temporary folder, a clock that stands still."""

from __future__ import annotations

import itertools
from struct import pack, unpack_from

from kbroker.broker.fetch_session import FetchSessionCache
from kbroker.broker.replica_manager import ReplicaManager
from kbroker.broker.services import Services
from kbroker.broker.timer import WheelTimer
from kbroker.broker.topic_settings import TopicSettings
from kbroker.handlers.context import ConnectionContext
from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.delta import ClusterDelta
from kbroker.protocol.api_keys import (
    FACTS,
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
from kbroker.protocol.generated.topic_record import TopicRecord
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.server.connection import ConnectionCore
from kbroker.server.dispatch import Dispatcher
from kbroker.server.os_disk import OsDisk
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from tests.doubles import StandingClock

KEY = {facts.name: key for key, facts in FACTS.items()}


class Alarm:
    def cancel(self):
        pass


class Node:
    """A broker's parts; `topic()` creates topics, `connect()` gives a client."""

    def __init__(self, folder, *more_folders):
        self.clock = StandingClock()
        self.alarms = []
        self.timer = WheelTimer(self.clock.monotonic_ms, self._arm)
        self.cache = MetadataCache("cluster-id")
        self.logs = LogManager(OsDisk(), [str(path) for path in (folder, *more_folders)])
        self.logs.lock()
        self.logs.load(self.clock.now)
        self.replicas = ReplicaManager(1, self.logs, self.clock, self.timer, self._settings)
        self.cache.subscribe(self.replicas.apply_metadata)
        ids = itertools.count(1)
        self.services = Services(
            broker_id=1,
            cluster_id="cluster-id",
            config=None,
            clock=self.clock,
            timer=self.timer,
            new_uuid=lambda: next(ids).to_bytes(16, "big"),
            metadata=self.cache,
            replicas=self.replicas,
            controller=None,
            groups=None,
            fetch_sessions=FetchSessionCache(10, self.clock.monotonic_ms, lambda: next(ids)),
        )
        self.dispatcher = Dispatcher(self.services)
        self._topic_ids = itertools.count(1000)

    def _arm(self, delay_ms, callback):
        self.alarms.append((self.clock.now + delay_ms, callback))
        return Alarm()

    @staticmethod
    def _settings(name, overrides):
        config = LogConfig(message_timestamp_after_max_ms=2**63 - 1)
        if "max.message.bytes" in overrides:
            config.max_message_bytes = int(overrides["max.message.bytes"])
        if "message.timestamp.after.max.ms" in overrides:
            config.message_timestamp_after_max_ms = int(overrides["message.timestamp.after.max.ms"])
        for name in ("message.timestamp.type", "compression.type", "encryption.key"):
            if name in overrides:
                setattr(config, name.replace(".", "_"), overrides[name])
        if "flush.messages" in overrides:
            config.flush_messages = int(overrides["flush.messages"])
        if "cleanup.policy" in overrides:
            config.cleanup_policy = frozenset(overrides["cleanup.policy"].split(","))
        return TopicSettings(config, int(overrides.get("min.insync.replicas", "1")))

    def advance(self, ms):
        """Let time pass; what comes due is called."""
        self.clock.now += ms
        alarms, self.alarms = self.alarms, []
        for due, callback in alarms:
            if due <= self.clock.now:
                callback()
            else:
                self.alarms.append((due, callback))

    def publish(self, *records):
        delta = ClusterDelta(self.cache.image)
        for record in records:
            delta.replay(record)
        self.cache.publish(delta.image(self.cache.image.offset + len(records), 1), delta)

    def topic(self, name, partitions=1, replicas=(1,), isr=None, leader=1, **configs):
        """Create a topic; its id."""
        topic_id = next(self._topic_ids).to_bytes(16, "big")
        records = [TopicRecord(name=name, topic_id=topic_id)]
        for key, value in configs.items():
            records.append(
                ConfigRecord(resource_type=2, resource_name=name, name=key.replace("_", "."), value=value)
            )
        for index in range(partitions):
            records.append(
                PartitionRecord(
                    partition_id=index,
                    topic_id=topic_id,
                    replicas=list(replicas),
                    isr=list(isr or replicas),
                    leader=leader,
                    leader_epoch=0,
                    partition_epoch=0,
                )
            )
        self.publish(*records)
        return topic_id

    def delete(self, topic_id):
        self.publish(RemoveTopicRecord(topic_id=topic_id))

    def move_leader(self, topic_id, index, leader):
        self.publish(PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=leader))

    def connect(self):
        return Client(self)


class Client:
    """One connection, driven by hand."""

    def __init__(self, node):
        self.node = node
        self.core = ConnectionCore(ConnectionContext("c", "127.0.0.1"), node.dispatcher, 100 * 1024 * 1024)
        self.core.on_output = lambda: None
        self._correlation = itertools.count(1)
        self._asked = []
        self._answers = bytearray()

    def frame(self, name, version, client_id="test", **fields):
        """The bytes of a request, with their length."""
        key = KEY[name]
        request = request_class(key)(**fields)
        correlation = next(self._correlation)
        self._asked.append((correlation, key, version))
        raw = client_id.encode()
        head = pack(">hhi", key, version, correlation)
        if request_header_version(key, version) >= 1:
            head += pack(">h", len(raw)) + raw
        if request_header_version(key, version) >= 2:
            head += b"\0"
        body = head + request.encode(version)
        return pack(">i", len(body)) + body

    def send(self, *frames):
        """Feed frames in one go."""
        data = bytearray(b"".join(frames))
        self.core.feed(memoryview(data))

    def answers(self):
        """The responses that have come, decoded, in order."""
        while True:
            for part in self.core.take_output():
                self._answers += part if isinstance(part, bytes) else part.read()
            if not self.core.may_proceed:
                break
            self.core.proceed()
        found = []
        while len(self._answers) >= 4:
            (size,) = unpack_from(">i", self._answers)
            body = bytes(self._answers[4 : 4 + size])
            del self._answers[: 4 + size]
            correlation, key, version = self._asked.pop(0)
            assert unpack_from(">i", body)[0] == correlation
            skip = 5 if response_header_version(key, version) >= 1 else 4
            response, end = response_class(key).decode_from(body, version, skip)
            assert end == len(body)
            found.append(response)
        return found

    def ask(self, name, version, **fields):
        """One request, one answer."""
        self.send(self.frame(name, version, **fields))
        answers = self.answers()
        assert len(answers) == 1, (answers, self.core.close_reason)
        return answers[0]

    @property
    def closed(self):
        return self.core.close_reason


def batch(*values, **settings):
    """A record batch with these values."""
    records = [Record(timestamp=1_700_000_000_000, value=value) for value in values]
    return bytes(build_batch(records, **settings))
