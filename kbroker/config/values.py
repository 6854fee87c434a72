"""Turning a setting's text into its value and back, with Kafka's words for what is wrong."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

#: What a setting can be once parsed. Lists are tuples so that values can be compared and shared.
Value: TypeAlias = bool | int | float | str | tuple[str, ...] | None


class ConfigType(IntEnum):
    """Types as DescribeConfigs numbers them (KIP-569)."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class InvalidValue(ValueError):
    """A value that the setting refuses; the text is Kafka's."""


_BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}
_DIGITS = frozenset("0123456789")
#: What Java's `String.trim` takes away: the space and all below it.
_BLANKS = "".join(map(chr, range(33)))


def invalid(name: str, value: object, why: str) -> InvalidValue:
    """Kafka's sentence for a refused value."""
    return InvalidValue(f"Invalid value {value} for configuration {name}: {why}")


def parse_value(name: str, kind: ConfigType, text: str) -> Value:
    """The value that `text` means for a setting of type `kind`.

    Raises:
        InvalidValue: the text is no such value.
    """
    text = text.strip(_BLANKS)
    if kind in _BITS:
        return _parse_integer(name, kind, text)
    if kind is ConfigType.BOOLEAN:
        lowered = text.lower()
        if lowered not in ("true", "false"):
            raise invalid(name, text, "Expected value to be either true or false")
        return lowered == "true"
    if kind is ConfigType.LIST:
        return tuple(item.strip(_BLANKS) for item in text.split(",")) if text else ()
    if kind is ConfigType.DOUBLE:
        try:
            if "_" in text:
                raise ValueError(text)
            return float(text)
        except ValueError:
            raise invalid(name, text, "Not a number of type DOUBLE") from None
    return text


def _parse_integer(name: str, kind: ConfigType, text: str) -> int:
    """Java's idea of an integer: optional sign, digits, within the width of its type."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if digits and _DIGITS.issuperset(digits) and len(digits) <= 40:
        number = int(text)
        limit = 1 << (_BITS[kind] - 1)
        if -limit <= number < limit:
            return number
    raise invalid(name, text, f"Not a number of type {kind.name}")


def to_text(value: Value) -> str | None:
    """A value as DescribeConfigs prints it: Java's spelling of booleans, doubles and lists."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, float):
        return _double_text(value)
    return str(value)


def _double_text(value: float) -> str:
    """Java's `Double.toString`: plain from 10^-3 up to 10^7, else one digit before the point and an E."""
    if value == 0 or 1e-3 <= abs(value) < 1e7 or value != value or value in (float("inf"), float("-inf")):
        text = repr(value)
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(text, text)
    digits, exponent = f"{value:.16e}".split("e")
    shortest = repr(value)
    if "e" in shortest:
        digits, exponent = shortest.split("e")
    else:
        for precision in range(17):
            digits, exponent = f"{value:.{precision}e}".split("e")
            if float(f"{digits}e{exponent}") == value:
                break
    if "." not in digits:
        digits += ".0"
    return f"{digits}E{int(exponent)}"
