"""From checked settings to a running node and back: event loop, logging, signals."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.cli.log_setup import set_up_logging
from kbroker.config.loading import Loaded
from kbroker.errors import ConfigError

if TYPE_CHECKING:
    from kbroker.main import Node

_log = logging.getLogger("kbroker")

#: A broker makes hardly any circles, and what it keeps (logs, metadata) is large: with the interpreter's own
#: numbers it would stop for seconds to look through 10,000 new partitions, time after time.
_GC_THRESHOLDS = (10_000, 20, 100)


def new_event_loop(kind: str) -> asyncio.AbstractEventLoop:
    """uvloop if `kind` is auto and it is installed, else the loop of that name.

    Raises:
        ConfigError: uvloop is demanded and missing.
    """
    if kind in ("auto", "uvloop"):
        try:
            import uvloop
        except ImportError:
            if kind == "uvloop":
                raise ConfigError("kbroker.event.loop is uvloop, which is not installed") from None
        else:
            loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
            return loop
    return asyncio.new_event_loop()


def run(loaded: Loaded, banner: Callable[[Node], str], *, stop_with_stdin: bool = False) -> int:
    """Start a node, say so, wait for a signal, stop; returns the exit code.

    Args:
        banner: what to print when the node serves.
        stop_with_stdin: the end of standard input counts as a signal.

    Raises:
        ConfigError: the node cannot start like this; nothing on the disk has changed.
    """
    config = loaded.config
    set_up_logging(config)
    for warning in loaded.warnings:
        _log.warning("%s", warning)
    loop = new_event_loop(config.get_str("kbroker.event.loop"))
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(_serve(loop, loaded, banner, stop_with_stdin))
    finally:
        loop.close()


async def _serve(
    loop: asyncio.AbstractEventLoop, loaded: Loaded, banner: Callable[[Node], str], stop_with_stdin: bool
) -> int:
    from kbroker.nodes import node_for
    from kbroker.server.process_limits import raise_open_files_limit

    raise_open_files_limit()
    stop = loop.create_future()
    _catch_signals(loop, stop)
    if stop_with_stdin:
        _watch_stdin(loop, stop)
    node = node_for(loaded.config)
    try:
        if not await _started(node, stop):
            return 0
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
    finally:
        gc.enable()
    try:
        _say(banner(node))
        failed = asyncio.ensure_future(node.failed.wait())
        await asyncio.wait([stop, failed], return_when=asyncio.FIRST_COMPLETED)
        failed.cancel()
    finally:
        await node.stop()
    return 0 if stop.done() else 1


async def _started(node: Node, stop: asyncio.Future[None]) -> bool:
    """Start, which may take as long as there is no quorum; False if a signal came first."""
    start = asyncio.ensure_future(node.start())
    await asyncio.wait([start, stop], return_when=asyncio.FIRST_COMPLETED)
    if not start.done():
        start.cancel()
        await asyncio.wait([start])
        return False
    start.result()
    return True


def _say(text: str) -> None:
    """Print; that nobody reads it (any more) is no reason not to serve."""
    try:
        print(text, flush=True)
    except OSError:
        # What is left in the buffer must not fail again at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _catch_signals(loop: asyncio.AbstractEventLoop, stop: asyncio.Future[None]) -> None:
    """The first SIGTERM or SIGINT resolves `stop`; the next one ends the process where it is.

    A kill -9 loses nothing that was acknowledged, so the hard way out does not either.
    """

    def on_signal() -> None:
        if stop.done():
            os._exit(130)
        stop.set_result(None)

    def from_any_thread(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(on_signal)

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            continue
        try:
            loop.add_signal_handler(number, on_signal)
        except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
            signal.signal(number, from_any_thread)


def _watch_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Future[None]) -> None:
    """Resolve `stop` when standard input ends. In a thread: not every loop can watch every kind of file."""

    def on_end() -> None:
        if not stop.done():
            stop.set_result(None)

    def read_to_end() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        with contextlib.suppress(RuntimeError):  # the loop is closed: we are stopping anyway
            loop.call_soon_threadsafe(on_end)

    threading.Thread(target=read_to_end, name="kbroker-stdin", daemon=True).start()
