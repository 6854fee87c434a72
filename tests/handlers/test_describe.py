from __future__ import annotations

from kbroker.errors import ErrorCode
from kbroker.protocol.generated.describe_log_dirs_request import DescribableLogDirTopic
from kbroker.protocol.generated.describe_producers_request import TopicRequest
from tests.handlers.node import batch
from tests.handlers.test_fetch import produce
from tests.handlers.test_produce import to


def test_producers_of_a_partition(node):
    node.topic("t")
    client = node.connect()
    for sequence in range(3):
        records = batch(b"a", producer_id=7, producer_epoch=2, base_sequence=sequence)
        client.ask("Produce", 9, **to("t", records))
    topics = [TopicRequest(name=name, partition_indexes=[0, 4]) for name in ("t", "none", "a b")]
    answers = client.ask("DescribeProducers", 0, topics=topics).topics
    known, unknown = answers[0].partitions
    (producer,) = known.active_producers
    assert (producer.producer_id, producer.producer_epoch, producer.last_sequence) == (7, 2, 2)
    assert (producer.coordinator_epoch, producer.current_txn_start_offset) == (-1, -1)
    assert producer.last_timestamp == 1_700_000_000_000
    assert (unknown.error_code, unknown.error_message) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
    absent, impossible = (answer.partitions[0] for answer in answers[1:])
    assert absent.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert absent.error_message == "This server does not host this topic-partition."
    assert impossible.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert impossible.error_message.startswith("Topic name is invalid: 'a b' contains")


def test_log_directories_and_sizes(node, tmp_path):
    node.topic("t", partitions=2)
    node.topic("u")
    client = node.connect()
    produce(client, "t", b"a")
    (everything,) = client.ask("DescribeLogDirs", 4, topics=None).results
    assert everything.log_dir == str(tmp_path / "data")
    assert everything.total_bytes >= everything.usable_bytes > 0
    sizes = {(t.name, p.partition_index): p.partition_size for t in everything.topics for p in t.partitions}
    assert sizes == {("t", 0): len(batch(b"a")), ("t", 1): 0, ("u", 0): 0}
    wanted = [DescribableLogDirTopic(topic="t", partitions=[0, 9]), DescribableLogDirTopic(topic="no")]
    (some,) = client.ask("DescribeLogDirs", 1, topics=wanted).results
    assert [(t.name, [p.partition_index for p in t.partitions]) for t in some.topics] == [("t", [0])]
    (none,) = client.ask("DescribeLogDirs", 5, topics=[]).results
    assert (none.topics, none.is_cordoned) == ([], False)


def test_a_failed_directory_says_so(node):
    node.topic("t")
    node.logs.dirs[0].fail(OSError(5, "Input/output error"))
    (result,) = node.connect().ask("DescribeLogDirs", 4, topics=None).results
    assert result.error_code == ErrorCode.KAFKA_STORAGE_ERROR
