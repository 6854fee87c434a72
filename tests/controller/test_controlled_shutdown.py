"""A broker that wants to stop hands over what others can lead."""

import pytest

from kbroker.controller.controlled_shutdown import shut_down
from kbroker.controller.election_rules import ElectionRules
from kbroker.errors import ApiError, ErrorCode
from tests.controller.clusters import cluster, with_topic

RULES = ElectionRules()


def refusal(image, *who):
    with pytest.raises(ApiError) as caught:
        shut_down(image, *who, RULES)
    return caught.value.code


def test_others_lead_and_it_is_in_no_isr():
    image = with_topic(cluster(1, 2, 3, level=16), "t", partitions=6, factor=2)
    decision = shut_down(image, 2, 20, RULES)
    assert decision.response == []
    after = image.apply(decision.records)
    assert after.brokers[2].in_controlled_shutdown
    for partition in after.topics.get("t").partitions:
        assert partition.leader not in (-1, 2)
        assert 2 not in partition.isr
    assert shut_down(after, 2, 20, RULES).records == []


def test_what_nobody_else_can_lead_is_told_where_there_are_other_replicas():
    image = with_topic(cluster(1, 2, level=16), "t", partitions=2, factor=2)
    image = image.apply(shut_down(image, 1, 10, RULES).records)
    decision = shut_down(image, 2, 20, RULES)
    after = image.apply(decision.records)
    led = [partition.leader for partition in after.topics.get("t").partitions]
    assert len(decision.response) == led.count(2)


def test_who_is_not_there_and_who_was():
    image = cluster(1, 2, fenced=(2,))
    assert refusal(image, 3, -1) is ErrorCode.BROKER_NOT_AVAILABLE
    assert refusal(image, 2, 20) is ErrorCode.BROKER_NOT_AVAILABLE
    assert refusal(image, 1, 9) is ErrorCode.STALE_BROKER_EPOCH
    assert shut_down(image, 1, -1, RULES).response == []
