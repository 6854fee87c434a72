from __future__ import annotations

import pytest

from kbroker.errors import ProtocolError
from kbroker.protocol.bounded_decode import REQUEST_ELEMENTS_MAX, decode_request
from kbroker.protocol.generated.describe_groups_request import DescribeGroupsRequest
from kbroker.protocol.generated.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kbroker.protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kbroker.protocol.generated.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment


def list_offsets(topics, partitions):
    asked = [ListOffsetsPartition(partition_index=i) for i in range(partitions)]
    return ListOffsetsRequest(
        topics=[ListOffsetsTopic(name=f"t{i}", partitions=asked) for i in range(topics)]
    )


@pytest.mark.parametrize("version", [1, 11])
def test_all_arrays_of_a_request_count_together(version):
    request = list_offsets(9, (REQUEST_ELEMENTS_MAX - 9) // 9)
    data = b"head" + request.encode(version) + b"tail"
    assert decode_request(ListOffsetsRequest, data, version, 4) == (request, len(data) - 4)
    data = list_offsets(9, REQUEST_ELEMENTS_MAX // 9).encode(version)
    with pytest.raises(ProtocolError, match=f"more than {REQUEST_ELEMENTS_MAX} elements"):
        decode_request(ListOffsetsRequest, data, version, 0)
    assert len(ListOffsetsRequest.decode(data, version).topics) == 9


@pytest.mark.parametrize("version", [0, 6])
def test_names_count(version):
    data = DescribeGroupsRequest(groups=[""] * (REQUEST_ELEMENTS_MAX + 1)).encode(version)
    with pytest.raises(ProtocolError, match=f"more than {REQUEST_ELEMENTS_MAX} elements"):
        decode_request(DescribeGroupsRequest, data, version, 0)


def test_large_requests_of_few_elements_pass():
    request = SyncGroupRequest(
        group_id="g", assignments=[SyncGroupRequestAssignment(member_id="m", assignment=bytes(1 << 20))]
    )
    assert decode_request(SyncGroupRequest, request.encode(5), 5, 0)[0] == request
    named = MetadataRequest(topics=[MetadataRequestTopic(name=f"{i:0>249}") for i in range(20_000)])
    assert decode_request(MetadataRequest, named.encode(12), 12, 0)[0] == named
    everything = MetadataRequest(topics=None)
    assert decode_request(MetadataRequest, everything.encode(12) + bytes(200_000), 12, 0)[0] == everything


def test_versions_and_damage_are_told_as_ever():
    with pytest.raises(ProtocolError, match="has no version 99"):
        decode_request(MetadataRequest, bytes(200_000), 99, 0)
    with pytest.raises(ProtocolError, match="malformed MetadataRequest v1"):
        decode_request(MetadataRequest, b"\0\0\0\1\0\5" + b"\xff" * 200_000, 1, 0)
    with pytest.raises(ProtocolError, match="an array of 119000 elements does not fit"):
        decode_request(MetadataRequest, b"\0\1\xd0\xd8" + bytes(120_001), 1, 0)
