"""What is known of one setting, and the notation in which the tables say it.

A table is text. A setting is one line `name | type | default | check | scope | flags`, its documentation the
indented lines below:

    num.io.threads | int | 8 | >=1 | cluster |
        Kafka's request threads; kbroker handles requests on its event loop.

default is `null`, `required`, or the text a person would write; check is a phrase of `checks.py`; scope is
`ro` (server.properties only), `broker` (dynamic for one broker) or `cluster` (dynamic, also as a default of
all brokers); flags are `obeyed` (kbroker acts on it) and `hidden` (accepted, but left out of
DescribeConfigs).
"""

from __future__ import annotations

from copy import copy
from enum import IntEnum

from kbroker.config.checks import Check, parse_check
from kbroker.config.values import ConfigType, Value, parse_value


class Scope(IntEnum):
    """Where a broker setting may be changed while the broker runs (KIP-226)."""

    READ_ONLY = 0
    PER_BROKER = 1
    CLUSTER = 2


class Definition:
    """One setting. `default` is parsed; None where there is none."""

    __slots__ = (
        "check",
        "default",
        "default_text",
        "doc",
        "hidden",
        "name",
        "obeyed",
        "required",
        "scope",
        "type",
    )

    def __init__(
        self,
        name: str,
        kind: ConfigType,
        default_text: str | None,
        check: Check | None = None,
        scope: Scope = Scope.READ_ONLY,
        *,
        required: bool = False,
        obeyed: bool = False,
        hidden: bool = False,
        doc: str = "",
    ) -> None:
        self.name = name
        self.type = kind
        self.default_text = default_text
        self.default = None if default_text is None else parse_value(name, kind, default_text)
        self.check = check
        self.scope = scope
        self.required = required
        self.obeyed = obeyed
        self.hidden = hidden
        self.doc = doc

    @property
    def sensitive(self) -> bool:
        """Whether the value is never shown."""
        return self.type is ConfigType.PASSWORD

    def with_check(self, phrase: str) -> Definition:
        """The same setting with another check."""
        changed = copy(self)
        changed.check = parse_check(phrase)
        return changed

    def parse(self, text: str) -> Value:
        """The value of `text`, checked.

        Raises:
            InvalidValue: wrong type or outside the limits; the text is Kafka's.
        """
        value = parse_value(self.name, self.type, text)
        if self.check is not None:
            self.check(self.name, value)
        return value


_TYPES = {kind.name.lower(): kind for kind in ConfigType}
_SCOPES = {"": Scope.READ_ONLY, "ro": Scope.READ_ONLY, "broker": Scope.PER_BROKER, "cluster": Scope.CLUSTER}


def parse_table(text: str) -> dict[str, Definition]:
    """The settings of a table by name, in its order.

    Raises:
        ValueError: the table breaks the notation (a mistake of ours, found by any test).
    """
    found: dict[str, Definition] = {}
    checks: dict[str, Check | None] = {}
    current: Definition | None = None
    for line in text.splitlines():
        if not line.strip():
            continue
        if line[0] == " ":
            assert current is not None, "documentation before the first setting"
            current.doc = f"{current.doc} {line.strip()}" if current.doc else line.strip()
            continue
        name, kind, default, phrase, scope, flags = (part.strip() for part in line.split("|"))
        if phrase not in checks:
            checks[phrase] = parse_check(phrase)
        current = Definition(
            name,
            _TYPES[kind],
            None if default in ("null", "required") else default,
            checks[phrase],
            _SCOPES[scope],
            required=default == "required",
            obeyed="obeyed" in flags,
            hidden="hidden" in flags,
        )
        found[name] = current
    return found
