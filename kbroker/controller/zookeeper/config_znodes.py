"""Znodes below /config: configs, quotas and SCRAM credentials as texts, and the notifications of changes."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from kbroker.controller.zookeeper.values import Fields, ZnodeError, to_json

#: Mechanism number of UserScramCredentialRecord to the key in a user's configs.
SCRAM_KEYS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
SCRAM_MECHANISMS = {key: number for number, key in SCRAM_KEYS.items()}
#: Quotas that are whole numbers; the others are written as Java writes a double.
_WHOLE = frozenset({"producer_byte_rate", "consumer_byte_rate", "connection_creation_rate"})
QUOTA_KEYS = _WHOLE | {"request_percentage", "controller_mutation_rate"}
_NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,30})?([eE]-?[0-9]{1,3})?\Z")


def encode_configs(configs: Mapping[str, str]) -> bytes:
    """Any znode with configs."""
    return to_json({"version": 1, "config": dict(configs)})


def decode_configs(path: str, data: bytes | None) -> dict[str, str]:
    """The configs; none where the znode is empty, as one is that only is on the way to others.

    Raises:
        ZnodeError: foreign or damaged.
    """
    if not data:
        return {}
    fields, _ = Fields.parse(path, data, 1)
    configs = fields.mapping("config")
    for key, value in configs.items():
        if not isinstance(value, str):
            raise ZnodeError(path, f"config {key!r} is not a text")
    return configs


def encode_change(entity: str) -> bytes:
    """In /config/changes: `topics/x`, `users/u/clients/c` and so on (version 2, since 0.9)."""
    return to_json({"version": 2, "entity_path": entity})


def decode_change(path: str, data: bytes | None) -> str:
    """Whose configs changed. Version 1 named type and name apart. Raises ZnodeError."""
    fields, version = Fields.parse(path, data, 2)
    if version == 1:
        return f"{fields.text('entity_type')}/{fields.text('entity_name')}"
    return fields.text("entity_path")


def quota_text(key: str, value: float) -> str:
    """A quota as a config's text."""
    if key in _WHOLE and value == int(value):
        return str(int(value))
    return java_double(value)


def quota_value(path: str, key: str, text: str) -> float:
    """A config's text as a quota. Raises ZnodeError."""
    if not _NUMBER.match(text):
        raise ZnodeError(path, f"quota {key!r} is {text!r}, not a number")
    return float(text)


def java_double(value: float) -> str:
    """As `Double.toString` gives it: a decimal point always, E notation from 10^7 on and below 10^-3."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(float(value))
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    first, *rest = map(str, digits)
    power = len(digits) + int(exponent) - 1
    return f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}E{power}"


def scram_text(salt: bytes, stored_key: bytes, server_key: bytes, iterations: int) -> str:
    """A credential as a user's config."""
    parts = (("salt", salt), ("stored_key", stored_key), ("server_key", server_key))
    listed = ",".join(f"{name}={b64encode(value).decode()}" for name, value in parts)
    return f"{listed},iterations={iterations}"


def scram_fields(path: str, key: str, text: str) -> dict[str, Any]:
    """The fields of UserScramCredentialRecord in a user's config. Raises ZnodeError."""
    parts = dict(part.partition("=")[::2] for part in text.split(","))
    try:
        fields: dict[str, Any] = {
            name: b64decode(parts[name], validate=True) for name in ("salt", "stored_key", "server_key")
        }
        fields["iterations"] = int(parts["iterations"])
    except (KeyError, ValueError):
        raise ZnodeError(path, f"{key} is no credential") from None
    if not 0 < fields["iterations"] < 2**31:
        raise ZnodeError(path, f"{key} is no credential")
    return fields
