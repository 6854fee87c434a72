"""A connection's socket under TLS: between the transport and the connection stands the library's engine.

Without asyncio's own TLS, which holds 256 KiB for each connection: here ciphertext is read into the buffer
that all share, and a handshake that is half done keeps no more than its engine. Handshakes have a deadline;
what a client sends before its handshake is over is limited. A step of one (a signature takes a millisecond)
is done in a thread of the listener's, so that many who come together do not hold up those who are in; nothing
is read of the connection meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from kbroker.errors import ProtocolError
from kbroker.server.newcomers import UNCOUNTED_BYTES
from kbroker.server.transport import SocketProtocol

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking
    from kbroker.server.connection import ConnectionCore
    from kbroker.server.newcomers import EarlyBytes, Newcomers
    from kbroker.server.turns import Turns

#: A handshake that is not over by then makes room for others.
HANDSHAKE_S_MAX = 30.0
#: What a handshake may bring: certificates of clients are some KiB.
HANDSHAKE_BYTES_MAX = 128 * 1024
_PIECE_BYTES = 16 * 1024


class TlsTransport:
    """Encrypts what is written; the rest is the transport's below. As far as `SocketProtocol` needs one."""

    def __init__(self, raw: asyncio.Transport, context: ssl.SSLContext) -> None:
        self.incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.engine = context.wrap_bio(self.incoming, self._outgoing, server_side=True)
        #: A thread has the engine: hands off.
        self.busy = False
        self.use(raw)

    def use(self, raw: asyncio.Transport) -> None:
        """This is the transport below."""
        self.raw = raw
        self.pause_reading = raw.pause_reading
        self.resume_reading = raw.resume_reading
        self.set_write_buffer_limits = raw.set_write_buffer_limits
        self.get_write_buffer_size = raw.get_write_buffer_size
        self.get_extra_info = raw.get_extra_info
        self.abort = raw.abort

    def write(self, data: bytes) -> None:
        """Send."""
        view = memoryview(data)
        try:
            while view:
                view = view[self.engine.write(view[:_PIECE_BYTES]) :]
        except ssl.SSLError:
            self.raw.abort()
            return
        self.flush()

    def flush(self) -> None:
        """Send what the engine has to say."""
        if self._outgoing.pending:
            self.raw.write(self._outgoing.read())

    def close(self) -> None:
        """Say that this is the end, then close."""
        if not self.busy:
            with contextlib.suppress(ssl.SSLError, ValueError):
                self.engine.unwrap()
            if not self.raw.is_closing():
                self.flush()
        self.raw.close()


class TlsProtocol(SocketProtocol):
    """The driver of one connection under TLS.

    Args:
        context: for its handshake.
        on_shaken: told when the handshake is over, with the engine; raises ProtocolError to close.
        newcomers: of the listener.
        early: counts what those send whose handshake is not over.
        run: does the steps of handshakes elsewhere.
    """

    __slots__ = (
        "__weakref__",
        "_arrived",
        "_context",
        "_deadline",
        "_early",
        "_newcomers",
        "_on_shaken",
        "_place",
        "_room",
        "_run",
        "_shaken",
        "_tls",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        core: ConnectionCore,
        buffer: memoryview,
        turns: Turns,
        on_made: Callable[[SocketProtocol, asyncio.Transport], None],
        on_lost: Callable[[SocketProtocol], None],
        context: ssl.SSLContext,
        on_shaken: Callable[[ConnectionCore, ssl.SSLObject], None],
        newcomers: Newcomers,
        early: EarlyBytes,
        run: RunBlocking,
    ) -> None:
        super().__init__(loop, core, buffer, turns, on_made, on_lost, encrypted=True)
        self._context = context
        self._on_shaken = on_shaken
        self._newcomers = newcomers
        self._early = early
        self._run = run
        self._place = self._room = 0
        self._shaken = False
        self._arrived = 0
        self._tls: TlsTransport | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is ours; the handshake may begin."""
        self._tls = TlsTransport(cast("asyncio.Transport", transport), self._context)
        self._deadline = self._loop.call_later(HANDSHAKE_S_MAX, self._too_late)
        self._place = self._newcomers.add(self._crowded_out)
        super().connection_made(cast("asyncio.BaseTransport", self._tls))

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where ciphertext goes."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Ciphertext came."""
        tls = self._tls
        if tls is None:
            return
        self.last_active = self._loop.time()
        if tls.busy:
            return  # it is being closed
        tls.incoming.write(self._buffer[:nbytes])
        if not self._shaken:
            self._arrived += nbytes
            self._shake(tls)
            return
        try:
            self._decrypt(tls)
        except ssl.SSLError:
            self.core.close("")
        except ProtocolError as error:
            self.core.close(str(error))
        tls.flush()
        self._after()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self._stop_deadline()
        self._tls = None
        super().connection_lost(exc)

    @property
    def is_newcomer(self) -> bool:
        """See `SocketProtocol.is_newcomer`."""
        return not self._shaken or self.core.is_newcomer

    def goes_over(self, transport: asyncio.Transport) -> None:
        """See `SocketProtocol.goes_over`."""
        self.core.in_anteroom = False
        if self._tls is not None:
            self._tls.use(transport)

    def _shake(self, tls: TlsTransport) -> None:
        """Do a step of the handshake, for all that has come."""
        tls.busy = True
        tls.raw.pause_reading()

        # Who has gone meanwhile does not make others wait, nor is anything of him kept until then.
        waiting = weakref.ref(self)

        def work() -> None:
            protocol = waiting()
            tls = None if protocol is None else protocol._tls
            if tls is not None:
                tls.engine.do_handshake()

        def done(error: BaseException | None) -> None:
            protocol = waiting()
            if protocol is not None:
                protocol._stepped(error)

        self._run(work, done)

    def _stepped(self, error: BaseException | None) -> None:
        tls = self._tls
        if tls is None:
            return
        tls.busy = False
        if tls.raw.is_closing():
            return
        tls.raw.resume_reading()
        try:
            if isinstance(error, ssl.SSLWantReadError):
                self._check_size()
            elif error is not None:
                raise error
            else:
                self._shaken = True
                self._stop_deadline()
                self._on_shaken(self.core, tls.engine)
                self._decrypt(tls)
        except ssl.SSLError as failure:
            self.core.close("" if self._shaken else _why(failure))
        except ProtocolError as refusal:
            self.core.close(str(refusal))
        except BaseException:
            # As asyncio does where it calls a protocol itself: nobody is left waiting.
            self.abort()
            raise
        tls.flush()
        self._after()

    def _check_size(self) -> None:
        if self._arrived > HANDSHAKE_BYTES_MAX:
            raise ProtocolError(f"a TLS handshake of more than {HANDSHAKE_BYTES_MAX} bytes")
        if self._arrived > UNCOUNTED_BYTES and not self._room:
            self._room = self._early.take(HANDSHAKE_BYTES_MAX, self._crowded_out)

    def _decrypt(self, tls: TlsTransport) -> None:
        """All that came, in pieces as large as the buffer; the bytes in it have been copied by now."""
        engine, core = tls.engine, self.core
        # The stubs know nothing of reading into a buffer.
        read = cast("Callable[[int, Any], int]", engine.read)
        while True:
            target = core.read_target()
            into = self._buffer if target is None else target
            filled, room, more = 0, len(into), True
            while filled < room:
                try:
                    count = read(room - filled, into[filled:])
                except ssl.SSLWantReadError:
                    more = False
                    break
                if not count:
                    # The peer says that it is done.
                    more = False
                    self._eof = True
                    break
                filled += count
            if filled and target is None:
                core.feed(into[:filled])
            elif filled:
                core.filled(filled)
            if not more:
                return

    def _too_late(self) -> None:
        self._deadline = None
        # Nodes watch each other by connections that say nothing.
        self.core.close(f"no TLS handshake within {HANDSHAKE_S_MAX:.0f} s" if self._arrived else "")
        self.abort()

    def _crowded_out(self) -> None:
        self.core.close("too many began a TLS handshake after it")
        self.abort()

    def _stop_deadline(self) -> None:
        self._newcomers.done(self._place)
        self._early.give(self._room)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _why(error: ssl.SSLError) -> str:
    """The library's reason in few words; what a client sends is never part of it."""
    reason = (error.reason or "unknown").lower().replace("_", " ")
    if reason in ("http request", "wrong version number", "unknown protocol", "bad record type"):
        return "no TLS on a TLS port"
    return f"TLS handshake failed: {reason}"
