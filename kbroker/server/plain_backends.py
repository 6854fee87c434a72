"""The back ends of SASL PLAIN (`kbroker.plain.backends`): JAAS entry, file, LDAP server, HTTP server."""

from __future__ import annotations

import http.client
import json
import logging
import os
import secrets
from collections.abc import Mapping
from hmac import compare_digest
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kbroker.errors import ConfigError
from kbroker.security.password_file import decoy, parse_password_file
from kbroker.security.plain_chain import BackEnd, BackEndFailed, PlainChain, Verdict
from kbroker.server.outward_tls import http_connection
from kbroker.server.quiet_log import QuietLog

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig

#: Logins that ask at the same time, on a listener.
THREADS = 4
_ANSWER_BYTES_MAX = 4096
_USER_LENGTH_MAX = 256
#: While a server is gone, so often the log says so.
_TOLD_AGAIN_S = 60.0
#: After a failure nobody asks for so long: else all threads would wait for a server that is gone.
_REST_S = 1.0
_plain_log = logging.getLogger(__name__)
_log = QuietLog(_plain_log, monotonic)


class JaasUsers:
    """`user_NAME="PASSWORD"`."""

    name = "jaas"

    def __init__(self, users: Mapping[str, bytes]) -> None:
        self._users = users

    def check(self, user: str, password: str) -> Verdict:
        """See `BackEnd`."""
        expected = self._users.get(user)
        given = password.encode("utf-8", "surrogatepass")
        right = compare_digest(given, given + b"x" if expected is None else expected)
        if expected is None:
            return Verdict.UNKNOWN
        return Verdict.RIGHT if right else Verdict.WRONG

    def decoy(self, password: str) -> None:
        """Costs nothing."""


class FileUsers:
    """Hashes in a file that is read anew when it changes.

    Raises:
        ConfigError: it cannot be read, or a line makes no sense.
    """

    name = "file"

    def __init__(self, path: str) -> None:
        self._path = path
        self._stamp = self._look()
        self._users = self._read()
        self._decoy = decoy(self._users)

    def check(self, user: str, password: str) -> Verdict:
        """See `BackEnd`. A file that became unreadable leaves what was."""
        stamp = self._look()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._users = self._read()
                self._decoy = decoy(self._users)
            except ConfigError as error:
                _log.info("the users before stay: %s", error)
        known = self._users.get(user)
        if known is None:
            self._decoy(password)
            return Verdict.UNKNOWN
        return Verdict.RIGHT if known.fits(password) else Verdict.WRONG

    def decoy(self, password: str) -> None:
        """See `BackEnd`."""
        self._decoy(password)

    def _look(self) -> tuple[int, int, int]:
        try:
            status = os.stat(self._path)
        except OSError:
            return (0, 0, 0)
        return (status.st_mtime_ns, status.st_size, status.st_ino)

    def _read(self) -> Any:
        try:
            with open(self._path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"kbroker.plain.file: cannot read {self._path}: {error}") from None
        return parse_password_file(text, self._path)


class Remote:
    """A server that may be gone."""

    name = ""

    def __init__(self) -> None:
        self._rests_until_s = 0.0
        self._is_told = False
        self._tells_from_s = float("-inf")

    def check(self, user: str, password: str) -> Verdict:
        """See `BackEnd`."""
        if len(user) > _USER_LENGTH_MAX:
            return Verdict.UNKNOWN
        if monotonic() < self._rests_until_s:
            raise BackEndFailed("it did not answer a moment ago")
        try:
            verdict = self._ask(user, password)
        except BackEndFailed as error:
            now = monotonic()
            self._rests_until_s = now + _REST_S
            if now >= self._tells_from_s:
                self._is_told, self._tells_from_s = True, now + _TOLD_AGAIN_S
                _plain_log.error(
                    "the %s back end of SASL PLAIN cannot tell who gets in: %s", self.name, error
                )
            raise
        if self._is_told:
            self._is_told = False
            _plain_log.warning("the %s back end of SASL PLAIN answers again", self.name)
        return verdict

    def decoy(self, password: str) -> None:
        """Nobody else is asked in vain."""

    def _ask(self, user: str, password: str) -> Verdict:
        raise NotImplementedError


class HttpUsers(Remote):
    """A server that gets `{"user": …, "password": …}` by POST; it answers `{"answer": "right"}`, or wrong or
    unknown.
    """

    name = "http"

    def __init__(self, url: str, timeout_s: float) -> None:
        super().__init__()
        self._parts = urlsplit(url)
        if self._parts.scheme not in ("http", "https") or not self._parts.hostname:
            raise ConfigError("kbroker.plain.http.url is no http:// or https:// address")
        self._timeout_s = timeout_s
        if self._parts.scheme == "http" and self._parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            _log.info("passwords go to %s as they are; https:// would hide them", self._parts.hostname)

    def _ask(self, user: str, password: str) -> Verdict:
        parts = self._parts
        connection = http_connection(parts, self._timeout_s)
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            body = json.dumps({"user": user, "password": password})
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = response.read(_ANSWER_BYTES_MAX)
            if response.status != 200:
                raise BackEndFailed(f"status {response.status}")
            return Verdict[str(json.loads(data)["answer"]).upper()]
        except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException) as error:
            raise BackEndFailed(type(error).__name__) from None
        finally:
            connection.close()


def plain_chain(config: BrokerConfig, jaas: Mapping[str, bytes]) -> PlainChain:
    """As `kbroker.plain.*` want it.

    Raises:
        ConfigError: something is missing, or makes no sense.
    """
    timeout_s = config.get_int("kbroker.plain.timeout.ms") / 1000
    found: list[BackEnd] = []
    for name in dict.fromkeys(config.get_list("kbroker.plain.backends")):
        if name == "jaas":
            found.append(JaasUsers(jaas))
        elif name == "file":
            found.append(FileUsers(needed(config, "kbroker.plain.file")))
        elif name == "ldap":
            from kbroker.server.ldap_users import ldap_users

            found.append(ldap_users(config, timeout_s))
        else:
            found.append(HttpUsers(needed(config, "kbroker.plain.http.url"), timeout_s))
    return PlainChain(
        found,
        config.get_int("kbroker.plain.cache.ms"),
        lambda: int(monotonic() * 1000),
        secrets.token_bytes(32),
    )


def needed(config: BrokerConfig, name: str) -> str:
    text = config.get_str(name)
    if not text:
        raise ConfigError(f"kbroker.plain.backends needs {name}")
    return text
