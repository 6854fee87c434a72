"""AddRaftVoterRequest, versions 0 to 1.

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
    ZERO_UUID,
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

pack_H = Layout(">H").pack
unpack_H = Layout(">H").unpack_from
pack_ii16s = Layout(">ii16s").pack
unpack_ii16s = Layout(">ii16s").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class Listener(Struct):
    """Part of AddRaftVoterRequest."""

    __slots__ = (
        "name",
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tags: UnknownTags = None


class AddRaftVoterRequest(Message):
    """AddRaftVoterRequest, versions 0 to 1."""

    __slots__ = (
        "cluster_id",
        "timeout_ms",
        "voter_id",
        "voter_directory_id",
        "listeners",
        "ack_when_committed",
        "unknown_tags",
    )
    NAME = "AddRaftVoterRequest"
    API_KEY = 80
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[Listener] = UNSET,
        ack_when_committed: bool = True,  # version 1
    ) -> None:
        self.cluster_id = cluster_id
        self.timeout_ms = timeout_ms
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners: list[Listener] = [] if listeners is UNSET else listeners
        self.ack_when_committed = ack_when_committed
        self.unknown_tags: UnknownTags = None


def _decode_listener_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Listener], int]:
    items: list[Listener] = []
    for _ in range(count):
        o = Listener.__new__(Listener)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        (o.port,) = unpack_H(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_listener_v0(out: bytearray, items: Iterable[Listener]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        write_compact_string(out, o.host)
        out += pack_H(o.port)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_add_raft_voter_request_v0(buf: Buffer, pos: int) -> tuple[AddRaftVoterRequest, int]:
    o = AddRaftVoterRequest.__new__(AddRaftVoterRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    o.timeout_ms, o.voter_id, o.voter_directory_id = unpack_ii16s(buf, pos)
    pos += 24
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("listeners")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.listeners, pos = _decode_listener_v0(buf, pos, n)
    o.ack_when_committed = True
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_add_raft_voter_request_v0(out: bytearray, o: AddRaftVoterRequest) -> None:
    if not o.ack_when_committed:
        raise not_in_version("ackWhenCommitted")
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_ii16s(o.timeout_ms, o.voter_id, o.voter_directory_id)
    n = len(o.listeners) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_listener_v0(out, o.listeners)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_add_raft_voter_request_v1(buf: Buffer, pos: int) -> tuple[AddRaftVoterRequest, int]:
    o = AddRaftVoterRequest.__new__(AddRaftVoterRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    o.timeout_ms, o.voter_id, o.voter_directory_id = unpack_ii16s(buf, pos)
    pos += 24
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("listeners")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.listeners, pos = _decode_listener_v0(buf, pos, n)
    (o.ack_when_committed,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_add_raft_voter_request_v1(out: bytearray, o: AddRaftVoterRequest) -> None:
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_ii16s(o.timeout_ms, o.voter_id, o.voter_directory_id)
    n = len(o.listeners) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_listener_v0(out, o.listeners)
    out += pack_o(o.ack_when_committed)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AddRaftVoterRequest.DECODERS = {
    0: _decode_add_raft_voter_request_v0,
    1: _decode_add_raft_voter_request_v1,
}
AddRaftVoterRequest.ENCODERS = {
    0: _encode_add_raft_voter_request_v0,
    1: _encode_add_raft_voter_request_v1,
}
