"""DescribeClusterRequest, versions 0 to 2.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    read_unknown_tags,
    write_tags,
)

pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from
pack_ob = Layout(">?b").pack
unpack_ob = Layout(">?b").unpack_from
pack_obo = Layout(">?b?").pack
unpack_obo = Layout(">?b?").unpack_from


class DescribeClusterRequest(Message):
    """DescribeClusterRequest, versions 0 to 2."""

    __slots__ = (
        "include_cluster_authorized_operations",
        "endpoint_type",
        "include_fenced_brokers",
        "unknown_tags",
    )
    NAME = "DescribeClusterRequest"
    API_KEY = 60
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,  # versions 1 to 2
        include_fenced_brokers: bool = False,  # version 2
    ) -> None:
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.endpoint_type = endpoint_type
        self.include_fenced_brokers = include_fenced_brokers
        self.unknown_tags: UnknownTags = None


def _decode_describe_cluster_request_v0(buf: Buffer, pos: int) -> tuple[DescribeClusterRequest, int]:
    o = DescribeClusterRequest.__new__(DescribeClusterRequest)
    (o.include_cluster_authorized_operations,) = unpack_o(buf, pos)
    pos += 1
    o.endpoint_type = 1
    o.include_fenced_brokers = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_cluster_request_v0(out: bytearray, o: DescribeClusterRequest) -> None:
    if o.endpoint_type != 1:
        raise not_in_version("endpointType")
    if o.include_fenced_brokers:
        raise not_in_version("includeFencedBrokers")
    out += pack_o(o.include_cluster_authorized_operations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_cluster_request_v1(buf: Buffer, pos: int) -> tuple[DescribeClusterRequest, int]:
    o = DescribeClusterRequest.__new__(DescribeClusterRequest)
    o.include_cluster_authorized_operations, o.endpoint_type = unpack_ob(buf, pos)
    pos += 2
    o.include_fenced_brokers = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_cluster_request_v1(out: bytearray, o: DescribeClusterRequest) -> None:
    if o.include_fenced_brokers:
        raise not_in_version("includeFencedBrokers")
    out += pack_ob(o.include_cluster_authorized_operations, o.endpoint_type)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_describe_cluster_request_v2(buf: Buffer, pos: int) -> tuple[DescribeClusterRequest, int]:
    o = DescribeClusterRequest.__new__(DescribeClusterRequest)
    o.include_cluster_authorized_operations, o.endpoint_type, o.include_fenced_brokers = unpack_obo(buf, pos)
    pos += 3
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_cluster_request_v2(out: bytearray, o: DescribeClusterRequest) -> None:
    out += pack_obo(o.include_cluster_authorized_operations, o.endpoint_type, o.include_fenced_brokers)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeClusterRequest.DECODERS = {
    0: _decode_describe_cluster_request_v0,
    1: _decode_describe_cluster_request_v1,
    2: _decode_describe_cluster_request_v2,
}
DescribeClusterRequest.ENCODERS = {
    0: _encode_describe_cluster_request_v0,
    1: _encode_describe_cluster_request_v1,
    2: _encode_describe_cluster_request_v2,
}
