"""Which quota holds for whom.

Kafka's eight levels, the first that has a value counts. Each kind of quota is looked up by itself: a user may
have a produce quota of his own and share the default one for fetching. The level also says who shares the
allowance: all clients of a user, all users of a client id, or one pair alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import NamedTuple

USER, CLIENT_ID, IP = "user", "client-id", "ip"

PRODUCER_BYTE_RATE = "producer_byte_rate"
CONSUMER_BYTE_RATE = "consumer_byte_rate"
REQUEST_PERCENTAGE = "request_percentage"
CONTROLLER_MUTATION_RATE = "controller_mutation_rate"
CONNECTION_CREATION_RATE = "connection_creation_rate"

#: What is reckoned with. AlterClientQuotas refuses 0 and less, but a cluster that was in ZooKeeper may have
#: them: next to nothing passes. The largest is more than anybody does.
LEAST, MOST = 0.001, 2.0**63

#: An entity as `ClusterImage.quotas` has it: (type, name) pairs sorted by type; None is the default.
Entity = tuple[tuple[str, str | None], ...]


class Level(NamedTuple):
    """One place where a quota may be set."""

    number: int
    text: str
    entity: Entity
    #: Who shares it: what counts of the user and of the client id.
    by_user: bool
    by_client: bool


def levels(user: str, client_id: str) -> list[Level]:
    """All places where a quota for this client may be set, the strongest first.

    Who does not name himself (an empty client id) only has the quotas of his user, as in Kafka: no default
    for client ids holds for him.
    """
    if not client_id:
        return [
            Level(3, "this user", ((USER, user),), True, False),
            Level(6, "any user", ((USER, None),), True, False),
        ]
    return [
        Level(1, "this user with this client id", ((CLIENT_ID, client_id), (USER, user)), True, True),
        Level(2, "this user with any client id", ((CLIENT_ID, None), (USER, user)), True, True),
        Level(3, "this user", ((USER, user),), True, False),
        Level(4, "any user with this client id", ((CLIENT_ID, client_id), (USER, None)), True, True),
        Level(5, "any user with any client id", ((CLIENT_ID, None), (USER, None)), True, True),
        Level(6, "any user", ((USER, None),), True, False),
        Level(7, "this client id", ((CLIENT_ID, client_id),), False, True),
        Level(8, "any client id", ((CLIENT_ID, None),), False, True),
    ]


class Match(NamedTuple):
    """The quota that holds for a client.

    Attributes:
        limit: its value.
        level: where it is set.
        sharers: (user, client id) of all who share it; "" where it does not count.
    """

    limit: float
    level: Level
    sharers: tuple[str, str]


def _sound(value: float) -> float:
    return MOST if isnan(value) else min(max(value, LEAST), MOST)


class QuotaTable:
    """The quotas of all users, client ids and addresses, as the cluster has them.

    Args:
        quotas: `ClusterImage.quotas`.
    """

    __slots__ = ("_by_key", "_quotas")

    def __init__(self, quotas: Mapping[Entity, Mapping[str, float]]) -> None:
        self._quotas = quotas
        by_key: dict[str, dict[Entity, float]] = {}
        for entity, values in quotas.items():
            for key, value in values.items():
                by_key.setdefault(key, {})[entity] = _sound(value)
        self._by_key = by_key

    def has(self, *keys: str) -> bool:
        """Whether anybody has a quota of one of these kinds."""
        return any(key in self._by_key for key in keys)

    def find(self, key: str, user: str, client_id: str) -> Match | None:
        """The quota of that kind for this client; None: it is unlimited."""
        values = self._by_key.get(key)
        if values is None:
            return None
        for level in levels(user, client_id):
            limit = values.get(level.entity)
            if limit is not None:
                sharers = (user if level.by_user else "", client_id if level.by_client else "")
                return Match(limit, level, sharers)
        return None

    def connection_rate(self, address: str) -> float | None:
        """Connections a second that the address may open; None: unlimited."""
        values = self._by_key.get(CONNECTION_CREATION_RATE)
        if values is None:
            return None
        own = values.get(((IP, address),))
        return values.get(((IP, None),)) if own is None else own
