"""QuorumStateData, versions 0 to 1.

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
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_3i16s = Layout(">3i16s").pack
unpack_3i16s = Layout(">3i16s").unpack_from
pack_3iq = Layout(">3iq").pack
unpack_3iq = Layout(">3iq").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class Voter(Struct):
    """Part of QuorumStateData."""

    __slots__ = (
        "voter_id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        voter_id: int = 0,  # version 0
    ) -> None:
        self.voter_id = voter_id
        self.unknown_tags: UnknownTags = None


class QuorumStateData(Message):
    """QuorumStateData, versions 0 to 1."""

    __slots__ = (
        "cluster_id",
        "leader_id",
        "leader_epoch",
        "voted_id",
        "voted_directory_id",
        "applied_offset",
        "current_voters",
        "unknown_tags",
    )
    NAME = "QuorumStateData"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        cluster_id: str = "",  # version 0
        leader_id: int = -1,
        leader_epoch: int = -1,
        voted_id: int = -1,
        voted_directory_id: bytes = ZERO_UUID,  # version 1
        applied_offset: int = 0,  # version 0
        current_voters: list[Voter] | None = UNSET,  # version 0
    ) -> None:
        self.cluster_id = cluster_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.voted_id = voted_id
        self.voted_directory_id = voted_directory_id
        self.applied_offset = applied_offset
        self.current_voters: list[Voter] | None = [] if current_voters is UNSET else current_voters
        self.unknown_tags: UnknownTags = None


def _decode_voter_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Voter], int]:
    items: list[Voter] = []
    for _ in range(count):
        o = Voter.__new__(Voter)
        items.append(o)
        (o.voter_id,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_voter_v0(out: bytearray, items: Iterable[Voter]) -> None:
    for o in items:
        out += pack_i(o.voter_id)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_quorum_state_data_v0(buf: Buffer, pos: int) -> tuple[QuorumStateData, int]:
    o = QuorumStateData.__new__(QuorumStateData)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_string(buf, pos)
    o.leader_id, o.leader_epoch, o.voted_id, o.applied_offset = unpack_3iq(buf, pos)
    pos += 20
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.current_voters = None
    else:
        if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.current_voters, pos = _decode_voter_v0(buf, pos, n)
    o.voted_directory_id = ZERO_UUID
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_quorum_state_data_v0(out: bytearray, o: QuorumStateData) -> None:
    if o.voted_directory_id != ZERO_UUID:
        raise not_in_version("votedDirectoryId")
    write_compact_string(out, o.cluster_id)
    out += pack_3iq(o.leader_id, o.leader_epoch, o.voted_id, o.applied_offset)
    if o.current_voters is None:
        out.append(0)
    else:
        n = len(o.current_voters) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_voter_v0(out, o.current_voters)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_quorum_state_data_v1(buf: Buffer, pos: int) -> tuple[QuorumStateData, int]:
    o = QuorumStateData.__new__(QuorumStateData)
    o.leader_id, o.leader_epoch, o.voted_id, o.voted_directory_id = unpack_3i16s(buf, pos)
    pos += 28
    o.cluster_id = ""
    o.applied_offset = 0
    o.current_voters = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_quorum_state_data_v1(out: bytearray, o: QuorumStateData) -> None:
    if o.cluster_id != "":
        raise not_in_version("clusterId")
    if o.applied_offset != 0:
        raise not_in_version("appliedOffset")
    if o.current_voters is None or o.current_voters:
        raise not_in_version("currentVoters")
    out += pack_3i16s(o.leader_id, o.leader_epoch, o.voted_id, o.voted_directory_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


QuorumStateData.DECODERS = {
    0: _decode_quorum_state_data_v0,
    1: _decode_quorum_state_data_v1,
}
QuorumStateData.ENCODERS = {
    0: _encode_quorum_state_data_v0,
    1: _encode_quorum_state_data_v1,
}
