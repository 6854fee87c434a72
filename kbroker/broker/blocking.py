"""How work that blocks leaves the event loop's thread; the server has the threads (server/runtime.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

#: `run_blocking(work, done)`: do `work()` where blocking is allowed, then call `done(error or None)` on the
#: loop.
RunBlocking: TypeAlias = Callable[[Callable[[], object], Callable[[BaseException | None], None]], None]
