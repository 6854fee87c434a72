"""CreateDelegationTokenResponse, versions 0 to 3.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_3q = Layout(">3q").pack
unpack_3q = Layout(">3q").unpack_from
pack_3qh = Layout(">3qh").pack
unpack_3qh = Layout(">3qh").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class CreateDelegationTokenResponse(Message):
    """CreateDelegationTokenResponse, versions 0 to 3."""

    __slots__ = (
        "error_code",
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp_ms",
        "expiry_timestamp_ms",
        "max_timestamp_ms",
        "token_id",
        "hmac",
        "throttle_time_ms",
        "unknown_tags",
    )
    NAME = "CreateDelegationTokenResponse"
    API_KEY = 38
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",  # version 3
        token_requester_principal_name: str = "",  # version 3
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tags: UnknownTags = None


def _decode_create_delegation_token_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[CreateDelegationTokenResponse, int]:
    o = CreateDelegationTokenResponse.__new__(CreateDelegationTokenResponse)
    o.error_code, n = unpack_hh(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("principalType")
    end = pos + n
    o.principal_type = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("principalName")
    end = pos + n
    o.principal_name = str(buf[pos:end], "utf-8")
    pos = end
    o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms, n = unpack_3qh(buf, pos)
    pos += 26
    if n < 0:
        raise null_field("tokenId")
    end = pos + n
    o.token_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("hmac")
    end = pos + n
    o.hmac = bytes(buf[pos:end])
    pos = end
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.token_requester_principal_type = ""
    o.token_requester_principal_name = ""
    o.unknown_tags = None
    return o, pos


def _encode_create_delegation_token_response_v0(out: bytearray, o: CreateDelegationTokenResponse) -> None:
    if o.token_requester_principal_type != "":
        raise not_in_version("tokenRequesterPrincipalType")
    if o.token_requester_principal_name != "":
        raise not_in_version("tokenRequesterPrincipalName")
    raw = o.principal_type.encode()
    out += pack_hh(o.error_code, len(raw))
    out += raw
    raw = o.principal_name.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.token_id.encode()
    out += pack_3qh(o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms, len(raw))
    out += raw
    out += pack_i(len(o.hmac))
    out += o.hmac
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_create_delegation_token_response_v2(
    buf: Buffer,
    pos: int,
) -> tuple[CreateDelegationTokenResponse, int]:
    o = CreateDelegationTokenResponse.__new__(CreateDelegationTokenResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.principal_type = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.principal_type, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.principal_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.principal_name, pos = read_compact_string(buf, pos)
    o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms = unpack_3q(buf, pos)
    pos += 24
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.token_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.token_id, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("hmac")
    end = pos + n
    o.hmac = bytes(buf[pos:end])
    pos = end
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.token_requester_principal_type = ""
    o.token_requester_principal_name = ""
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_create_delegation_token_response_v2(out: bytearray, o: CreateDelegationTokenResponse) -> None:
    if o.token_requester_principal_type != "":
        raise not_in_version("tokenRequesterPrincipalType")
    if o.token_requester_principal_name != "":
        raise not_in_version("tokenRequesterPrincipalName")
    out += pack_h(o.error_code)
    write_compact_string(out, o.principal_type)
    write_compact_string(out, o.principal_name)
    out += pack_3q(o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms)
    write_compact_string(out, o.token_id)
    n = len(o.hmac) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.hmac
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_create_delegation_token_response_v3(
    buf: Buffer,
    pos: int,
) -> tuple[CreateDelegationTokenResponse, int]:
    o = CreateDelegationTokenResponse.__new__(CreateDelegationTokenResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.principal_type = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.principal_type, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.principal_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.principal_name, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.token_requester_principal_type = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.token_requester_principal_type, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.token_requester_principal_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.token_requester_principal_name, pos = read_compact_string(buf, pos)
    o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms = unpack_3q(buf, pos)
    pos += 24
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.token_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.token_id, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("hmac")
    end = pos + n
    o.hmac = bytes(buf[pos:end])
    pos = end
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_create_delegation_token_response_v3(out: bytearray, o: CreateDelegationTokenResponse) -> None:
    out += pack_h(o.error_code)
    write_compact_string(out, o.principal_type)
    write_compact_string(out, o.principal_name)
    write_compact_string(out, o.token_requester_principal_type)
    write_compact_string(out, o.token_requester_principal_name)
    out += pack_3q(o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms)
    write_compact_string(out, o.token_id)
    n = len(o.hmac) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.hmac
    out += pack_i(o.throttle_time_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


CreateDelegationTokenResponse.DECODERS = {
    0: _decode_create_delegation_token_response_v0,
    1: _decode_create_delegation_token_response_v0,
    2: _decode_create_delegation_token_response_v2,
    3: _decode_create_delegation_token_response_v3,
}
CreateDelegationTokenResponse.ENCODERS = {
    0: _encode_create_delegation_token_response_v0,
    1: _encode_create_delegation_token_response_v0,
    2: _encode_create_delegation_token_response_v2,
    3: _encode_create_delegation_token_response_v3,
}
