"""Stand-ins that several rooms' tests share."""

from __future__ import annotations

import time


class StandingClock:
    """A clock that goes on when the test says so."""

    def __init__(self):
        self.now = 1_700_000_000_000

    def now_ms(self):
        return self.now

    def monotonic_ms(self):
        return self.now


class HandThread:
    """Runs blocking work when the test says so; give `run_blocking` to what wants a thread."""

    def __init__(self):
        self.jobs = []

    def run_blocking(self, work, done):
        self.jobs.append((work, done))

    def finish(self):
        """Do the oldest piece of work; the disk's errors are told to whom it is for."""
        work, done = self.jobs.pop(0)
        error = None
        try:
            work()
        except OSError as problem:
            error = problem
        done(error)


def wait_until(condition, what="that", patience_s=60.0):
    """For real processes and threads: wait until `condition` holds."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, f"it does not come to {what}"
        time.sleep(0.02)
