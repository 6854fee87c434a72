"""ApiVersionsRequest, versions 0 to 5.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class ApiVersionsRequest(Message):
    """ApiVersionsRequest, versions 0 to 5."""

    __slots__ = (
        "client_software_name",
        "client_software_version",
        "cluster_id",
        "node_id",
        "unknown_tags",
    )
    NAME = "ApiVersionsRequest"
    API_KEY = 18
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        client_software_name: str = "",  # versions 3 to 5
        client_software_version: str = "",  # versions 3 to 5
        cluster_id: str | None = None,  # version 5
        node_id: int = -1,  # version 5
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version
        self.cluster_id = cluster_id
        self.node_id = node_id
        self.unknown_tags: UnknownTags = None


def _decode_api_versions_request_v0(buf: Buffer, pos: int) -> tuple[ApiVersionsRequest, int]:
    o = ApiVersionsRequest.__new__(ApiVersionsRequest)
    o.client_software_name = ""
    o.client_software_version = ""
    o.cluster_id = None
    o.node_id = -1
    o.unknown_tags = None
    return o, pos


def _encode_api_versions_request_v0(out: bytearray, o: ApiVersionsRequest) -> None:
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_api_versions_request_v3(buf: Buffer, pos: int) -> tuple[ApiVersionsRequest, int]:
    o = ApiVersionsRequest.__new__(ApiVersionsRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.client_software_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.client_software_name, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.client_software_version = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.client_software_version, pos = read_compact_string(buf, pos)
    o.cluster_id = None
    o.node_id = -1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_api_versions_request_v3(out: bytearray, o: ApiVersionsRequest) -> None:
    write_compact_string(out, o.client_software_name)
    write_compact_string(out, o.client_software_version)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_api_versions_request_v5(buf: Buffer, pos: int) -> tuple[ApiVersionsRequest, int]:
    o = ApiVersionsRequest.__new__(ApiVersionsRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.client_software_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.client_software_name, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.client_software_version = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.client_software_version, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    (o.node_id,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_api_versions_request_v5(out: bytearray, o: ApiVersionsRequest) -> None:
    write_compact_string(out, o.client_software_name)
    write_compact_string(out, o.client_software_version)
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_i(o.node_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ApiVersionsRequest.DECODERS = {
    0: _decode_api_versions_request_v0,
    1: _decode_api_versions_request_v0,
    2: _decode_api_versions_request_v0,
    3: _decode_api_versions_request_v3,
    4: _decode_api_versions_request_v3,
    5: _decode_api_versions_request_v5,
}
ApiVersionsRequest.ENCODERS = {
    0: _encode_api_versions_request_v0,
    1: _encode_api_versions_request_v0,
    2: _encode_api_versions_request_v0,
    3: _encode_api_versions_request_v3,
    4: _encode_api_versions_request_v3,
    5: _encode_api_versions_request_v5,
}
