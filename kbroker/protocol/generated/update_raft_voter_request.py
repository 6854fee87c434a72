"""UpdateRaftVoterRequest, version 0.

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
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_ii16s = Layout(">ii16s").pack
unpack_ii16s = Layout(">ii16s").unpack_from


class KRaftVersionFeature(Struct):
    """Part of UpdateRaftVoterRequest."""

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


class Listener(Struct):
    """Part of UpdateRaftVoterRequest."""

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


class UpdateRaftVoterRequest(Message):
    """UpdateRaftVoterRequest, version 0."""

    __slots__ = (
        "cluster_id",
        "current_leader_epoch",
        "voter_id",
        "voter_directory_id",
        "listeners",
        "kraft_version_feature",
        "unknown_tags",
    )
    NAME = "UpdateRaftVoterRequest"
    API_KEY = 82
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        current_leader_epoch: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[Listener] = UNSET,
        kraft_version_feature: KRaftVersionFeature = UNSET,
    ) -> None:
        self.cluster_id = cluster_id
        self.current_leader_epoch = current_leader_epoch
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners: list[Listener] = [] if listeners is UNSET else listeners
        self.kraft_version_feature: KRaftVersionFeature = (
            KRaftVersionFeature() if kraft_version_feature is UNSET else kraft_version_feature
        )
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


def _decode_update_raft_voter_request_v0(buf: Buffer, pos: int) -> tuple[UpdateRaftVoterRequest, int]:
    o = UpdateRaftVoterRequest.__new__(UpdateRaftVoterRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    o.current_leader_epoch, o.voter_id, o.voter_directory_id = unpack_ii16s(buf, pos)
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
    (o.kraft_version_feature,), pos = _decode_kraft_version_feature_v0(buf, pos, 1)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_update_raft_voter_request_v0(out: bytearray, o: UpdateRaftVoterRequest) -> None:
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_ii16s(o.current_leader_epoch, o.voter_id, o.voter_directory_id)
    n = len(o.listeners) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_listener_v0(out, o.listeners)
    _encode_kraft_version_feature_v0(out, (o.kraft_version_feature,))
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


UpdateRaftVoterRequest.DECODERS = {
    0: _decode_update_raft_voter_request_v0,
}
UpdateRaftVoterRequest.ENCODERS = {
    0: _encode_update_raft_voter_request_v0,
}
