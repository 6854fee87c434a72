"""ShareGroupMemberMetadataValue, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
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


class ShareGroupMemberMetadataValue(Message):
    """ShareGroupMemberMetadataValue, version 0."""

    __slots__ = (
        "rack_id",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "unknown_tags",
    )
    NAME = "ShareGroupMemberMetadataValue"
    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = UNSET,
    ) -> None:
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names: list[str] = (
            [] if subscribed_topic_names is UNSET else subscribed_topic_names
        )
        self.unknown_tags: UnknownTags = None


def _decode_share_group_member_metadata_value_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ShareGroupMemberMetadataValue, int]:
    o = ShareGroupMemberMetadataValue.__new__(ShareGroupMemberMetadataValue)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.client_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.client_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.client_host = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.client_host, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("subscribedTopicNames")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.subscribed_topic_names = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_group_member_metadata_value_v0(out: bytearray, o: ShareGroupMemberMetadataValue) -> None:
    write_compact_nullable_string(out, o.rack_id)
    write_compact_string(out, o.client_id)
    write_compact_string(out, o.client_host)
    n = len(o.subscribed_topic_names) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.subscribed_topic_names:
        write_compact_string(out, text)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareGroupMemberMetadataValue.DECODERS = {
    0: _decode_share_group_member_metadata_value_v0,
}
ShareGroupMemberMetadataValue.ENCODERS = {
    0: _encode_share_group_member_metadata_value_v0,
}
