"""Request keys and where their codecs are; imports no codec before it is asked for."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import cast

from kbroker.protocol.generated.api_table import FACTS, ApiFacts, ApiKey
from kbroker.protocol.primitives import Message

__all__ = [
    "FACTS",
    "ApiFacts",
    "ApiKey",
    "message_class",
    "request_class",
    "request_header_version",
    "response_class",
    "response_header_version",
]


@cache
def message_class(name: str) -> type[Message]:
    """The class of any message by Kafka's name for it, e.g. `MetadataRequest` or `TopicRecord`.

    Raises:
        KeyError: there is no such message.
    """
    if not name.isascii() or not name.isalnum():
        raise KeyError(name)
    try:
        module = import_module(f"kbroker.protocol.generated.{_module_name(name)}")
        found = cast("type[Message]", getattr(module, name))
    except (ImportError, AttributeError):
        raise KeyError(name) from None
    return found


def request_class(key: int) -> type[Message]:
    """The request class of an API key.

    Raises:
        KeyError: no such API.
    """
    return message_class(FACTS[key].name + "Request")


def response_class(key: int) -> type[Message]:
    """The response class of an API key.

    Raises:
        KeyError: no such API.
    """
    return message_class(FACTS[key].name + "Response")


def request_header_version(key: int, version: int) -> int:
    """2 from the first flexible version on, else 1; ControlledShutdown 0 has a header without client id.

    Raises:
        KeyError: no such API.
    """
    facts = FACTS[key]
    if facts.flexible_since is not None and version >= facts.flexible_since:
        return 2
    return 0 if key == ApiKey.CONTROLLED_SHUTDOWN and version == 0 else 1


def response_header_version(key: int, version: int) -> int:
    """1 from the first flexible version on, else 0; always 0 for ApiVersions: any client reads it (KIP-511).

    Raises:
        KeyError: no such API.
    """
    facts = FACTS[key]
    if key == ApiKey.API_VERSIONS or facts.response_flexible_since is None:
        return 0
    return 1 if version >= facts.response_flexible_since else 0


def _module_name(name: str) -> str:
    """The same rule as the schema reader's, which need not be imported for it."""
    name = re.sub("[kK]Raft", "Kraft", name)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
