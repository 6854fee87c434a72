"""The login of one connection to another node: SaslHandshake, then SaslAuthenticate until both agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import PeerError
from kbroker.errors import ErrorCode, error_name
from kbroker.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kbroker.protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kbroker.security.sasl import LoginFailed

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking
    from kbroker.protocol.primitives import Message
    from kbroker.security.sasl_client import ClientLogins


class PeerLogin:
    """One login.

    Args:
        logins: as whom.
        host: of the other node.
        run: runs steps of mechanisms that are slow.
        ask: sends a request, gives its answer.
        done: told how it went: ("" or what is wrong, lifetime of the session in ms or 0). Not told when the
            connection breaks: it knows that itself.
    """

    def __init__(
        self,
        logins: ClientLogins,
        host: str,
        run: RunBlocking,
        ask: Callable[[Message], Deferred[Any]],
        done: Callable[[str, int], None],
    ) -> None:
        self._mechanism = logins.mechanism
        self._client = logins.new(host)
        self._run = run if logins.slow else None
        self._ask = ask
        self._done = done

    def begin(self) -> None:
        """Go."""
        self._ask(SaslHandshakeRequest(mechanism=self._mechanism)).then(self._agreed)

    def _agreed(self, answer: Deferred[Any]) -> None:
        try:
            response = answer.result()
        except PeerError:
            return
        if response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
            has = ", ".join(response.mechanisms)
            self._done(f"it has no SASL mechanism {self._mechanism}, but {has}", 0)
        elif response.error_code:
            self._done(f"SaslHandshake: {error_name(response.error_code)}", 0)
        else:
            self._say(None)

    def _say(self, challenge: bytes | None, lifetime_ms: int = 0) -> None:
        message = b""

        def step() -> None:
            nonlocal message
            message = self._client.step(challenge)

        def stepped(error: BaseException | None) -> None:
            if error is not None:
                self._done(error.reason if isinstance(error, LoginFailed) else repr(error), 0)
            else:
                self._send(challenge, message, lifetime_ms)

        if self._run is not None:
            self._run(step, stepped)
            return
        try:
            step()
        except LoginFailed as error:
            stepped(error)
        else:
            stepped(None)

    def _send(self, challenge: bytes | None, message: bytes, lifetime_ms: int) -> None:
        if challenge is not None and self._client.done and not message:
            self._done("", lifetime_ms)
            return
        self._ask(SaslAuthenticateRequest(auth_bytes=message)).then(self._answered)

    def _answered(self, answer: Deferred[Any]) -> None:
        try:
            response = answer.result()
        except PeerError:
            return
        if response.error_code:
            self._done(response.error_message or f"SaslAuthenticate: {error_name(response.error_code)}", 0)
        elif self._client.done:
            self._done("", response.session_lifetime_ms)
        else:
            self._say(bytes(response.auth_bytes), response.session_lifetime_ms)
