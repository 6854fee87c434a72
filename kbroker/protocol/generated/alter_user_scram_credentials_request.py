"""AlterUserScramCredentialsRequest, version 0.

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
pack_bi = Layout(">bi").pack
unpack_bi = Layout(">bi").unpack_from


class ScramCredentialUpsertion(Struct):
    """Part of AlterUserScramCredentialsRequest."""

    __slots__ = (
        "name",
        "mechanism",
        "iterations",
        "salt",
        "salted_password",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password
        self.unknown_tags: UnknownTags = None


class ScramCredentialDeletion(Struct):
    """Part of AlterUserScramCredentialsRequest."""

    __slots__ = (
        "name",
        "mechanism",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.unknown_tags: UnknownTags = None


class AlterUserScramCredentialsRequest(Message):
    """AlterUserScramCredentialsRequest, version 0."""

    __slots__ = (
        "deletions",
        "upsertions",
        "unknown_tags",
    )
    NAME = "AlterUserScramCredentialsRequest"
    API_KEY = 51
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        deletions: list[ScramCredentialDeletion] = UNSET,
        upsertions: list[ScramCredentialUpsertion] = UNSET,
    ) -> None:
        self.deletions: list[ScramCredentialDeletion] = [] if deletions is UNSET else deletions
        self.upsertions: list[ScramCredentialUpsertion] = [] if upsertions is UNSET else upsertions
        self.unknown_tags: UnknownTags = None


def _decode_scram_credential_upsertion_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ScramCredentialUpsertion], int]:
    items: list[ScramCredentialUpsertion] = []
    for _ in range(count):
        o = ScramCredentialUpsertion.__new__(ScramCredentialUpsertion)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.mechanism, o.iterations = unpack_bi(buf, pos)
        pos += 5
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
            raise null_field("saltedPassword")
        end = pos + n
        o.salted_password = bytes(buf[pos:end])
        pos = end
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_scram_credential_upsertion_v0(out: bytearray, items: Iterable[ScramCredentialUpsertion]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_bi(o.mechanism, o.iterations)
        n = len(o.salt) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.salt
        n = len(o.salted_password) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.salted_password
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_scram_credential_deletion_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ScramCredentialDeletion], int]:
    items: list[ScramCredentialDeletion] = []
    for _ in range(count):
        o = ScramCredentialDeletion.__new__(ScramCredentialDeletion)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        (o.mechanism,) = unpack_b(buf, pos)
        pos += 1
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_scram_credential_deletion_v0(out: bytearray, items: Iterable[ScramCredentialDeletion]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_b(o.mechanism)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_user_scram_credentials_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[AlterUserScramCredentialsRequest, int]:
    o = AlterUserScramCredentialsRequest.__new__(AlterUserScramCredentialsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("deletions")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.deletions, pos = _decode_scram_credential_deletion_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("upsertions")
    if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.upsertions, pos = _decode_scram_credential_upsertion_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_user_scram_credentials_request_v0(
    out: bytearray,
    o: AlterUserScramCredentialsRequest,
) -> None:
    n = len(o.deletions) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_scram_credential_deletion_v0(out, o.deletions)
    n = len(o.upsertions) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_scram_credential_upsertion_v0(out, o.upsertions)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AlterUserScramCredentialsRequest.DECODERS = {
    0: _decode_alter_user_scram_credentials_request_v0,
}
AlterUserScramCredentialsRequest.ENCODERS = {
    0: _encode_alter_user_scram_credentials_request_v0,
}
