"""How work that blocks leaves the event loop's thread; the server has the threads (server/runtime.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kbroker.broker.deferred import Deferred

#: `run_blocking(work, done)`: do `work()` where blocking is allowed, then call `done(error or None)` on the
#: loop.
RunBlocking: TypeAlias = Callable[[Callable[[], object], Callable[[BaseException | None], None]], None]


def when_run(run_blocking: RunBlocking, work: Callable[[], object]) -> Deferred[None]:
    """Done when `work` is; fails with its error."""
    done: Deferred[None] = Deferred()

    def finish(error: BaseException | None) -> None:
        if error is None:
            done.resolve(None)
        else:
            done.fail(error)

    run_blocking(work, finish)
    return done
