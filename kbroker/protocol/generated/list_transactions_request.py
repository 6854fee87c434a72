"""ListTransactionsRequest, versions 0 to 2.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    UNSET,
    UnknownTags,
    not_in_version,
    null_field,
    pack_int64s,
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int64s,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from


class ListTransactionsRequest(Message):
    """ListTransactionsRequest, versions 0 to 2."""

    __slots__ = (
        "state_filters",
        "producer_id_filters",
        "duration_filter",
        "transactional_id_pattern",
        "unknown_tags",
    )
    NAME = "ListTransactionsRequest"
    API_KEY = 66
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        state_filters: list[str] = UNSET,
        producer_id_filters: list[int] = UNSET,
        duration_filter: int = -1,  # versions 1 to 2
        transactional_id_pattern: str | None = None,  # version 2
    ) -> None:
        self.state_filters: list[str] = [] if state_filters is UNSET else state_filters
        self.producer_id_filters: list[int] = [] if producer_id_filters is UNSET else producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern
        self.unknown_tags: UnknownTags = None


def _decode_list_transactions_request_v0(buf: Buffer, pos: int) -> tuple[ListTransactionsRequest, int]:
    o = ListTransactionsRequest.__new__(ListTransactionsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("stateFilters")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.state_filters = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("producerIdFilters")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.producer_id_filters = unpack_int64s(buf, pos, n)
    pos += 8 * n
    o.duration_filter = -1
    o.transactional_id_pattern = None
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_transactions_request_v0(out: bytearray, o: ListTransactionsRequest) -> None:
    if o.duration_filter != -1:
        raise not_in_version("durationFilter")
    if o.transactional_id_pattern is not None:
        raise not_in_version("transactionalIdPattern")
    n = len(o.state_filters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.state_filters:
        write_compact_string(out, text)
    n = len(o.producer_id_filters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int64s(o.producer_id_filters)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_list_transactions_request_v1(buf: Buffer, pos: int) -> tuple[ListTransactionsRequest, int]:
    o = ListTransactionsRequest.__new__(ListTransactionsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("stateFilters")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.state_filters = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("producerIdFilters")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.producer_id_filters = unpack_int64s(buf, pos, n)
    pos += 8 * n
    (o.duration_filter,) = unpack_q(buf, pos)
    pos += 8
    o.transactional_id_pattern = None
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_transactions_request_v1(out: bytearray, o: ListTransactionsRequest) -> None:
    if o.transactional_id_pattern is not None:
        raise not_in_version("transactionalIdPattern")
    n = len(o.state_filters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.state_filters:
        write_compact_string(out, text)
    n = len(o.producer_id_filters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int64s(o.producer_id_filters)
    out += pack_q(o.duration_filter)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_list_transactions_request_v2(buf: Buffer, pos: int) -> tuple[ListTransactionsRequest, int]:
    o = ListTransactionsRequest.__new__(ListTransactionsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("stateFilters")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.state_filters = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("producerIdFilters")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.producer_id_filters = unpack_int64s(buf, pos, n)
    pos += 8 * n
    (o.duration_filter,) = unpack_q(buf, pos)
    pos += 8
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.transactional_id_pattern = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.transactional_id_pattern, pos = read_compact_nullable_string(buf, pos)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_transactions_request_v2(out: bytearray, o: ListTransactionsRequest) -> None:
    n = len(o.state_filters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.state_filters:
        write_compact_string(out, text)
    n = len(o.producer_id_filters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int64s(o.producer_id_filters)
    out += pack_q(o.duration_filter)
    write_compact_nullable_string(out, o.transactional_id_pattern)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListTransactionsRequest.DECODERS = {
    0: _decode_list_transactions_request_v0,
    1: _decode_list_transactions_request_v1,
    2: _decode_list_transactions_request_v2,
}
ListTransactionsRequest.ENCODERS = {
    0: _encode_list_transactions_request_v0,
    1: _encode_list_transactions_request_v1,
    2: _encode_list_transactions_request_v2,
}
