"""Differences for the eye."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from tests.conformance.comparison import Difference
from tools.differential.known import reason
from tools.differential.session import Exchange

_DIGITS = re.compile(r"\d+")
#: Of an episode's names, and of those that a reduced script gets.
_PREFIX = re.compile(r"[sr]\d{3}[ex]\d{3}[-_]")
_WIDTH = 1500


def signature(exchange: Exchange) -> str:
    """What two sightings of one difference have in common."""
    kind = "mutated " if "mutate" in exchange.step else ""
    parts = []
    for path, expected, found in exchange.differences[:3]:
        place = re.sub(r"\[[^]]*\]", "[]", _DIGITS.sub("#", _PREFIX.sub("", path)))
        shown = [_short(text) for text in (expected, found)]
        parts.append(f"{place}: {shown[0]} / {shown[1]}")
    return f"{kind}{exchange.api}: " + "; ".join(parts)


def _short(text: str) -> str:
    text = _PREFIX.sub("", text)
    return text if re.fullmatch(r"-?\d{1,3}", text) else _DIGITS.sub("#", text)[:90]


def printed(script: list[dict[str, Any]], exchange: Exchange) -> str:
    """The steps as a transcript, both answers, and the differing places."""
    lines = ["=" * 100]
    lines += [_cut(json.dumps(step, ensure_ascii=False)) for step in script]
    lines += [f"  Kafka:   {_cut(_json(exchange.theirs))}", f"  kbroker: {_cut(_json(exchange.ours))}"]
    lines += [
        f"  {path or '(whole)'}: Kafka {_cut(theirs)}, kbroker {_cut(ours)}"
        for path, theirs, ours in _unexplained_first(exchange)[:8]
    ]
    return "\n".join(lines)


def _unexplained_first(exchange: Exchange) -> list[Difference]:
    """What would have a reason if it were the only difference comes last."""
    return sorted(
        exchange.differences, key=lambda each: reason(replace(exchange, differences=[each])) is not None
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[:_WIDTH] + "..."
