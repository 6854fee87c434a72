"""Cuts a history that ends in a difference down to the steps that the difference needs."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

from tools.differential.report import signature
from tools.differential.session import Exchange, Session

_TRIALS_MAX = 24
_NUMBERS = itertools.count()


def reduced(
    steps: list[dict[str, Any]], exchange: Exchange, addresses: tuple[str, str]
) -> list[dict[str, Any]]:
    """The last of `steps` showed a difference; the result shows it, too: on these brokers, with new names."""
    prefix = _prefix(steps[-1]) or _prefix(steps)
    if prefix is None:
        return steps[-1:]
    episode = [step for step in steps if prefix in json.dumps(step) or _flat(prefix) in json.dumps(step)]
    if episode[-1] is not steps[-1]:
        episode.append(steps[-1])
    wanted = signature(exchange)
    trials = 0

    def shows(candidate: list[dict[str, Any]]) -> bool:
        nonlocal trials
        trials += 1
        return trials <= _TRIALS_MAX and _last_signature(candidate, prefix, addresses) == wanted

    if shows(steps[-1:]):
        return steps[-1:]
    related = [*(step for step in episode[:-1] if _shared(step, steps[-1])), steps[-1]]
    current = related if shows(related) else episode
    size = max(1, len(current) // 2)
    while size >= 1 and trials < _TRIALS_MAX:
        start = 0
        while start < len(current) - 1 and trials < _TRIALS_MAX:
            candidate = current[:start] + current[min(start + size, len(current) - 1) :]
            if shows(candidate):
                current = candidate
            else:
                start += size
        size //= 2
    return current


def _last_signature(steps: list[dict[str, Any]], prefix: str, addresses: tuple[str, str]) -> str:
    fresh = f"r{next(_NUMBERS) % 1000:03d}x000-"
    text = json.dumps(steps).replace(prefix, fresh).replace(_flat(prefix), _flat(fresh))
    session = Session(*addresses)
    try:
        exchange = None
        for step in json.loads(text):
            exchange = session.exchange({**step, "deadline": min(step.get("deadline", 3000), 3000)})
        return (
            signature(exchange).replace(fresh, prefix)
            if exchange is not None and exchange.differences
            else ""
        )
    finally:
        session.close()


def _prefix(step: Any) -> str | None:
    found = re.findall(r"s\d\d\de\d\d\d[-_]", json.dumps(step))
    return found[-1][:-1] + "-" if found else None


def _flat(prefix: str) -> str:
    return prefix.replace("-", "_")


def _shared(step: dict[str, Any], last: dict[str, Any]) -> bool:
    """Whether two steps name one thing."""
    return bool(_names(step) & _names(last))


def _names(step: Any) -> set[str]:
    return set(re.findall(r"s\d\d\de\d\d\d[-_]\w+", json.dumps(step)))
