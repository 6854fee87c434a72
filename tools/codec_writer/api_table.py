"""The small module that knows every request key without importing a codec."""

from __future__ import annotations

from kbroker.protocol.schemas.parser import MessageSchema, snake_case

_HEAD = '''"""Every request key, its name and its versions.

Written by tools/generate_codecs.py; change the schemas instead.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class ApiKey(IntEnum):
    """The first number of a request header."""

'''
_FACTS = '''

class ApiFacts(NamedTuple):
    """What is known of an API without its codec; `flexible_since` is None where no version is flexible."""

    name: str
    min_version: int
    max_version: int
    flexible_since: int | None
    response_flexible_since: int | None
    listeners: tuple[str, ...]


'''


def render_api_table(messages: dict[str, MessageSchema]) -> str:
    """The text of `generated/api_table.py`."""
    requests = sorted((m for m in messages.values() if m.kind == "request"), key=lambda m: m.key or 0)
    lines = [_HEAD.rstrip("\n"), ""]
    for message in requests:
        name = message.name.removesuffix("Request")
        lines.append(f"    {snake_case(name).upper()} = {message.key}")
    text = "\n".join(lines) + "\n" + _FACTS + "FACTS: dict[int, ApiFacts] = {\n"
    for message in requests:
        name = message.name.removesuffix("Request")
        response = messages[f"{name}Response"]
        if response.key != message.key or response.versions != message.versions:
            raise ValueError(f"{name}: request and response do not agree on key or versions")
        listeners = ", ".join(f'"{listener}"' for listener in message.listeners)
        listeners = f"({listeners}{',' if len(message.listeners) == 1 else ''})"
        text += (
            f'    {message.key}: ApiFacts("{name}", {message.versions.first}, {message.versions.last},'
            f" {message.flexible_since}, {response.flexible_since}, {listeners}),\n"
        )
    return text + "}\n"
