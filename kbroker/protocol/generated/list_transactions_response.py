"""ListTransactionsResponse, versions 0 to 2.

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
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from


class TransactionState(Struct):
    """Part of ListTransactionsResponse."""

    __slots__ = (
        "transactional_id",
        "producer_id",
        "transaction_state",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state
        self.unknown_tags: UnknownTags = None


class ListTransactionsResponse(Message):
    """ListTransactionsResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "unknown_state_filters",
        "transaction_states",
        "unknown_tags",
    )
    NAME = "ListTransactionsResponse"
    API_KEY = 66
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: list[str] = UNSET,
        transaction_states: list[TransactionState] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters: list[str] = (
            [] if unknown_state_filters is UNSET else unknown_state_filters
        )
        self.transaction_states: list[TransactionState] = (
            [] if transaction_states is UNSET else transaction_states
        )
        self.unknown_tags: UnknownTags = None


def _decode_transaction_state_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TransactionState], int]:
    items: list[TransactionState] = []
    for _ in range(count):
        o = TransactionState.__new__(TransactionState)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.transactional_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.transactional_id, pos = read_compact_string(buf, pos)
        (o.producer_id,) = unpack_q(buf, pos)
        pos += 8
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.transaction_state = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.transaction_state, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_transaction_state_v0(out: bytearray, items: Iterable[TransactionState]) -> None:
    for o in items:
        write_compact_string(out, o.transactional_id)
        out += pack_q(o.producer_id)
        write_compact_string(out, o.transaction_state)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_list_transactions_response_v0(buf: Buffer, pos: int) -> tuple[ListTransactionsResponse, int]:
    o = ListTransactionsResponse.__new__(ListTransactionsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("unknownStateFilters")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.unknown_state_filters = values = []
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
        raise null_field("transactionStates")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.transaction_states, pos = _decode_transaction_state_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_transactions_response_v0(out: bytearray, o: ListTransactionsResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.unknown_state_filters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.unknown_state_filters:
        write_compact_string(out, text)
    n = len(o.transaction_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_transaction_state_v0(out, o.transaction_states)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListTransactionsResponse.DECODERS = {
    0: _decode_list_transactions_response_v0,
    1: _decode_list_transactions_response_v0,
    2: _decode_list_transactions_response_v0,
}
ListTransactionsResponse.ENCODERS = {
    0: _encode_list_transactions_response_v0,
    1: _encode_list_transactions_response_v0,
    2: _encode_list_transactions_response_v0,
}
