"""From a certificate's name to that of a user: ssl.principal.mapping.rules (KIP-371), in linear time.

Patterns run in RE2, which never backtracks: no name that a client chooses can take longer than its length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from kbroker.errors import ConfigError

_RULE = re.compile(r"\s*(DEFAULT|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?))\s*(?:,|$)")
_REFERENCE = re.compile(r"\$(\d)|\\(.)")
#: Kinds that Java writes by a short name (RFC 2253); Python's names for them.
_SHORT = {
    "commonName": "CN",
    "organizationalUnitName": "OU",
    "organizationName": "O",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "countryName": "C",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
#: Others by number, the value in DER.
_NUMBERED = {
    "emailAddress": ("1.2.840.113549.1.9.1", 0x16),
    "serialNumber": ("2.5.4.5", 0x13),
    "title": ("2.5.4.12", 0x0C),
    "givenName": ("2.5.4.42", 0x0C),
    "surname": ("2.5.4.4", 0x0C),
    "dnQualifier": ("2.5.4.46", 0x13),
}
_SPECIAL = re.compile(r'([,+"\\<>;])')
#: Longer names are not looked at.
NAME_CHARACTERS_MAX = 8192


class NoMatchingRule(Exception):
    """No rule fits the name."""


class _Rule(NamedTuple):
    pattern: Any
    replacement: str
    case: str


class PrincipalRules:
    """Rules in order; the first that fits counts.

    Args:
        text: of the setting.

    Raises:
        ConfigError: malformed, or a pattern that RE2 does not know.
    """

    def __init__(self, text: str) -> None:
        self._rules: list[_Rule | None] = []
        position, text = 0, text.strip()
        while position < len(text):
            match = _RULE.match(text, position)
            if match is None:
                raise ConfigError(
                    "ssl.principal.mapping.rules: a rule is DEFAULT or RULE:pattern/replacement/[LU], not "
                    f"{text[position : position + 60]!r}"
                )
            position = match.end()
            self._rules.append(None if match[1] == "DEFAULT" else _compile(*match.groups()[1:]))

    def name_of(self, distinguished_name: str) -> str:
        """The user's name.

        Raises:
            NoMatchingRule: none fits.
        """
        if len(distinguished_name) > NAME_CHARACTERS_MAX:
            raise NoMatchingRule
        for rule in self._rules:
            if rule is None:
                return distinguished_name
            match = rule.pattern.fullmatch(distinguished_name)
            if match is not None:
                name = _REFERENCE.sub(partial(_part, match), rule.replacement)
                return name.lower() if rule.case == "L" else name.upper() if rule.case == "U" else name
        raise NoMatchingRule


def _part(match: Any, reference: re.Match[str]) -> str:
    return reference[2] if reference[1] is None else match.group(int(reference[1])) or ""


def _compile(pattern: str, replacement: str, case: str) -> _Rule:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options=options)
    except re2.error:
        raise ConfigError(
            f"ssl.principal.mapping.rules: RE2 does not know the pattern {pattern[:60]!r}"
        ) from None
    highest = max((int(n) for n in re.findall(r"\$(\d)", replacement)), default=0)
    if highest > compiled.groups:
        raise ConfigError(f"ssl.principal.mapping.rules: there is no group ${highest} in {pattern[:60]!r}")
    return _Rule(compiled, replacement, case)


def distinguished_name(subject: Sequence[Sequence[tuple[str, str]]]) -> str:
    """A subject as `ssl.getpeercert` gives it, in the text of Java's X500Principal.getName."""
    parts = []
    for names in reversed(subject):
        parts.append("+".join(_attribute(kind, value) for kind, value in names))
    return ",".join(parts)


def _attribute(kind: str, value: str) -> str:
    if kind in _NUMBERED:
        number, tag = _NUMBERED[kind]
        data = value.encode()
        size = bytes([len(data)]) if len(data) < 0x80 else b"\x82" + len(data).to_bytes(2, "big")
        return f"{number}=#{(bytes([tag]) + size + data).hex()}"
    text = _SPECIAL.sub(r"\\\1", value)
    if text[:1] in ("#", " "):
        text = "\\" + text
    if text.endswith(" ") and len(value) > 1:
        text = text[:-1] + "\\ "
    return f"{_SHORT.get(kind, kind)}={text}"
