"""Processes that each run `kbroker start`.

On Linux they are copies of this one, made when it has imported all that a node needs: so this is done, and
paid for, once. Elsewhere each is an interpreter of its own.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Protocol

#: Everything above standard error that this process had open, pipes to others among it.
_FILES_MAX = 1024


class Child(Protocol):
    """A process. Its standard input ends when this process does."""

    @property
    def stdout(self) -> IO[str]:
        """What it prints."""
        ...

    @property
    def stderr(self) -> IO[str]:
        """What it complains of."""
        ...

    def poll(self) -> int | None:
        """Its exit code, below 0 the signal that ended it; None while it runs."""
        ...

    def wait(self) -> int:
        """Until it has ended."""
        ...

    def send_signal(self, number: int) -> None:
        """Send a signal, if it runs."""
        ...


def start_children(commands: Sequence[Sequence[str]]) -> list[Child]:
    """A child for each list of arguments of `kbroker start`, in sessions of their own: Ctrl-C is for us, who
    tell them. To be called before any thread is started.
    """
    if sys.platform != "linux":
        return [_Spawned(arguments) for arguments in commands]
    import kbroker.cli.run
    import kbroker.main  # noqa: F401

    # What is there is never looked at by the children's collectors, and so stays shared.
    gc.collect()
    gc.freeze()
    return [_Forked(arguments) for arguments in commands]


class _Spawned:
    """Of an interpreter of its own."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kbroker.cli.main", "start", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.stdout, self.stderr = self._process.stdout, self._process.stderr

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self) -> int:
        return self._process.wait()

    def send_signal(self, number: int) -> None:
        if self._process.poll() is None:
            self._process.send_signal(number)


class _Forked:
    """A copy of this process."""

    def __init__(self, arguments: Sequence[str]) -> None:
        pipes = [os.pipe() for _ in range(3)]
        sys.stdout.flush()
        sys.stderr.flush()
        self._pid = os.fork()
        (input_, self._input), (output, out), (errors, err) = pipes
        if self._pid == 0:
            _become(arguments, input_, out, err)
        for end in (input_, out, err):
            os.close(end)
        self.stdout = os.fdopen(output, errors="replace")
        self.stderr = os.fdopen(errors, errors="replace")
        self._code: int | None = None
        #: Somebody may wait in a thread while another one looks.
        self._file = os.pidfd_open(self._pid)

    def poll(self) -> int | None:
        return self._reap(os.WNOHANG)

    def wait(self) -> int:
        while self._code is None:
            self._reap(0)
        return self._code

    def send_signal(self, number: int) -> None:
        if self._code is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._file, number)

    def _reap(self, options: int) -> int | None:
        if self._code is None:
            try:
                pid, status = os.waitpid(self._pid, options)
            except ChildProcessError:
                return self._code  # another thread is about to tell
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code


def _become(arguments: Sequence[str], input_: int, output: int, errors: int) -> None:
    """In the copy: run the node, and end."""
    code = 1
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        for end, standard in ((input_, 0), (output, 1), (errors, 2)):
            os.dup2(end, standard)
        # The pipes of the others, too: their nodes end when we do, and not when a brother does.
        os.closerange(3, _FILES_MAX)
        from kbroker.cli.start import start

        code = start(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)
