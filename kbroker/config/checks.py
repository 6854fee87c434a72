"""The limits of settings, written in the tables as short phrases such as `>=1`, `1..17` or `in a,b`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from kbroker.config.values import InvalidValue, Value, invalid, to_text

#: Called with the setting's name and its parsed value; raises `InvalidValue`.
Check: TypeAlias = Callable[[str, Value], None]

_REPLICA_LIST = re.compile(r"([0-9]+:[0-9]+)?(,[0-9]+:[0-9]+)*")
_DURATION = re.compile(r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d{1,9})?S)?)?", re.IGNORECASE)


def parse_check(phrase: str) -> Check | None:
    """The check that a table's phrase stands for; None for `-`.

    Raises:
        ValueError: the phrase is none of the notation.
    """
    if phrase == "-":
        return None
    named = _NAMED.get(phrase)
    if named is not None:
        return named
    if phrase.startswith(">="):
        return _between(float(phrase[2:]), None)
    word, _, rest = phrase.partition(" ")
    if rest:
        choices = rest.split(",")
        maker = {"in": _one_of, "anycase": _one_of_any_case, "of": _list_of}.get(word)
        if maker is not None:
            return maker(choices)
    low, dots, high = phrase.partition("..")
    if dots:
        return _between(float(low), float(high))
    raise ValueError(f"no such check: {phrase!r}")


def _between(low: float, high: float | None) -> Check:
    def check(name: str, value: Value) -> None:
        if value is None:
            raise invalid(name, "null", "Value must be non-null")
        assert isinstance(value, (int, float))
        if value < low:
            raise invalid(name, to_text(value), f"Value must be at least {_number(low)}")
        if high is not None and value > high:
            raise invalid(name, to_text(value), f"Value must be no more than {_number(high)}")

    return check


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _one_of(choices: list[str]) -> Check:
    def check(name: str, value: Value) -> None:
        if value not in choices:
            raise invalid(name, value, f"String must be one of: {', '.join(choices)}")

    return check


def _one_of_any_case(choices: list[str]) -> Check:
    def check(name: str, value: Value) -> None:
        if not isinstance(value, str) or value.upper() not in choices:
            raise invalid(name, value, f"String must be one of (case insensitive): {', '.join(choices)}")

    return check


def _list_of(choices: list[str]) -> Check:
    one = _one_of(choices)

    def check(name: str, value: Value) -> None:
        _no_empty_items(name, value)
        assert isinstance(value, tuple)
        for item in value:
            one(name, item)

    return check


def _no_empty_items(name: str, value: Value) -> None:
    assert isinstance(value, tuple)
    if any(not item for item in value):
        raise InvalidValue(f"Configuration '{name}' values must not be empty.")


def _topics_with_keys(name: str, value: Value) -> None:
    assert isinstance(value, tuple)
    for item in value:
        topic, equals, key = item.partition("=")
        if not (topic.strip() and equals and key.strip()):
            raise invalid(
                name, item, "it has to be a topic, or the beginning of its name and *, = and a key's id"
            )


def _gzip_level(name: str, value: Value) -> None:
    assert isinstance(value, int)
    if not (1 <= value <= 9 or value == -1):
        raise invalid(name, value, "Value must be between 1 and 9 or equal to -1")


def _throttled_replicas(name: str, value: Value) -> None:
    assert isinstance(value, tuple)
    joined = ",".join(value)
    if joined != "*" and not _REPLICA_LIST.fullmatch(joined):
        raise invalid(
            name,
            f"[{', '.join(value)}]",
            f"{name} must be the literal '*' or a list of replicas in the following format: "
            "[partitionId]:[brokerId],[partitionId]:[brokerId],...",
        )


def _not_blank(name: str, value: Value) -> None:
    if value == "":
        raise invalid(name, "", "String must be non-empty")


def _offset_reset(name: str, value: Value) -> None:
    """KIP-932, and KIP-1106 for `by_duration`."""
    assert isinstance(value, str)
    if value in ("latest", "earliest"):
        return
    if value.startswith("by_duration:") and _DURATION.fullmatch(value[len("by_duration:") :]):
        return
    raise invalid(
        name,
        value,
        f"Invalid value `{value}` for configuration {name}. The value must be either 'earliest', 'latest' "
        "or of the format 'by_duration:<PnDTnHnMn.nS>'.",
    )


_NAMED: dict[str, Check] = {
    "gzip level": _gzip_level,
    "throttled replicas": _throttled_replicas,
    "not blank": _not_blank,
    "no empty items": _no_empty_items,
    "offset reset": _offset_reset,
    "topic=key items": _topics_with_keys,
}
