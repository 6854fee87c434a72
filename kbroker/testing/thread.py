"""A node in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping

from kbroker.config.loading import load_config
from kbroker.main import Node
from kbroker.nodes import node_for

#: How long a start or stop may take before something is wrong, in seconds.
PATIENCE_S = 60.0


class ThreadRunner:
    """Runs a node until `stop`. `kill` is not possible: a thread cannot be taken away."""

    def __init__(self, settings: Mapping[str, str], profile: str) -> None:
        self._config = load_config(profile=profile, assignments=settings.items()).config
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._address = ""
        self.ports: dict[str, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        #: For tests that look inside.
        self.node: Node | None = None
        self._thread = threading.Thread(target=self._run, name="kbroker", daemon=True)

    def start(self) -> str:
        """Returns the address.

        Raises:
            ConfigError: the node cannot start like this.
        """
        self._thread.start()
        if not self._ready.wait(PATIENCE_S):
            raise TimeoutError(f"the broker did not start within {PATIENCE_S:.0f} s")
        if self._error is not None:
            self._thread.join()
            raise self._error
        return self._address

    def stop(self) -> None:
        """Stop the node and wait for the thread."""
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE_S)
        if self._error is not None:
            raise self._error

    def kill(self) -> None:
        """Not for threads."""
        raise NotImplementedError("a thread cannot be killed")

    def _run(self) -> None:
        from kbroker.cli.run import new_event_loop

        loop = new_event_loop(self._config.get_str("kbroker.event.loop"))
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(self._serve(loop))
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()
            loop.close()

    async def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._stop = loop, asyncio.Event()
        node = self.node = node_for(self._config)
        await node.start()
        self._address = node.bootstrap
        self.ports = node.ports
        self._ready.set()
        await self._stop.wait()
        await node.stop()
