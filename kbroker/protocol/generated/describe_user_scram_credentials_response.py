"""DescribeUserScramCredentialsResponse, version 0.

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

pack_bi = Layout(">bi").pack
unpack_bi = Layout(">bi").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class CredentialInfo(Struct):
    """Part of DescribeUserScramCredentialsResponse."""

    __slots__ = (
        "mechanism",
        "iterations",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations
        self.unknown_tags: UnknownTags = None


class DescribeUserScramCredentialsResult(Struct):
    """Part of DescribeUserScramCredentialsResponse."""

    __slots__ = (
        "user",
        "error_code",
        "error_message",
        "credential_infos",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: list[CredentialInfo] = UNSET,
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos: list[CredentialInfo] = [] if credential_infos is UNSET else credential_infos
        self.unknown_tags: UnknownTags = None


class DescribeUserScramCredentialsResponse(Message):
    """DescribeUserScramCredentialsResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "results",
        "unknown_tags",
    )
    NAME = "DescribeUserScramCredentialsResponse"
    API_KEY = 50
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[DescribeUserScramCredentialsResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results: list[DescribeUserScramCredentialsResult] = [] if results is UNSET else results
        self.unknown_tags: UnknownTags = None


def _decode_credential_info_v0(buf: Buffer, pos: int, count: int) -> tuple[list[CredentialInfo], int]:
    items: list[CredentialInfo] = []
    for _ in range(count):
        o = CredentialInfo.__new__(CredentialInfo)
        items.append(o)
        o.mechanism, o.iterations = unpack_bi(buf, pos)
        pos += 5
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_credential_info_v0(out: bytearray, items: Iterable[CredentialInfo]) -> None:
    for o in items:
        out += pack_bi(o.mechanism, o.iterations)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_user_scram_credentials_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DescribeUserScramCredentialsResult], int]:
    items: list[DescribeUserScramCredentialsResult] = []
    for _ in range(count):
        o = DescribeUserScramCredentialsResult.__new__(DescribeUserScramCredentialsResult)
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
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("credentialInfos")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.credential_infos, pos = _decode_credential_info_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_describe_user_scram_credentials_result_v0(
    out: bytearray,
    items: Iterable[DescribeUserScramCredentialsResult],
) -> None:
    for o in items:
        write_compact_string(out, o.user)
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        n = len(o.credential_infos) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_credential_info_v0(out, o.credential_infos)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_describe_user_scram_credentials_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeUserScramCredentialsResponse, int]:
    o = DescribeUserScramCredentialsResponse.__new__(DescribeUserScramCredentialsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("results")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.results, pos = _decode_describe_user_scram_credentials_result_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_user_scram_credentials_response_v0(
    out: bytearray,
    o: DescribeUserScramCredentialsResponse,
) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    n = len(o.results) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_describe_user_scram_credentials_result_v0(out, o.results)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeUserScramCredentialsResponse.DECODERS = {
    0: _decode_describe_user_scram_credentials_response_v0,
}
DescribeUserScramCredentialsResponse.ENCODERS = {
    0: _encode_describe_user_scram_credentials_response_v0,
}
