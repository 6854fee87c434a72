"""What a SASL connection may say before it has logged in, and when it logs in again (KIP-152, KIP-368).

The gate takes the place of dispatch: ApiVersions, then SaslHandshake, then the messages of the mechanism, one
at a time; whatever else comes ends the connection. After a failure the answer is held back a moment (KIP-306)
by a timer, and then the connection closes. States and answers are those of Kafka 4.4. What all connections of
a listener share is `sasl_door.py`, the bytes of requests and answers `sasl_messages.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.errors import ErrorCode, ProtocolError
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kbroker.protocol.generated.sasl_handshake_response import SaslHandshakeResponse
from kbroker.protocol.primitives import Message
from kbroker.security.sasl import Login, LoginFailed, SaslServer
from kbroker.server.large_frame import Buffers, LargeFrame
from kbroker.server.newcomers import UNCOUNTED_BYTES
from kbroker.server.sasl_door import LOGIN_MS_MAX, Door
from kbroker.server.sasl_messages import encode_message, failure, illegal_state, read_message

if TYPE_CHECKING:
    from kbroker.broker.timer import TimerHandle
    from kbroker.server.connection import ConnectionCore
    from kbroker.server.frame_handler import Answer, FrameHandler

#: How soon a connection may log in again after the last time (Kafka's second).
_AGAIN_MS_MIN = 1000


class _State(Enum):
    #: Nothing came yet: it may also be a client of 0.9, which begins with a bare GSSAPI token.
    INITIAL = 0
    VERSIONS_OR_HANDSHAKE = 1
    HANDSHAKE = 2
    TOKENS = 3
    #: Another mechanism was asked for than at the first login: the next message is refused.
    BAD_MECHANISM = 4
    OPEN = 5
    FAILED = 6


class _Refused(Exception):
    """An exchange that ends with an answer, or without one."""

    def __init__(self, reason: str, answer: bytes | None = None) -> None:
        super().__init__(reason)
        self.answer = answer


class SaslGate:
    """Stands before one connection; a `FrameHandler`.

    Args:
        door: of the listener.
        inside: the handler of those who have logged in.
        request_bytes_max: of those.
    """

    __slots__ = (
        "_again_from_ms",
        "_buffers",
        "_connection",
        "_deadline",
        "_door",
        "_ends_ms",
        "_exchange",
        "_has_headers",
        "_inside",
        "_login",
        "_mechanism",
        "_place",
        "_problem",
        "_request_bytes_max",
        "_room",
        "_session",
        "_state",
        "_tells_lifetime",
    )

    def __init__(self, door: Door, inside: FrameHandler, request_bytes_max: int) -> None:
        self._door = door
        self._inside = inside
        self._request_bytes_max = request_bytes_max
        self._state = _State.INITIAL
        self._exchange: SaslServer | None = None
        self._mechanism = ""
        self._problem = ""
        #: Whether messages come in SaslAuthenticate requests (handshake v1), not bare.
        self._has_headers = True
        #: Whether the client has shown that it can log in again: SaslAuthenticate 1 or later.
        self._tells_lifetime = False
        self._login: Login | None = None
        self._ends_ms: int | None = None
        self._again_from_ms: int | None = None
        self._deadline: TimerHandle | None = None
        self._place = self._room = 0
        #: Those of all others, while the connection uses this in their place.
        self._buffers: Buffers | None = None
        self._connection: ConnectionCore | None = None
        self._session: TimerHandle | None = None

    def admit(self, connection: ConnectionCore) -> None:
        """Begin with a connection that was accepted."""
        connection.request_bytes_max = self._door.login_bytes_max
        connection.is_newcomer = True
        self._deadline = self._door.timer.call_later(LOGIN_MS_MAX, lambda: self._too_late(connection))
        self._place = self._door.newcomers.add(lambda: self._crowded_out(connection))
        self._connection, self._buffers, connection.buffers = connection, connection.buffers, self

    # -- Buffers, until the login ----------------------------------------------------------------------------

    bytes_min = UNCOUNTED_BYTES

    def begin(self, size: int, data: memoryview) -> LargeFrame:
        """See `Buffers.begin`: all that have not logged in share a budget."""
        connection = self._connection
        assert connection is not None
        self._room = self._door.early.take(size, lambda: self._crowded_out(connection))
        frame = LargeFrame(bytearray(2 * len(data) + 1), size)
        frame.copy(data)
        return frame

    def give(self, buffer: bytearray) -> None:
        """See `Buffers.give`."""
        self._door.early.give(self._room)

    # -- FrameHandler ----------------------------------------------------------------------------------------

    def opened(self, connection: Any) -> None:
        """See `FrameHandler.opened`."""
        self._inside.opened(connection)

    def closed(self, connection: Any) -> None:
        """See `FrameHandler.closed`."""
        self._stop_timers()
        self._connection = None
        self._inside.closed(connection)

    def finish_batch(self, connection: ConnectionCore) -> None:
        """See `FrameHandler.finish_batch`."""
        self._inside.finish_batch(connection)

    def request(self, connection: ConnectionCore, frame: memoryview) -> Answer | Deferred[Answer]:
        """See `FrameHandler.request`."""
        if self._state is _State.OPEN:
            return self._inside_session(connection, frame)
        if self._room:
            self._door.early.give(self._room)
        # One message at a time, and no way around: nothing of it is kept beyond this call.
        data, slices = bytes(frame), self._door.slices
        if connection.in_anteroom:
            return self._message(connection, data)
        began_s = slices.begin()
        if began_s is None:
            # Hundreds that come at once would have the loop for as long as all their messages take.
            answer: Deferred[Answer] = Deferred()
            slices.wait(lambda: self._message_later(connection, data, answer))
            return answer
        try:
            return self._message(connection, data)
        finally:
            slices.end(began_s)

    def _message_later(self, connection: ConnectionCore, data: bytes, answer: Deferred[Answer]) -> None:
        if connection.close_reason is not None:
            return
        try:
            found = self._message(connection, data)
        except ProtocolError as error:
            answer.fail(error)
            return
        if isinstance(found, Deferred):
            found.then(lambda done: answer.resolve(done.result()))
        else:
            answer.resolve(found)

    def _message(self, connection: ConnectionCore, data: bytes) -> Answer | Deferred[Answer]:
        try:
            if self._state is _State.TOKENS or self._state is _State.BAD_MECHANISM:
                return self._token(connection, data)
            return self._first_requests(connection, data)
        except _Refused as refusal:
            return self._refuse(connection, refusal)

    # -- before the exchange ---------------------------------------------------------------------------------

    def _first_requests(self, connection: ConnectionCore, data: bytes) -> Answer | Deferred[Answer]:
        if self._state is _State.FAILED:
            raise ProtocolError("a request after a failed login")
        key = int.from_bytes(data[:2], "big")
        if len(data) < 8 or key not in (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE):
            if self._state is _State.INITIAL and "GSSAPI" in self._door.mechanisms:
                return self._old_gssapi(connection, data)
            raise _Refused(f"request {key} before login")
        if self._state is _State.INITIAL:
            self._state = _State.VERSIONS_OR_HANDSHAKE
        if key == ApiKey.API_VERSIONS:
            return self._versions(connection, data)
        version, correlation_id, body = read_message(data)
        answer = SaslHandshakeResponse(mechanisms=list(self._door.mechanisms))
        if body.mechanism not in self._door.mechanisms:
            answer.error_code = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            raise _Refused(
                f"unknown SASL mechanism {body.mechanism[:40]!r}",
                encode_message(answer, version, correlation_id),
            )
        self._has_headers = version >= 1
        if self._login is not None and body.mechanism != self._mechanism:
            self._problem = (
                f"SASL mechanism '{body.mechanism}' requested by client is not supported for "
                f"re-authentication of mechanism '{self._mechanism}'"
            )
            self._state = _State.BAD_MECHANISM
        else:
            self._begin(connection, body.mechanism)
        return encode_message(answer, version, correlation_id)

    def _versions(self, connection: ConnectionCore, data: bytes) -> Answer | Deferred[Answer]:
        if self._state is not _State.VERSIONS_OR_HANDSHAKE:
            raise _Refused("ApiVersions twice before login")
        answer = self._inside.request(connection, memoryview(data))
        # After one that is refused the client asks again.
        if isinstance(answer, bytes) and answer[8:10] == b"\0\0":
            self._state = _State.HANDSHAKE
        return answer

    def _old_gssapi(self, connection: ConnectionCore, data: bytes) -> Answer | Deferred[Answer]:
        self._has_headers = False
        self._begin(connection, "GSSAPI")
        return self._token(connection, data)

    def _begin(self, connection: ConnectionCore, mechanism: str) -> None:
        self._mechanism = mechanism
        self._exchange = self._door.make(mechanism)
        self._state = _State.TOKENS
        connection.short_frames = not self._has_headers

    # -- the exchange ----------------------------------------------------------------------------------------

    def _token(self, connection: ConnectionCore, data: bytes) -> Answer | Deferred[Answer]:
        wrap: Callable[[Message], bytes] | None = None
        token = data
        if self._has_headers:
            key = int.from_bytes(data[:2], "big")
            if len(data) < 8 or key != ApiKey.SASL_AUTHENTICATE:
                raise _Refused(f"request {key} during login", illegal_state(data))
            version, correlation_id, body = read_message(data)
            self._tells_lifetime = self._tells_lifetime or version > 0
            token = bytes(body.auth_bytes)

            def wrap(message: Message) -> bytes:
                return encode_message(message, version, correlation_id)

        if self._state is _State.BAD_MECHANISM:
            raise _Refused("another mechanism than before", failure(wrap, self._problem))
        assert self._exchange is not None
        try:
            result = self._exchange.step(token)
        except LoginFailed as error:
            raise self._failed(error, wrap) from None
        if isinstance(result, bytes):
            return self._answer(connection, result, wrap)
        answer: Deferred[Answer] = Deferred()
        found: list[bytes | None] = []

        def done(error: BaseException | None) -> None:
            if connection.close_reason is not None:
                return
            try:
                if isinstance(error, LoginFailed):
                    raise self._failed(error, wrap)
                if error is not None:
                    raise _Refused(f"login failed here: {type(error).__name__}", None)
                answer.resolve(self._answer(connection, found[0], wrap))
            except _Refused as refusal:
                later = self._refuse(connection, refusal)
                later.then(lambda done: answer.resolve(done.result()))

        work = result

        def look() -> None:
            # Who has gone meanwhile does not make others wait.
            if connection.close_reason is None:
                found.append(work())

        self._door.run(self._mechanism)(look, done)
        return answer

    def _answer(
        self, connection: ConnectionCore, token: bytes | None, wrap: Callable[[Message], bytes] | None
    ) -> bytes | None:
        assert self._exchange is not None
        login, lifetime_ms = self._exchange.login, 0
        if login is not None:
            if self._login is not None and self._login.principal != login.principal:
                told = (
                    "Cannot change principals during re-authentication from "
                    f"{self._login.principal.replace(':', '.', 1)}: {login.principal.replace(':', '.', 1)}"
                )
                raise _Refused("another principal than before", failure(wrap, told))
            lifetime_ms = self._open(connection, login)
        if wrap is None:
            return None if token is None else len(token).to_bytes(4, "big") + token
        return wrap(SaslAuthenticateResponse(auth_bytes=token or b"", session_lifetime_ms=lifetime_ms))

    def _failed(self, error: LoginFailed, wrap: Callable[[Message], bytes] | None) -> _Refused:
        again = "authentication" if self._login is None else "re-authentication"
        told = error.told or (
            f"Authentication failed during {again} due to invalid credentials with SASL mechanism "
            f"{self._mechanism}"
        )
        return _Refused(f"login with {self._mechanism} failed: {error.reason}", failure(wrap, told))

    def _refuse(self, connection: ConnectionCore, refusal: _Refused) -> Deferred[Answer]:
        """Answer after the delay, then close."""
        self._state = _State.FAILED
        self._door.failures += 1
        if self._login is None:
            connection.traffic.login_failures += 1
        else:
            connection.traffic.relogin_failures += 1
        self._stop_timers()
        if self._door.tell is not None:
            claimed = getattr(self._exchange, "claimed", "")
            self._door.tell(connection, f"User:{claimed}", self._mechanism, False, str(refusal))
        answer: Deferred[Answer] = Deferred()

        def end() -> None:
            if connection.close_reason is None:
                # What is in the answer is still sent; nothing behind it is looked at.
                connection.close(str(refusal))
                answer.resolve(refusal.answer)

        self._door.timer.call_later(self._door.failure_delay_ms, end)
        return answer

    # -- the session -----------------------------------------------------------------------------------------

    def _open(self, connection: ConnectionCore, login: Login) -> int:
        """Let the connection in; how long, in ms, 0 without end."""
        door = self._door
        self._stop_timers()
        if self._login is None:
            connection.traffic.logins += 1
        else:
            connection.traffic.relogins += 1
        self._state, self._login, self._exchange = _State.OPEN, login, None
        connection.is_newcomer = False
        door.logins += 1
        if door.tell is not None:
            door.tell(connection, login.principal, self._mechanism, True, "")
        context = connection.context
        context.principal = login.principal
        context.by_token = login.by_token
        connection.short_frames = False
        connection.request_bytes_max = self._request_bytes_max
        if self._buffers is not None:
            connection.buffers = self._buffers
            self._connection = self._buffers = None
        lifetime = door.session_ms(self._mechanism)
        if login.ends_ms is not None:
            left = max(login.ends_ms - door.clock.now_ms(), 1)
            lifetime = min(lifetime, left) if lifetime > 0 else left
        if lifetime <= 0:
            self._ends_ms = None
            connection.handler = self._inside
            return 0
        self._ends_ms = door.clock.monotonic_ms() + lifetime
        connection.handler = self
        self._session = door.timer.call_later(lifetime, lambda: self._session_over(connection))
        return lifetime if self._tells_lifetime else 0

    def _inside_session(self, connection: ConnectionCore, frame: memoryview) -> Answer | Deferred[Answer]:
        now = self._door.clock.monotonic_ms()
        if int.from_bytes(frame[:2], "big") == ApiKey.SASL_HANDSHAKE and (
            self._again_from_ms is None or now >= self._again_from_ms
        ):
            self._again_from_ms = now + _AGAIN_MS_MIN
            if connection.staged:
                self._inside.finish_batch(connection)
            self._state = _State.VERSIONS_OR_HANDSHAKE
            return self.request(connection, frame)
        if self._ends_ms is not None and now >= self._ends_ms:
            self._door.expired += 1
            connection.traffic.expired += 1
            raise ProtocolError("its session is over, and it did not log in again")
        return self._inside.request(connection, frame)

    def _session_over(self, connection: ConnectionCore) -> None:
        """From now on every request comes here first, and is refused unless it is a login."""
        self._session = None
        connection.fast = {}

    # -- time ------------------------------------------------------------------------------------------------

    def _too_late(self, connection: ConnectionCore) -> None:
        self._deadline = None
        # Nodes watch each other by connections that say nothing.
        silent = self._state is _State.INITIAL
        connection.close("" if silent else f"no login within {LOGIN_MS_MAX // 1000} s")
        if connection.on_output is not None:
            connection.on_output()

    def _crowded_out(self, connection: ConnectionCore) -> None:
        connection.close("too many began a login after it")
        if connection.on_output is not None:
            connection.on_output()

    def _stop_timers(self) -> None:
        self._door.newcomers.done(self._place)
        self._door.early.give(self._room)
        for handle in (self._deadline, self._session):
            if handle is not None:
                handle.cancel()
        self._deadline = self._session = None
