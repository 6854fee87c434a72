"""JoinGroupRequest, versions 0 to 9.

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
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_iih = Layout(">iih").pack
unpack_iih = Layout(">iih").unpack_from


class JoinGroupRequestProtocol(Struct):
    """Part of JoinGroupRequest."""

    __slots__ = (
        "name",
        "metadata",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.unknown_tags: UnknownTags = None


class JoinGroupRequest(Message):
    """JoinGroupRequest, versions 0 to 9."""

    __slots__ = (
        "group_id",
        "session_timeout_ms",
        "rebalance_timeout_ms",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocols",
        "reason",
        "unknown_tags",
    )
    NAME = "JoinGroupRequest"
    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 9
    FLEXIBLE_SINCE = 6

    def __init__(
        self,
        *,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,  # versions 1 to 9
        member_id: str = "",
        group_instance_id: str | None = None,  # versions 5 to 9
        protocol_type: str = "",
        protocols: list[JoinGroupRequestProtocol] = UNSET,
        reason: str | None = None,  # versions 8 to 9
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols: list[JoinGroupRequestProtocol] = [] if protocols is UNSET else protocols
        self.reason = reason
        self.unknown_tags: UnknownTags = None


def _decode_join_group_request_protocol_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[JoinGroupRequestProtocol], int]:
    items: list[JoinGroupRequestProtocol] = []
    for _ in range(count):
        o = JoinGroupRequestProtocol.__new__(JoinGroupRequestProtocol)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("metadata")
        end = pos + n
        o.metadata = bytes(buf[pos:end])
        pos = end
        o.unknown_tags = None
    return items, pos


def _encode_join_group_request_protocol_v0(out: bytearray, items: Iterable[JoinGroupRequestProtocol]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.metadata))
        out += o.metadata
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_join_group_request_protocol_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[JoinGroupRequestProtocol], int]:
    items: list[JoinGroupRequestProtocol] = []
    for _ in range(count):
        o = JoinGroupRequestProtocol.__new__(JoinGroupRequestProtocol)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("metadata")
        end = pos + n
        o.metadata = bytes(buf[pos:end])
        pos = end
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_join_group_request_protocol_v6(out: bytearray, items: Iterable[JoinGroupRequestProtocol]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.metadata) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.metadata
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_join_group_request_v0(buf: Buffer, pos: int) -> tuple[JoinGroupRequest, int]:
    o = JoinGroupRequest.__new__(JoinGroupRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.session_timeout_ms, n = unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("memberId")
    end = pos + n
    o.member_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("protocolType")
    end = pos + n
    o.protocol_type = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("protocols")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.protocols, pos = _decode_join_group_request_protocol_v0(buf, pos, n)
    o.rebalance_timeout_ms = -1
    o.group_instance_id = None
    o.reason = None
    o.unknown_tags = None
    return o, pos


def _encode_join_group_request_v0(out: bytearray, o: JoinGroupRequest) -> None:
    if o.group_instance_id is not None:
        raise not_in_version("groupInstanceId")
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_ih(o.session_timeout_ms, len(raw))
    out += raw
    raw = o.protocol_type.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_i(len(o.protocols))
    _encode_join_group_request_protocol_v0(out, o.protocols)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_join_group_request_v1(buf: Buffer, pos: int) -> tuple[JoinGroupRequest, int]:
    o = JoinGroupRequest.__new__(JoinGroupRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.session_timeout_ms, o.rebalance_timeout_ms, n = unpack_iih(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("memberId")
    end = pos + n
    o.member_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("protocolType")
    end = pos + n
    o.protocol_type = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("protocols")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.protocols, pos = _decode_join_group_request_protocol_v0(buf, pos, n)
    o.group_instance_id = None
    o.reason = None
    o.unknown_tags = None
    return o, pos


def _encode_join_group_request_v1(out: bytearray, o: JoinGroupRequest) -> None:
    if o.group_instance_id is not None:
        raise not_in_version("groupInstanceId")
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_iih(o.session_timeout_ms, o.rebalance_timeout_ms, len(raw))
    out += raw
    raw = o.protocol_type.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_i(len(o.protocols))
    _encode_join_group_request_protocol_v0(out, o.protocols)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_join_group_request_v5(buf: Buffer, pos: int) -> tuple[JoinGroupRequest, int]:
    o = JoinGroupRequest.__new__(JoinGroupRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.session_timeout_ms, o.rebalance_timeout_ms, n = unpack_iih(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("memberId")
    end = pos + n
    o.member_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.group_instance_id = None
    else:
        end = pos + n
        o.group_instance_id = str(buf[pos:end], "utf-8")
        pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("protocolType")
    end = pos + n
    o.protocol_type = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("protocols")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.protocols, pos = _decode_join_group_request_protocol_v0(buf, pos, n)
    o.reason = None
    o.unknown_tags = None
    return o, pos


def _encode_join_group_request_v5(out: bytearray, o: JoinGroupRequest) -> None:
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_iih(o.session_timeout_ms, o.rebalance_timeout_ms, len(raw))
    out += raw
    raw = b"" if o.group_instance_id is None else o.group_instance_id.encode()
    out += pack_h(-1 if o.group_instance_id is None else len(raw))
    out += raw
    raw = o.protocol_type.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_i(len(o.protocols))
    _encode_join_group_request_protocol_v0(out, o.protocols)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_join_group_request_v6(buf: Buffer, pos: int) -> tuple[JoinGroupRequest, int]:
    o = JoinGroupRequest.__new__(JoinGroupRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    o.session_timeout_ms, o.rebalance_timeout_ms = unpack_ii(buf, pos)
    pos += 8
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_instance_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_instance_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.protocol_type = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.protocol_type, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("protocols")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.protocols, pos = _decode_join_group_request_protocol_v6(buf, pos, n)
    o.reason = None
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_join_group_request_v6(out: bytearray, o: JoinGroupRequest) -> None:
    write_compact_string(out, o.group_id)
    out += pack_ii(o.session_timeout_ms, o.rebalance_timeout_ms)
    write_compact_string(out, o.member_id)
    write_compact_nullable_string(out, o.group_instance_id)
    write_compact_string(out, o.protocol_type)
    n = len(o.protocols) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_join_group_request_protocol_v6(out, o.protocols)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_join_group_request_v8(buf: Buffer, pos: int) -> tuple[JoinGroupRequest, int]:
    o = JoinGroupRequest.__new__(JoinGroupRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    o.session_timeout_ms, o.rebalance_timeout_ms = unpack_ii(buf, pos)
    pos += 8
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_instance_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_instance_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.protocol_type = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.protocol_type, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("protocols")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.protocols, pos = _decode_join_group_request_protocol_v6(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.reason = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.reason, pos = read_compact_nullable_string(buf, pos)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_join_group_request_v8(out: bytearray, o: JoinGroupRequest) -> None:
    write_compact_string(out, o.group_id)
    out += pack_ii(o.session_timeout_ms, o.rebalance_timeout_ms)
    write_compact_string(out, o.member_id)
    write_compact_nullable_string(out, o.group_instance_id)
    write_compact_string(out, o.protocol_type)
    n = len(o.protocols) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_join_group_request_protocol_v6(out, o.protocols)
    write_compact_nullable_string(out, o.reason)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


JoinGroupRequest.DECODERS = {
    0: _decode_join_group_request_v0,
    1: _decode_join_group_request_v1,
    2: _decode_join_group_request_v1,
    3: _decode_join_group_request_v1,
    4: _decode_join_group_request_v1,
    5: _decode_join_group_request_v5,
    6: _decode_join_group_request_v6,
    7: _decode_join_group_request_v6,
    8: _decode_join_group_request_v8,
    9: _decode_join_group_request_v8,
}
JoinGroupRequest.ENCODERS = {
    0: _encode_join_group_request_v0,
    1: _encode_join_group_request_v1,
    2: _encode_join_group_request_v1,
    3: _encode_join_group_request_v1,
    4: _encode_join_group_request_v1,
    5: _encode_join_group_request_v5,
    6: _encode_join_group_request_v6,
    7: _encode_join_group_request_v6,
    8: _encode_join_group_request_v8,
    9: _encode_join_group_request_v8,
}
