"""A cluster's node in a thread of this process, with an event loop of its own."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Mapping
from contextlib import suppress

from kbroker.config.loading import load_config
from kbroker.errors import ConfigError
from kbroker.main import Node
from kbroker.nodes import node_for

#: How long a start or stop may take before something is wrong, in seconds.
PATIENCE_S = 60.0


class InProcessRunner:
    """Runs a node until `stop` or `kill`; the latter ends it as if its process were killed.

    `pause` holds its thread, so that it does nothing while its sockets stay open, as SIGSTOP does. What the
    node logs goes to a file beside its folder, as that of a process does.
    """

    def __init__(self, settings: Mapping[str, str], profile: str) -> None:
        self._config = load_config(profile=profile, assignments=settings.items()).config
        folder = settings["log.dirs"].split(",")[0]
        self._log = _ThreadLog(f"{folder.rstrip('/')}.log")
        self._ready = threading.Event()
        self._go_on = threading.Event()
        self._error: BaseException | None = None
        self._node: Node | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._kills = False
        self._thread = threading.Thread(target=self._run, name=f"kbroker-{self._config.node_id}", daemon=True)

    @property
    def pid(self) -> int:
        """It has none of its own."""
        raise AssertionError("a node in this process has no process of its own")

    def has_ended(self) -> bool:
        """Whether the node ended by itself."""
        return not self._thread.is_alive()

    def spawn(self) -> None:
        """Begin to start; `wait_ready` waits until it serves."""
        self._thread.start()

    def wait_ready(self) -> str:
        """The address, once it serves.

        Raises:
            ConfigError: the node cannot start like this.
        """
        if not self._ready.wait(PATIENCE_S):
            raise TimeoutError(f"the node did not start within {PATIENCE_S:.0f} s")
        if self._error is not None:
            self._thread.join()
            raise self._error
        assert self._node is not None
        return self._node.bootstrap

    def pause(self) -> None:
        """Hold the node's thread where it is, between two events."""
        assert self._loop is not None
        held = threading.Event()

        def hold() -> None:
            held.set()
            self._go_on.wait()

        self._go_on.clear()
        self._loop.call_soon_threadsafe(hold)
        if not held.wait(PATIENCE_S):
            raise TimeoutError("the node's thread is busy")

    def resume(self) -> None:
        """Let it go on."""
        self._go_on.set()

    def begin_stop(self) -> None:
        """Stop cleanly; `stop` waits for it."""
        assert self._loop is not None
        assert self._stop is not None
        # A thread that ends lives on for a moment without its loop.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop.set)

    def stop(self) -> None:
        """Stop cleanly."""
        self.begin_stop()
        self._thread.join(PATIENCE_S)
        if self._error is not None:
            raise self._error

    def kill(self) -> None:
        """End it here and now."""
        self._kills = True
        self._go_on.set()
        self.stop()

    def _run(self) -> None:
        from kbroker.cli.run import new_event_loop

        loop = new_event_loop(self._config.get_str("kbroker.event.loop"))
        asyncio.set_event_loop(loop)
        try:
            with self._log:
                loop.run_until_complete(self._serve(loop))
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()
            loop.close()

    async def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._stop = loop, asyncio.Event()
        node = self._node = node_for(self._config)
        await node.start()
        self._ready.set()
        told = asyncio.ensure_future(self._stop.wait())
        failed = asyncio.ensure_future(node.failed.wait())
        await asyncio.wait([told, failed], return_when=asyncio.FIRST_COMPLETED)
        failed.cancel()
        if self._kills:
            await node.crash()
        else:
            await node.stop()
        if not told.done():
            told.cancel()
            raise ConfigError(f"node {node.node_id} ended by itself, see its log")


class _ThreadLog(logging.Handler):
    """What the thread that entered it logs, in a file; from INFO on, unless the tests have set a level."""

    _entered = 0
    _lock = threading.Lock()
    _set_level = False

    def __init__(self, path: str) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self._path = path
        self._thread = 0

    def __enter__(self) -> _ThreadLog:
        os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
        self._thread = threading.get_ident()
        self._file = open(self._path, "a", encoding="utf-8")
        logger = logging.getLogger("kbroker")
        logger.addHandler(self)
        with _ThreadLog._lock:
            _ThreadLog._entered += 1
            if logger.level == logging.NOTSET:
                logger.setLevel(logging.INFO)
                _ThreadLog._set_level = True
        return self

    def __exit__(self, *exception: object) -> None:
        logger = logging.getLogger("kbroker")
        logger.removeHandler(self)
        self._file.close()
        with _ThreadLog._lock:
            _ThreadLog._entered -= 1
            if not _ThreadLog._entered and _ThreadLog._set_level:
                logger.setLevel(logging.NOTSET)
                _ThreadLog._set_level = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write it, if that thread says it."""
        if record.thread == self._thread:
            self._file.write(self.format(record) + "\n")
            self._file.flush()
