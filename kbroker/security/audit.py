"""What goes into the audit log: who, from where, what, allowed or not. One JSON object a line; logins, too.

Kafka's authorizer logger tells of denials, and of everything at DEBUG. Here denials are always told, and what
was allowed for the operations that are named, by default those that change the cluster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from kbroker.protocol.api_keys import FACTS
from kbroker.security.acl import Operation, ResourceType
from kbroker.security.authorizer import Question

#: Of a name in a line; longer ones are cut.
NAME_LENGTH_MAX = 300


class Audit:
    """Turns decisions into lines.

    Args:
        write: takes a line without its end, at once and without raising.
        now_ms: the time.
        allowed: operations of which also what was allowed is told.
    """

    def __init__(
        self, write: Callable[[str], None], now_ms: Callable[[], int], allowed: Iterable[Operation]
    ) -> None:
        self._write = write
        self._now_ms = now_ms
        self._allowed = frozenset(allowed)

    def note(self, question: Question, allowed: bool, api_key: int, client_id: str | None) -> None:
        """A decision was made."""
        if allowed and question.operation not in self._allowed:
            return
        facts = FACTS.get(api_key)
        line = {
            "time_ms": self._now_ms(),
            "principal": question.principal[:NAME_LENGTH_MAX],
            "host": question.host,
            "api": facts.name if facts is not None else api_key,
            "operation": _name(Operation, question.operation),
            "resource": _name(ResourceType, question.resource_type),
            "name": question.name[:NAME_LENGTH_MAX],
            "allowed": allowed,
        }
        if client_id:
            line["client_id"] = client_id[:NAME_LENGTH_MAX]
        self._tell(line)

    def login(
        self, principal: str, host: str, listener: str, mechanism: str, allowed: bool, reason: str = ""
    ) -> None:
        """Somebody came in, or was refused: then `principal` is who it wanted to be, and `reason` why."""
        line = {
            "time_ms": self._now_ms(),
            "principal": principal[:NAME_LENGTH_MAX],
            "host": host,
            "api": "SaslAuthenticate" if mechanism != "SSL" else "TLS",
            "operation": "LOGIN",
            "resource": "LISTENER",
            "name": listener,
            "allowed": allowed,
            "mechanism": mechanism,
        }
        if reason:
            line["reason"] = reason[:NAME_LENGTH_MAX]
        self._tell(line)

    def _tell(self, line: dict[str, Any]) -> None:
        # ASCII only: a name can neither end the line nor speak to a terminal.
        self._write(json.dumps(line, separators=(",", ":")))


def _name(kind: type[Operation] | type[ResourceType], number: int) -> str:
    try:
        return kind(number).name
    except ValueError:
        return str(number)


def parse_operations(names: Iterable[str]) -> list[Operation]:
    """Operations by name; ALL means every one.

    Raises:
        ValueError: there is no such operation.
    """
    found: list[Operation] = []
    for name in names:
        try:
            operation = Operation[name.strip().upper()]
        except KeyError:
            raise ValueError(f"no operation {name!r}") from None
        found += list(Operation) if operation is Operation.ALL else [operation]
    return found
