"""Links between the nodes of a test's cluster that can be cut: a small proxy for each way between two ports.

A cut link is silent, as a cut cable is: connections stay, connecting succeeds (the proxy accepts), nothing
arrives, and what was sent meanwhile arrives when it heals. A node that is gone refuses: its proxies close
their ports as soon as it does, and open them again when it is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Iterable
from typing import Any

#: (from node, to node): bytes this way do not arrive.
Way = tuple[int, int]
_PROBE_S = 0.02
_LINGER_0 = struct.pack("ii", 1, 0)


class Links:
    """All proxies of one cluster, in a thread with an event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kbroker-links", daemon=True)
        self._proxies: list[_Proxy] = []
        self.cuts: set[Way] = set()
        self._thread.start()

    def add(self, way: Way, host: str, port: int) -> int:
        """A detour for connections of node `way[0]` to a port of node `way[1]`; where it begins."""
        return int(self._run(self._add(way, host, port)))

    def cut(self, ways: Iterable[Way]) -> None:
        """Nothing arrives these ways any more."""
        self._run(self._set({*self.cuts, *ways}))

    def heal(self) -> None:
        """Everything arrives again."""
        self._run(self._set(set()))

    def close(self) -> None:
        """Close all ports and connections."""
        if self._thread.is_alive():
            self._run(self._close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _add(self, way: Way, host: str, port: int) -> int:
        proxy = _Proxy(self, way, host, port)
        await proxy.open()
        self._proxies.append(proxy)
        return proxy.port

    async def _set(self, cuts: set[Way]) -> None:
        self.cuts = cuts
        for proxy in self._proxies:
            proxy.cuts_changed()

    async def _close(self) -> None:
        for proxy in self._proxies:
            proxy.close()
        await asyncio.sleep(0.01)


class _Proxy:
    """One detour."""

    def __init__(self, links: Links, way: Way, host: str, port: int) -> None:
        self.links = links
        self.way = way
        self.port = 0
        self._target = host, port
        self._server: asyncio.Server | None = None
        self._ends: set[_End] = set()
        self._check: asyncio.Task[None] | None = None
        self._closed = False

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _End(self, self._ends), "127.0.0.1", self.port, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        self._closed = True
        if self._check is not None:
            self._check.cancel()
        if self._server is not None:
            self._server.close()
        for end in list(self._ends):
            end.abort()

    def is_cut(self, forwards: bool) -> bool:
        """Whether bytes from who connected (forwards), or to them, do not arrive."""
        return (self.way if forwards else self.way[::-1]) in self.links.cuts

    def cuts_changed(self) -> None:
        for end in list(self._ends):
            end.update()

    async def connect(self, end: _End) -> None:
        """The other half of a connection that came in."""
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: _End(self, self._ends, other=end), *self._target
            )
        except OSError:
            self.target_lost(end)

    def target_lost(self, end: _End) -> None:
        """Its connection ended, or none was possible. If its port refuses, so does ours before `end` does."""
        if self._closed:
            end.abort()
            return
        if self._check is None or self._check.done():
            self._check = asyncio.ensure_future(self._follow_target())
        self._check.add_done_callback(lambda _: None)
        asyncio.get_running_loop().call_later(0.005, end.abort)

    async def _follow_target(self) -> None:
        while not self._closed:
            try:
                _, writer = await asyncio.open_connection(*self._target)
            except OSError:
                if self._server is not None:
                    self._server.close()
                    self._server = None
                await asyncio.sleep(_PROBE_S)
                continue
            writer.close()
            if self._server is None:
                with contextlib.suppress(OSError):
                    await self.open()
            return


class _End(asyncio.Protocol):
    """One half of a connection: the one that came in, or the one to the target."""

    def __init__(self, proxy: _Proxy, ends: set[_End], other: _End | None = None) -> None:
        self._proxy = proxy
        self._ends = ends
        self._forwards = other is None
        self._other = other
        self._transport: asyncio.Transport | None = None
        self._held: list[bytes] = []
        self._over = False
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ends.add(self)
        if self._other is not None:
            self._other.meet(self)
        self.update()

    def meet(self, other: _End) -> None:
        """The way to the target is there."""
        self._other = other
        self.update()

    def update(self) -> None:
        """Cuts or halves have changed."""
        if self._transport is None:
            return
        cut = self._proxy.is_cut(self._forwards)
        if not cut and self._forwards and self._other is None and self._task is None:
            self._task = asyncio.ensure_future(self._proxy.connect(self))
        if cut or self._other is None:
            self._transport.pause_reading()
            return
        self._transport.resume_reading()
        held, self._held = self._held, []
        for data in held:
            self._other.write(data)
        if self._over:
            self._other.abort()

    def data_received(self, data: bytes) -> None:
        if self._other is None or self._proxy.is_cut(self._forwards):
            self._held.append(data)
        else:
            self._other.write(data)

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def pause_writing(self) -> None:
        if self._other is not None and self._other._transport is not None:
            self._other._transport.pause_reading()

    def resume_writing(self) -> None:
        if self._other is not None:
            self._other.update()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._ends.discard(self)
        self._over = True
        other = self._other
        if other is None:
            return
        if self._proxy.is_cut(self._forwards):
            return  # nobody hears of it before the link heals
        if self._forwards:
            other.abort()
        else:
            self._proxy.target_lost(other)

    def abort(self) -> None:
        transport = self._transport
        if transport is not None:
            sock = transport.get_extra_info("socket")
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_0)
            transport.abort()


def both_ways(one_side: Iterable[int], other_side: Iterable[int]) -> list[Way]:
    """All ways between two groups of nodes."""
    others = list(other_side)
    return [way for a in one_side for b in others for way in ((a, b), (b, a))]
