from __future__ import annotations

import gc

import pytest

from kbroker.errors import ErrorCode
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kbroker.protocol.record_batch import Record, build_batch
from tests.handlers.node import batch


def to(topic, records, index=0, acks=1, topic_id=None, **fields):
    data = TopicProduceData(partition_data=[PartitionProduceData(index=index, records=records)])
    if topic_id is not None:
        data.topic_id = topic_id
    else:
        data.name = topic
    return {"acks": acks, "timeout_ms": 1000, "topic_data": [data], **fields}


def only(response):
    return response.responses[0].partition_responses[0]


@pytest.mark.parametrize("version", range(3, 14))
def test_answers_are_the_same_from_the_general_path_and_from_the_prefix_cache(node, version):
    topic_id = node.topic("t")
    client = node.connect()
    name = {"topic": "t"} if version < 13 else {"topic": "", "topic_id": topic_id}
    first = only(client.ask("Produce", version, **to(records=batch(b"a"), **name)))
    assert client.core.produce_cache is not None
    second = only(client.ask("Produce", version, **to(records=batch(b"b", b"c"), **name)))
    third = only(client.ask("Produce", version, **to(records=batch(b"d"), **name)))
    assert [first.base_offset, second.base_offset, third.base_offset] == [0, 1, 3]
    for answer in (first, second, third):
        assert answer.error_code == 0
        assert answer.log_append_time_ms == -1
        assert answer.log_start_offset == (0 if version >= 5 else -1)
    log = node.replicas.get("t", 0).log
    assert log.log_end_offset == log.high_watermark == 4


def test_all_frames_of_one_read_are_written_together_and_answered_in_order(node):
    node.topic("t", partitions=2)
    client = node.connect()
    client.ask("Produce", 9, **to("t", batch(b"warm")))
    client.ask("Produce", 9, **to("t", batch(b"warm"), index=1))
    frames = [client.frame("Produce", 9, **to("t", batch(b"x%d" % i), index=i % 2)) for i in range(20)]
    writes = []
    for index in range(2):
        partition = node.replicas.get("t", index)
        flush = type(partition).flush
        assert flush is not None
    counted = type(node.replicas.get("t", 0)).flush

    def count(partition):
        writes.append(partition.topic_partition.partition)
        counted(partition)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(node.replicas.get("t", 0)), "flush", count)
        client.send(*frames)
    assert sorted(writes) == [0, 1]
    assert [only(answer).base_offset for answer in client.answers()] == [1 + i // 2 for i in range(20)]


def test_other_requests_see_what_was_produced_before_them_in_the_same_read(node):
    from kbroker.protocol.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic

    node.topic("t")
    client = node.connect()
    client.ask("Produce", 9, **to("t", batch(b"warm")))
    produce = client.frame("Produce", 9, **to("t", batch(b"x")))
    asked = ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)])
    client.send(produce, client.frame("ListOffsets", 7, replica_id=-1, topics=[asked]))
    _, listed = client.answers()
    assert listed.topics[0].partitions[0].offset == 2


def test_027_acks_0_has_no_answer_and_an_error_closes(node):
    node.topic("t")
    client = node.connect()
    client.send(client.frame("Produce", 9, **to("t", batch(b"a"), acks=0)))
    client.send(client.frame("Produce", 9, **to("t", batch(b"b"), acks=0)))
    assert client.answers() == []
    assert node.replicas.get("t", 0).log.log_end_offset == 2
    assert client.closed is None
    client.send(client.frame("Produce", 9, **to("nowhere", batch(b"a"), acks=0)))
    assert "UNKNOWN_TOPIC_OR_PARTITION" in client.closed


@pytest.mark.parametrize(
    ("records", "code", "log_start"),
    [
        (b"", ErrorCode.INVALID_RECORD, -1),
        (None, ErrorCode.INVALID_RECORD, -1),
        (batch(b"a") + batch(b"b"), ErrorCode.INVALID_RECORD, -1),
        (batch(b"a")[:-3], ErrorCode.INVALID_RECORD, -1),
        (batch(b"a")[:-1] + b"\xff", ErrorCode.CORRUPT_MESSAGE, -1),
        (batch(b"a", base_offset=5), ErrorCode.INVALID_RECORD, 0),
        (batch(b"a" * 3000), ErrorCode.MESSAGE_TOO_LARGE, -1),
        (batch(b"a", producer_id=5, producer_epoch=0, base_sequence=-1), ErrorCode.INVALID_RECORD, 0),
        (
            batch(b"a", producer_id=5, producer_epoch=0, base_sequence=0, transactional=True),
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            -1,
        ),
    ],
)
@pytest.mark.parametrize("warm", [False, True])
def test_bad_records_are_refused_alike_with_and_without_the_cache(node, records, code, log_start, warm):
    node.topic("t", **{"max.message.bytes": "2000"})
    client = node.connect()
    if warm:
        client.ask("Produce", 9, **to("t", batch(b"good")))
    answer = only(client.ask("Produce", 9, **to("t", records)))
    assert (answer.error_code, answer.base_offset, answer.log_start_offset) == (code, -1, log_start)


def test_errors_of_acks_names_ids_and_leaders(node):
    node.topic("t")
    node.topic("elsewhere", replicas=(2,), leader=2)
    node.topic("__consumer_offsets")
    client = node.connect()
    ask = lambda version=9, **fields: only(client.ask("Produce", version, **fields)).error_code  # noqa: E731
    assert ask(**to("t", batch(b"a"), acks=2)) == ErrorCode.INVALID_REQUIRED_ACKS
    cut = batch(b"a", producer_id=5, producer_epoch=0, base_sequence=0, transactional=True)[:-3]
    assert ask(**to("t", cut)) == ErrorCode.INVALID_RECORD
    assert ask(**to("t", cut, acks=2)) == ErrorCode.INVALID_RECORD
    assert ask(6, **to("t", batch(b"a", codec=4))) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert ask(6, **to("t", batch(b"a", codec=4) * 2)) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert ask(6, **to("t", batch(b"a", codec=4)[:-3])) == ErrorCode.INVALID_RECORD
    short = batch(b"a")[:8] + bytes([0, 0, 0, 10]) + batch(b"a")[12:]
    refused = only(client.ask("Produce", 9, **to("t", short)))
    assert (refused.error_code, refused.error_message) == (
        ErrorCode.CORRUPT_MESSAGE,
        "Record size 10 is less than the minimum record overhead (14)",
    )
    assert ask(**to("nowhere", batch(b"a"), acks=2)) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ask(**to("t", batch(b"a"), index=-1)) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ask(13, **to("", batch(b"a"), topic_id=bytes(16))) == ErrorCode.UNKNOWN_TOPIC_ID
    assert ask(**to("__consumer_offsets", batch(b"a"))) == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert ask(client_id="__admin_client", **to("__consumer_offsets", batch(b"a"))) == 0
    assert ask(**to("elsewhere", batch(b"a"))) == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_wrong_broker_names_the_leader(node):
    node.topic("elsewhere", replicas=(2,), leader=2)
    response = node.connect().ask("Produce", 10, **to("elsewhere", batch(b"a")))
    leader = only(response).current_leader
    assert (leader.leader_id, leader.leader_epoch) == (2, 0)


def test_null_keys_of_a_compacted_topic_are_named_one_by_one(node):
    node.topic("t", cleanup_policy="compact")
    answer = only(node.connect().ask("Produce", 8, **to("t", batch(b"a", b"b"))))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in answer.record_errors] == [0, 1]
    assert answer.error_message.startswith("One or more records have been rejected")


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("codec", [0, 1])
@pytest.mark.parametrize(
    "config",
    [{"cleanup_policy": "compact"}, {"compression_type": "zstd"}, {"message_timestamp_after_max_ms": "1000"}],
)
def test_a_batch_that_takes_long_to_look_into_holds_up_nobody_else(node, config, codec, warm):
    work = []
    node.services.run_blocking = lambda task, done: work.append((task, done))
    node.topic("t", **config)
    node.topic("other")
    slow, quick = node.connect(), node.connect()
    if warm:
        only(slow.ask("Produce", 8, **to("t", keyed(1))))
    too_new = "message_timestamp_after_max_ms" in config
    records = keyed(5000, codec, timestamp=1_700_000_000_000 + (5000 if too_new else 0))
    slow.send(slow.frame("Produce", 8, **to("t", records)))
    assert slow.answers() == []
    assert only(quick.ask("Produce", 8, **to("other", batch(b"a")))).base_offset == 0
    ((task, done),) = work
    task()
    done(None)
    answer = only(*slow.answers())
    if not too_new:
        assert (answer.error_code, answer.base_offset) == (0, int(warm))
        log = node.replicas.get("t", 0).log
        assert log.log_end_offset == log.high_watermark == 5000 + warm
    else:
        assert answer.error_code == ErrorCode.INVALID_TIMESTAMP
        assert len(answer.record_errors) == 5000


def test_a_producer_that_leaves_during_the_look_appends_nothing(node):
    work = []
    node.services.run_blocking = lambda task, done: work.append((task, done))
    node.topic("t", cleanup_policy="compact")
    client = node.connect()
    client.send(client.frame("Produce", 8, **to("t", keyed(5000))))
    client.core.abandon()
    ((task, done),) = work
    task()
    done(None)
    assert node.replicas.get("t", 0).log.log_end_offset == 0


def keyed(count, codec=0, timestamp=1_700_000_000_000):
    return bytes(build_batch([Record(timestamp=timestamp, key=b"k", value=b"v")] * count, codec=codec))


def test_a_deleted_and_recreated_topic_is_not_mistaken_for_the_old_one(node):
    old = node.topic("t")
    client = node.connect()
    client.ask("Produce", 9, **to("t", batch(b"a")))
    client.ask("Produce", 9, **to("t", batch(b"b")))
    node.delete(old)
    answer = only(client.ask("Produce", 9, **to("t", batch(b"c"))))
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    node.topic("t")
    assert only(client.ask("Produce", 9, **to("t", batch(b"d")))).base_offset == 0
    assert only(client.ask("Produce", 9, **to("t", batch(b"e")))).base_offset == 1


def test_acks_all_waits_for_the_followers_and_times_out(node):
    node.topic("t", replicas=(1, 2), **{"min.insync.replicas": "2"})
    client = node.connect()
    partition = node.replicas.get("t", 0)
    client.send(client.frame("Produce", 9, **to("t", batch(b"a"), acks=-1)))
    assert client.answers() == []
    partition.follower_fetched(2, 1)
    assert only(client.answers()[0]).base_offset == 0
    client.send(client.frame("Produce", 9, **to("t", batch(b"b"), acks=-1)))
    node.advance(1001)
    answer = only(client.answers()[0])
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert partition.log.log_end_offset == 2


def test_acks_all_needs_enough_in_sync_replicas(node):
    node.topic("t", replicas=(1, 2), isr=(1,), **{"min.insync.replicas": "2"})
    client = node.connect()
    assert (
        only(client.ask("Produce", 9, **to("t", batch(b"a"), acks=-1))).error_code
        == ErrorCode.NOT_ENOUGH_REPLICAS
    )
    assert only(client.ask("Produce", 9, **to("t", batch(b"a"), acks=1))).error_code == 0


def test_a_lost_leadership_answers_who_waits(node):
    topic_id = node.topic("t", replicas=(1, 2))
    client = node.connect()
    client.send(client.frame("Produce", 9, **to("t", batch(b"a"), acks=-1)))
    node.move_leader(topic_id, 0, 2)
    assert only(client.answers()[0]).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_failed_disk_turns_staged_answers_into_errors_and_takes_the_directory_offline(node):
    node.topic("t")
    node.topic("u")
    client = node.connect()
    client.ask("Produce", 9, **to("t", batch(b"a")))
    log = node.replicas.get("t", 0).log

    class Broken:
        def get(self, path):
            raise OSError(28, "No space left on device")

    log.directory.files = Broken()
    frames = [client.frame("Produce", 9, **to("t", batch(b"b"))) for _ in range(3)]
    client.send(*frames)
    assert [only(answer).error_code for answer in client.answers()] == [ErrorCode.KAFKA_STORAGE_ERROR] * 3
    assert only(client.ask("Produce", 9, **to("u", batch(b"b")))).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    old = only(node.connect().ask("Produce", 3, **to("u", batch(b"b"))))
    assert old.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_failed_disk_closes_a_producer_that_wants_no_answers(node):
    node.topic("t")
    client = node.connect()
    client.send(client.frame("Produce", 9, **to("t", batch(b"a"), acks=0)))

    class Broken:
        def get(self, path):
            raise OSError(28, "No space left on device")

    node.replicas.get("t", 0).log.directory.files = Broken()
    client.send(client.frame("Produce", 9, **to("t", batch(b"b"), acks=0)))
    assert "disk failed" in client.closed


def test_idempotent_retries_get_their_first_offsets(node):
    node.topic("t")
    client = node.connect()
    send = lambda sequence: only(  # noqa: E731
        client.ask(
            "Produce",
            9,
            **to("t", batch(b"a", producer_id=7, producer_epoch=0, base_sequence=sequence)),
        )
    )
    assert [send(0).base_offset, send(1).base_offset, send(0).base_offset] == [0, 1, 0]
    assert send(5).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize("version", [3, 8, 9, 13])
def test_a_known_prefix_with_anything_behind_it_is_read_as_the_general_path_reads_it(node, version):
    topic_id = node.topic("t")
    name = {"topic": "t"} if version < 13 else {"topic": "", "topic_id": topic_id}
    whole = node.connect().frame("Produce", version, **to(records=batch(b"a"), **name))
    for cut in range(12, len(whole)):
        client = node.connect()
        client.ask("Produce", version, **to(records=batch(b"a"), **name))
        assert 0 in client.core.fast
        short = (cut - 4).to_bytes(4, "big") + whole[4:cut]
        client.core.feed(memoryview(bytearray(short)))
        client.core.take_output()
        fresh = node.connect()
        fresh.core.feed(memoryview(bytearray(short)))
        assert client.closed == fresh.closed, cut


def test_requests_of_one_read_are_committed_together(node):
    node.topic("t", replicas=(1, 2), **{"min.insync.replicas": "2"})
    node.topic("alone")
    client = node.connect()
    partition = node.replicas.get("t", 0)
    for topic, acks in (("t", -1), ("t", 1), ("alone", -1)):  # to be recognised
        client.send(client.frame("Produce", 9, **to(topic, batch(b"a"), acks=acks)))
        partition.follower_fetched(2, partition.log.log_end_offset)
        client.answers()
    client.send(
        *[client.frame("Produce", 9, **to("t", batch(b"b"), acks=-1)) for _ in range(3)],
        client.frame("Produce", 9, **to("alone", batch(b"b"), acks=-1)),
        client.frame("Produce", 9, **to("t", batch(b"c"), acks=1)),
    )
    assert partition.log.log_end_offset == 6
    assert client.answers() == []
    partition.follower_fetched(2, 5)
    assert client.answers() == []
    partition.follower_fetched(2, 6)
    assert [only(answer).base_offset for answer in client.answers()] == [2, 3, 4, 1, 5]
    client.send(
        client.frame("Produce", 9, **to("t", batch(b"d"), acks=-1)),
        client.frame("Produce", 9, **to("t", batch(b"d"), acks=1)),
    )
    node.advance(1001)
    assert [only(answer).error_code for answer in client.answers()] == [ErrorCode.REQUEST_TIMED_OUT, 0]
    client.send(client.frame("Produce", 9, **to("t", batch(b"e"), acks=-1)))
    topic_id = partition.topic_id
    node.move_leader(topic_id, 0, 2)
    assert only(client.answers()[0]).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert not client.closed


def test_nothing_is_left_of_a_batch_that_is_refused(node):
    """No circle through the error, which would keep its bytes until the collector counts enough objects."""
    node.topic("t", **{"max.message.bytes": "1000"})
    client = node.connect()
    request = to("t", batch(bytes(2000)))
    assert only(client.ask("Produce", 9, **request)).error_code == ErrorCode.MESSAGE_TOO_LARGE
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            client.ask("Produce", 9, **request)
        assert gc.collect() == 0
    finally:
        gc.enable()
