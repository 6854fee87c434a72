from __future__ import annotations

import random

import pytest

from kbroker.handlers.fetch_known import KnownFetch, KnownFetches
from kbroker.handlers.known_requests import REQUEST_BYTES_MAX, SHAPES_MAX
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchTopic, ForgottenTopic, ReplicaState
from tests.handlers.node import Node
from tests.handlers.test_fetch import fetch, partitions, produce, values, want


def wanted(version, topic_ids, offsets, **more):
    """Fetch fields for partitions of topic t by their offsets."""
    topic = FetchTopic(partitions=[FetchPartition(partition=i, fetch_offset=o, **more) for i, o in offsets])
    if version >= 13:
        topic.topic_id = topic_ids["t"]
    else:
        topic.topic = "t"
    return [topic] if offsets else []


def history(version, topic_ids, seed):
    """Request after request: like the last, with other offsets, or different in anything else."""
    chance = random.Random(seed)
    session_id, epoch, bytes_max, index = 0, -1, 1 << 20, 0
    for _ in range(60):
        what = chance.random()
        if what < 0.1:
            bytes_max = chance.choice([1, 300, 1 << 20])
        elif what < 0.2:
            index = chance.randrange(3)
        elif what < 0.25:
            session_id, epoch = 0, 0
        count = chance.choice([1, 1, 1, 2, 3, 0]) if epoch > 0 else chance.choice([1, 1, 2])
        offsets = [((index + i) % 3, chance.randrange(-1, 7)) for i in range(count)]
        topics = wanted(version, topic_ids, offsets, partition_max_bytes=bytes_max)
        fields = {"max_bytes": bytes_max, "session_id": session_id, "session_epoch": epoch, "topics": topics}
        if version < 13 and session_id and chance.random() < 0.05:
            fields["forgotten_topics_data"] = [ForgottenTopic(topic="t", partitions=[index])]
        answer = yield fields
        if epoch >= 0 and answer.session_id:
            session_id, epoch = answer.session_id, epoch + 1
        elif answer.error_code:
            session_id, epoch = 0, -1


def play(folder, version, seed):
    """The answers to a history on a node of its own, and the client that asked."""
    node = Node(folder)
    topic_ids = {"t": node.topic("t", partitions=3)}
    client = node.connect()
    for index in range(3):
        for value in range(index + 2):
            produce(client, "t", b"%d" % value * 50, index=index)
    answers = []
    steps = history(version, topic_ids, seed)
    fields = next(steps)
    while True:
        answers.append(client.ask("Fetch", version, **fields))
        try:
            fields = steps.send(answers[-1])
        except StopIteration:
            return answers, client


@pytest.mark.parametrize("version", range(7, 19))
@pytest.mark.parametrize("seed", range(4))
def test_what_is_recognised_is_answered_as_what_is_parsed(tmp_path, monkeypatch, version, seed):
    recognised = []
    recognise = KnownFetch.recognise

    def count(self, data, start):
        recognised.append(recognise(self, data, start))
        return recognised[-1]

    monkeypatch.setattr(KnownFetch, "recognise", count)
    answers, _ = play(tmp_path / "a", version, seed)
    assert len([hit for hit in recognised if hit is not None]) > 10
    monkeypatch.setattr(KnownFetches, "learn", lambda *_: False)
    before = len(recognised)
    assert answers == play(tmp_path / "b", version, seed)[0]
    assert len(recognised) == before


def as_follower(version, replica, broker_epoch=2):
    """What a Fetch says of who sends it."""
    if version < 15:
        return {"replica_id": replica}
    return {"replica_state": ReplicaState(replica_id=replica, replica_epoch=broker_epoch)}


@pytest.mark.parametrize(
    ("version", "is_follower"), [(7, False), (11, False), (11, True), (12, False), (18, False), (18, True)]
)
def test_a_byte_that_differs_means_what_it_means_to_a_stranger(node, version, is_follower):
    topic_id = node.topic("t", replicas=(1, 2) if is_follower else (1,))
    topic = want("t") if version < 13 else want("", topic_id=topic_id)
    produce(node.connect(), "t", b"a")
    who = as_follower(version, 2) if is_follower else {}
    whole = node.connect().frame("Fetch", version, max_wait_ms=0, topics=[topic], **who)
    for at in range(4, len(whole)):
        frame = bytearray(whole)
        frame[at] ^= 0x41
        outcomes = []
        for times in (3, 0):
            client = node.connect()
            for _ in range(times):
                client.send(whole)
            assert (client.core.fetch_cache is not None and 1 in client.core.fast) == (times == 3)
            client.core.take_output()
            node.services.fetch_sessions.__init__(10, lambda: 0, lambda: 1)
            client.send(bytes(frame))
            outcomes.append((client.core.take_output(), client.closed, client.core.parked is None))
            client.core.abandon()
        assert outcomes[0] == outcomes[1], at


@pytest.mark.parametrize("version", [12, 14, 15, 18])
def test_followers_are_recognised_each_as_who_it_is(node, version):
    topic_id = node.topic("t", replicas=(1, 2, 3))
    producer, followers = node.connect(), {2: node.connect(), 3: node.connect()}
    partition, counted = node.replicas.get("t", 0), node.services.requests.of("FetchFollower").versions
    sessions = {}

    def ask(replica, offset, epoch):
        name = {"topic_id": topic_id} if version >= 13 else {}
        topic = want("t" if version < 13 else "", offset=offset, current_leader_epoch=0, **name)
        fields = {"session_id": sessions.get(replica, 0), "session_epoch": epoch, "max_wait_ms": 0}
        return followers[replica].ask(
            "Fetch", version, topics=[topic], **fields, **as_follower(version, replica)
        )

    for replica in followers:
        sessions[replica] = ask(replica, 0, 0).session_id
    before = counted[version]
    for offset in range(6):
        produce(producer, "t", b"v%d" % offset)
        for replica in followers:
            (answer,) = [p for t in ask(replica, offset, offset + 1).responses for p in t.partitions]
            assert values(answer) == [b"v%d" % offset]
            assert partition.leader_state.followers[replica].log_end_offset == offset
        assert partition.high_watermark == offset
    assert counted[version] == before + 12
    assert node.services.requests.of("FetchConsumer").versions[version] == 0
    assert all(1 in follower.core.fast and follower.core.is_follower for follower in followers.values())


def test_a_parked_fetch_may_be_a_known_one(node):
    node.topic("t")
    producer, consumer = node.connect(), node.connect()
    for offset in range(5):
        consumer.send(
            consumer.frame("Fetch", 11, max_wait_ms=1000, min_bytes=1, topics=[want("t", offset=offset)])
        )
        assert consumer.answers() == []
        produce(producer, "t", b"v%d" % offset)
        (answer,) = consumer.answers()
        assert values(partitions(answer)["t", 0]) == [b"v%d" % offset]
    assert 1 in consumer.core.fast


def test_one_connection_may_produce_and_fetch(node):
    node.topic("t")
    client = node.connect()
    for value in (b"a", b"b", b"c", b"d"):
        produce(client, "t", value)
        fetch(client, want("t"))
    assert set(client.core.fast) == {0, 1}
    assert values(partitions(fetch(client, want("t")))["t", 0]) == [b"a", b"b", b"c", b"d"]


def test_memory_is_bounded_and_who_never_repeats_himself_is_learnt_ever_more_rarely(node, monkeypatch):
    node.topic("t", partitions=100)
    client = node.connect()
    for count in range(1, 100):
        topic = FetchTopic(topic="t", partitions=[FetchPartition(partition=i) for i in range(count)])
        fetch(client, topic)
    cache = client.core.fetch_cache
    assert len(cache.by_size) <= SHAPES_MAX
    assert max(cache.by_size) <= REQUEST_BYTES_MAX
    known = [0]
    monkeypatch.setattr("kbroker.handlers.fetch_known._find_holes", lambda *_: known.append(1))
    for rack in range(1000, 1200):
        fetch(client, want("t"), rack_id=str(rack))
    assert sum(known) < 12
