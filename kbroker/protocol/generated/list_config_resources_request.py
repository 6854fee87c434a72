"""ListConfigResourcesRequest, versions 0 to 1.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    UNSET,
    UnknownTags,
    not_in_version,
    null_field,
    pack_int8s,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int8s,
    write_tags,
    write_uvarint,
)


class ListConfigResourcesRequest(Message):
    """ListConfigResourcesRequest, versions 0 to 1."""

    __slots__ = (
        "resource_types",
        "unknown_tags",
    )
    NAME = "ListConfigResourcesRequest"
    API_KEY = 74
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        resource_types: list[int] = UNSET,  # version 1
    ) -> None:
        self.resource_types: list[int] = [] if resource_types is UNSET else resource_types
        self.unknown_tags: UnknownTags = None


def _decode_list_config_resources_request_v0(buf: Buffer, pos: int) -> tuple[ListConfigResourcesRequest, int]:
    o = ListConfigResourcesRequest.__new__(ListConfigResourcesRequest)
    o.resource_types = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_config_resources_request_v0(out: bytearray, o: ListConfigResourcesRequest) -> None:
    if o.resource_types:
        raise not_in_version("resourceTypes")
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_list_config_resources_request_v1(buf: Buffer, pos: int) -> tuple[ListConfigResourcesRequest, int]:
    o = ListConfigResourcesRequest.__new__(ListConfigResourcesRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("resourceTypes")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.resource_types = unpack_int8s(buf, pos, n)
    pos += n
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_config_resources_request_v1(out: bytearray, o: ListConfigResourcesRequest) -> None:
    n = len(o.resource_types) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int8s(o.resource_types)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListConfigResourcesRequest.DECODERS = {
    0: _decode_list_config_resources_request_v0,
    1: _decode_list_config_resources_request_v1,
}
ListConfigResourcesRequest.ENCODERS = {
    0: _encode_list_config_resources_request_v0,
    1: _encode_list_config_resources_request_v1,
}
