"""VotersRecord, version 0.

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
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_H = Layout(">H").pack
unpack_H = Layout(">H").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i16s = Layout(">i16s").pack
unpack_i16s = Layout(">i16s").unpack_from


class KRaftVersionFeature(Struct):
    """Part of VotersRecord."""

    __slots__ = (
        "min_supported_version",
        "max_supported_version",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tags: UnknownTags = None


class Endpoint(Struct):
    """Part of VotersRecord."""

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


class Voter(Struct):
    """Part of VotersRecord."""

    __slots__ = (
        "voter_id",
        "voter_directory_id",
        "endpoints",
        "kraft_version_feature",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        endpoints: list[Endpoint] = UNSET,
        kraft_version_feature: KRaftVersionFeature = UNSET,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.endpoints: list[Endpoint] = [] if endpoints is UNSET else endpoints
        self.kraft_version_feature: KRaftVersionFeature = (
            KRaftVersionFeature() if kraft_version_feature is UNSET else kraft_version_feature
        )
        self.unknown_tags: UnknownTags = None


class VotersRecord(Message):
    """VotersRecord, version 0."""

    __slots__ = (
        "version",
        "voters",
        "unknown_tags",
    )
    NAME = "VotersRecord"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        version: int = 0,
        voters: list[Voter] = UNSET,
    ) -> None:
        self.version = version
        self.voters: list[Voter] = [] if voters is UNSET else voters
        self.unknown_tags: UnknownTags = None


def _decode_kraft_version_feature_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[KRaftVersionFeature], int]:
    items: list[KRaftVersionFeature] = []
    for _ in range(count):
        o = KRaftVersionFeature.__new__(KRaftVersionFeature)
        items.append(o)
        o.min_supported_version, o.max_supported_version = unpack_hh(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_kraft_version_feature_v0(out: bytearray, items: Iterable[KRaftVersionFeature]) -> None:
    for o in items:
        out += pack_hh(o.min_supported_version, o.max_supported_version)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_endpoint_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Endpoint], int]:
    items: list[Endpoint] = []
    for _ in range(count):
        o = Endpoint.__new__(Endpoint)
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


def _encode_endpoint_v0(out: bytearray, items: Iterable[Endpoint]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        write_compact_string(out, o.host)
        out += pack_H(o.port)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_voter_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Voter], int]:
    items: list[Voter] = []
    for _ in range(count):
        o = Voter.__new__(Voter)
        items.append(o)
        o.voter_id, o.voter_directory_id = unpack_i16s(buf, pos)
        pos += 20
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("endpoints")
        if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.endpoints, pos = _decode_endpoint_v0(buf, pos, n)
        (o.kraft_version_feature,), pos = _decode_kraft_version_feature_v0(buf, pos, 1)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_voter_v0(out: bytearray, items: Iterable[Voter]) -> None:
    for o in items:
        out += pack_i16s(o.voter_id, o.voter_directory_id)
        n = len(o.endpoints) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_endpoint_v0(out, o.endpoints)
        _encode_kraft_version_feature_v0(out, (o.kraft_version_feature,))
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_voters_record_v0(buf: Buffer, pos: int) -> tuple[VotersRecord, int]:
    o = VotersRecord.__new__(VotersRecord)
    (o.version,) = unpack_h(buf, pos)
    pos += 2
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("voters")
    if n * 27 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.voters, pos = _decode_voter_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_voters_record_v0(out: bytearray, o: VotersRecord) -> None:
    out += pack_h(o.version)
    n = len(o.voters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_voter_v0(out, o.voters)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


VotersRecord.DECODERS = {
    0: _decode_voters_record_v0,
}
VotersRecord.ENCODERS = {
    0: _encode_voters_record_v0,
}
