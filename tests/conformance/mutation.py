"""Damage to the bytes of a request: a `send` step's option `mutate`, a list of changes made in turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def mutated(body: bytes, changes: Iterable[dict[str, Any]]) -> bytes:
    """The body with the changes: {"cut": N} keeps N bytes; {"put": hex, "at": N} overwrites;
    {"flip": mask, "at": N}; {"insert": hex, "at": N}; {"remove": count, "at": N}.

    Positions count modulo the length.
    """
    data = bytearray(body)
    for change in changes:
        at = change.get("at", 0) % max(1, len(data))
        if "cut" in change:
            del data[change["cut"] % max(1, len(data)) :]
        elif "put" in change:
            raw = bytes.fromhex(change["put"])[: len(data) - at]
            data[at : at + len(raw)] = raw
        elif "insert" in change:
            data[at:at] = bytes.fromhex(change["insert"])
        elif "remove" in change:
            del data[at : at + change["remove"]]
        elif data:
            data[at] ^= change["flip"]
    return bytes(data)
