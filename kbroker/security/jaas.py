"""Reading `sasl.jaas.config`: text in JAAS form is data here, and nothing of it is ever loaded.

`MODULE FLAG option=value option="value";`: the module's name says the mechanism, out of a short list; every
other class is refused (CVE-2023-25194: login modules that fetch code).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from kbroker.errors import ConfigError

PLAIN, GSSAPI, OAUTHBEARER = "PLAIN", "GSSAPI", "OAUTHBEARER"
SCRAM_256, SCRAM_512 = "SCRAM-SHA-256", "SCRAM-SHA-512"
MECHANISMS = (PLAIN, SCRAM_256, SCRAM_512, OAUTHBEARER, GSSAPI)

_MODULES = {
    "org.apache.kafka.common.security.plain.PlainLoginModule": (PLAIN,),
    "org.apache.kafka.common.security.scram.ScramLoginModule": (SCRAM_256, SCRAM_512),
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule": (OAUTHBEARER,),
    "com.sun.security.auth.module.Krb5LoginModule": (GSSAPI,),
}
#: Of clients of ZooKeeper (kbroker.zookeeper.sasl.jaas.config).
ZOOKEEPER_MODULES = {
    "org.apache.zookeeper.server.auth.DigestLoginModule": ("DIGEST-MD5",),
    "com.sun.security.auth.module.Krb5LoginModule": (GSSAPI,),
}
_FLAGS = frozenset({"required", "requisite", "sufficient", "optional"})
_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(\'(?:[^\'\\]|\\.)*\')|([;=])|([^\s;="\']+))')
_ESCAPED = re.compile(r"\\(.)")


class JaasEntry(NamedTuple):
    """One login module's options, and the mechanisms that it is for."""

    mechanisms: tuple[str, ...]
    options: Mapping[str, str]

    def __repr__(self) -> str:
        return f"JaasEntry({self.mechanisms}, {len(self.options)} options)"


def parse_jaas(
    text: str,
    setting: str = "sasl.jaas.config",
    modules: Mapping[str, tuple[str, ...]] = _MODULES,
) -> JaasEntry:
    """The one entry of `text`.

    Args:
        setting: its name, for errors; they never show the text, which holds passwords.
        modules: those that are known, and their mechanisms.

    Raises:
        ConfigError: not of that form, not just one entry, or a module that is not known.
    """
    tokens = _tokens(text, setting)
    if len(tokens) < 3 or tokens[-1] != (";", True):
        raise ConfigError(f"{setting}: an entry is MODULE FLAG option=value ...; and ends with a semicolon")
    if (";", True) in tokens[:-1]:
        raise ConfigError(f"{setting}: there must be exactly one login module")
    module, flag = tokens[0][0], tokens[1][0]
    mechanisms = modules.get(module)
    if mechanisms is None:
        raise ConfigError(
            f"{setting}: only these login modules are known: {', '.join(each for each in modules)}"
        )
    if flag.lower() not in _FLAGS:
        raise ConfigError(f"{setting}: after the login module comes one of {', '.join(sorted(_FLAGS))}")
    return JaasEntry(mechanisms, _options(tokens[2:-1], setting))


def _tokens(text: str, setting: str) -> list[tuple[str, bool]]:
    """(token, whether it is a sign of the syntax)."""
    found: list[tuple[str, bool]] = []
    position, text = 0, text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ConfigError(f"{setting}: a quote is not closed")
        position = match.end()
        quoted = match[1] or match[2]
        if quoted:
            found.append((_ESCAPED.sub(r"\1", quoted[1:-1]), False))
        elif match[3]:
            found.append((match[3], True))
        else:
            found.append((match[4], False))
    return found


def _options(tokens: list[tuple[str, bool]], setting: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for index in range(0, len(tokens), 3):
        part = tokens[index : index + 3]
        if len(part) < 3 or part[0][1] or part[1] != ("=", True) or part[2][1]:
            raise ConfigError(f"{setting}: options must be of the form option=value, the value quoted")
        options[part[0][0]] = part[2][0]
    return options
