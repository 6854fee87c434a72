from __future__ import annotations

import pytest

from kbroker.errors import ErrorCode
from kbroker.protocol.control_records import EndTxnMarker, build_end_txn_batch
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchTopic, ForgottenTopic, ReplicaState
from kbroker.protocol.record_batch import decode_records, iter_batches
from kbroker.storage.log import AppendOrigin
from tests.handlers.node import batch
from tests.handlers.test_produce import to


def want(topic, offset=0, index=0, max_bytes=1 << 20, topic_id=None, **fields):
    partition = FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=max_bytes, **fields)
    if topic_id is not None:
        return FetchTopic(topic_id=topic_id, partitions=[partition])
    return FetchTopic(topic=topic, partitions=[partition])


def fetch(client, *topics, version=11, wait=0, **fields):
    return client.ask("Fetch", version, max_wait_ms=wait, min_bytes=1, topics=list(topics), **fields)


def partitions(response):
    return {(topic.topic, p.partition_index): p for topic in response.responses for p in topic.partitions}


def values(partition):
    records = partition.records or b""
    return [r.value for header in iter_batches(records) for r in decode_records(records, header)]


def produce(client, topic, *what, index=0):
    client.ask("Produce", 9, **to(topic, batch(*what), index=index))


@pytest.mark.parametrize("version", range(4, 19))
def test_every_version_reads_what_was_written(node, version):
    topic_id = node.topic("t")
    client = node.connect()
    produce(client, "t", b"a", b"b")
    produce(client, "t", b"c")
    topic = want("t") if version < 13 else want("", topic_id=topic_id)
    (partition,) = [p for t in fetch(client, topic, version=version).responses for p in t.partitions]
    assert (partition.error_code, partition.high_watermark, partition.last_stable_offset) == (0, 3, 3)
    assert values(partition) == [b"a", b"b", b"c"]
    assert partition.aborted_transactions is None


def test_large_data_leaves_as_file_slices_and_small_data_as_bytes(node):
    node.topic("small")
    node.topic("large")
    client = node.connect()
    produce(client, "small", b"s")
    produce(client, "large", b"l" * 100_000)
    client.send(client.frame("Fetch", 11, max_wait_ms=0, topics=[want("small"), want("large")]))
    kinds = [type(part).__name__ for part in client.core.out]
    assert kinds == ["bytes", "FileSlice"]
    (response,) = client.answers()
    assert values(partitions(response)["small", 0]) == [b"s"]
    assert values(partitions(response)["large", 0]) == [b"l" * 100_000]


def test_offsets_out_of_range_and_unknown_partitions(node):
    node.topic("t")
    client = node.connect()
    produce(client, "t", b"a")
    for offset in (-1, 2, 100):
        (answer,) = partitions(fetch(client, want("t", offset), wait=9000)).values()
        assert (answer.error_code, answer.high_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    answer = partitions(fetch(client, want("nowhere"), want("t", index=4), want("t"), wait=9000))
    assert answer["nowhere", 0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert answer["nowhere", 0].aborted_transactions == []
    assert answer["t", 4].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert values(answer["t", 0]) == [b"a"]
    (unknown,) = fetch(client, want("", topic_id=bytes(16)), version=13).responses
    assert unknown.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_limits_give_at_least_one_batch_and_then_hold(node):
    node.topic("t", partitions=3)
    client = node.connect()
    for index in range(3):
        produce(client, "t", b"x" * 100, index=index)
    everything = [want("t", index=index) for index in range(3)]
    for limit, expected in ((0, 1), (1, 1), (200, 1), (400, 2), (1000, 3)):
        answer = partitions(fetch(client, *everything, max_bytes=limit))
        assert sum(bool(values(p)) for p in answer.values()) == expected, limit
    answer = partitions(fetch(client, want("t", index=1, max_bytes=10), want("t", index=0, max_bytes=10)))
    assert values(answer["t", 1])
    assert not values(answer["t", 0])


def test_epochs_of_the_fetcher_are_compared(node):
    node.topic("t")
    client = node.connect()
    produce(client, "t", b"a")
    one = lambda **fields: fetch(client, want("t", **fields), version=12).responses[0].partitions[0]  # noqa: E731
    assert one(current_leader_epoch=0).error_code == 0
    assert one(current_leader_epoch=1).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert one(last_fetched_epoch=2).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    diverging = one(offset=9, last_fetched_epoch=0)
    assert (diverging.error_code, diverging.diverging_epoch.epoch, diverging.diverging_epoch.end_offset) == (
        0,
        0,
        1,
    )


def test_a_wrong_broker_names_the_leader(node):
    topic_id = node.topic("t", replicas=(2,), leader=2)
    response = fetch(node.connect(), want("", topic_id=topic_id), version=16)
    (answer,) = response.responses[0].partitions
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (2, 0)


def test_a_parked_fetch_is_woken_by_the_append_and_holds_back_its_own_connection_only(node):
    node.topic("t")
    consumer, producer = node.connect(), node.connect()
    woken = []
    consumer.core.on_output = lambda: woken.append(node.replicas.get("t", 0).log.log_end_offset)
    parked = consumer.frame("Fetch", 11, max_wait_ms=8000, min_bytes=1, topics=[want("t")])
    after = consumer.frame("ApiVersions", 0)
    consumer.send(parked, after)
    assert consumer.answers() == []
    produce(producer, "t", b"late")
    assert woken == [1]
    fetched, versions = consumer.answers()
    assert values(fetched.responses[0].partitions[0]) == [b"late"]
    assert versions.api_keys
    assert len(node.replicas.fetches) == 0


def test_117_min_bytes_waits_for_enough_over_all_partitions(node):
    node.topic("t", partitions=2)
    client, producer = node.connect(), node.connect()
    size = len(batch(b"x" * 100))
    topics = [want("t"), want("t", index=1)]
    client.send(client.frame("Fetch", 11, max_wait_ms=8000, min_bytes=2 * size, topics=topics))
    produce(producer, "t", b"x" * 100)
    assert client.answers() == []
    produce(producer, "t", b"x" * 100, index=1)
    (response,) = client.answers()
    assert [len(values(p)) for p in partitions(response).values()] == [1, 1]


def test_117_a_fetch_that_waits_in_vain_answers_with_what_there_is(node):
    node.topic("t")
    client, producer = node.connect(), node.connect()
    client.send(client.frame("Fetch", 11, max_wait_ms=500, min_bytes=100_000, topics=[want("t")]))
    produce(producer, "t", b"little")
    node.advance(499)
    assert client.answers() == []
    node.advance(2)
    (response,) = client.answers()
    assert values(response.responses[0].partitions[0]) == [b"little"]


def test_117_deletion_and_lost_leadership_answer_a_parked_fetch(node):
    gone, moved = node.topic("gone"), node.topic("moved", replicas=(1, 2))
    first, second = node.connect(), node.connect()
    first.send(first.frame("Fetch", 11, max_wait_ms=8000, min_bytes=1, topics=[want("gone")]))
    moving = want("moved")
    moving.partitions[0].current_leader_epoch = 0
    second.send(second.frame("Fetch", 11, max_wait_ms=8000, min_bytes=1, topics=[moving]))
    node.delete(gone)
    node.move_leader(moved, 0, 2)
    assert partitions(first.answers()[0])["gone", 0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert partitions(second.answers()[0])["moved", 0].error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_117_an_error_in_any_partition_is_told_at_once(node):
    node.topic("t", partitions=2)
    client = node.connect()
    topics = [want("t"), want("t", 77, index=1)]
    client.send(client.frame("Fetch", 11, max_wait_ms=8000, min_bytes=1, topics=topics))
    (response,) = client.answers()
    assert {key: p.error_code for key, p in partitions(response).items()} == {
        ("t", 0): 0,
        ("t", 1): ErrorCode.OFFSET_OUT_OF_RANGE,
    }


def test_117_a_reader_of_committed_records_waits_for_the_end_of_the_transaction(node):
    """What is below the high watermark already may be read when the stable offset moves."""
    node.topic("t")
    readers = node.connect(), node.connect()
    partition = node.replicas.get("t", 0)
    for isolation, reader in enumerate(readers):
        reader.send(
            reader.frame(
                "Fetch", 11, max_wait_ms=8000, min_bytes=1, isolation_level=isolation, topics=[want("t")]
            )
        )
    pending = batch(b"a", producer_id=5, producer_epoch=0, base_sequence=0, transactional=True)
    partition.append(pending, node.clock.now_ms(), AppendOrigin.COORDINATOR)
    partition.flush()
    assert [values(p) for p in partitions(readers[0].answers()[0]).values()] == [[b"a"]]
    assert readers[1].answers() == []
    marker = build_end_txn_batch(
        EndTxnMarker(True, 0), producer_id=5, producer_epoch=0, timestamp=node.clock.now_ms()
    )
    partition.append(marker, node.clock.now_ms(), AppendOrigin.COORDINATOR)
    partition.flush()
    (committed,) = partitions(readers[1].answers()[0]).values()
    assert values(committed)[0] == b"a"
    assert committed.last_stable_offset == 2


def test_a_closed_connection_leaves_nothing_parked(node):
    node.topic("t")
    client = node.connect()
    client.send(client.frame("Fetch", 11, max_wait_ms=2**31 - 1, min_bytes=1, topics=[want("t")]))
    assert len(node.replicas.fetches) == 1
    client.core.abandon()
    assert len(node.replicas.fetches) == 0


def test_a_follower_reads_beyond_the_high_watermark_and_moves_it(node):
    node.topic("t", replicas=(1, 2))
    client, follower = node.connect(), node.connect()
    produce(client, "t", b"a")
    assert not values(partitions(fetch(client, want("t")))["t", 0])
    (answer,) = partitions(fetch(follower, want("t"), replica_id=2)).values()
    assert (values(answer), answer.high_watermark) == ([b"a"], 0)
    fetch(follower, want("t", 1), replica_id=2)
    assert values(partitions(fetch(client, want("t")))["t", 0]) == [b"a"]
    (stranger,) = partitions(fetch(follower, want("t"), replica_id=7)).values()
    assert stranger.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    topic_id = node.cache.image.topics.get("t").id
    state = ReplicaState(replica_id=7, replica_epoch=1)
    answer = fetch(follower, want("", topic_id=topic_id), version=15, replica_state=state)
    assert answer.responses[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_read_committed_asks_for_aborted_transactions(node):
    node.topic("t")
    client = node.connect()
    produce(client, "t", b"a")
    (answer,) = partitions(fetch(client, want("t"), isolation_level=1)).values()
    assert answer.aborted_transactions == []


class TestSessions:
    def begin(self, client, *topics, **fields):
        return fetch(client, *topics, session_epoch=0, version=12, **fields)

    def go_on(self, client, session, epoch, *topics, **fields):
        return fetch(client, *topics, session_id=session, session_epoch=epoch, version=12, **fields)

    def test_only_news_come_after_the_first_answer(self, node):
        node.topic("t", partitions=2)
        client = node.connect()
        produce(client, "t", b"a")
        first = self.begin(client, want("t"), want("t", index=1))
        sid = first.session_id
        assert sid > 0
        assert len(partitions(first)) == 2
        assert self.go_on(client, sid, 1, want("t", 1)).responses == []
        produce(client, "t", b"b", index=1)
        for epoch in (2, 3):
            news = partitions(self.go_on(client, sid, epoch))
            assert list(news) == [("t", 1)]
            assert values(news["t", 1]) == [b"b"]

    def test_119_wrong_epochs_and_unknown_sessions(self, node):
        node.topic("t")
        client = node.connect()
        sid = self.begin(client, want("t")).session_id
        for epoch in (2, 9):
            answer = self.go_on(client, sid, epoch)
            assert (answer.error_code, answer.session_id) == (ErrorCode.INVALID_FETCH_SESSION_EPOCH, 0)
        assert self.go_on(client, sid, 1).error_code == 0
        assert self.go_on(client, 12345, 1).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        mixed = fetch(client, session_id=sid, session_epoch=2, version=13)
        assert mixed.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR

    def test_errors_come_each_time_and_their_end_is_news(self, node):
        node.topic("t")
        client = node.connect()
        sid = self.begin(client, want("t")).session_id
        for epoch in (1, 2):
            topics = [want("t", 77), want("t", index=5)] if epoch == 1 else []
            answer = partitions(self.go_on(client, sid, epoch, *topics))
            assert answer["t", 0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
            assert answer["t", 5].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        forgotten = [ForgottenTopic(topic="t", partitions=[5])]
        answer = partitions(self.go_on(client, sid, 3, want("t"), forgotten_topics_data=forgotten))
        assert list(answer) == [("t", 0)]
        assert self.go_on(client, sid, 4).responses == []

    def test_119_closing_and_beginning_anew(self, node):
        node.topic("t")
        client = node.connect()
        sid = self.begin(client, want("t")).session_id
        closing = fetch(client, want("t"), session_id=sid, session_epoch=-1, version=12)
        assert (closing.session_id, len(partitions(closing))) == (0, 1)
        assert self.go_on(client, sid, 1).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        old = self.begin(client, want("t")).session_id
        new = fetch(client, want("t"), session_id=old, session_epoch=0, version=12).session_id
        assert new not in (0, old)
        assert self.go_on(client, old, 1).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND

    def test_partitions_with_data_go_to_the_end(self, node):
        node.topic("t", partitions=2)
        client = node.connect()
        for index in range(2):
            produce(client, "t", b"x", index=index)
        sid = self.begin(client, want("t", 1), want("t", 1, index=1)).session_id
        first = self.go_on(client, sid, 1, want("t", 0), want("t", 0, index=1), max_bytes=1)
        assert [key for key, p in partitions(first).items() if values(p)] == [("t", 0)]
        second = self.go_on(client, sid, 2, max_bytes=1)
        assert [key for key, p in partitions(second).items() if values(p)] == [("t", 1)]

    def test_a_deleted_topic_is_an_unknown_partition_in_a_session_of_ids(self, node):
        topic_id = node.topic("t")
        client = node.connect()
        first = fetch(client, want("", topic_id=topic_id), session_epoch=0, version=13)
        node.delete(topic_id)
        again = fetch(client, session_id=first.session_id, session_epoch=1, version=13)
        assert again.responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_disk_that_fails_under_a_read_is_an_error_of_that_partition(node):
    node.topic("t")
    node.topic("u")
    client = node.connect()
    produce(client, "t", b"a")
    produce(client, "u", b"b")
    log = node.replicas.get("t", 0).log

    class Broken:
        def read(self, position, length):
            raise OSError(5, "Input/output error")

        def fileno(self):
            return -1

    whole = log.read

    with pytest.MonkeyPatch.context() as patch:
        found = whole(0, 1000, 1)
        bad = found._replace(parts=[found.parts[0]._replace(file=Broken())])
        original = type(log).read
        patch.setattr(type(log), "read", lambda self, *a: bad if self is log else original(self, *a))
        answer = partitions(fetch(client, want("t"), want("u")))
    assert answer["t", 0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert answer["t", 0].high_watermark == -1
    assert values(answer["u", 0]) == [b"b"]


def test_a_bug_under_a_parked_fetch_does_not_reach_the_producer_that_wakes_it(node, caplog):
    node.topic("t")
    consumer, producer = node.connect(), node.connect()
    consumer.send(consumer.frame("Fetch", 11, max_wait_ms=8000, min_bytes=1, topics=[want("t")]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kbroker.handlers.fetch_encode.FetchEncoder.encode", lambda *a: 1 / 0)
        produce(producer, "t", b"a")
    assert producer.closed is None
    assert "Fetch failed" in consumer.closed
    assert "ZeroDivisionError" in caplog.text
