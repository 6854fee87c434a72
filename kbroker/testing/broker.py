"""`Broker`: one node, in a thread of this process or as a process of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from types import TracebackType

    from kbroker.testing.process import ProcessRunner
    from kbroker.testing.zookeeper import ZooKeeper

#: How long a restart waits for its port.
_PORT_PATIENCE_S = 10.0


class Runner(Protocol):
    """How the node runs. `start` returns the address that clients use."""

    def start(self) -> str: ...

    def stop(self) -> None: ...

    def kill(self) -> None: ...


class RunningBroker:
    """A broker that somebody started.

    Attributes:
        bootstrap: its "host:port".
        data: the folder of its data.
        client: settings of clients that it needs (`security.protocol` …).
    """

    def __init__(self, bootstrap: str, data: str, client: Mapping[str, str] | None = None) -> None:
        self.bootstrap = bootstrap
        self.client = dict(client or {})
        self.data = data

    def create_topic(
        self, name: str, partitions: int = 1, *, config: Mapping[str, object] | None = None
    ) -> str:
        """Create a topic and wait until it can be used; returns its name.

        Raises:
            ApiError: it exists, or a setting is refused.
        """
        from kbroker.client.cluster import Cluster
        from kbroker.client.topics import create_topic

        settings = {key: setting_text(value) for key, value in (config or {}).items()}
        with Cluster(self.bootstrap, settings=self.client) as cluster:
            create_topic(cluster, name, partitions=partitions, replication_factor=1, configs=settings)
        return name


class Broker(RunningBroker):
    """A one-node cluster on a free port, with its data in a temporary folder. Use as a context manager.

    Args:
        config: settings by Kafka's names; values of any type are turned into text (True -> "true").
        data: folder of the data; a temporary one, removed at the end, if None.
        subprocess: a process of its own, which `kill` can end the hard way, instead of a thread.
        port: port to listen on; 0 takes a free one, which restarts then keep.
        host: address to listen on.
        profile: `dev` or `production`.
        client: settings of clients, for what this object itself asks.
        controller: "kraft", or "zookeeper" to keep the cluster's metadata there.
        zookeeper: "host:port/chroot" of a ZooKeeper that runs; None: one is started, as `Cluster` says.
    """

    def __init__(
        self,
        *,
        config: Mapping[str, object] | None = None,
        data: str | os.PathLike[str] | None = None,
        subprocess: bool = False,
        port: int = 0,
        host: str = "127.0.0.1",
        profile: str = "dev",
        client: Mapping[str, str] | None = None,
        controller: str = "kraft",
        zookeeper: str | None = None,
    ) -> None:
        assert controller in ("kraft", "zookeeper"), f"controller: kraft or zookeeper, not {controller}"
        super().__init__("", os.fspath(data or ""), client)
        self.zookeeper = zookeeper or ""
        self._own_zookeeper: ZooKeeper | None = None
        self._starts_zookeeper = controller == "zookeeper" and not zookeeper
        self.config = {name: setting_text(value) for name, value in (config or {}).items()}
        self.profile = profile
        self.host = host
        self.port = port
        #: The port was the system's choice, in an earlier life.
        self._keeps_port = False
        #: By the name of the listener; not known of a process.
        self.ports: dict[str, int] = {}
        self._own_data = data is None
        self._subprocess = subprocess
        self._runner: Runner | None = None

    # -- life ------------------------------------------------------------------------------------------------

    def start(self) -> Broker:
        """Start the node; returns when it serves.

        Raises:
            ConfigError: it cannot start like this; the text says why.
        """
        assert self._runner is None, "the broker runs already"
        if not self.data:
            import tempfile

            self.data = tempfile.mkdtemp(prefix="kbroker-")
        try:
            if self._starts_zookeeper:
                self._start_zookeeper()
            self._runner = self._started()
        except BaseException:
            self._forget_data()
            raise
        self.ports = getattr(self._runner, "ports", {})
        self._keeps_port = self._keeps_port or not self.port
        self.port = int(self.bootstrap.rpartition(":")[2])
        return self

    def _start_zookeeper(self) -> None:
        from kbroker.testing.zookeeper import ZooKeeper

        if self._own_zookeeper is None:
            self._own_zookeeper = ZooKeeper(f"{self.data.rstrip('/')}.zookeeper")
            self.zookeeper = self._own_zookeeper.address
        if not self._own_zookeeper.running:
            self._own_zookeeper.start()

    def _started(self) -> Runner:
        """A kept port of the system's choice may be on loan to an outgoing connection for a moment."""
        import time

        from kbroker.errors import ConfigError

        deadline = time.monotonic() + _PORT_PATIENCE_S
        while True:
            runner = self._new_runner()
            try:
                self.bootstrap = runner.start()
            except ConfigError as error:
                if not self._keeps_port or "in use" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return runner

    def stop(self) -> None:
        """Stop cleanly and remove a temporary data folder. Harmless if it does not run."""
        self._end(kill=False)
        self._forget_data()

    def restart(self) -> None:
        """Stop cleanly and start again on the same data and port."""
        self._end(kill=False)
        self.start()

    def kill(self) -> None:
        """End the process as `kill -9` does; the data stay, and `start` goes on with them.

        For subprocesses only.
        """
        assert self._subprocess, "only Broker(subprocess=True) can be killed"
        self._end(kill=True)

    def pause(self) -> None:
        """Let the process stand still (SIGSTOP), as a machine does that swaps; for subprocesses only."""
        self._process().pause()

    def resume(self) -> None:
        """Let a paused one go on."""
        self._process().resume()

    def _process(self) -> ProcessRunner:
        assert self._subprocess, "only Broker(subprocess=True) can be paused"
        assert self._runner is not None, "the broker does not run"
        return cast("ProcessRunner", self._runner)

    @property
    def running(self) -> bool:
        """Whether it was started and not stopped."""
        return self._runner is not None

    def _new_runner(self) -> Runner:
        settings = {"log.dirs": self.data, **self.config}
        if self.zookeeper:
            from kbroker.testing.zookeeper import ZOOKEEPER_SETTINGS

            settings = {**ZOOKEEPER_SETTINGS, **settings, "zookeeper.connect": self.zookeeper}
            if "broker.id" not in settings and "node.id" not in settings:
                # Else it would be given one, from 1001 on.
                settings["broker.id"] = "1"
        settings.setdefault("listeners", f"PLAINTEXT://{self.host}:{self.port}")
        if self._subprocess:
            from kbroker.testing.process import ProcessRunner

            return ProcessRunner(settings, self.profile)
        from kbroker.testing.thread import ThreadRunner

        return ThreadRunner(settings, self.profile)

    def _end(self, *, kill: bool) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            if kill:
                runner.kill()
            else:
                runner.stop()

    def _forget_data(self) -> None:
        if self._own_zookeeper is not None:
            self._own_zookeeper.stop()
        if self._own_data and self.data:
            import os
            import shutil

            shutil.rmtree(self.data, ignore_errors=True)
            if self._own_zookeeper is not None:
                shutil.rmtree(self._own_zookeeper.folder, ignore_errors=True)
                self._own_zookeeper = None
            # What a process that was killed has said.
            if os.path.exists(f"{self.data}.log"):
                os.unlink(f"{self.data}.log")
            self.data = ""

    def __enter__(self) -> Broker:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Broker:
        import asyncio

        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import asyncio

        await asyncio.to_thread(self.stop)


def setting_text(value: object) -> str:
    """A setting's value as text (True -> "true")."""
    return str(value).lower() if isinstance(value, bool) else str(value)
