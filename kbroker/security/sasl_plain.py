"""SASL PLAIN (RFC 4616): `[authzid] NUL user NUL password`, as Kafka reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hmac import compare_digest
from typing import TypeAlias

from kbroker.security.sasl import Login, LoginFailed

_USER_OPTION = "user_"
#: Whether the password of that user is right. May take long: it is then called in a thread.
CheckPassword: TypeAlias = Callable[[str, str], bool]


def users_of(options: Mapping[str, str]) -> dict[str, bytes]:
    """The users of a JAAS entry: `user_NAME="PASSWORD"`."""
    return {
        name[len(_USER_OPTION) :]: password.encode()
        for name, password in options.items()
        if name.startswith(_USER_OPTION)
    }


def check_users(users: Mapping[str, bytes]) -> CheckPassword:
    """A check against a table. Who is unknown costs as much time as who is known."""

    def check(user: str, password: str) -> bool:
        expected = users.get(user)
        given = password.encode("utf-8", "surrogatepass")
        right = compare_digest(given, given + b"x" if expected is None else expected)
        return right and expected is not None

    return check


class PlainServer:
    """The server's side.

    Args:
        check: of passwords.
        slow: whether `check` belongs into a thread.
    """

    def __init__(self, check: CheckPassword, slow: bool = False) -> None:
        self.login: Login | None = None
        self._check = check
        self._slow = slow
        #: Who the client says that it is.
        self.claimed = ""

    def step(self, message: bytes) -> bytes | Callable[[], bytes]:
        """See `SaslServer`."""
        if self.login is not None:
            raise LoginFailed("a second message")
        user, password = _split(message)
        self.claimed = user
        if self._slow:
            return lambda: self._verify(user, password)
        return self._verify(user, password)

    def _verify(self, user: str, password: str) -> bytes:
        if not self._check(user, password):
            raise LoginFailed("wrong user or password", "Authentication failed: Invalid username or password")
        self.login = Login(f"User:{user}")
        return b""


def _split(message: bytes) -> tuple[str, str]:
    try:
        tokens = message.decode().split("\0")
    except UnicodeDecodeError:
        raise LoginFailed("no UTF-8", None) from None
    if len(tokens) != 3:
        told = f"Invalid SASL/PLAIN response: expected 3 tokens, got {min(len(tokens), 4)}"
        raise LoginFailed("malformed message", told)
    authorization_id, user, password = tokens
    if not user:
        raise LoginFailed("no user name", "Authentication failed: username not specified")
    if not password:
        raise LoginFailed("no password", "Authentication failed: password not specified")
    if authorization_id not in ("", user):
        raise LoginFailed(
            "wants to be somebody else",
            "Authentication failed: Client requested an authorization id that is different from username",
        )
    return user, password


class PlainClient:
    """The client's side."""

    def __init__(self, user: str, password: str) -> None:
        self._message = f"\0{user}\0{password}".encode()
        self.done = False

    def step(self, challenge: bytes | None) -> bytes:
        """See `SaslClient`."""
        self.done = True
        return self._message if challenge is None else b""
