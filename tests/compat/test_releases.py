"""`kbroker.compatibility`: clients of today against the release that the broker is told to be."""

from __future__ import annotations

import kafka
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kbroker.testing import Broker

_RELEASES = ["0.10.2", "1.1", "2.8", "3.9", "4.0", "4.3"]


@pytest.mark.parametrize("release", _RELEASES)
def test_clients_of_today_take_the_broker_for_that_release(release: str, name: str) -> None:
    with Broker(config={"kbroker.compatibility": release}) as broker:
        client = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap)
        wanted = tuple(int(part) for part in release.split("."))
        assert client.config["api_version"][: len(wanted)] == wanted
        client.close()

        producer = Producer({"bootstrap.servers": broker.bootstrap, "compression.type": "gzip"})
        for index in range(10):
            producer.produce(name, b"%d" % index, partition=0)
        assert producer.flush(30) == 0
        consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": name})
        consumer.assign([TopicPartition(name, 0, 0)])
        values = [message.value() for message in consumer.consume(10, timeout=30)]
        consumer.close()
    assert values == [b"%d" % index for index in range(10)]
