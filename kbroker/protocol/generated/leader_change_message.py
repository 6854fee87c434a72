"""LeaderChangeMessage, versions 0 to 1.

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
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_tags,
    write_uvarint,
)

pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_i16s = Layout(">i16s").pack
unpack_i16s = Layout(">i16s").unpack_from


class Voter(Struct):
    """Part of LeaderChangeMessage."""

    __slots__ = (
        "voter_id",
        "voter_directory_id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,  # version 1
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.unknown_tags: UnknownTags = None


class LeaderChangeMessage(Message):
    """LeaderChangeMessage, versions 0 to 1."""

    __slots__ = (
        "version",
        "leader_id",
        "voters",
        "granting_voters",
        "unknown_tags",
    )
    NAME = "LeaderChangeMessage"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        version: int = 0,
        leader_id: int = 0,
        voters: list[Voter] = UNSET,
        granting_voters: list[Voter] = UNSET,
    ) -> None:
        self.version = version
        self.leader_id = leader_id
        self.voters: list[Voter] = [] if voters is UNSET else voters
        self.granting_voters: list[Voter] = [] if granting_voters is UNSET else granting_voters
        self.unknown_tags: UnknownTags = None


def _decode_voter_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Voter], int]:
    items: list[Voter] = []
    for _ in range(count):
        o = Voter.__new__(Voter)
        items.append(o)
        (o.voter_id,) = unpack_i(buf, pos)
        pos += 4
        o.voter_directory_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_voter_v0(out: bytearray, items: Iterable[Voter]) -> None:
    for o in items:
        if o.voter_directory_id != ZERO_UUID:
            raise not_in_version("voterDirectoryId")
        out += pack_i(o.voter_id)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_voter_v1(buf: Buffer, pos: int, count: int) -> tuple[list[Voter], int]:
    items: list[Voter] = []
    for _ in range(count):
        o = Voter.__new__(Voter)
        items.append(o)
        o.voter_id, o.voter_directory_id = unpack_i16s(buf, pos)
        pos += 20
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_voter_v1(out: bytearray, items: Iterable[Voter]) -> None:
    for o in items:
        out += pack_i16s(o.voter_id, o.voter_directory_id)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_change_message_v0(buf: Buffer, pos: int) -> tuple[LeaderChangeMessage, int]:
    o = LeaderChangeMessage.__new__(LeaderChangeMessage)
    o.version, o.leader_id = unpack_hi(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("voters")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.voters, pos = _decode_voter_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("grantingVoters")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.granting_voters, pos = _decode_voter_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leader_change_message_v0(out: bytearray, o: LeaderChangeMessage) -> None:
    out += pack_hi(o.version, o.leader_id)
    n = len(o.voters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_voter_v0(out, o.voters)
    n = len(o.granting_voters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_voter_v0(out, o.granting_voters)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_leader_change_message_v1(buf: Buffer, pos: int) -> tuple[LeaderChangeMessage, int]:
    o = LeaderChangeMessage.__new__(LeaderChangeMessage)
    o.version, o.leader_id = unpack_hi(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("voters")
    if n * 21 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.voters, pos = _decode_voter_v1(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("grantingVoters")
    if n * 21 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.granting_voters, pos = _decode_voter_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leader_change_message_v1(out: bytearray, o: LeaderChangeMessage) -> None:
    out += pack_hi(o.version, o.leader_id)
    n = len(o.voters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_voter_v1(out, o.voters)
    n = len(o.granting_voters) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_voter_v1(out, o.granting_voters)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


LeaderChangeMessage.DECODERS = {
    0: _decode_leader_change_message_v0,
    1: _decode_leader_change_message_v1,
}
LeaderChangeMessage.ENCODERS = {
    0: _encode_leader_change_message_v0,
    1: _encode_leader_change_message_v1,
}
