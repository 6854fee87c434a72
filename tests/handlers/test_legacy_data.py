"""Produce 0–2 and Fetch 0–3: what Apache Kafka 3.9 answered, and what others are owed meanwhile."""

from __future__ import annotations

import gzip
import json
import random
from itertools import groupby
from pathlib import Path

import pytest

from kbroker.config.broker_config import BrokerConfig
from kbroker.handlers import fetch_legacy, produce_legacy
from kbroker.protocol.compression import Codec
from kbroker.protocol.control_records import EndTxnMarker, build_end_txn_batch
from kbroker.protocol.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kbroker.protocol.legacy_messages import build_message_set
from kbroker.protocol.record_batch import Record, build_batch, decode_records, iter_batches
from kbroker.server.dispatch import Dispatcher
from kbroker.storage.log import AppendOrigin
from tests.handlers.node import batch
from tests.handlers.test_fetch import want
from tests.protocol.legacy_sets import FOUR, NOW, all_sets, row, shown, wrapper

SETS = all_sets()
SMALL_SETS = sorted(name for name, data in SETS.items() if len(data) < 5000)
_GOLDEN = Path(__file__).parents[1] / "data" / "golden" / "legacy_sets.jsonl.gz"
_LINES = [json.loads(line) for line in gzip.decompress(_GOLDEN.read_bytes()).splitlines()]
#: Where Kafka lets an exception escape (UNKNOWN_SERVER_ERROR) we say what is wrong.
_ESCAPES = {
    "codec 5": 87,
    "not gzip": 87,
    "lz4 with broken header": 87,
    "key longer than the message": 87,
    "negative key length": 87,
    "negative time": 32,
}


def produce(client, topic, records, index=0, version=2, acks=-1):
    data = [TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=index, records=records)])]
    response = client.ask("Produce", version, acks=acks, timeout_ms=1000, topic_data=data)
    return response.responses[0].partition_responses[0]


def fetch(client, topic, offset=0, version=2, index=0, max_bytes=1 << 20, **fields):
    wanted = [want(topic, offset, index, max_bytes)]
    fields = {"max_wait_ms": 0, "min_bytes": 1, **fields}
    return client.ask("Fetch", version, topics=wanted, **fields).responses[0].partitions[0]


def values(partition):
    data = partition.records
    return [r.value for header in iter_batches(data) for r in decode_records(data, header)]


def offsets(partition):
    data = partition.records
    return [r.offset for header in iter_batches(data) for r in decode_records(data, header)]


def marker(*, commit):
    """The end of a transaction of producer 7."""
    ended = EndTxnMarker(commit, 0)
    return build_end_txn_batch(ended, producer_id=7, producer_epoch=0, timestamp=NOW)


def _cases():
    return [
        pytest.param(config, list(lines), id="-".join(config.values()) or "default")
        for config, lines in groupby(_LINES, lambda line: line["topic"])
    ]


@pytest.mark.parametrize(("config", "lines"), _cases())
def test_every_set_is_answered_and_given_back_as_kafka_does(node, config, lines):
    node.clock.now = NOW + 10**10
    node.topic("t", partitions=len(lines), **{name.replace(".", "_"): text for name, text in config.items()})
    client = node.connect()
    for index, line in enumerate(lines):
        name = line["set"]
        answer = produce(client, "t", SETS[name], index)
        append_time = -1 if answer.log_append_time_ms < 0 else "now"
        code, base, time = line["produce"]
        if code == -1:
            code = _ESCAPES[name[2:]]
        if name.endswith(" many") and code == 87:
            code = 10  # two things are wrong with it
        assert [answer.error_code, answer.base_offset, append_time] == [code, base, time], name
        for version in (0, 2):
            for offset in (0, 2):
                expected = line.get(f"fetch {version} from {offset}")
                if expected is None:
                    continue
                got = fetch(client, "t", offset, version, index)
                found = [got.error_code, got.high_watermark, *shown(bytes(got.records))]
                assert found == expected, (name, version, offset)


def test_there_are_as_many_sets_as_answers():
    assert {line["set"] for line in _LINES} == set(SETS)
    assert len(_LINES) == 5 * len(SETS)


class Later:
    """A thread that runs when the test says so."""

    def __init__(self, node):
        self.work = []
        node.services.run_blocking = lambda work, done: self.work.append((work, done))

    def run(self):
        work, self.work = self.work, []
        for task, done in work:
            task()
            done(None)


@pytest.fixture
def later(node, monkeypatch):
    monkeypatch.setattr(produce_legacy, "INLINE_BYTES_MAX", 100)
    monkeypatch.setattr(fetch_legacy, "INLINE_BYTES_MAX", 100)
    return Later(node)


def test_a_large_set_is_converted_in_a_thread_and_holds_up_nobody_else(node, later):
    node.topic("t")
    slow, quick = node.connect(), node.connect()
    data = [TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=row(1, FOUR))])]
    slow.send(slow.frame("Produce", 2, acks=-1, timeout_ms=1000, topic_data=data))
    assert slow.answers() == []
    assert produce(quick, "t", row(0, FOUR[:1])).base_offset == 0
    later.run()
    (answer,) = slow.answers()
    assert answer.responses[0].partition_responses[0].base_offset == 1
    assert not later.work


def test_a_connection_that_closes_meanwhile_appends_nothing(node, later):
    node.topic("t")
    client = node.connect()
    data = [TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=row(1, FOUR))])]
    client.send(client.frame("Produce", 2, acks=-1, timeout_ms=1000, topic_data=data))
    client.core.parked.cancel()
    later.run()
    assert node.replicas.led("t", 0).log.log_end_offset == 0


def test_what_unpacks_to_much_is_converted_in_a_thread_both_ways(node):
    node.topic("t")
    later = Later(node)
    client = node.connect()
    zeros = build_message_set(1, [Record(0, NOW, None, bytes(500_000))] * 3, Codec.GZIP)
    assert len(zeros) < 10_000
    data = [TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=zeros)])]
    client.send(client.frame("Produce", 2, acks=-1, timeout_ms=1000, topic_data=data))
    assert client.answers() == []
    later.run()
    assert client.answers()[0].responses[0].partition_responses[0].error_code == 0
    client.send(client.frame("Fetch", 2, max_wait_ms=0, min_bytes=1, topics=[want("t")]))
    assert client.answers() == []
    later.run()
    (answer,) = client.answers()
    assert offsets(answer.responses[0].partitions[0]) == [0, 1, 2]


def test_acks_0_is_not_answered_and_an_error_closes(node, later):
    node.topic("t")
    client = node.connect()
    for records in (row(1, FOUR[:1]), row(1, FOUR), b"\0" * 8 + b"\0\0\0\1" + b"\0" * 100):
        data = [TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=records)])]
        client.send(client.frame("Produce", 1, acks=0, timeout_ms=1000, topic_data=data))
        later.run()
        assert client.answers() == []
    assert node.replicas.led("t", 0).log.log_end_offset == 5
    assert client.closed


def test_both_generations_share_a_connection(node):
    node.topic("t")
    client = node.connect()
    modern = [TopicProduceData(name="t", partition_data=[PartitionProduceData(records=batch(b"new"))])]
    old = [TopicProduceData(name="t", partition_data=[PartitionProduceData(records=row(0, FOUR[:1]))])]
    frames = [
        client.frame("Produce", version, acks=1, timeout_ms=1000, topic_data=data)
        for version, data in [(3, modern), (3, modern), (3, modern), (2, old), (3, modern), (0, old)]
    ]
    client.send(*frames)
    found = [answer.responses[0].partition_responses[0].base_offset for answer in client.answers()]
    assert found == [0, 1, 2, 3, 4, 5]
    assert values(fetch(client, "t", version=1)) == [b"new"] * 3 + [b"v0", b"new", b"v0"]


@pytest.mark.parametrize("version", range(4))
def test_markers_are_left_out_and_read_over(node, version):
    node.topic("t")
    client = node.connect()
    partition = node.replicas.led("t", 0)
    batches = build_batch(FOUR[:2], producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    for data in (batches, marker(commit=False)):
        partition.append(data, NOW, AppendOrigin.COORDINATOR)
        partition.flush()
    assert offsets(fetch(client, "t", 0, version)) == [0, 1]
    # Only the marker is left: the request waits for a record instead of an endless row of empty answers.
    client.send(client.frame("Fetch", version, max_wait_ms=500, min_bytes=1, topics=[want("t", 2)]))
    assert client.answers() == []
    other = node.connect()
    produce(other, "t", row(1, FOUR[:1]))
    (answer,) = client.answers()
    assert offsets(answer.responses[0].partitions[0]) == [3]
    # A limit that ends behind the marker does not keep a consumer from what follows.
    assert offsets(fetch(client, "t", 2, version, max_bytes=80)) == [3]


def test_a_wait_for_a_record_behind_a_marker_ends(node):
    node.topic("t")
    partition = node.replicas.led("t", 0)
    partition.append(marker(commit=True), NOW, AppendOrigin.COORDINATOR)
    partition.flush()
    client = node.connect()
    client.send(client.frame("Fetch", 2, max_wait_ms=500, min_bytes=1, topics=[want("t", 0)]))
    assert client.answers() == []
    node.advance(501)
    (answer,) = client.answers()
    assert (answer.responses[0].partitions[0].error_code, answer.responses[0].partitions[0].records) == (
        0,
        b"",
    )


def test_zstd_is_refused_or_ends_the_answer_before_it(node):
    node.topic("t")
    node.topic("kept-in-zstd", compression_type="zstd")
    client = node.connect()
    partition = node.replicas.led("t", 0)
    for codec in (Codec.NONE, Codec.ZSTD):
        partition.append(build_batch(FOUR[:1], codec=codec), NOW, AppendOrigin.CLIENT)
    partition.flush()
    assert offsets(fetch(client, "t")) == [0]
    refused = fetch(client, "t", 1)
    assert (refused.error_code, refused.high_watermark, refused.records) == (76, -1, None)
    assert fetch(client, "kept-in-zstd").error_code == 76


@pytest.mark.parametrize("version", range(4))
def test_a_limit_below_the_next_batch_does_not_stop_a_consumer(node, version):
    node.topic("t")
    client = node.connect()
    produce(client, "t", row(1, FOUR))
    assert values(fetch(client, "t", version=version, max_bytes=3)) == [b"v0", b"v1", b"v2", b"v3"]


def test_what_does_not_fit_any_more_is_cut_off_between_messages(node):
    node.topic("t")
    client = node.connect()
    for _ in range(3):
        produce(client, "t", row(1, [Record(i, NOW, None, b"x" * 10) for i in range(100)]))
    # In the log these are 5,391 bytes, and so many may be sent; as messages of magic 1 they would be 13,200.
    partition = fetch(client, "t")
    assert len(partition.records) == 122 * 44
    assert offsets(partition) == list(range(122))
    assert offsets(fetch(client, "t", 122)) == list(range(122, 203))


def test_one_answer_has_a_bound_and_each_partition_gets_its_turn(node, monkeypatch):
    monkeypatch.setattr(fetch_legacy, "ANSWER_BYTES_MAX", 10_000)
    node.topic("t", partitions=4)
    client = node.connect()
    for index in range(4):
        produce(client, "t", row(1, [Record(0, NOW, None, b"x" * 9000)]), index)
    seen = set()
    for _ in range(4):
        topics = [want("t", index=index) for index in range(4)]
        response = client.ask("Fetch", 1, max_wait_ms=0, min_bytes=1, topics=topics)
        answers = [part for topic in response.responses for part in topic.partitions]
        assert [part.partition_index for part in answers] == [0, 1, 2, 3]
        seen |= {part.partition_index for part in answers if part.records}
        assert sum(len(part.records) for part in answers) < 20_000
    assert seen == {0, 1, 2, 3}


def test_a_parked_fetch_wakes_and_is_converted_in_a_thread(node, later):
    node.topic("t")
    client, other = node.connect(), node.connect()
    client.send(client.frame("Fetch", 0, max_wait_ms=500, min_bytes=1, topics=[want("t")]))
    assert client.answers() == []
    other.ask(
        "Produce",
        9,
        acks=1,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(name="t", partition_data=[PartitionProduceData(records=batch(b"a" * 200))])
        ],
    )
    assert client.answers() == []
    later.run()
    (answer,) = client.answers()
    assert values(answer.responses[0].partitions[0]) == [b"a" * 200]


def test_a_set_that_unpacks_to_far_too_much_is_refused(node):
    node.topic("t")
    bomb = wrapper(1, bytes(70 * 1024 * 1024))
    assert produce(node.connect(), "t", bomb).error_code == 10


def test_a_partition_that_is_named_twice_is_answered_once(node):
    node.topic("t")
    client = node.connect()
    produce(client, "t", row(1, FOUR))
    response = client.ask("Fetch", 1, max_wait_ms=0, min_bytes=1, topics=[want("t", 0), want("t", 3)])
    (topic,) = response.responses
    (partition,) = topic.partitions
    assert offsets(partition) == [3]


def oldest_offsets(client, topic, timestamp, count, index=0):
    asked = ListOffsetsPartition(partition_index=index, timestamp=timestamp, max_num_offsets=count)
    topics = [ListOffsetsTopic(name=topic, partitions=[asked])]
    (answer,) = client.ask("ListOffsets", 0, replica_id=-1, topics=topics).topics[0].partitions
    return answer.error_code, list(answer.old_style_offsets)


def test_list_offsets_0_tells_where_segments_begin(node):
    node.topic("t")
    client = node.connect()
    assert oldest_offsets(client, "t", -1, 5) == (0, [0])
    assert oldest_offsets(client, "t", 1000, 5) == (0, [])
    log = node.replicas.led("t", 0).log
    log.config.segment_bytes = 300
    log.config = log.config
    for _ in range(4):
        produce(client, "t", row(1, [Record(0, NOW, None, b"x" * 100)]))
    begins = [segment.base_offset for segment in log.segments]
    assert len(begins) > 1
    everything = [4, *reversed(begins)]
    assert oldest_offsets(client, "t", -1, 100) == (0, everything)
    assert oldest_offsets(client, "t", -1, 2) == (0, everything[:2])
    assert oldest_offsets(client, "t", -2, 5) == (0, [0])
    assert oldest_offsets(client, "t", -1, 0) == (0, [])
    assert oldest_offsets(client, "t", -1, -3) == (0, [])
    assert oldest_offsets(client, "t", -3, 1) == (35, [])
    assert oldest_offsets(client, "t", -1, 1, index=7) == (3, [])
    assert oldest_offsets(client, "t", 2**62, 1) == (0, [4])
    log.delete_records_to(3)
    assert oldest_offsets(client, "t", -1, 100)[1][-1] == 3


def test_mutated_frames_are_answered_or_close_and_nothing_else(node, caplog):
    node.topic("t")
    produce(node.connect(), "t", build_message_set(1, FOUR, Codec.GZIP))
    chance = random.Random(5)
    for _ in range(600):
        client = node.connect()
        version = chance.randrange(4)
        if version < 3 and chance.random() < 0.6:
            records = SETS[chance.choice(SMALL_SETS)]
            data = [
                TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=records)])
            ]
            frame = client.frame("Produce", version, acks=1, timeout_ms=10, topic_data=data)
        elif chance.random() < 0.2:
            asked = ListOffsetsPartition(partition_index=0, timestamp=-1, max_num_offsets=3)
            topics = [ListOffsetsTopic(name="t", partitions=[asked])]
            frame = client.frame("ListOffsets", 0, replica_id=-1, topics=topics)
        else:
            topics = [want("t", chance.randrange(5))]
            frame = client.frame("Fetch", version, max_wait_ms=0, min_bytes=1, topics=topics)
        changed = bytearray(frame)
        for _ in range(chance.randrange(1, 4)):
            changed[chance.randrange(12, len(changed))] = chance.randrange(256)
        client.send(bytes(changed))
        client.core.take_output()
    errors = [record for record in caplog.records if record.levelname == "ERROR"]
    assert errors == []


@pytest.mark.parametrize(
    ("release", "own", "code"),
    [
        ("3.9", {"message_downconversion_enable": "false"}, 35),
        ("3.9", {"message_downconversion_enable": "true"}, 0),
        ("3.9", {}, 35),
        ("2.8", {}, 35),
        ("all", {"message_downconversion_enable": "false"}, 0),
    ],
)
def test_older_releases_could_be_told_not_to_convert_down(node, release, own, code):
    node.topic("t", **own)
    produce(node.connect(), "t", row(1, FOUR[:1]))
    node.services.compatibility = release
    node.services.config = BrokerConfig({"node.id": "1", "log.message.downconversion.enable": "false"})
    node.dispatcher = Dispatcher(node.services)
    for version in (0, 3):
        assert fetch(node.connect(), "t", 0, version).error_code == code
