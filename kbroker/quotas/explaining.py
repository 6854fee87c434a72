"""Which quotas hold for a client and why, as `kbroker-admin quotas explain` shows it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kbroker.quotas.table import (
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    Match,
    QuotaTable,
)

_KEYS = (PRODUCER_BYTE_RATE, CONSUMER_BYTE_RATE, REQUEST_PERCENTAGE, CONTROLLER_MUTATION_RATE)


def explained(found: Iterable[tuple[str, Match, float | None]]) -> list[dict[str, Any]]:
    """For each kind of quota, what holds, and how much of it is used (None: nobody knows)."""
    return [
        {
            "key": key,
            "limit": match.limit,
            "observed": observed,
            "level": match.level.number,
            "why": match.level.text,
            "entity": dict(match.level.entity),
            "shared_by": _sharers(match),
        }
        for key, match, observed in found
    ]


def explained_address(table: QuotaTable, address: str) -> list[dict[str, Any]]:
    """The rate of connections from an address, if it is limited."""
    rate = table.connection_rate(address)
    if rate is None:
        return []
    return [
        {
            "key": CONNECTION_CREATION_RATE,
            "limit": rate,
            "observed": None,
            "level": None,
            "why": "this address, or any",
            "entity": {"ip": address},
            "shared_by": f"all from {address}",
        }
    ]


def explained_by_table(table: QuotaTable, user: str, client_id: str) -> list[dict[str, Any]]:
    """By what is set alone, for a broker that does not tell what is used."""
    matches = ((key, table.find(key, user, client_id)) for key in _KEYS)
    return explained((key, match, None) for key, match in matches if match is not None)


def _sharers(match: Match) -> str:
    user, client_id = match.sharers
    if user and client_id:
        return f"user {user} as client id {client_id}"
    return f"all clients of user {user}" if user else f"all users of client id {client_id}"
