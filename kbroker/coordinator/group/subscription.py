"""The topics in the subscriptions that consumers embed in JoinGroup (opaque to the rest of the
coordinator).
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from kbroker.errors import ProtocolError

_HEAD = Struct(">hi")
_LENGTH = Struct(">h")


def subscribed_topics(subscriptions: Iterable[bytes]) -> set[str] | None:
    """All topics named by these ConsumerProtocolSubscription bytes; None if one of them cannot be read."""
    topics: set[str] = set()
    try:
        for subscription in subscriptions:
            _add_topics(subscription, topics)
    except ProtocolError:
        return None
    return topics


def _add_topics(data: bytes, topics: set[str]) -> None:
    """Every version begins alike: its number, then the topics; what follows is of no interest here."""
    if len(data) < _HEAD.size:
        raise ProtocolError("a subscription is cut short")
    version, count = _HEAD.unpack_from(data)
    if version < 0 or count < 0 or count > len(data):
        raise ProtocolError("a subscription has an impossible version or count")
    position = _HEAD.size
    for _ in range(count):
        if position + 2 > len(data):
            raise ProtocolError("a subscription is cut short")
        (length,) = _LENGTH.unpack_from(data, position)
        position += 2
        end = position + length
        if length < 0 or end > len(data):
            raise ProtocolError("a subscription is cut short")
        try:
            topics.add(data[position:end].decode())
        except UnicodeDecodeError:
            raise ProtocolError("a subscribed topic is not UTF-8") from None
        position = end
