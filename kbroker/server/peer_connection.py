"""One connection to another node: its versions, what waits to be sent, what waits to be answered.

IDLE -> CONNECTING -> ASKING (ApiVersions) -> LOGIN (SASL) -> READY -> IDLE, and PAUSING after an attempt that
failed; READY -> LOGIN -> READY when a session ends.
Requests wait in `_queue` unless READY; in `_sent` they wait for their answers, in the order of both.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from enum import Enum
from struct import Struct
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import ChannelFigures, PeerAddress, PeerError, PeerFailure
from kbroker.errors import ErrorCode, ProtocolError
from kbroker.protocol.api_keys import (
    ApiKey,
    request_header_version,
    response_class,
    response_header_version,
)
from kbroker.protocol.generated.api_versions_request import ApiVersionsRequest
from kbroker.protocol.generated.api_versions_response import ApiVersionsResponse
from kbroker.protocol.primitives import read_unknown_tags
from kbroker.server.peer_socket import CONNECT_MS_MAX, PeerSocket, ReceiveBuffers, connect

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.protocol.primitives import Message
    from kbroker.security.sasl_client import ClientLogins
    from kbroker.server.peer_security import PeerSecurity

_log = logging.getLogger(__name__)
_HEADER = Struct(">ihhih")
_SIZE = Struct(">i")
_UNSUPPORTED = int(ErrorCode.UNSUPPORTED_VERSION).to_bytes(2, "big")
#: The pause after an attempt that failed; it doubles up to the second one.
PAUSE_MS_MIN, PAUSE_MS_MAX = 20.0, 250.0
#: Of one connection: requests without an answer, and bytes that the system has not taken.
REQUESTS_MAX = 10_000
UNSENT_BYTES_MAX = 64 * 1024 * 1024
#: The version that ApiVersions is asked in first; who does not know it answers in version 0.
_FIRST_API_VERSIONS = 3


#: The part of a session's lifetime after which this node logs in again (Kafka: between 0.85 and 0.95).
_SESSION_SHARE = 0.9
#: A broker refuses logins that follow each other within a second (KIP-368).
_AGAIN_MS_MIN = 1_100.0
#: A login that asks others (a KDC, a token endpoint) may take longer than one between two nodes.
_SLOW_LOGIN_MS_MAX = 30_000


class _State(Enum):
    IDLE = 0
    CONNECTING = 1
    ASKING = 2
    LOGIN = 6
    READY = 3
    PAUSING = 4
    CLOSED = 5


class _Pending:
    """A request and who waits for its answer."""

    __slots__ = ("answer", "request", "sent_version", "timeout", "version")

    def __init__(self, request: Message, version: int | None) -> None:
        self.request = request
        self.version = version
        self.sent_version = -1
        self.answer: Deferred[Any] = Deferred()
        self.timeout: TimerHandle | None = None

    def stop_timeout(self) -> None:
        # Forgotten as well: it knows this request, and a circle would keep the answer's frame alive.
        timeout, self.timeout = self.timeout, None
        if timeout is not None:
            timeout.cancel()

    def fail(self, error: PeerError) -> None:
        self.stop_timeout()
        if not self.answer.done:
            _tell(self.answer.fail, error)


def login_again_ms(lifetime_ms: int) -> float | None:
    """After how many ms of a session of that lifetime there is another login; None: it is left to end.

    One by a token that is nearly over would be lost sooner, since the login would come too soon.
    """
    again_ms = lifetime_ms * _SESSION_SHARE
    return again_ms if again_ms > _AGAIN_MS_MIN else None


class PeerConnection:
    """Requests to one node over one socket, again and again a new one.

    Args:
        loop, timer: of the node.
        address: of the peer.
        client_id: in the headers.
        buffers: shared by all connections.
        security: TLS and login, if there is any.
        run_login: runs steps of logins that take long.
        figures: where it counts.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        timer: Timer,
        address: PeerAddress,
        client_id: str,
        buffers: ReceiveBuffers,
        security: PeerSecurity | None = None,
        run_login: RunBlocking | None = None,
        figures: ChannelFigures | None = None,
    ) -> None:
        self._figures = figures or ChannelFigures(address, "")
        self._security = security
        self._run_login = run_login
        self._loop = loop
        self._timer = timer
        self._address = address
        self._client_id = client_id.encode()
        self._buffers = buffers
        self._state = _State.IDLE
        self._socket: PeerSocket | None = None
        self._attempt: asyncio.Task[None] | None = None
        self._alarm: TimerHandle | None = None
        self._pause_ms = PAUSE_MS_MIN
        self._versions: dict[int, tuple[int, int]] = {}
        self._queue: deque[_Pending] = deque()
        self._sent: deque[tuple[int, _Pending]] = deque()
        self._correlation_id = 0
        #: What was last told of in the log.
        self._told = ""

    def send(self, request: Message, timeout_ms: float, version: int | None) -> Deferred[Any]:
        """See `Peers.send`."""
        pending = _Pending(request, version)
        unsent = 0 if self._socket is None else self._socket.unsent_bytes
        if len(self._queue) + len(self._sent) >= REQUESTS_MAX or unsent > UNSENT_BYTES_MAX:
            pending.fail(self._error(PeerFailure.UNREACHABLE, "too many requests wait for it"))
            return pending.answer
        pending.timeout = self._timer.call_later(timeout_ms, lambda: self._timed_out(pending))
        if self._state is _State.READY:
            self._write(pending)
            return pending.answer
        self._queue.append(pending)
        if self._state is _State.IDLE:
            self._connect()
        return pending.answer

    def close(self) -> None:
        """For good."""
        self._drop(PeerFailure.CLOSED, "by this node", _State.CLOSED)

    # -- connecting ------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._state = _State.CONNECTING
        self._attempt = self._loop.create_task(self._try_to_connect())

    async def _try_to_connect(self) -> None:
        problem = await connect(
            self._loop,
            self._address,
            lambda: PeerSocket(self._buffers, self._opened, self._frame_came, self._lost),
            None if self._security is None else self._security.tls,
        )
        if problem is not None and self._state is _State.CONNECTING:
            self._attempt = None
            self._drop(*problem, _State.PAUSING)

    def _opened(self, sock: PeerSocket) -> None:
        if self._state is not _State.CONNECTING:
            sock.abort()
            return
        self._socket = sock
        self._figures.opened += 1
        self._attempt = None
        self._state = _State.ASKING
        self._alarm = self._timer.call_later(CONNECT_MS_MAX, self._asked_in_vain)
        self._ask_versions(_FIRST_API_VERSIONS)

    def _ask_versions(self, version: int) -> None:
        request = ApiVersionsRequest(
            client_software_name="kbroker", client_software_version=_software_version()
        )
        pending = _Pending(request, version)
        self._versions = {ApiKey.API_VERSIONS: (0, version)}
        self._write(pending)
        pending.answer.then(self._versions_came)

    def _versions_came(self, done: Deferred[ApiVersionsResponse]) -> None:
        try:
            response = done.result()
        except PeerError:
            return
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION and self._versions[ApiKey.API_VERSIONS][1]:
            self._ask_versions(0)
            return
        if response.error_code:
            detail = f"ApiVersions: error {response.error_code}"
            self._drop(PeerFailure.UNSUPPORTED_VERSION, detail, _State.PAUSING)
            return
        self._versions = {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}
        if self._security is not None and self._security.logins is not None:
            self._log_in(self._security.logins)
        else:
            self._be_ready()

    def _log_in(self, logins: ClientLogins) -> None:
        """For the first time, or again before the session is over (KIP-368): requests wait meanwhile."""
        from kbroker.server.peer_login import PeerLogin

        again = self._state is _State.READY
        self._state = _State.LOGIN
        if self._alarm is None or logins.slow:
            self._stop_alarm()
            patience_ms = _SLOW_LOGIN_MS_MAX if logins.slow else CONNECT_MS_MAX
            self._alarm = self._timer.call_later(patience_ms, self._asked_in_vain)
        sock = self._socket
        assert self._run_login is not None

        def ask(request: Message) -> Deferred[Any]:
            pending = _Pending(request, None)
            if self._socket is sock and sock is not None:
                self._write(pending)
            else:
                pending.fail(self._error(PeerFailure.CLOSED))
            return pending.answer

        def done(problem: str, lifetime_ms: int) -> None:
            if self._socket is not sock or self._state is not _State.LOGIN:
                return
            if problem:
                self._figures.login_failures += 1
                self._drop(PeerFailure.NOT_TRUSTED, problem, _State.PAUSING)
                return
            if again:
                self._figures.relogins += 1
            else:
                self._figures.logins += 1
            self._be_ready()
            again_ms = login_again_ms(lifetime_ms)
            if again_ms is not None and self._socket is sock:
                self._alarm = self._timer.call_later(again_ms, self._session_ends)

        PeerLogin(logins, self._address.host, self._run_login, ask, done).begin()

    def _session_ends(self) -> None:
        self._alarm = None
        if self._state is _State.READY and self._security is not None and self._security.logins is not None:
            self._log_in(self._security.logins)

    def _be_ready(self) -> None:
        self._state = _State.READY
        self._pause_ms = PAUSE_MS_MIN
        self._stop_alarm()
        while self._queue and self._state is _State.READY:
            self._write(self._queue.popleft())

    def _asked_in_vain(self) -> None:
        self._alarm = None
        self._drop(PeerFailure.TIMED_OUT, "no answer to ApiVersions or the login", _State.PAUSING)

    def _pause_over(self) -> None:
        self._alarm = None
        self._state = _State.IDLE
        if self._queue:
            self._connect()

    # -- requests --------------------------------------------------------------------------------------------

    def _write(self, pending: _Pending) -> None:
        request, sock = pending.request, self._socket
        key = request.API_KEY
        assert sock is not None
        assert key is not None
        version = self._choose_version(key, pending)
        if version is None:
            known = self._versions.get(key)
            theirs = "not at all" if known is None else f"in versions {known[0]} to {known[1]}"
            detail = f"{request.NAME}, which it knows {theirs}"
            pending.fail(self._error(PeerFailure.UNSUPPORTED_VERSION, detail))
            return
        self._correlation_id = correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        out = bytearray(_HEADER.size)
        out += self._client_id
        if request_header_version(key, version) >= 2:
            out.append(0)
        try:
            request.encode_into(out, version)
        except ValueError as error:
            pending.fail(self._error(PeerFailure.UNSUPPORTED_VERSION, str(error)))
            return
        _HEADER.pack_into(out, 0, len(out) - 4, key, version, correlation_id, len(self._client_id))
        figures = self._figures
        figures.requests += 1
        figures.bytes_out += len(out)
        pending.sent_version = version
        self._sent.append((correlation_id, pending))
        sock.write(out)

    def _choose_version(self, key: int, pending: _Pending) -> int | None:
        known = self._versions.get(key)
        if known is None:
            return None
        if pending.version is not None:
            return pending.version if known[0] <= pending.version <= known[1] else None
        highest = min(known[1], pending.request.MAX_VERSION)
        return highest if highest >= max(known[0], pending.request.MIN_VERSION) else None

    def _frame_came(self, frame: memoryview) -> None:
        (correlation_id,) = _SIZE.unpack_from(frame)
        if not self._sent or self._sent[0][0] != correlation_id:
            self._drop(PeerFailure.CLOSED, "an answer that nobody waits for", _State.PAUSING)
            return
        figures = self._figures
        figures.responses += 1
        figures.bytes_in += len(frame) + 4
        pending = self._sent.popleft()[1]
        pending.stop_timeout()
        if pending.answer.done:
            return
        try:
            response = _decode(pending, frame)
        except ProtocolError as error:
            pending.fail(self._error(PeerFailure.CLOSED, str(error)))
            self._drop(PeerFailure.CLOSED, str(error), _State.PAUSING)
            return
        _tell(pending.answer.resolve, response)

    def _timed_out(self, pending: _Pending) -> None:
        pending.timeout = None
        error = self._error(PeerFailure.TIMED_OUT)
        if pending.sent_version < 0:
            if pending in self._queue:
                self._queue.remove(pending)
            pending.fail(error)
            return
        # Answers come in order: while this one is missing, no other one can come.
        pending.fail(error)
        self._drop(PeerFailure.CLOSED, "another request got no answer", _State.PAUSING)

    # -- the end of a socket ---------------------------------------------------------------------------------

    def _lost(self, sock: PeerSocket, error: Exception | None) -> None:
        if sock is self._socket:
            next_state = _State.IDLE if self._state is _State.READY else _State.PAUSING
            self._drop(PeerFailure.CLOSED, "" if error is None else str(error), next_state)

    def _drop(self, reason: PeerFailure, detail: str, next_state: _State) -> None:
        """Tell everybody, forget the socket, go on with `next_state`."""
        if self._state is _State.CLOSED:
            return
        self._state = next_state
        self._stop_alarm()
        sock, self._socket = self._socket, None
        attempt, self._attempt = self._attempt, None
        if attempt is not None:
            attempt.cancel()
        if sock is not None:
            self._figures.closed += 1
            sock.abort()
        if next_state is _State.PAUSING:
            self._alarm = self._timer.call_later(self._pause_ms, self._pause_over)
            self._pause_ms = min(self._pause_ms * 2, PAUSE_MS_MAX)
        sent, queue = self._sent, self._queue
        self._sent, self._queue = deque(), deque()
        error = self._error(reason, detail)
        if reason is PeerFailure.NOT_TRUSTED and self._told != detail:
            # Who waits may wait for long, and try again: somebody has to know why.
            self._told = detail
            _log.warning("%s", error)
        for _, pending in sent:
            pending.fail(error)
        for pending in queue:
            pending.fail(error)

    def _stop_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _error(self, reason: PeerFailure, detail: str = "") -> PeerError:
        return PeerError(reason, self._address, detail)


def _decode(pending: _Pending, frame: memoryview) -> Message:
    key, version = pending.request.API_KEY, pending.sent_version
    assert key is not None
    position = 4
    if response_header_version(key, version) >= 1:
        try:
            _, position = read_unknown_tags(frame, position)
        except IndexError:
            raise ProtocolError("response header is cut short") from None
    if key == ApiKey.API_VERSIONS and bytes(frame[4:6]) == _UNSUPPORTED:
        # Who does not know the version says so in version 0.
        version = 0
    return response_class(key).decode(frame, version, position)


def _tell(how: Any, value: object) -> None:
    """A bug in who listens must not cost the connection, nor the others their answers."""
    try:
        how(value)
    except Exception:
        _log.exception("what listens for an answer of another node failed")


def _software_version() -> str:
    from kbroker import __version__

    return __version__
