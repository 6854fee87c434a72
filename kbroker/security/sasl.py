"""What all SASL mechanisms have in common: messages of the client in, challenges out, in the end a login."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias


class LoginFailed(Exception):
    """The client is not who it says.

    Attributes:
        told: what the client may know; None: no more than that its credentials are wrong.
        reason: for the log of this node; never holds a secret.
    """

    def __init__(self, reason: str, told: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.told = told


class Login(NamedTuple):
    """Who has logged in.

    Attributes:
        principal: "User:name".
        by_token: by a delegation token; such a client may not make others.
        ends_ms: the wall clock's time when the credentials end, or None.
    """

    principal: str
    by_token: bool = False
    ends_ms: int | None = None


#: What takes long (a key derivation, a question to another server): to be run in a thread. Its result, or the
#: LoginFailed that it raises, is that of the step.
Work: TypeAlias = "Callable[[], bytes | None]"


class SaslServer(Protocol):
    """The server's side of one exchange."""

    @property
    def login(self) -> Login | None:
        """Set when the exchange has succeeded."""
        ...

    def step(self, message: bytes) -> bytes | Work:
        """Answer one message of the client; no bytes at all (None) at the end are told from empty ones where
        messages are bare.

        Raises:
            LoginFailed: the exchange is over.
        """
        ...


class SaslClient(Protocol):
    """The client's side of one exchange."""

    @property
    def done(self) -> bool:
        """Whether the client is satisfied: nothing more to send."""
        ...

    def step(self, challenge: bytes | None) -> bytes:
        """The next message; `challenge` is None for the first one.

        Raises:
            LoginFailed: the server is not who it should be, or refuses.
        """
        ...
