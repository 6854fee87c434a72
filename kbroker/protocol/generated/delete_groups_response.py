"""DeleteGroupsResponse, versions 0 to 3.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    Struct,
    UNSET,
    UnknownTags,
    not_in_version,
    null_field,
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class DeletableGroupResult(Struct):
    """Part of DeleteGroupsResponse."""

    __slots__ = (
        "group_id",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        error_code: int = 0,
        error_message: str | None = None,  # version 3
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class DeleteGroupsResponse(Message):
    """DeleteGroupsResponse, versions 0 to 3."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tags",
    )
    NAME = "DeleteGroupsResponse"
    API_KEY = 42
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[DeletableGroupResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[DeletableGroupResult] = [] if results is UNSET else results
        self.unknown_tags: UnknownTags = None


def _decode_deletable_group_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeletableGroupResult], int]:
    items: list[DeletableGroupResult] = []
    for _ in range(count):
        o = DeletableGroupResult.__new__(DeletableGroupResult)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("groupId")
        end = pos + n
        o.group_id = str(buf[pos:end], "utf-8")
        pos = end
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.error_message = None
        o.unknown_tags = None
    return items, pos


def _encode_deletable_group_result_v0(out: bytearray, items: Iterable[DeletableGroupResult]) -> None:
    for o in items:
        raw = o.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_h(o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_deletable_group_result_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeletableGroupResult], int]:
    items: list[DeletableGroupResult] = []
    for _ in range(count):
        o = DeletableGroupResult.__new__(DeletableGroupResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_id, pos = read_compact_string(buf, pos)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.error_message = None
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_deletable_group_result_v2(out: bytearray, items: Iterable[DeletableGroupResult]) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        out += pack_h(o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_deletable_group_result_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeletableGroupResult], int]:
    items: list[DeletableGroupResult] = []
    for _ in range(count):
        o = DeletableGroupResult.__new__(DeletableGroupResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.group_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.group_id, pos = read_compact_string(buf, pos)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_deletable_group_result_v3(out: bytearray, items: Iterable[DeletableGroupResult]) -> None:
    for o in items:
        write_compact_string(out, o.group_id)
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_groups_response_v0(buf: Buffer, pos: int) -> tuple[DeleteGroupsResponse, int]:
    o = DeleteGroupsResponse.__new__(DeleteGroupsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("results")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_deletable_group_result_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_delete_groups_response_v0(out: bytearray, o: DeleteGroupsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.results))
    _encode_deletable_group_result_v0(out, o.results)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_groups_response_v2(buf: Buffer, pos: int) -> tuple[DeleteGroupsResponse, int]:
    o = DeleteGroupsResponse.__new__(DeleteGroupsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_deletable_group_result_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_groups_response_v2(out: bytearray, o: DeleteGroupsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_deletable_group_result_v2(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_delete_groups_response_v3(buf: Buffer, pos: int) -> tuple[DeleteGroupsResponse, int]:
    o = DeleteGroupsResponse.__new__(DeleteGroupsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_deletable_group_result_v3(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_groups_response_v3(out: bytearray, o: DeleteGroupsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_deletable_group_result_v3(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteGroupsResponse.DECODERS = {
    0: _decode_delete_groups_response_v0,
    1: _decode_delete_groups_response_v0,
    2: _decode_delete_groups_response_v2,
    3: _decode_delete_groups_response_v3,
}
DeleteGroupsResponse.ENCODERS = {
    0: _encode_delete_groups_response_v0,
    1: _encode_delete_groups_response_v0,
    2: _encode_delete_groups_response_v2,
    3: _encode_delete_groups_response_v3,
}
