"""For all tests.

What follows the last test of a process has no time limit of pytest-timeout's, and a worker that hangs there
hangs the whole run: here it is bounded.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
import threading

import pytest
from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("kbroker", deadline=None)
settings.load_profile("kbroker")

#: Twice what a test may take: its own limit, and as much for the fixtures of the session.
_LAST_WORDS_S = 240
_CLOSING_S = 10
_stderr = -1


def pytest_configure() -> None:
    """Keep the real standard error; while tests run it is captured."""
    global _stderr
    _stderr = os.dup(sys.__stderr__.fileno() if sys.__stderr__ else 2)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """After the last test: say where it hangs and end, should fixtures and what follows take for ever."""
    if nextitem is None:
        faulthandler.dump_traceback_later(_LAST_WORDS_S, exit=True, file=_stderr)


def pytest_sessionfinish() -> None:
    """Close what nobody refers to any more: librdkafka's clients would go on to log behind the summary.

    Closing one waits for its threads, so another thread than this does it.
    """
    closing = threading.Thread(target=gc.collect, daemon=True)
    closing.start()
    closing.join(_CLOSING_S)
    if closing.is_alive():
        faulthandler.dump_traceback(file=_stderr, all_threads=True)


def pytest_unconfigure() -> None:
    """It is over in time."""
    faulthandler.cancel_dump_traceback_later()
