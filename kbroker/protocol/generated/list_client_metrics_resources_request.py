"""ListClientMetricsResourcesRequest, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_unknown_tags,
    write_tags,
)


class ListClientMetricsResourcesRequest(Message):
    """ListClientMetricsResourcesRequest, version 0."""

    __slots__ = ("unknown_tags",)
    NAME = "ListClientMetricsResourcesRequest"
    API_KEY = 74
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(self) -> None:
        self.unknown_tags: UnknownTags = None


def _decode_list_client_metrics_resources_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ListClientMetricsResourcesRequest, int]:
    o = ListClientMetricsResourcesRequest.__new__(ListClientMetricsResourcesRequest)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_list_client_metrics_resources_request_v0(
    out: bytearray,
    o: ListClientMetricsResourcesRequest,
) -> None:
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ListClientMetricsResourcesRequest.DECODERS = {
    0: _decode_list_client_metrics_resources_request_v0,
}
ListClientMetricsResourcesRequest.ENCODERS = {
    0: _encode_list_client_metrics_resources_request_v0,
}
