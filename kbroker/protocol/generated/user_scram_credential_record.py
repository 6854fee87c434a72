"""UserScramCredentialRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class UserScramCredentialRecord(Message):
    """UserScramCredentialRecord, version 0."""

    __slots__ = (
        "name",
        "mechanism",
        "salt",
        "stored_key",
        "server_key",
        "iterations",
        "unknown_tags",
    )
    NAME = "UserScramCredentialRecord"
    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        salt: bytes = b"",
        stored_key: bytes = b"",
        server_key: bytes = b"",
        iterations: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.salt = salt
        self.stored_key = stored_key
        self.server_key = server_key
        self.iterations = iterations
        self.unknown_tags: UnknownTags = None


def _decode_user_scram_credential_record_v0(buf: Buffer, pos: int) -> tuple[UserScramCredentialRecord, int]:
    o = UserScramCredentialRecord.__new__(UserScramCredentialRecord)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.name, pos = read_compact_string(buf, pos)
    (o.mechanism,) = unpack_b(buf, pos)
    pos += 1
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("salt")
    end = pos + n
    o.salt = bytes(buf[pos:end])
    pos = end
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("storedKey")
    end = pos + n
    o.stored_key = bytes(buf[pos:end])
    pos = end
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("serverKey")
    end = pos + n
    o.server_key = bytes(buf[pos:end])
    pos = end
    (o.iterations,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_user_scram_credential_record_v0(out: bytearray, o: UserScramCredentialRecord) -> None:
    write_compact_string(out, o.name)
    out += pack_b(o.mechanism)
    n = len(o.salt) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.salt
    n = len(o.stored_key) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.stored_key
    n = len(o.server_key) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.server_key
    out += pack_i(o.iterations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


UserScramCredentialRecord.DECODERS = {
    0: _decode_user_scram_credential_record_v0,
}
UserScramCredentialRecord.ENCODERS = {
    0: _encode_user_scram_credential_record_v0,
}
