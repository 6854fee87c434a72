"""Small values that every room shares."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple, TypeAlias

#: A Kafka uuid is its 16 bytes, most significant first, as on the wire.
Uuid: TypeAlias = bytes

ZERO_UUID: Uuid = bytes(16)
#: Topic id of `__cluster_metadata` (KIP-595).
METADATA_TOPIC_ID: Uuid = bytes(15) + b"\x01"


class TopicPartition(NamedTuple):
    """A partition by topic name; prints as Kafka names its directory."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class OffsetAndEpoch(NamedTuple):
    """An offset and the leader epoch it was written in."""

    offset: int
    epoch: int


def uuid_to_string(value: Uuid) -> str:
    """Kafka's text form: url-safe base64 without padding, 22 characters."""
    return urlsafe_b64encode(value).rstrip(b"=").decode("ascii")


def uuid_from_string(text: str) -> Uuid:
    """The inverse of `uuid_to_string`.

    Raises:
        ValueError: the text is not the base64 of exactly 16 bytes.
    """
    value = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(value) != 16:
        raise ValueError(f"{text!r} is no uuid: it decodes to {len(value)} bytes, not 16")
    return value
