"""Messages of errors that quote so much of a request that a string cannot hold them are cut."""

from __future__ import annotations

from typing import Any

from kbroker.protocol.primitives import Struct

#: Kafka's strings have a length of 16 bits.
_BYTES_MAX = 0x7FFF
_CUT = "…"
_NAMES = ("error_message", "batch_index_error_message")


def cut_long_texts(answer: Any) -> bool:
    """Cut the error messages in an answer that do not fit; whether there were any."""
    if isinstance(answer, list):
        return sum(map(cut_long_texts, answer)) > 0  # all of them
    if not isinstance(answer, Struct):
        return False
    found = False
    for name in answer.__slots__:
        value = getattr(answer, name)
        if name in _NAMES and isinstance(value, str):
            raw = value.encode()
            if len(raw) > _BYTES_MAX:
                setattr(answer, name, raw[: _BYTES_MAX - len(_CUT.encode())].decode(errors="ignore") + _CUT)
                found = True
        else:
            found = cut_long_texts(value) or found
    return found
