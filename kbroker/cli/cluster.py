"""`kbroker start --cluster N`: several nodes on this machine, each a process, under one command.

The parent starts them, shows what they log with the node's number in front, and stops them when it is
stopped itself. Their data stay in the folder: the same command goes on with them.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, TypeAlias

from kbroker.cli.children import Child, start_children
from kbroker.config.local_cluster import (
    NODES_MAX,
    OWN_SETTINGS,
    LocalNode,
    consecutive_ports,
    node_settings,
    plan_nodes,
    zookeeper_node_settings,
)
from kbroker.errors import ConfigError

if TYPE_CHECKING:
    import argparse

#: A node's process that has ended, or None: we were told to stop.
_Events: TypeAlias = "SimpleQueue[_Process | None]"
_LISTENS = re.compile(r"kbroker \S+ listens on (\S+)")


class _Process:
    """A node's process, and threads that pass on what it says."""

    def __init__(self, node: LocalNode, child: Child, events: _Events) -> None:
        self.node = node
        self.ready = threading.Event()
        self.serves = False
        self._events = events
        self._child = child
        self._start(self._hear, child.stdout)
        self._stderr = self._start(self._relay, child.stderr)

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._child.poll()

    def signal(self, number: int) -> None:
        """Send a signal, if it runs."""
        self._child.send_signal(number)

    def wait(self) -> None:
        """Until it has ended and all it said is passed on."""
        self._child.wait()
        self._stderr.join(1)

    @staticmethod
    def _start(work: object, stream: IO[str]) -> threading.Thread:
        thread = threading.Thread(target=work, args=(stream,), daemon=True)  # type: ignore[arg-type]
        thread.start()
        return thread

    def _hear(self, stream: IO[str]) -> None:
        for line in stream:
            if _LISTENS.match(line):
                self.serves = True
                self.ready.set()
        self._child.wait()
        self.ready.set()
        self._events.put(self)

    def _relay(self, stream: IO[str]) -> None:
        for line in stream:
            print(f"[{self.node.id}] {line}", end="", file=sys.stderr, flush=True)


def start_cluster(options: argparse.Namespace) -> int:
    """Run the nodes until told to stop; returns the exit code.

    Raises:
        ConfigError: it cannot start like this; no node was started.
    """
    nodes, cluster_id = _plan(options)
    if options.node is not None:
        return _start_one(options, nodes, cluster_id)
    events: _Events = SimpleQueue()
    _catch_signals(events)
    children = start_children([_arguments(options, node, nodes, cluster_id) for node in nodes])
    processes = [_Process(node, child, events) for node, child in zip(nodes, children)]
    try:
        for process in processes:
            while not process.ready.wait(0.05):
                if not events.empty():
                    # Told to stop; or one has ended, for whom the others might wait a minute.
                    return 0 if events.get() is None else 1
        if not all(process.serves for process in processes):
            return 1
        print(_banner(options, nodes, cluster_id or _known_id(nodes)), flush=True)
        return _watch(len(processes), events, options)
    finally:
        _stop(processes)


def _start_one(options: argparse.Namespace, nodes: Sequence[LocalNode], cluster_id: str) -> int:
    """One node of a cluster whose others run, in this process."""
    from kbroker.cli.run import run
    from kbroker.cli.start import banner
    from kbroker.config.loading import load_config

    settings = _settings(options, nodes[options.node - 1], nodes, cluster_id)
    loaded = load_config(profile=options.profile, environment=os.environ, assignments=[*settings.items()])
    return run(loaded, banner, stop_with_stdin=options.stop_with_stdin)


def _watch(alive: int, events: _Events, options: argparse.Namespace) -> int:
    """Until a signal, or all have ended by themselves."""
    while alive:
        process = events.get()
        if process is None:
            return 0
        alive -= 1
        text = f"kbroker: node {process.node.id} has ended ({_how(process.exit_code)}); the others go on"
        if options.port != 0:
            text += f". Bring it back with the command of this start and --node {process.node.id}"
        print(text, file=sys.stderr, flush=True)
    return 1


def _how(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"


def _stop(processes: Sequence[_Process]) -> None:
    for process in processes:
        process.signal(signal.SIGTERM)
    for process in processes:
        process.wait()


def _catch_signals(events: _Events) -> None:
    """The first SIGINT or SIGTERM is an event. The second one ends us, and with our pipes the nodes."""
    seen: list[int] = []

    def caught(number: int, frame: object) -> None:
        if seen:
            os._exit(130)
        seen.append(number)
        events.put(None)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, caught)


def _plan(options: argparse.Namespace) -> tuple[list[LocalNode], str]:
    from kbroker.cli.start import DEFAULT_DATA
    from kbroker.server.node_folders import new_uuid
    from kbroker.types import uuid_to_string

    count: int = options.cluster
    if not 1 <= count <= NODES_MAX:
        raise ConfigError(f"--cluster must be between 1 and {NODES_MAX}, not {count}")
    if options.node is not None and not 1 <= options.node <= count:
        raise ConfigError(f"--node must be between 1 and {count}, not {options.node}")
    if options.node is not None and options.port == 0:
        raise ConfigError("--node needs the --port that the cluster was started with")
    own = sorted(OWN_SETTINGS.intersection(_overrides(options)))
    if own:
        raise ConfigError(f"--cluster gives each node a {own[0]} of its own: it cannot be set for all")
    host = options.host or "localhost"
    if ":" in host or host == "0.0.0.0":
        raise ConfigError(f"--cluster needs a name or an IPv4 address of this machine, not {host}")
    first = 9092 if options.port is None else options.port
    if not 0 <= first <= 65536 - count:
        raise ConfigError(f"--port must be between 0 and {65536 - count} for {count} nodes, not {first}")
    ports = consecutive_ports(first, count) if first else _free_ports(count)
    folder = os.path.abspath(options.data or DEFAULT_DATA)
    if os.path.exists(os.path.join(folder, "meta.properties")):
        raise ConfigError(f"{folder} has the data of a single broker; give another folder with --data")
    nodes = plan_nodes(folder, host, ports)
    _check_size(folder, nodes)
    cluster_id = _known_id(nodes)
    if not cluster_id and options.node is not None:
        raise ConfigError(f"there is no cluster in {folder}: start all its nodes first, without --node")
    if _zookeeper(options):
        # Whoever is the first one there has named the cluster.
        return nodes, cluster_id
    return nodes, cluster_id or uuid_to_string(new_uuid())


def _known_id(nodes: Sequence[LocalNode]) -> str:
    """Of the cluster whose data are there; "" if there are none."""
    from kbroker.server.node_folders import known_cluster_id

    return known_cluster_id([node.folder for node in nodes]) or ""


def _check_size(folder: str, nodes: Sequence[LocalNode]) -> None:
    """Whether the data there are of a cluster of that many nodes; node folders beyond may be left over from
    a start that was refused.
    """
    from kbroker.broker.metadata_files import MetadataFiles
    from kbroker.server.os_disk import OsDisk

    for node in nodes:
        voters = MetadataFiles(OsDisk(), node.folder).read_static_voters()
        if voters and len(voters) != len(nodes):
            raise ConfigError(
                f"{folder} has the data of a cluster of {len(voters)} nodes: start it with --cluster "
                f"{len(voters)}, or give another folder with --data"
            )
        if voters:
            return
    beyond = os.path.join(folder, f"node-{len(nodes) + 1}")
    if os.path.exists(beyond):
        raise ConfigError(f"{folder} has the data of a cluster of more than {len(nodes)} nodes")


def _free_ports(count: int) -> list[tuple[int, int]]:
    sockets = [socket.socket() for _ in range(2 * count)]
    try:
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        ports = [sock.getsockname()[1] for sock in sockets]
    finally:
        for sock in sockets:
            sock.close()
    return list(zip(ports[::2], ports[1::2]))


def _arguments(
    options: argparse.Namespace, node: LocalNode, nodes: Sequence[LocalNode], cluster_id: str
) -> list[str]:
    arguments = ["--profile", options.profile, "--stop-with-stdin"]
    for name, value in _settings(options, node, nodes, cluster_id).items():
        arguments += ["--set", f"{name}={value}"]
    return arguments


def _settings(
    options: argparse.Namespace, node: LocalNode, nodes: Sequence[LocalNode], cluster_id: str
) -> dict[str, str]:
    connect = _zookeeper(options)
    if connect:
        return zookeeper_node_settings(node, nodes, connect, _overrides(options))
    return node_settings(node, nodes, cluster_id, _overrides(options))


def _zookeeper(options: argparse.Namespace) -> str:
    """zookeeper.connect; "" in KRaft."""
    from kbroker.cli.start import checked_connect

    connect = _overrides(options).get("zookeeper.connect", options.zookeeper)
    return "" if connect is None else checked_connect(connect)


def _overrides(options: argparse.Namespace) -> dict[str, str]:
    """What holds for all nodes: of files, and of the command line, which wins."""
    from kbroker.cli.start import read_settings
    from kbroker.config.sources import parse_assignment

    found: dict[str, str] = {}
    for path in options.config:
        found |= read_settings(path)
    return found | dict(parse_assignment(text) for text in options.set)


def _banner(options: argparse.Namespace, nodes: Sequence[LocalNode], cluster_id: str) -> str:
    from kbroker import __version__
    from kbroker.cli.start import admin_command, client_need

    protocol = _overrides(options).get("security.inter.broker.protocol", "PLAINTEXT")
    option, need = client_need(protocol)
    admin = f"{admin_command()} -b {nodes[0].bootstrap}{option}"
    lines = [f"kbroker {__version__}: a cluster of {len(nodes)} nodes  (cluster {cluster_id})"]
    lines += [f"  node {node.id} listens on {node.bootstrap}, data in {node.folder}" for node in nodes]
    if need:
        lines.append(need.rstrip())
    lines += [
        f"reach it at {','.join(node.bootstrap for node in nodes)}",
        f"try:  {admin} topics create greetings",
        f"      {admin} topics produce greetings --value hello",
        f"      {admin} topics describe greetings",
        "stop with Ctrl-C; the data stay",
    ]
    return "\n".join(lines)
