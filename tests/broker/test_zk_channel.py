"""What the controller tells brokers of the ZooKeeper era, and that it says it until it is heard."""

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import PeerError, PeerFailure
from kbroker.broker.zk_channel import ZkChannel
from kbroker.controller.brokers import fence_broker
from kbroker.controller.topics import TopicRef, delete_topics
from kbroker.controller.zookeeper.steps import with_leader_epochs
from kbroker.plain import replace
from kbroker.protocol.generated.leader_and_isr_response import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from kbroker.types import ZERO_UUID
from tests.controller.clusters import cluster, with_topic


class Peers:
    """Keeps requests; the test answers."""

    def __init__(self):
        self.sent = []

    def send(self, address, request, *, timeout_ms, channel, version=None):
        answer = Deferred()
        self.sent.append((address.node_id, request, answer))
        return answer

    def take(self, broker_id):
        """The one request to that broker that is under way."""
        (found,) = [each for each in self.sent if each[0] == broker_id]
        self.sent.remove(found)
        return found[1:]

    def answer_all(self):
        names = {}
        while self.sent:
            broker_id, request, answer = self.sent.pop(0)
            names.setdefault(broker_id, []).append(request)
            answer.resolve(SimpleNamespace(error_code=0))
        return names


class Timer:
    def __init__(self):
        self.calls = []

    def call_later(self, delay_ms, callback):
        self.calls.append(callback)

    def ring(self):
        calls, self.calls = self.calls, []
        for call in calls:
            call()


@pytest.fixture
def peers():
    return Peers()


@pytest.fixture
def channel(peers):
    channel = ZkChannel(1, peers, Timer(), "PLAINTEXT")
    channel.timer = channel._timer
    return channel


def image_of(*live, topic=True, level=16):
    image = cluster(*live, level=level)
    return with_topic(image, "t", 2, len(live)) if topic else image


def names(requests):
    return [request.NAME for request in requests]


def changed(image, decision):
    return image.apply(with_leader_epochs(decision.records, image))


def test_a_new_controller_tells_all_but_itself_everything(channel, peers):
    image = image_of(1, 2, 3)
    channel.activated(image)
    told = peers.answer_all()
    assert told.keys() == {2, 3}
    # A leader that a broker has not heard of as a live one it does not follow.
    assert names(told[2]) == ["UpdateMetadataRequest", "LeaderAndIsrRequest"]
    update, leader_and_isr = told[2]
    assert leader_and_isr.broker_epoch == image.brokers[2].epoch
    assert leader_and_isr.controller_epoch == image.epoch
    (topic,) = leader_and_isr.topic_states
    assert (topic.topic_name, len(topic.partition_states)) == ("t", 2)
    assert topic.partition_states[0].is_new
    assert {broker.id for broker in update.live_brokers} == {1, 2, 3}
    assert update.encode(8)
    assert leader_and_isr.encode(7)
    channel.committed(image)
    assert not peers.sent


def test_one_request_at_a_time_and_the_newest_state(channel, peers):
    image = image_of(1, 2, topic=False)
    channel.activated(image)
    _, answer = peers.take(2)
    for name in ("a", "b", "c"):
        image = with_topic(image, name, 1, 2)
        channel.committed(image)
    assert not peers.sent
    answer.resolve(SimpleNamespace(error_code=0))
    told = peers.answer_all()[2]
    assert names(told) == ["LeaderAndIsrRequest", "UpdateMetadataRequest"]
    assert [topic.topic_name for topic in told[0].topic_states] == ["a", "b", "c"]


def test_a_broker_that_goes(channel, peers):
    image = image_of(1, 2, 3)
    channel.activated(image)
    peers.answer_all()
    image = changed(image, fence_broker(image, 3, image.brokers[3].epoch))
    channel.committed(image)
    told = peers.answer_all()
    assert told.keys() == {2}
    leader_and_isr, update = told[2]
    states = {each.partition_index: each for each in leader_and_isr.topic_states[0].partition_states}
    assert all(3 not in state.isr and state.leader_epoch == 1 for state in states.values())
    assert not any(state.is_new for state in states.values())
    assert {broker.id for broker in update.live_brokers} == {1, 2}
    assert update.topic_states[0].partition_states[0].offline_replicas == [3]


def test_what_fails_is_said_again(channel, peers):
    channel.activated(image_of(1, 2))
    request, answer = peers.take(2)
    answer.fail(PeerError(PeerFailure.REFUSED))
    assert not peers.sent
    channel.timer.ring()
    again, answer = peers.take(2)
    assert again == request
    answer.resolve(SimpleNamespace(error_code=11))
    channel.timer.ring()
    assert peers.take(2)[0] == request


def test_an_older_life_of_a_broker_is_not_waited_for(channel, peers):
    image = image_of(1, 2, 3)
    channel.activated(image)
    _, answer = peers.take(3)
    channel.committed(changed(image, fence_broker(image, 3, image.brokers[3].epoch)))
    answer.fail(PeerError(PeerFailure.CLOSED))
    channel.timer.ring()
    assert [each[0] for each in peers.sent] == [2]


def test_a_deleted_topic(channel, peers):
    image = image_of(1, 2)
    channel.activated(image)
    peers.answer_all()
    image = changed(image, delete_topics(image, [TopicRef("t", ZERO_UUID)]))
    channel.committed(image)
    told = peers.answer_all()[2]
    assert names(told) == ["UpdateMetadataRequest", "StopReplicaRequest"]
    assert told[0].topic_states[0].partition_states[0].leader == -2
    states = told[1].topic_states[0].partition_states
    assert [(each.partition_index, each.delete_partition, each.leader_epoch) for each in states] == [
        (0, True, -2),
        (1, True, -2),
    ]
    assert told[1].encode(4)
    channel.committed(image)
    assert not peers.sent


@pytest.mark.parametrize("answered", [True, False])
def test_a_topic_that_is_gone_when_all_is_read_again(channel, peers, answered):
    """Seed 406 of test_no_log_is_deleted_that_nobody_wanted_to_be: the broker may have heard of it."""
    image = image_of(1, 2, topic=False)
    channel.activated(image)
    peers.answer_all()
    channel.committed(with_topic(image, "t", 2, 2))
    if answered:
        peers.answer_all()
        channel.activated(image)
    else:
        # LeaderAndIsr is known to be heard, and UpdateMetadata is under way: nothing may overtake it.
        peers.take(2)[1].resolve(SimpleNamespace(error_code=0))
        _, answer = peers.take(2)
        for _ in range(2):
            channel.activated(image)
            assert not peers.sent
        answer.fail(PeerError(PeerFailure.REFUSED, "gone"))
    told = peers.answer_all()[2]
    (topic,) = next(each for each in told if each.NAME == "UpdateMetadataRequest").topic_states
    assert [(each.partition_index, each.leader) for each in topic.partition_states] == [(0, -2), (1, -2)]
    (topic,) = told[-1].topic_states
    assert [each.partition_index for each in topic.partition_states] == [0, 1]


def test_one_who_resigns_says_nothing_more(channel, peers):
    channel.activated(image_of(1, 2))
    _, answer = peers.take(2)
    channel.resigned()
    answer.resolve(SimpleNamespace(error_code=0))
    channel.timer.ring()
    assert not peers.sent


class Suspects:
    def __init__(self):
        self.found = set()
        self.log = []
        self.lost = {}

    def is_suspect(self, broker_id, epoch):
        return broker_id in self.found

    def refused(self, broker_id, epoch):
        self.log.append(("refused", broker_id))

    def answered(self, broker_id, epoch):
        self.log.append(("answered", broker_id))

    def offline(self, broker_id, partitions):
        self.log.append(("offline", broker_id, set(partitions)))
        self.lost.setdefault(broker_id, set()).update(partitions)

    def has_vanished(self, topic_id):
        return False

    def all_offline(self):
        return self.lost


def test_who_refuses_connections_is_asked_whether_it_lives(peers):
    suspects, timer = Suspects(), Timer()
    channel = ZkChannel(1, peers, timer, "PLAINTEXT", suspects)
    image = image_of(1, 2, topic=False)
    channel.activated(image)
    peers.answer_all()
    topic = with_topic(image, "t", 1, 2)
    channel.committed(topic)
    peers.take(2)[1].fail(PeerError(PeerFailure.REFUSED))
    assert suspects.log == [("refused", 2)]
    suspects.found.add(2)
    fenced = changed(topic, fence_broker(topic, 2, topic.brokers[2].epoch))
    channel.committed(fenced)
    timer.ring()
    question, answer = peers.take(2)
    assert (question.NAME, question.topic_states) == ("StopReplicaRequest", [])
    assert question.broker_epoch == topic.brokers[2].epoch
    # Another life of the broker may answer.
    answer.resolve(SimpleNamespace(error_code=77))
    timer.ring()
    peers.take(2)[1].resolve(SimpleNamespace(error_code=0))
    assert suspects.log == [("refused", 2), ("answered", 2)]
    assert not peers.sent
    suspects.found.clear()
    channel.committed(topic)
    # It knows what it had acknowledged before.
    assert names(peers.answer_all()[2]) == ["LeaderAndIsrRequest", "UpdateMetadataRequest"]


def test_a_connection_that_ends_says_nothing_about_a_broker(peers):
    suspects = Suspects()
    channel = ZkChannel(1, peers, Timer(), "PLAINTEXT", suspects)
    channel.activated(image_of(1, 2))
    peers.take(2)[1].fail(PeerError(PeerFailure.CLOSED))
    assert not suspects.log


def by_id(topic, *errors):
    """An answer to LeaderAndIsr since version 5."""
    partitions = [
        LeaderAndIsrPartitionError(partition_index=at, error_code=code) for at, code in enumerate(errors)
    ]
    return LeaderAndIsrResponse(
        topics=[LeaderAndIsrTopicError(topic_id=topic.id, partition_errors=partitions)]
    )


def by_name(topic, *errors):
    """Before that."""
    partitions = [
        LeaderAndIsrPartitionError(topic_name=topic.name, partition_index=at, error_code=code)
        for at, code in enumerate(errors)
    ]
    return LeaderAndIsrResponse(partition_errors=partitions)


@pytest.mark.parametrize("answered", [by_id, by_name])
def test_what_a_broker_has_lost_with_a_directory(peers, answered):
    suspects = Suspects()
    channel = ZkChannel(1, peers, Timer(), "PLAINTEXT", suspects)
    image = image_of(1, 2)
    topic = image.topics.get("t")
    channel.activated(image)
    peers.answer_all()
    channel.ask_for_directories(2)
    asked, answer = peers.take(2)
    assert asked.NAME == "LeaderAndIsrRequest"
    assert len(asked.topic_states[0].partition_states) == 2
    # Asked once more while it answers.
    channel.ask_for_directories(2)
    answer.resolve(answered(topic, 11, 56))
    assert suspects.log == [("offline", 2, {(topic.id, 1)})]
    asked, answer = peers.take(2)
    assert asked.NAME == "LeaderAndIsrRequest"
    answer.resolve(answered(topic, 11, 56))
    assert not peers.sent
    # Others hear of it with the next change of the partition.
    changed_image = changed(image, fence_broker(image, 2, image.brokers[2].epoch))
    changed_image = replace(changed_image, brokers=image.brokers)
    channel.committed(changed_image)
    peers.take(2)[1].resolve(answered(topic, 0, 0))
    update, _ = peers.take(2)
    states = update.topic_states[0].partition_states
    assert [each.offline_replicas for each in states] == [[], [2]]
    channel.ask_for_directories(7)


def test_what_a_broker_has_of_a_topic_that_had_the_name_before_goes(peers):
    """It was away when that was deleted."""
    channel = ZkChannel(1, peers, Timer(), "PLAINTEXT", Suspects())
    image = image_of(1, 2)
    topic = image.topics.get("t")
    channel.activated(image)
    peers.take(2)[1].resolve(SimpleNamespace(error_code=0))
    asked, answer = peers.take(2)
    assert asked.NAME == "LeaderAndIsrRequest"
    answer.resolve(by_id(topic, 0, 103))
    stop, answer = peers.take(2)
    (stopped,) = stop.topic_states
    assert (stopped.topic_name, [each.partition_index for each in stopped.partition_states]) == ("t", [1])
    assert stopped.partition_states[0].delete_partition
    answer.resolve(SimpleNamespace(error_code=0))
    asked, answer = peers.take(2)
    assert [each.partition_index for each in asked.topic_states[0].partition_states] == [1]
    # Once is enough: what helps nothing is not repeated.
    answer.resolve(by_id(topic, 0, 103))
    assert not peers.sent
