"""FindCoordinatorRequest, versions 0 to 6.

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
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class FindCoordinatorRequest(Message):
    """FindCoordinatorRequest, versions 0 to 6."""

    __slots__ = (
        "key",
        "key_type",
        "coordinator_keys",
        "unknown_tags",
    )
    NAME = "FindCoordinatorRequest"
    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        key: str = "",  # versions 0 to 3
        key_type: int = 0,  # versions 1 to 6
        coordinator_keys: list[str] = UNSET,  # versions 4 to 6
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys: list[str] = [] if coordinator_keys is UNSET else coordinator_keys
        self.unknown_tags: UnknownTags = None


def _decode_find_coordinator_request_v0(buf: Buffer, pos: int) -> tuple[FindCoordinatorRequest, int]:
    o = FindCoordinatorRequest.__new__(FindCoordinatorRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("key")
    end = pos + n
    o.key = str(buf[pos:end], "utf-8")
    pos = end
    o.key_type = 0
    o.coordinator_keys = []
    o.unknown_tags = None
    return o, pos


def _encode_find_coordinator_request_v0(out: bytearray, o: FindCoordinatorRequest) -> None:
    if o.key_type != 0:
        raise not_in_version("keyType")
    if o.coordinator_keys:
        raise not_in_version("coordinatorKeys")
    raw = o.key.encode()
    out += pack_h(len(raw))
    out += raw
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_find_coordinator_request_v1(buf: Buffer, pos: int) -> tuple[FindCoordinatorRequest, int]:
    o = FindCoordinatorRequest.__new__(FindCoordinatorRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("key")
    end = pos + n
    o.key = str(buf[pos:end], "utf-8")
    pos = end
    (o.key_type,) = unpack_b(buf, pos)
    pos += 1
    o.coordinator_keys = []
    o.unknown_tags = None
    return o, pos


def _encode_find_coordinator_request_v1(out: bytearray, o: FindCoordinatorRequest) -> None:
    if o.coordinator_keys:
        raise not_in_version("coordinatorKeys")
    raw = o.key.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_b(o.key_type)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_find_coordinator_request_v3(buf: Buffer, pos: int) -> tuple[FindCoordinatorRequest, int]:
    o = FindCoordinatorRequest.__new__(FindCoordinatorRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.key = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.key, pos = read_compact_string(buf, pos)
    (o.key_type,) = unpack_b(buf, pos)
    pos += 1
    o.coordinator_keys = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_find_coordinator_request_v3(out: bytearray, o: FindCoordinatorRequest) -> None:
    if o.coordinator_keys:
        raise not_in_version("coordinatorKeys")
    write_compact_string(out, o.key)
    out += pack_b(o.key_type)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_find_coordinator_request_v4(buf: Buffer, pos: int) -> tuple[FindCoordinatorRequest, int]:
    o = FindCoordinatorRequest.__new__(FindCoordinatorRequest)
    (o.key_type,) = unpack_b(buf, pos)
    pos += 1
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("coordinatorKeys")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.coordinator_keys = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    o.key = ""
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_find_coordinator_request_v4(out: bytearray, o: FindCoordinatorRequest) -> None:
    if o.key != "":
        raise not_in_version("key")
    out += pack_b(o.key_type)
    n = len(o.coordinator_keys) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.coordinator_keys:
        write_compact_string(out, text)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


FindCoordinatorRequest.DECODERS = {
    0: _decode_find_coordinator_request_v0,
    1: _decode_find_coordinator_request_v1,
    2: _decode_find_coordinator_request_v1,
    3: _decode_find_coordinator_request_v3,
    4: _decode_find_coordinator_request_v4,
    5: _decode_find_coordinator_request_v4,
    6: _decode_find_coordinator_request_v4,
}
FindCoordinatorRequest.ENCODERS = {
    0: _encode_find_coordinator_request_v0,
    1: _encode_find_coordinator_request_v1,
    2: _encode_find_coordinator_request_v1,
    3: _encode_find_coordinator_request_v3,
    4: _encode_find_coordinator_request_v4,
    5: _encode_find_coordinator_request_v4,
    6: _encode_find_coordinator_request_v4,
}
