"""Differences that are meant, or wait for what is not built: one rule for each entry of docs/differences.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tools.differential.session import Exchange

Rule = Callable[[Exchange], bool]


def _utf8(exchange: Exchange) -> bool:
    return exchange.ours == "closed" and "utf-8" in exchange.unreadable.lower()


def _api_list(exchange: Exchange) -> bool:
    parts = ("apiKeys", "supportedFeatures", "finalizedFeatures")
    return exchange.api == "ApiVersions" and all(
        path.startswith(parts) for path, _, _ in exchange.differences
    )


def _same_partition_twice(exchange: Exchange) -> bool:
    return exchange.api == "Produce" and "mutate" in exchange.step and _repeats(exchange.ours)


def _repeats(answer: Any) -> bool:
    if not isinstance(answer, dict):
        return False
    seen = [
        (topic.get("name") or topic.get("topicId"), partition["index"])
        for topic in answer.get("responses", ())
        for partition in topic["partitionResponses"]
    ]
    return len(seen) != len(set(seen))


def _internal_error(exchange: Exchange) -> bool:
    """Every difference is in an item to which Kafka answered -1."""
    return bool(exchange.differences) and all(
        _error_of(exchange.theirs, path) == -1 for path, _, _ in exchange.differences
    )


def _error_of(answer: Any, path: str) -> Any:
    """The error code of the innermost object around a path that has one."""
    found = None
    for part in path.replace("[", ".").split("."):
        if isinstance(answer, dict):
            found = answer.get("errorCode", found)
            answer = answer.get(part)
        elif isinstance(answer, list) and part.isdigit():
            answer = answer[int(part)]
        else:
            break
    return found


#: Entry of docs/differences.md: its rule.
RULES: dict[str, Rule] = {
    "text-not-utf-8": _utf8,
    "apis-not-built": _api_list,
    "produce-partition-twice": _same_partition_twice,
    "kafka-internal-error": _internal_error,
}


def reason(exchange: Exchange) -> str | None:
    """The entry of docs/differences.md that explains the whole difference; None if none does."""
    return next((name for name, rule in RULES.items() if rule(exchange)), None)
