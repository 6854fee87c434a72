"""An everyday's work of kafka-python, run as a program by the interpreter that has the version in question.

    python kafka_python_everyday.py BOOTSTRAP NAME

Written to the API that version 2.0.2 and today's share. Ends with "ok", or with a traceback.
"""

from __future__ import annotations

import sys
import threading
import time

import kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic
from kafka.errors import TopicAlreadyExistsError, UnknownTopicOrPartitionError

BOOTSTRAP, NAME = sys.argv[1:3]
CODECS = [None, "gzip", "snappy", "lz4", "zstd"]
OLD = kafka.__version__.startswith("2.0.")


def patiently(condition, what, seconds=30):
    """Poll `condition` until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.01)


def create_and_describe(admin):
    topic = NewTopic(NAME, 2, 1, topic_configs={"retention.ms": "3600000"})
    admin.create_topics([topic])
    try:
        admin.create_topics([topic])
        raise AssertionError("created twice")
    except TopicAlreadyExistsError:
        pass
    [described] = admin.describe_topics([NAME])
    assert {p.get("partition", p.get("partition_index")) for p in described["partitions"]} == {0, 1}, (
        described
    )
    assert NAME in admin.list_topics()


def configs(admin):
    assert topic_configs(admin)["retention.ms"] == "3600000"
    assert topic_configs(admin)["cleanup.policy"] == "delete"
    change = {"cleanup.policy": "compact", "retention.ms": "7200000"}
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, NAME, configs=change)])
    assert topic_configs(admin)["cleanup.policy"] == "compact"
    assert topic_configs(admin)["retention.ms"] == "7200000"
    change = {"cleanup.policy": "delete", "retention.ms": "3600000"}
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, NAME, configs=change)])
    assert topic_configs(admin)["cleanup.policy"] == "delete"


def topic_configs(admin):
    """{name: value} from either version's shape of the answer."""
    resource = ConfigResource(ConfigResourceType.TOPIC, NAME)
    if OLD:
        [response] = admin.describe_configs([resource])
        [(_, _, _, _, entries)] = response.resources
        return {entry[0]: entry[1] for entry in entries}
    described = admin.describe_configs([resource], config_filter="all")["topic"][NAME]
    return {name: entry["value"] for name, entry in described.items()}


def produce(partition, values, codec=None, **settings):
    producer = KafkaProducer(
        bootstrap_servers=BOOTSTRAP, compression_type=codec, acks="all", linger_ms=20, **settings
    )
    futures = [
        producer.send(NAME, value, key=b"k", headers=[("codec", b"%d" % i)], partition=partition)
        for i, value in enumerate(values)
    ]
    producer.flush()
    sent = [future.get(10) for future in futures]
    producer.close()
    return sent


def every_compression():
    """Partition 0 holds ten records of each codec, in order."""
    expected = []
    for codec in CODECS:
        values = [f"{codec}-{i}-{'x' * 50}".encode() for i in range(10)]
        sent = produce(0, values, codec)
        assert [m.offset for m in sent] == list(range(len(expected), len(expected) + 10))
        expected += values
    consumer = KafkaConsumer(bootstrap_servers=BOOTSTRAP, consumer_timeout_ms=20000)
    partition = TopicPartition(NAME, 0)
    consumer.assign([partition])
    consumer.seek_to_beginning(partition)
    records = [next(consumer) for _ in expected]
    assert [r.value for r in records] == expected
    assert [r.offset for r in records] == list(range(len(expected)))
    assert records[3].key == b"k"
    assert records[3].headers == [("codec", b"3")]
    assert consumer.end_offsets([partition])[partition] == len(expected)
    assert consumer.beginning_offsets([partition])[partition] == 0
    consumer.close()


def seek_by_time():
    base = int(time.time() * 1000) - 60_000
    producer = KafkaProducer(bootstrap_servers=BOOTSTRAP)
    sent = [
        producer.send(NAME, b"t%d" % i, partition=1, timestamp_ms=base + 1000 * i).get(10) for i in range(5)
    ]
    producer.close()
    partition = TopicPartition(NAME, 1)
    consumer = KafkaConsumer(bootstrap_servers=BOOTSTRAP, consumer_timeout_ms=20000)
    consumer.assign([partition])
    found = consumer.offsets_for_times({partition: base + 1500})[partition]
    assert (found.offset, found.timestamp) == (sent[2].offset, base + 2000)
    assert consumer.offsets_for_times({partition: base + 10**6})[partition] is None
    consumer.seek(partition, found.offset)
    assert [next(consumer).value for _ in range(3)] == [b"t2", b"t3", b"t4"]
    consumer.close()


class Member:
    """A group member that polls in a thread of its own, as in an application; commits when told."""

    def __init__(self):
        self.values = []
        self.committed = self.commit_wanted = self.stopping = False
        self.assignment = set()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        consumer = KafkaConsumer(
            NAME,
            bootstrap_servers=BOOTSTRAP,
            group_id=NAME,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=6000,
            heartbeat_interval_ms=200,
        )
        # kafka-python 3.0.12 that joins before it knows the topic's partitions leads with an assignment of
        # none and joins again, because its metadata changed. If a poll() ends while that second join is under
        # way, need_rejoin() is False from then on: nobody fetches the join's result, and the member stays
        # without partitions and without heartbeats, with Apache Kafka 4.4 as well. So it knows them first.
        assert consumer.partitions_for_topic(NAME) == {0, 1}
        while not self.stopping:
            polled = consumer.poll(100)
            self.values += [record.value for records in polled.values() for record in records]
            self.assignment = consumer.assignment()
            if self.commit_wanted:
                consumer.commit()
                self.offsets = {tp.partition: consumer.committed(tp) for tp in self.assignment}
                self.commit_wanted = False
        consumer.close()

    def commit(self):
        self.commit_wanted = True
        patiently(lambda: not self.commit_wanted, "a commit")

    def stop(self):
        self.stopping = True
        self.thread.join()


def group_rebalance_commit_resume():
    first = Member()
    patiently(lambda: len(first.values) == 55, "all records read alone")
    assert len(first.assignment) == 2
    first.commit()
    assert first.offsets == {0: 50, 1: 5}
    second = Member()
    patiently(
        lambda: len(first.assignment) == len(second.assignment) == 1, "the partitions shared by two members"
    )
    assert first.assignment | second.assignment == {TopicPartition(NAME, p) for p in (0, 1)}
    produce(0, [b"new-0"])
    produce(1, [b"new-1"])
    patiently(lambda: len(first.values) + len(second.values) == 57, "new records at both members")
    assert sorted(first.values[55:] + second.values) == [b"new-0", b"new-1"]
    first.commit()
    second.stop()  # leaves without a commit: its record comes again
    patiently(lambda: len(first.values) == 57, "the record that was not committed, at the member that stayed")
    assert sorted(first.values[55:]) == [b"new-0", b"new-1"]
    first.commit()
    assert first.offsets == {0: 51, 1: 6}
    first.stop()
    third = Member()
    patiently(lambda: len(third.assignment) == 2, "the assignment after a resume")
    produce(1, [b"last"])
    patiently(lambda: third.values, "the record after a resume")
    assert third.values == [b"last"]
    third.commit()
    third.stop()


def groups_in_admin(admin):
    assert NAME in groups(admin)
    if OLD:
        offsets = admin.list_consumer_group_offsets(NAME)
        [described] = admin.describe_consumer_groups([NAME])
        assert described.state == "Empty", described
    else:
        offsets = admin.list_group_offsets(NAME)[NAME]
        assert admin.describe_groups([NAME])[NAME]["group_state"] == "Empty"
    assert {tp.partition: entry.offset for tp, entry in offsets.items()} == {0: 51, 1: 7}
    if OLD:
        [(_, error)] = admin.delete_consumer_groups([NAME])
        assert error.errno == 0, error
    else:
        admin.delete_groups([NAME])
    assert NAME not in groups(admin)


def groups(admin):
    if OLD:
        return [entry[0] for entry in admin.list_consumer_groups()]
    return [entry["group_id"] for entry in admin.list_groups()]


def grow_and_delete(admin):
    admin.create_partitions({NAME: NewPartitions(4)})
    consumer = KafkaConsumer(bootstrap_servers=BOOTSTRAP)
    assert consumer.partitions_for_topic(NAME) == {0, 1, 2, 3}
    consumer.close()
    admin.delete_topics([NAME])
    assert NAME not in admin.list_topics()
    try:
        admin.delete_topics([NAME])
        raise AssertionError("deleted twice")
    except UnknownTopicOrPartitionError:
        pass


def main():
    admin = KafkaAdminClient(bootstrap_servers=BOOTSTRAP)
    create_and_describe(admin)
    configs(admin)
    every_compression()
    seek_by_time()
    group_rebalance_commit_resume()
    groups_in_admin(admin)
    grow_and_delete(admin)
    admin.close()
    print("ok", kafka.__version__)


if __name__ == "__main__":
    main()
