"""sasl.kerberos.principal.to.local.rules: from a Kerberos name to that of a user, in linear time (RE2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from kbroker.errors import ConfigError

_NAME = re.compile(r"([^/@]+)(?:/([^/@]+))?(?:@([^/@]+))?")
_RULE = re.compile(
    r"(DEFAULT)|RULE:\[(\d):([^\]]*)\](?:\(([^)]*(?:\([^)]*\)[^)]*)*)\))?(?:s/([^/]*)/([^/]*)/(g)?)?(?:/?([LU]))?"
)
_PART = re.compile(r"\$(\d)")


class NoLocalName(Exception):
    """No rule fits the name."""


class _Rule(NamedTuple):
    parts: int
    form: str
    fits: Any
    old: Any
    new: str
    everywhere: bool
    case: str


class KerberosRules:
    """Rules in order; the first that fits counts.

    Args:
        texts: of the setting.
        realm: the one whose names DEFAULT cuts.

    Raises:
        ConfigError: malformed, or a pattern that RE2 does not know.
    """

    def __init__(self, texts: Sequence[str], realm: str) -> None:
        self._realm = realm
        self._rules: list[_Rule | None] = [_parse(text) for text in texts]

    def name_of(self, principal: str) -> str:
        """The user's name.

        Raises:
            NoLocalName: none fits.
        """
        match = _NAME.fullmatch(principal)
        if match is None:
            raise NoLocalName
        service, host, realm = match.groups()
        parts = [realm or "", service, *([host] if host else [])]
        if realm is None:
            return service
        for rule in self._rules:
            if rule is None:
                if realm == self._realm:
                    return service
            elif rule.parts == len(parts) - 1:
                name = _apply(rule, parts)
                if name is not None:
                    return name
        raise NoLocalName


def _parse(text: str) -> _Rule | None:
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"sasl.kerberos.principal.to.local.rules: {text[:60]!r} is no rule")
    if match[1]:
        return None
    _, parts, form, fits, old, new, everywhere, case = match.groups()
    return _Rule(int(parts), form, _compile(fits), _compile(old), new or "", bool(everywhere), case or "")


def _compile(pattern: str | None) -> Any:
    if pattern is None:
        return None
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error:
        raise ConfigError(
            f"sasl.kerberos.principal.to.local.rules: RE2 does not know the pattern {pattern[:60]!r}"
        ) from None


def _apply(rule: _Rule, parts: list[str]) -> str | None:
    def part(match: re.Match[str]) -> str:
        number = int(match[1])
        return parts[number] if number < len(parts) else ""

    name = _PART.sub(part, rule.form)
    if rule.fits is not None and rule.fits.fullmatch(name) is None:
        return None
    if rule.old is not None:
        name = rule.old.sub(rule.new, name, 0 if rule.everywhere else 1)
    if not name or "/" in name or "@" in name:
        raise NoLocalName
    return name.lower() if rule.case == "L" else name.upper() if rule.case == "U" else name
