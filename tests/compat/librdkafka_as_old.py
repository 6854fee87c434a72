"""What librdkafka does when it takes the broker for an older one, run by the interpreter that has it.

    python librdkafka_as_old.py BOOTSTRAP NAME

Before 0.10 there is no ApiVersions: `broker.version.fallback` decides formats and versions. Prints the
versions of the package and of librdkafka, and ends with "ok".
"""

from __future__ import annotations

import sys
import time

import confluent_kafka
from confluent_kafka import Consumer, Producer, TopicPartition

BOOTSTRAP, NAME = sys.argv[1:3]
ROLES = ["", "0.10.2", "0.9.0.1", "0.8.2.2"]
CODECS = ["none", "gzip", "snappy", "lz4"]
RECORDS = 20


def settings(role):
    common = {"bootstrap.servers": BOOTSTRAP, "log_level": 3}
    if role:
        common.update({"api.version.request": False, "broker.version.fallback": role})
    return common


def write(topic, role):
    count = 0
    for codec in CODECS:
        producer = Producer(dict(settings(role), **{"compression.codec": codec, "linger.ms": 5}))
        for _ in range(RECORDS):
            producer.produce(topic, b"v%d" % count, partition=0)
            count += 1
        assert producer.flush(30) == 0
    return count


def read(topic, role, count):
    config = {"group.id": topic + role, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer(dict(settings(role), **config))
    if role.startswith("0.8"):  # groups came with 0.9
        consumer.assign([TopicPartition(topic, 0, 0)])
    else:
        consumer.subscribe([topic])
    seen = []
    deadline = time.monotonic() + 40
    while len(seen) < count:
        assert time.monotonic() < deadline, (topic, role, seen[-3:])
        for message in consumer.consume(count, 0.2):
            assert not message.error(), message.error()
            seen.append((message.offset(), message.value()))
    assert seen == [(index, b"v%d" % index) for index in range(count)]
    consumer.commit(asynchronous=False)
    assert consumer.committed([TopicPartition(topic, 0)], timeout=30)[0].offset == count
    consumer.close()


for writer in ROLES:
    name = NAME + "-" + (writer or "now")
    written = write(name, writer)
    for reader in ROLES:
        read(name, reader, written)
print(confluent_kafka.version()[0], confluent_kafka.libversion()[0], "ok")
