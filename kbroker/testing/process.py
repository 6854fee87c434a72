"""A node as a process of its own: `kbroker start`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

import kbroker
from kbroker.errors import ConfigError

#: How long a stop may take before the process is killed, in seconds.
PATIENCE_S = 30.0
_LISTENS = re.compile(r"kbroker \S+ listens on (\S+)")


class ProcessRunner:
    """Runs `python -m kbroker.cli.main start` with the settings as `--set`.

    The broker stops by itself when this process is gone, unless it `outlives_us`. What it logs goes to a file
    beside the data folder, named like it with `.log` at the end. `prefix` is a command that runs it, such as
    `ip netns exec NAME`, and becomes it.
    """

    def __init__(
        self,
        settings: Mapping[str, str],
        profile: str,
        *,
        outlives_us: bool = False,
        keeps_log: bool = False,
        prefix: Sequence[str] = (),
    ) -> None:
        self._prefix = prefix
        self._outlives_us = outlives_us
        self._keeps_log = keeps_log
        self._settings = settings
        self._profile = profile
        self._process: subprocess.Popen[str] | None = None
        folder = settings["log.dirs"].split(",")[0]
        self.log_path = f"{folder.rstrip('/')}.log"

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process is not None
        return self._process.pid

    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._process is not None and self._process.poll() is not None

    def start(self) -> str:
        """Returns the address.

        Raises:
            ConfigError: the process ended before it served; the text is what it said last.
        """
        self.spawn()
        return self.wait_ready()

    def spawn(self) -> None:
        """Start the process; `wait_ready` waits until it serves."""
        arguments = [*self._prefix, sys.executable, "-m", "kbroker.cli.main", "start"]
        arguments += ["--profile", self._profile]
        if not self._outlives_us:
            arguments.append("--stop-with-stdin")
        for name, value in self._settings.items():
            arguments += ["--set", f"{name}={value}"]
        # Settings in the environment of the tests are meant for other programs.
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "KBROKER_"))
        }
        package = os.path.dirname(os.path.dirname(os.path.abspath(kbroker.__file__)))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, environment.get("PYTHONPATH"))))
        os.makedirs(os.path.dirname(self.log_path) or ".", exist_ok=True)
        with open(self.log_path, "ab") as log:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL if self._outlives_us else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                text=True,
                start_new_session=True,
            )

    def wait_ready(self) -> str:
        """The address, once it serves; raises as `start`."""
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            match = _LISTENS.match(line)
            if match:
                return match[1]
        self._process.wait()
        raise ConfigError(self._last_words())

    def pause(self) -> None:
        """SIGSTOP."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def begin_stop(self) -> None:
        """SIGTERM; `stop` waits for the end."""
        assert self._process is not None
        self._process.terminate()

    def stop(self) -> None:
        """SIGTERM; SIGKILL if that takes too long."""
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._close()

    def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._close_pipes()

    def _close_pipes(self) -> None:
        assert self._process is not None
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _close(self) -> None:
        self._close_pipes()
        if not self._keeps_log and os.path.exists(self.log_path):
            os.unlink(self.log_path)

    def _last_words(self) -> str:
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            lines = log.read().splitlines()
        self._close()
        return lines[-1].removeprefix("kbroker: ") if lines else "the broker ended without a word"
