"""AlterShareGroupOffsets of a group that does not exist, as Apache Kafka 4.4 has it."""

from __future__ import annotations

import time

import pytest

from kbroker.testing import Broker
from tests.security.little_allowed import TIMEOUT_S, Asker


@pytest.fixture
def asker():
    with Broker() as broker:
        asker = Asker(broker.bootstrap)
        topic = {"name": "t", "numPartitions": 1, "replicationFactor": 1}
        asker.ask("CreateTopics", 7, {"topics": [topic], "timeoutMs": 30_000})
        until = time.monotonic() + TIMEOUT_S
        while asker.ask("FindCoordinator", 4, {"coordinatorKeys": ["g"]}).coordinators[0].error_code:
            assert time.monotonic() < until
        yield asker
        asker.close()


def alter(asker, group, topics):
    """Codes of the partitions, and whether the group is there then."""
    wanted = [
        {"topicName": name, "partitions": [{"partitionIndex": index, "startOffset": 0} for index in parts]}
        for name, parts in topics.items()
    ]
    answer = asker.ask("AlterShareGroupOffsets", 0, {"groupId": group, "topics": wanted})
    described = asker.ask("ShareGroupDescribe", 1, {"groupIds": [group]}).groups[0]
    codes = [part.error_code for topic in answer.responses for part in topic.partitions]
    return answer.error_code, codes, described.group_state


def test_one_topic_that_exists_makes_the_group(asker):
    assert alter(asker, "no topic", {}) == (0, [], "")
    assert alter(asker, "unknown", {"none": [0]}) == (0, [3], "")
    assert alter(asker, "no partition", {"t": []}) == (0, [], "Empty")
    assert alter(asker, "wrong partition", {"t": [7], "none": [0]}) == (0, [3, 3], "Empty")
    assert alter(asker, "right", {"t": [0]}) == (0, [0], "Empty")
    topics = [{"topicName": "t", "partitions": [0]}]
    wanted = [{"topicName": "t", "partitions": [{"partitionIndex": 0, "startOffset": 5}]}]
    asker.ask("AlterShareGroupOffsets", 0, {"groupId": "right", "topics": wanted})
    asked = {"groups": [{"groupId": "right", "topics": topics}]}
    found = asker.ask("DescribeShareGroupOffsets", 1, asked).groups[0].topics[0].partitions[0]
    assert (found.start_offset, found.lag) == (5, -5)
    for group in ("wrong partition", "right"):
        assert asker.ask("DeleteGroups", 2, {"groupsNames": [group]}).results[0].error_code == 0
