"""Quotas that code of the operator's own decides, as Kafka's `client.quota.callback.class` has it."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from kbroker.quotas.table import CLIENT_ID, USER, Entity, Level, Match, QuotaTable

_log = logging.getLogger(__name__)
#: No level of Kafka's.
CALLBACK = Level(0, "kbroker.quota.callback", (), False, False)


class QuotaCallback(Protocol):
    """What `kbroker.quota.callback` names has these, and is made with the broker's settings by name.

    Everything is called on the event loop, `sharers` and `limit` once for a client until quotas change: it
    must not wait for anything. What it raises is logged, and Kafka's own levels hold for that client.
    Kinds are `producer_byte_rate`, `consumer_byte_rate`, `request_percentage`, `controller_mutation_rate`.
    """

    def sharers(self, kind: str, user: str, client_id: str) -> Mapping[str, str]:
        """Who shares the quota of this client: clients for which this is equal (`quotaMetricTags`)."""
        ...

    def limit(self, kind: str, sharers: Mapping[str, str]) -> float | None:
        """Units a second that they may do together; None: unlimited (`quotaLimit`)."""
        ...

    def quota_changed(self, kind: str, entity: Entity, value: float | None) -> None:
        """AlterClientQuotas has set or, with None, removed one (`updateQuota`, `removeQuota`)."""
        ...

    def cluster_changed(self, leaders: Callable[[str], Sequence[int]]) -> bool:
        """Topics or leaders are others now (`updateClusterMetadata`); whether limits may be, too.

        Args:
            leaders: topic -> the leader of each partition, -1 without one; empty: no such topic.
        """
        ...


class CallbackTable(QuotaTable):
    """Asks a callback first.

    Args:
        quotas: see `QuotaTable`; for clients for which the callback fails, and for addresses.
    """

    __slots__ = ("_callback", "_has_failed")

    def __init__(self, callback: QuotaCallback, quotas: Mapping[Entity, Mapping[str, float]]) -> None:
        super().__init__(quotas)
        self._callback = callback
        self._has_failed = False

    def has(self, *keys: str) -> bool:
        """Nobody knows before a client comes."""
        return True

    def find(self, key: str, user: str, client_id: str) -> Match | None:
        """See `QuotaTable.find`."""
        try:
            sharers = dict(self._callback.sharers(key, user, client_id))
            limit = self._callback.limit(key, sharers)
            if limit is None:
                return None
            limit = float(limit)
            if not 0 < limit < math.inf:
                raise ValueError(f"a limit of {limit}")
        except Exception as error:
            # Where it failed is told once: it is asked for each new client.
            told = _log.warning if self._has_failed else _log.exception
            told("kbroker.quota.callback failed for user %r, client %r: %r", user, client_id, error)
            self._has_failed = True
            return super().find(key, user, client_id)
        return Match(limit, CALLBACK, _key(sharers))


def _key(sharers: Mapping[str, str]) -> tuple[str, str]:
    """As user and client id where it is no more than these; else all of it in the place of a user."""
    if sharers.keys() <= {USER, CLIENT_ID}:
        return sharers.get(USER, ""), sharers.get(CLIENT_ID, "")
    return ",".join(f"{name}={value}" for name, value in sorted(sharers.items())), ""


def changes(
    old: Mapping[Entity, Mapping[str, float]], new: Mapping[Entity, Mapping[str, float]]
) -> list[tuple[str, Entity, float | None]]:
    """What became of quotas: (kind, entity, value; None: removed)."""
    found: list[tuple[str, Entity, float | None]] = []
    for entity in {**old, **new}:
        before, after = old.get(entity, {}), new.get(entity, {})
        if before is not after:
            found += [
                (kind, entity, after.get(kind))
                for kind in {**before, **after}
                if before.get(kind) != after.get(kind)
            ]
    return found
