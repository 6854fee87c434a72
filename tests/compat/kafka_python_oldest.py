"""What kafka-python of 2019 (1.4.7) and later do when they take the broker for an older one.

    python kafka_python_oldest.py BOOTSTRAP NAME VERSION...

VERSION is a broker's as kafka-python writes it (0.8.2, 0.9, 0.10, ...): it decides the formats of produced
and fetched records, and the versions of all requests; `auto` lets the client find out. Ends with "ok".
"""

from __future__ import annotations

import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

CODECS = [None, "gzip", "snappy", "lz4"]
RECORDS = 20


def settings(version):
    if version == "auto":
        return {}
    return {"api_version": tuple(int(part) for part in version.split("."))}


def has_time(version):
    return version == "auto" or settings(version)["api_version"] >= (0, 10)


def write(bootstrap, topic, version):
    at = 0
    for codec in CODECS:
        producer = KafkaProducer(
            bootstrap_servers=bootstrap, compression_type=codec, acks="all", linger_ms=5, **settings(version)
        )
        sent = [
            producer.send(topic, b"v%d" % (at + i), key=b"k", partition=0, timestamp_ms=1700000000000 + i)
            for i in range(RECORDS)
        ]
        producer.flush(timeout=30)
        assert [future.get(timeout=30).offset for future in sent] == list(range(at, at + RECORDS))
        at += RECORDS
        producer.close()
    return at


def read(bootstrap, topic, version, count, written_by):
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=None,
        auto_offset_reset="earliest",
        consumer_timeout_ms=20000,
        fetch_max_wait_ms=100,
        **settings(version),
    )
    partition = TopicPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek(partition, 0)
    for index in range(count):
        record = next(consumer)
        assert (record.offset, record.key, record.value) == (index, b"k", b"v%d" % index), record
        if has_time(version) and has_time(written_by):
            assert record.timestamp == 1700000000000 + index % RECORDS, record
    consumer.close()


def share(bootstrap, topic, version, count):
    """A group reads half and commits; its next member goes on behind."""
    seen = []
    for wanted in (count // 2, count - count // 2):
        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=topic + version,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            consumer_timeout_ms=20000,
            max_poll_records=1,
            **settings(version),
        )
        for _ in range(wanted):
            seen.append(next(consumer).offset)
        consumer.commit()
        consumer.close()
    assert seen == list(range(count)), seen


def main():
    bootstrap, name, versions = sys.argv[1], sys.argv[2], sys.argv[3:]
    for version in versions:
        topic = f"{name}-{version}"
        count = write(bootstrap, topic, version)
        for reader in versions:
            read(bootstrap, topic, reader, count, version)
        if version == "auto" or settings(version)["api_version"] >= (0, 9):
            share(bootstrap, topic, version, count)
    print("ok")


if __name__ == "__main__":
    main()
