"""Writing dead letters: where to, together with what, what is tried again, and when it is given up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbroker.broker import dead_letters
from kbroker.broker.dead_letters import DeadLetterQueue
from kbroker.broker.deferred import Deferred
from kbroker.broker.share_settings import ShareSettings
from kbroker.config.broker_config import BrokerConfig
from kbroker.coordinator.share.dead_letters import Cause, DeadLetters
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kbroker.protocol.record_batch import Record, build_batch, decode_records, iter_batches
from kbroker.storage.log_types import AppendOrigin
from kbroker.types import TopicPartition
from tests.handlers.node import Node

ENABLED = {"errors_deadletterqueue_group_enable": "true"}
AUTO_CREATE = {"errors.deadletterqueue.auto.create.topics.enable": "true"}


class World:
    """A node with a topic `t` that has records, and a group `g` that gives them up."""

    def __init__(self, folder, **settings):
        self.node = Node(folder)
        services = self.node.services
        services.config = BrokerConfig({"node.id": "1", **settings})
        self.sent = []
        services.transactions = SimpleNamespace(link=SimpleNamespace(send=self._send))
        self.node.topic("t", partitions=3)
        for index in range(3):
            values = [Record(timestamp=5, key=b"k", value=b"%d-%d" % (index, at)) for at in range(4)]
            for records in (values[:3], values[3:]):
                self.node.replicas.append_internal(
                    TopicPartition("t", index), bytearray(build_batch(records)), origin=AppendOrigin.CLIENT
                )
        self.queue = DeadLetterQueue(services, ShareSettings(services))
        self.send_to("dlq.t")

    def _send(self, leader, request):
        answer = Deferred()
        self.sent.append((leader, request, answer))
        return answer

    def send_to(self, topic, copy=False):
        names = {"topic.name": topic, "copy.record.enable": str(copy).lower()}
        self.node.publish(
            *(
                ConfigRecord(
                    resource_type=32,
                    resource_name="g",
                    name=f"errors.deadletterqueue.{name}",
                    value=value,
                )
                for name, value in names.items()
            )
        )

    def put(self, index, first, last, cause=Cause.REJECTED):
        source = self.node.replicas.get("t", index)
        return self.queue.put("g", source, DeadLetters(first, last, 1, cause))

    def letters(self, index=0, topic="dlq.t"):
        data = self.node.replicas.read_internal(TopicPartition(topic, index), 0)
        return [record for header in iter_batches(data) for record in decode_records(data, header)]

    def batches(self, index=0):
        data = self.node.replicas.read_internal(TopicPartition("dlq.t", index), 0)
        return [header.record_count for header in iter_batches(data)]

    def run(self):
        for _ in range(5):
            self.node.advance(1)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "data")


def places(letters):
    return [
        (dict(each.headers)["__dlq.errors.partition"], dict(each.headers)["__dlq.errors.offset"])
        for each in letters
    ]


def code_of(answer):
    with pytest.raises(ApiError) as caught:
        answer.result()
    return caught.value.code


def test_letters_go_to_the_partition_of_the_records_number_modulo(world):
    world.node.topic("dlq.t", partitions=2, **ENABLED)
    answers = [world.put(index, 1, 2) for index in range(3)]
    assert not any(each.done for each in answers), "nothing is written in the midst of something else"
    world.run()
    assert [each.result() for each in answers] == [None] * 3
    assert places(world.letters(0)) == [(b"0", b"1"), (b"0", b"2"), (b"2", b"1"), (b"2", b"2")]
    assert places(world.letters(1)) == [(b"1", b"1"), (b"1", b"2")]
    assert world.batches(0) == [4], "what comes together goes together"
    assert all(each.value is None and each.timestamp > 5 for each in world.letters(0))
    assert world.queue.written["g"] == 6
    assert world.queue.sent["g"] == 3


def test_key_and_value_come_along_where_the_group_wants_it(world):
    world.node.topic("dlq.t", **ENABLED)
    world.send_to("dlq.t", copy=True)
    world.put(0, 2, 3)
    world.put(1, 0, 0)
    world.run()
    assert [(each.key, each.value) for each in world.letters()] == [
        (b"k", b"0-2"),
        (b"k", b"0-3"),
        (b"k", b"1-0"),
    ]


def test_records_that_are_gone_leave_letters_without_them(world):
    world.node.topic("dlq.t", **ENABLED)
    world.send_to("dlq.t", copy=True)
    world.node.replicas.get("t", 0).delete_records(3)
    answer = world.put(0, 1, 9)
    world.run()
    assert answer.result() is None
    assert [each.value for each in world.letters()] == [None, None, b"0-3"] + [None] * 6


def test_copies_that_do_not_fit_into_one_batch_go_on_in_the_next(world):
    world.node.topic("dlq.t", max_message_bytes="420", **ENABLED)
    world.send_to("dlq.t", copy=True)
    answers = [world.put(0, 0, 3), world.put(1, 0, 3)]
    for _ in range(20):
        world.run()
    assert [each.result() for each in answers] == [None] * 2
    assert [each.value for each in world.letters()] == [b"%d-%d" % (i, at) for i in (0, 1) for at in range(4)]
    assert len(world.batches()) > 2


@pytest.mark.parametrize(
    ("name", "exists", "enabled"),
    [
        ("", False, False),
        ("__t", True, True),
        ("other", True, True),
        ("dlq.t", True, False),
        ("dlq.t", False, False),
    ],
)
def test_a_topic_that_is_none_for_dead_letters_gets_none(world, name, exists, enabled):
    if exists:
        world.node.topic(name, **(ENABLED if enabled else {}))
    world.send_to(name)
    answer = world.put(0, 0, 0)
    world.run()
    assert code_of(answer) == ErrorCode.INVALID_CONFIG
    assert not exists or not world.letters(0, name)
    assert world.queue.failed["g"] == 0, "nothing was tried"


def test_a_missing_topic_is_created_where_that_is_allowed(tmp_path, monkeypatch):
    world = World(tmp_path / "data", **AUTO_CREATE)
    asked = []

    def create(services, topics):
        asked.append((topics, Deferred()))
        return asked[-1][1]

    monkeypatch.setattr(dead_letters, "create_topics_of_our_own", create)
    answers = [world.put(0, 0, 0), world.put(1, 0, 0)]
    world.run()
    [([topic], created)] = asked
    assert (topic.name, topic.num_partitions, topic.replication_factor) == ("dlq.t", -1, -1)
    assert {each.name: each.value for each in topic.configs} == {
        "errors.deadletterqueue.group.enable": "true",
        "message.timestamp.type": "CreateTime",
    }
    world.node.topic("dlq.t", **ENABLED)
    created.resolve({"dlq.t": (ErrorCode.NONE, None)})
    world.run()
    assert [each.result() for each in answers] == [None] * 2
    assert len(world.letters()) == 2


def test_a_topic_that_cannot_be_created(tmp_path, monkeypatch):
    world = World(tmp_path / "data", **AUTO_CREATE)
    refused = Deferred()
    refused.resolve({"dlq.t": (ErrorCode.INVALID_TOPIC_EXCEPTION, "no")})
    monkeypatch.setattr(dead_letters, "create_topics_of_our_own", lambda services, topics: refused)
    answer = world.put(0, 0, 0)
    world.run()
    assert code_of(answer) == ErrorCode.INVALID_TOPIC_EXCEPTION


def response(code):
    part = PartitionProduceResponse(index=0, error_code=code)
    return ProduceResponse(responses=[TopicProduceResponse(name="dlq.t", partition_responses=[part])])


def test_another_leader_is_asked_and_what_comes_meanwhile_waits(world):
    world.node.topic("dlq.t", replicas=(2,), leader=2, **ENABLED)
    first = world.put(0, 0, 1)
    world.run()
    second = [world.put(0, 2, 2), world.put(1, 0, 0)]
    world.run()
    [(leader, request, answer)] = world.sent
    [topic] = request.topic_data
    assert (leader, request.acks, topic.name, topic.partition_data[0].index) == (2, -1, "dlq.t", 0)
    answer.resolve(response(0))
    assert first.result() is None
    world.run()
    [header] = iter_batches(world.sent[1][1].topic_data[0].partition_data[0].records)
    assert header.record_count == 2
    world.sent[1][2].resolve(response(0))
    assert [each.result() for each in second] == [None] * 2


def test_a_leader_that_is_none_is_asked_again_five_times_ever_later(world):
    world.node.topic("dlq.t", replicas=(2,), leader=2, **ENABLED)
    answer = world.put(0, 0, 0)
    world.run()
    waited = []
    while not answer.done:
        world.sent[-1][2].resolve(response(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        began, count = world.node.clock.now, len(world.sent)
        while len(world.sent) == count and not answer.done:
            world.node.advance(50)
            assert world.node.clock.now < began + 60_000
        waited.append(world.node.clock.now - began)
    assert len(world.sent) == 5
    assert all(2_000 * 2**at * 0.8 <= ms <= 2_000 * 2**at * 1.2 + 300 for at, ms in enumerate(waited[:4]))
    assert code_of(answer) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (world.queue.sent["g"], world.queue.failed["g"], world.queue.written["g"]) == (5, 1, 0)


def test_a_refusal_for_good_is_not_repeated(world):
    world.node.topic("dlq.t", replicas=(2,), leader=2, **ENABLED)
    answer = world.put(0, 0, 0)
    world.run()
    world.sent[0][2].resolve(response(ErrorCode.INVALID_RECORD))
    world.run()
    assert code_of(answer) == ErrorCode.INVALID_RECORD
    assert world.queue.failed["g"] == 1


def test_no_leader_and_settings_that_change_while_it_waits(world):
    world.node.topic("dlq.t", replicas=(2,), leader=-1, **ENABLED)
    answer = world.put(0, 0, 0)
    world.run()
    assert not answer.done
    world.send_to("dlq.u")
    world.node.topic("dlq.u", **ENABLED)
    world.node.advance(2_500)
    world.run()
    assert answer.result() is None
    assert len(world.letters(0, "dlq.u")) == 1


def test_there_are_none_with_the_first_level_of_share_groups(world):
    for level, kept in ((1, False), (2, True)):
        world.node.publish(FeatureLevelRecord(name="share.version", feature_level=level))
        assert ShareSettings(world.node.services).limits("g").dead_letters is kept
    world.send_to("")
    assert not ShareSettings(world.node.services).limits("g").dead_letters


def test_a_broker_that_stops_writes_nothing_more(world):
    world.node.topic("dlq.t", **ENABLED)
    answer = world.put(0, 0, 0)
    world.queue.close()
    world.run()
    assert not answer.done
    assert not world.letters()
