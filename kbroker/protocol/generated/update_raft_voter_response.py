"""UpdateRaftVoterResponse, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    Struct,
    UNSET,
    UnknownTags,
    bad_tag_size,
    read_compact_string,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    write_compact_string,
    write_tags,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class CurrentLeader(Struct):
    """Part of UpdateRaftVoterResponse."""

    __slots__ = (
        "leader_id",
        "leader_epoch",
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        leader_id: int = -1,
        leader_epoch: int = -1,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.host = host
        self.port = port
        self.unknown_tags: UnknownTags = None


class UpdateRaftVoterResponse(Message):
    """UpdateRaftVoterResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "current_leader",
        "unknown_tags",
    )
    NAME = "UpdateRaftVoterResponse"
    API_KEY = 82
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: CurrentLeader = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.current_leader: CurrentLeader = CurrentLeader() if current_leader is UNSET else current_leader
        self.unknown_tags: UnknownTags = None


def _decode_current_leader_v0(buf: Buffer, pos: int, count: int) -> tuple[list[CurrentLeader], int]:
    items: list[CurrentLeader] = []
    for _ in range(count):
        o = CurrentLeader.__new__(CurrentLeader)
        items.append(o)
        o.leader_id, o.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        (o.port,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_current_leader_v0(out: bytearray, items: Iterable[CurrentLeader]) -> None:
    for o in items:
        out += pack_ii(o.leader_id, o.leader_epoch)
        write_compact_string(out, o.host)
        out += pack_i(o.port)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_update_raft_voter_response_v0(buf: Buffer, pos: int) -> tuple[UpdateRaftVoterResponse, int]:
    o = UpdateRaftVoterResponse.__new__(UpdateRaftVoterResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    o.current_leader = CurrentLeader()
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_update_raft_voter_response_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_update_raft_voter_response_v0(buf: Buffer, pos: int, o: UpdateRaftVoterResponse) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.current_leader,), pos = _decode_current_leader_v0(buf, pos, 1)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_update_raft_voter_response_v0(out: bytearray, o: UpdateRaftVoterResponse) -> None:
    tags: list[tuple[int, bytearray]] = []
    if (
        o.current_leader.leader_id != -1
        or o.current_leader.leader_epoch != -1
        or o.current_leader.host != ""
        or o.current_leader.port != 0
    ):
        part = bytearray()
        _encode_current_leader_v0(part, (o.current_leader,))
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_update_raft_voter_response_v0(out: bytearray, o: UpdateRaftVoterResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    if (
        o.unknown_tags
        or o.current_leader.leader_id != -1
        or o.current_leader.leader_epoch != -1
        or o.current_leader.host != ""
        or o.current_leader.port != 0
    ):
        _write_tags_of_update_raft_voter_response_v0(out, o)
    else:
        out.append(0)


UpdateRaftVoterResponse.DECODERS = {
    0: _decode_update_raft_voter_response_v0,
}
UpdateRaftVoterResponse.ENCODERS = {
    0: _encode_update_raft_voter_response_v0,
}
