"""AlterUserScramCredentialsResponse, version 0.

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


class AlterUserScramCredentialsResult(Struct):
    """Part of AlterUserScramCredentialsResponse."""

    __slots__ = (
        "user",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class AlterUserScramCredentialsResponse(Message):
    """AlterUserScramCredentialsResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tags",
    )
    NAME = "AlterUserScramCredentialsResponse"
    API_KEY = 51
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[AlterUserScramCredentialsResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[AlterUserScramCredentialsResult] = [] if results is UNSET else results
        self.unknown_tags: UnknownTags = None


def _decode_alter_user_scram_credentials_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterUserScramCredentialsResult], int]:
    items: list[AlterUserScramCredentialsResult] = []
    for _ in range(count):
        o = AlterUserScramCredentialsResult.__new__(AlterUserScramCredentialsResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.user = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.user, pos = read_compact_string(buf, pos)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_alter_user_scram_credentials_result_v0(
    out: bytearray,
    items: Iterable[AlterUserScramCredentialsResult],
) -> None:
    for o in items:
        write_compact_string(out, o.user)
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_user_scram_credentials_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[AlterUserScramCredentialsResponse, int]:
    o = AlterUserScramCredentialsResponse.__new__(AlterUserScramCredentialsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_alter_user_scram_credentials_result_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_user_scram_credentials_response_v0(
    out: bytearray,
    o: AlterUserScramCredentialsResponse,
) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_alter_user_scram_credentials_result_v0(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AlterUserScramCredentialsResponse.DECODERS = {
    0: _decode_alter_user_scram_credentials_response_v0,
}
AlterUserScramCredentialsResponse.ENCODERS = {
    0: _encode_alter_user_scram_credentials_response_v0,
}
