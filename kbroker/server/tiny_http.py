"""As much of HTTP/1.1 as a scrape needs: GET, HEAD and POST, one request at a time on a connection.

Not a web server, on purpose (docs/decisions/0010): it is loaded in a few milliseconds, and everything is
bounded: connections, the size of a head and of a body, how long a peer may take. A body is written piece by
piece; after `SLICE_S` of making them the others on the event loop have their turn.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import monotonic, perf_counter
from typing import NamedTuple
from urllib.parse import unquote

from kbroker.server.quiet_log import QuietLog

_log = logging.getLogger(__name__)

HEAD_BYTES_MAX = 16 * 1024
BODY_BYTES_MAX = 256 * 1024
CONNECTIONS_MAX = 64
#: How long a peer may take for a request, or to read an answer.
PATIENCE_S = 30.0
SLICE_S = 0.002
_NO_HTTP = "this is not HTTP/1.1"
_REASONS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    411: "Length Required",
    413: "Content Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class Request(NamedTuple):
    """What came. `path` is unquoted, without the query."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


class Answer(NamedTuple):
    """What goes back; `body` is asked for piece by piece."""

    status: int
    content_type: str
    body: Iterable[str | bytes]


class _Refused(Exception):
    def __init__(self, status: int, text: str, *, is_stranger: bool = False) -> None:
        super().__init__(text)
        self.status = status
        #: It speaks another protocol.
        self.is_stranger = is_stranger


class TinyHttp:
    """Serves one handler on sockets that listen.

    Args:
        handle: gives the answer to a request; what it raises is told as 500, and logged.
    """

    def __init__(self, handle: Callable[[Request], Awaitable[Answer]]) -> None:
        self._handle = handle
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        #: Those that have nothing to do before their peer has asked, longest waiting first.
        self._waiting: dict[asyncio.Task[None], None] = {}
        self._quiet = QuietLog(_log, monotonic)

    async def listen(self, sockets: Iterable[socket.socket]) -> None:
        """Accept from now on."""
        for sock in sockets:
            self._servers.append(await asyncio.start_server(self._connected, sock=sock, limit=HEAD_BYTES_MAX))

    async def close(self) -> None:
        """Stop, connections included."""
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if len(self._tasks) > CONNECTIONS_MAX and not self._make_room():
                return
            await self._serve(reader, writer, task)
        except (TimeoutError, OSError, EOFError, asyncio.CancelledError):
            pass  # the peer is gone, or too slow; or we stop
        finally:
            self._tasks.discard(task)
            writer.close()

    def _make_room(self) -> bool:
        """Close who has kept us waiting for longest: scrapes and probes come through to the end."""
        for task in self._waiting:
            del self._waiting[task]
            task.cancel()
            return True
        return False

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, task: asyncio.Task[None]
    ) -> None:
        while True:
            self._waiting[task] = None
            try:
                request = await asyncio.wait_for(read_request(reader), PATIENCE_S)
            except _Refused as error:
                if error.is_stranger:
                    self._tell_of_stranger(writer)
                await _write(writer, Answer(error.status, "text/plain", [f"{error}\n"]), chunked=False)
                return
            finally:
                self._waiting.pop(task, None)
            if request is None:
                return
            try:
                answer = await self._handle(request)
            except Exception:
                _log.exception("%s %s failed", request.method, request.path[:200])
                answer = Answer(500, "text/plain", ["failed\n"])
            version = request.headers["http-version"]
            stays = version == "HTTP/1.1" and request.headers.get("connection", "").lower() != "close"
            await _write(writer, answer, chunked=stays, is_head=request.method == "HEAD")
            if not stays:
                return

    def _tell_of_stranger(self, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        where = f"{peer[0]}:{peer[1]}" if peer else "unknown"
        self._quiet.info("closed %s: no HTTP on the port of the metrics (a Kafka client?)", where)


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request; None when the peer has no more.

    Raises:
        _Refused: it is none that is served. A Kafka or TLS client, whose first byte is none of a method, is
            told at once: no end of a head will come from it.
    """
    first_byte = await reader.read(1)
    if not first_byte:
        return None
    if not first_byte.isalpha():
        raise _Refused(400, _NO_HTTP, is_stranger=True)
    try:
        head = first_byte + await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise _Refused(400, f"a head of more than {HEAD_BYTES_MAX} bytes") from None
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.0", "HTTP/1.1"):
        raise _Refused(400, _NO_HTTP)
    method, target, version = parts
    if method not in ("GET", "HEAD", "POST"):
        raise _Refused(405, f"no {method} here")
    headers = {"http-version": version}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    path, _, query = target.partition("?")
    return Request(method, unquote(path), query, headers, await _read_body(reader, method, headers))


async def _read_body(reader: asyncio.StreamReader, method: str, headers: Mapping[str, str]) -> bytes:
    length = headers.get("content-length", "")
    if "transfer-encoding" in headers or (method == "POST" and not length):
        raise _Refused(411, "a body needs a Content-Length")
    if not length:
        return b""
    if not (length.isascii() and length.isdigit()) or len(length) > 9:
        raise _Refused(400, "that is no Content-Length")
    if int(length) > BODY_BYTES_MAX:
        raise _Refused(413, f"a body of more than {BODY_BYTES_MAX} bytes")
    return await reader.readexactly(int(length))


async def _write(
    writer: asyncio.StreamWriter, answer: Answer, *, chunked: bool, is_head: bool = False
) -> None:
    framing = "Transfer-Encoding: chunked" if chunked else "Connection: close"
    if is_head and chunked:
        framing = "Content-Length: 0"
    writer.write(
        f"HTTP/1.1 {answer.status} {_REASONS[answer.status]}\r\nContent-Type: {answer.content_type}\r\n"
        f"Cache-Control: no-store\r\n{framing}\r\n\r\n".encode()
    )
    if is_head:
        await asyncio.wait_for(writer.drain(), PATIENCE_S)
        return
    turn_ends_s = perf_counter() + SLICE_S
    for piece in answer.body:
        data = piece.encode() if isinstance(piece, str) else piece
        if data:
            writer.write(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
        if perf_counter() >= turn_ends_s:
            await asyncio.wait_for(writer.drain(), PATIENCE_S)
            await asyncio.sleep(0)
            turn_ends_s = perf_counter() + SLICE_S
    if chunked:
        writer.write(b"0\r\n\r\n")
    await asyncio.wait_for(writer.drain(), PATIENCE_S)
