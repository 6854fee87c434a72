"""Requests that nobody sends, where there is an authorizer: answered as Apache Kafka 4.4 answers."""

from __future__ import annotations

import pytest

from kbroker.testing import Broker
from tests.security.little_allowed import Asker
from tests.security.test_little_allowed import SETTINGS

INVALID_REQUEST = 42


@pytest.fixture
def admin():
    with Broker(config=SETTINGS) as broker:
        admin = Asker(f"127.0.0.1:{broker.ports['PLAINTEXT']}")
        yield admin
        admin.close()


def test_acknowledging_without_a_group(admin):
    no_topic = {"topicId": "AAAAAAAAAAAAAAAAAAAAAA", "partitions": []}
    for topics in ([], [no_topic]):
        nobody = {"groupId": None, "memberId": None, "shareSessionEpoch": 1, "topics": topics}
        assert admin.ask("ShareAcknowledge", 1, nobody).error_code == INVALID_REQUEST


def test_a_topic_named_twice_is_refused_twice(admin):
    asked = {
        "topics": [{"name": "a"}, {"name": "b"}, {"name": "a"}],
        "responsePartitionLimit": 1,
        "cursor": {"topicName": "none", "partitionIndex": 0},
    }
    topics = admin.ask("DescribeTopicPartitions", 0, asked).topics
    assert [(topic.name, topic.error_code) for topic in topics] == [
        ("a", INVALID_REQUEST),
        ("b", INVALID_REQUEST),
        ("a", INVALID_REQUEST),
    ]
