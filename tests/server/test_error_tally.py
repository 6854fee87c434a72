"""Counting the errors that answers name."""

from __future__ import annotations

import time

import pytest

from kbroker.metrics.requests import ApiStats
from kbroker.protocol.api_keys import ApiKey, response_class
from kbroker.protocol.generated.delete_topics_response import DeletableTopicResult, DeleteTopicsResponse
from kbroker.protocol.generated.heartbeat_response import HeartbeatResponse
from kbroker.protocol.generated.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kbroker.server.error_tally import shape_of, tally


def counted(message):
    stats = ApiStats("x", time.perf_counter)
    tally(shape_of(type(message)), message, stats)
    return stats.errors


def test_errors_are_found_wherever_they_are():
    assert counted(HeartbeatResponse(error_code=27)) == {27: 1}
    assert counted(HeartbeatResponse()) == {}
    topics = [
        DeletableTopicResult(name="a", error_code=3),
        DeletableTopicResult(name="b"),
        DeletableTopicResult(),
    ]
    assert counted(DeleteTopicsResponse(responses=topics)) == {3: 1}
    parts = [ListOffsetsPartitionResponse(error_code=code) for code in (0, 6, 6)]
    answer = ListOffsetsResponse(topics=[ListOffsetsTopicResponse(partitions=parts)])
    assert counted(answer) == {6: 2}


@pytest.mark.parametrize("key", list(ApiKey))
def test_every_api_has_a_shape_that_can_be_walked(key):
    message = response_class(key)()
    shape = shape_of(type(message))
    if shape is not None:
        tally(shape, message, ApiStats("x", time.perf_counter))
