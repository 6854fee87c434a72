"""The argument of `kbroker storage format --add-scram`, as Kafka's kafka-storage takes it."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable

from kbroker.controller.scram import credential_record
from kbroker.errors import ConfigError
from kbroker.protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kbroker.security.scram import ITERATIONS_MAX, ITERATIONS_MIN, MECHANISMS, salted_password

_FORM = re.compile(r"(SCRAM-SHA-(?:256|512))=\[(.*)\]", re.DOTALL)
_PART = re.compile(r"(name|password|saltedpassword|salt|iterations)=(\"[^\"]*\"|[^,]*)(?:,|$)")
_SALT_BYTES = 24


def parse_scram(text: str, random: Callable[[int], bytes]) -> UserScramCredentialRecord:
    """The credential.

    Args:
        random: so many random bytes.

    Raises:
        ConfigError: not of that form; the text is not shown, it holds a password.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise ConfigError(
            "--add-scram must be SCRAM-SHA-256=[name=NAME,password=PASSWORD] or SCRAM-SHA-512=…"
        )
    mechanism, inside = match.groups()
    parts: dict[str, str] = {}
    position = 0
    while position < len(inside):
        part = _PART.match(inside, position)
        if part is None or part[1] in parts:
            raise ConfigError(
                "--add-scram takes name, password, saltedpassword, salt and iterations, each once at most"
            )
        parts[part[1]] = part[2][1:-1] if part[2].startswith('"') and len(part[2]) > 1 else part[2]
        position = part.end()
    return _record(mechanism, parts, random)


def _record(
    mechanism: str, parts: dict[str, str], random: Callable[[int], bytes]
) -> UserScramCredentialRecord:
    name = parts.get("name", "")
    if not name:
        raise ConfigError("--add-scram needs name=NAME")
    if ("password" in parts) == ("saltedpassword" in parts):
        raise ConfigError("--add-scram needs one of password and saltedpassword")
    if "saltedpassword" in parts and "salt" not in parts:
        raise ConfigError("--add-scram: saltedpassword goes together with its salt")
    iterations = parts.get("iterations", str(ITERATIONS_MIN))
    if not iterations.isdecimal() or not ITERATIONS_MIN <= int(iterations) <= ITERATIONS_MAX:
        raise ConfigError(f"--add-scram: iterations must be between {ITERATIONS_MIN} and {ITERATIONS_MAX}")
    salt = _bytes("salt", parts["salt"]) if "salt" in parts else random(_SALT_BYTES)
    if "saltedpassword" in parts:
        salted = _bytes("saltedpassword", parts["saltedpassword"])
    else:
        salted = salted_password(mechanism, parts["password"], salt, int(iterations))
    return credential_record(name, MECHANISMS[mechanism][0], salted, salt, int(iterations))


def _bytes(what: str, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        raise ConfigError(f"--add-scram: {what} must be base64") from None
