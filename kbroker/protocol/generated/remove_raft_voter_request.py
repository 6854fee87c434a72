"""RemoveRaftVoterRequest, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    ZERO_UUID,
    read_compact_nullable_string,
    read_unknown_tags,
    write_compact_nullable_string,
    write_tags,
)

pack_i16s = Layout(">i16s").pack
unpack_i16s = Layout(">i16s").unpack_from


class RemoveRaftVoterRequest(Message):
    """RemoveRaftVoterRequest, version 0."""

    __slots__ = (
        "cluster_id",
        "voter_id",
        "voter_directory_id",
        "unknown_tags",
    )
    NAME = "RemoveRaftVoterRequest"
    API_KEY = 81
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.unknown_tags: UnknownTags = None


def _decode_remove_raft_voter_request_v0(buf: Buffer, pos: int) -> tuple[RemoveRaftVoterRequest, int]:
    o = RemoveRaftVoterRequest.__new__(RemoveRaftVoterRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    o.voter_id, o.voter_directory_id = unpack_i16s(buf, pos)
    pos += 20
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_remove_raft_voter_request_v0(out: bytearray, o: RemoveRaftVoterRequest) -> None:
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_i16s(o.voter_id, o.voter_directory_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


RemoveRaftVoterRequest.DECODERS = {
    0: _decode_remove_raft_voter_request_v0,
}
RemoveRaftVoterRequest.ENCODERS = {
    0: _encode_remove_raft_voter_request_v0,
}
