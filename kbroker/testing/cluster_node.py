"""One node of a `Cluster`: a process, or a thread of this one, that is started, stopped, killed and paused.

Law of this file: a node that was killed or stopped can be started again with the data that it left; who has
ended by itself is said to run until somebody stops it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kbroker.config.local_cluster import LocalNode
from kbroker.testing.process import ProcessRunner

if TYPE_CHECKING:
    from kbroker.testing.in_process import InProcessRunner


class ClusterNode:
    """One node of a `Cluster`: `id`, `bootstrap` ("host:port"), `data` (its folder), `pid` while it runs."""

    def __init__(
        self, plan: LocalNode, settings: Mapping[str, str], profile: str, in_process: bool = False
    ) -> None:
        self.plan = plan
        self.id = plan.id
        self.bootstrap = plan.bootstrap
        self.data = plan.folder
        self.settings = dict(settings)
        self.paused = False
        self._profile = profile
        self._in_process = in_process
        #: A command that runs the node's, such as `ip netns exec NAME`.
        self.prefix: Sequence[str] = ()
        #: Whether it has served since its start.
        self.is_ready = False
        self._runner: ProcessRunner | InProcessRunner | None = None

    @property
    def running(self) -> bool:
        """Whether it was started and neither stopped nor killed."""
        return self._runner is not None

    def has_ended(self) -> bool:
        """Whether its process ended by itself."""
        return self._runner is not None and self._runner.has_ended()

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._runner is not None, f"node {self.id} does not run"
        return self._runner.pid

    @property
    def log(self) -> str:
        """What it has said on stderr."""
        with open(f"{self.data}.log", encoding="utf-8", errors="replace") as file:
            return file.read()

    def spawn(self) -> None:
        """Start the process, or the thread."""
        assert self._runner is None, f"node {self.id} runs already"
        runner: ProcessRunner | InProcessRunner
        if self._in_process:
            from kbroker.testing.in_process import InProcessRunner

            runner = InProcessRunner(self.settings, self._profile)
        else:
            runner = ProcessRunner(self.settings, self._profile, keeps_log=True, prefix=self.prefix)
        runner.spawn()
        self._runner = runner
        self.is_ready = False

    def wait_ready(self) -> None:
        """Wait until it serves.

        Raises:
            ConfigError: it ended before; the text is what it said last.
        """
        assert self._runner is not None
        try:
            self._runner.wait_ready()
        except BaseException:
            self._runner = None
            raise
        self.is_ready = True

    def begin_stop(self) -> None:
        """SIGTERM; `stop` waits."""
        self.resume()
        assert self._runner is not None
        self._runner.begin_stop()

    def stop(self) -> None:
        """SIGTERM, and wait."""
        self.resume()
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.stop()

    def kill(self) -> None:
        """SIGKILL."""
        runner, self._runner = self._runner, None
        self.paused = False
        assert runner is not None, f"node {self.id} does not run"
        runner.kill()

    def pause(self) -> None:
        """SIGSTOP: it is there, and does nothing."""
        assert self._runner is not None, f"node {self.id} does not run"
        self._runner.pause()
        self.paused = True

    def resume(self) -> None:
        """SIGCONT."""
        if self.paused:
            assert self._runner is not None
            self._runner.resume()
            self.paused = False
