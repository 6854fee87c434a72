"""How far replicas have compacted, as they tell each other (docs/decisions/0005): tagged fields of Fetch.

Apache Kafka skips tags that it does not know. The number is far from those that Kafka gives away.
"""

from __future__ import annotations

from collections.abc import Iterable

#: In a partition of the request: how far the follower has compacted. In one of the answer: how far all have.
TAG = 7_005
_BYTES = 8


def write_offset(offset: int) -> tuple[int, bytes]:
    """The tag that carries `offset`."""
    return TAG, offset.to_bytes(_BYTES, "big")


def read_offset(tags: Iterable[tuple[int, bytes]] | None) -> int:
    """The offset among a struct's unknown tags, 0 if it is not there."""
    for tag, raw in tags or ():
        if tag == TAG and len(raw) == _BYTES:
            return int.from_bytes(raw, "big")
    return 0
