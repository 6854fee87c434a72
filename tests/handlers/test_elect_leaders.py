"""ElectLeaders (43): the shape of its errors."""

from __future__ import annotations

import pytest

from kbroker.errors import ErrorCode
from kbroker.handlers.elect_leaders import error_response, handle
from kbroker.protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kbroker.protocol.generated.elect_leaders_response import ElectLeadersResponse


@pytest.mark.parametrize(("version", "code"), [(0, 0), (1, 41), (2, 41)])
def test_an_error_reaches_clients_of_every_version(version, code):
    request = ElectLeadersRequest(topic_partitions=[TopicPartitions(topic="t", partitions=[1])])
    response = error_response(request, version, ErrorCode.NOT_CONTROLLER, "not here")
    response = ElectLeadersResponse.decode(bytes(response.encode(version)), version)
    assert response.error_code == code
    assert response.replica_election_results[0].partition_result[0].error_code == 41


@pytest.mark.parametrize("timeout_ms", [-1, 0, 5000])
def test_no_partitions_are_elected_in_no_time(timeout_ms):
    """As Kafka 4.4, where other requests with such time-outs run out of time."""
    request = ElectLeadersRequest(topic_partitions=[], timeout_ms=timeout_ms)
    assert handle(None, None, request) == ElectLeadersResponse()
