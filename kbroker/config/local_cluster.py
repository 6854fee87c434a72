"""A cluster of several nodes on one machine: the settings of each, for the command line and for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from kbroker.errors import ConfigError

#: Most nodes of a local cluster.
NODES_MAX = 9


class LocalNode(NamedTuple):
    """One node.

    Attributes:
        client_port, controller_port: of its two listeners.
        folder: of its data.
    """

    id: int
    host: str
    client_port: int
    controller_port: int
    folder: str

    @property
    def bootstrap(self) -> str:
        """The host:port that clients use."""
        return f"{self.host}:{self.client_port}"


def plan_nodes(folder: str, host: str, ports: Sequence[tuple[int, int]]) -> list[LocalNode]:
    """Nodes 1 to n, each with a folder of its own in `folder`, and (client, controller) ports."""
    return [
        LocalNode(number, host, client, controller, f"{folder.rstrip('/')}/node-{number}")
        for number, (client, controller) in enumerate(ports, 1)
    ]


def consecutive_ports(first: int, count: int) -> list[tuple[int, int]]:
    """Client ports from `first` on, and those of the controllers: 10,000 higher; where these are ports that
    the system gives to outgoing connections (Linux from 32,768 on, others from 49,152 on), lower.
    """
    distance = next(
        each for each in (10_000, -10_000, -20_000, -30_000, -35_000) if first + count + each <= 32_768
    )
    return [(first + number, first + number + distance) for number in range(count)]


#: Which settings are a node's own in a local cluster.
OWN_SETTINGS = frozenset(
    {
        "process.roles",
        "node.id",
        "broker.id",
        "listeners",
        "advertised.listeners",
        "controller.listener.names",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
        "kbroker.cluster.id",
        "log.dir",
        "log.dirs",
        "metadata.log.dir",
    }
)


_BETWEEN = "security.inter.broker.protocol"
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_TO_BROKERS, _TO_CONTROLLERS = "sasl.mechanism.inter.broker.protocol", "sasl.mechanism.controller.protocol"
_CONTROLLER = "listener.name.controller."
_MAP = "listener.security.protocol.map"
#: Files that are one node's, and the address that only one node can have.
_FILES = ("kbroker.log.file", "kbroker.audit.log", "kbroker.client.metrics.file")
_ADDRESS = "kbroker.metrics.listener"


def _apart(node: LocalNode, overrides: Mapping[str, str]) -> dict[str, str]:
    """What is given for all, where each needs its own: of node 2 `a.log` is `a-2.log`, port 1 is port 2."""
    own = dict(overrides)
    for name in _FILES:
        if own.get(name):
            path = PurePath(own[name])
            own[name] = str(path.with_name(f"{path.stem}-{node.id}{path.suffix}"))
    host, colon, port = own.get(_ADDRESS, "").rpartition(":")
    if port.isascii() and port.isdigit() and int(port):
        own[_ADDRESS] = f"{host}{colon}{int(port) + node.id - 1}"
    return own


def node_settings(
    node: LocalNode, nodes: Sequence[LocalNode], cluster_id: str, overrides: Mapping[str, str]
) -> dict[str, str]:
    """All settings of one node. Topics have a replica on each of three nodes, unless `overrides` say else.

    `security.inter.broker.protocol` is that of all listeners, the controllers' too, which have the settings
    of the clients' listener where there are none of their own. Who gives `listener.security.protocol.map`
    says it all himself; the clients' listener is called PLAINTEXT then.

    Raises:
        ConfigError: nodes could not log in to each other.
    """
    protocol = _protocol(overrides)
    voters = ",".join(f"{each.id}@{each.host}:{each.controller_port}" for each in nodes)
    return {
        **_of_controllers(protocol, overrides),
        **_common_settings(node, nodes, overrides),
        "process.roles": "broker,controller",
        "node.id": str(node.id),
        "listeners": f"{protocol}://{node.bootstrap},CONTROLLER://{node.host}:{node.controller_port}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": voters,
        "kbroker.cluster.id": cluster_id,
    }


def zookeeper_node_settings(
    node: LocalNode, nodes: Sequence[LocalNode], connect: str, overrides: Mapping[str, str]
) -> dict[str, str]:
    """The same of a node whose cluster is kept in ZooKeeper, at `connect`: host:port,…/chroot."""
    return {
        **_common_settings(node, nodes, overrides),
        "zookeeper.connect": connect,
        "broker.id": str(node.id),
        "listeners": f"{_protocol(overrides)}://{node.bootstrap}",
    }


def _protocol(overrides: Mapping[str, str]) -> str:
    if _MAP in overrides:
        return "PLAINTEXT"  # the listener's name; what it speaks is said there
    protocol = overrides.get(_BETWEEN, "PLAINTEXT").strip()
    if protocol not in _PROTOCOLS:
        raise ConfigError(f"{_BETWEEN} must be one of {', '.join(_PROTOCOLS)}, not {protocol}")
    return protocol


def _of_controllers(protocol: str, overrides: Mapping[str, str]) -> dict[str, str]:
    """What lets nodes in at each other's controllers, as far as `overrides` do not say it."""
    if protocol == "PLAINTEXT":
        return {}
    found = {_MAP: f"{protocol}:{protocol},CONTROLLER:{protocol}"}
    prefix = f"listener.name.{protocol.lower()}."
    for name, value in overrides.items():
        if name.startswith(prefix):
            found[_CONTROLLER + name.removeprefix(prefix)] = value
    if protocol.startswith("SASL_"):
        mechanism = overrides.get(_TO_CONTROLLERS) or overrides.get(_TO_BROKERS, "")
        if not mechanism or mechanism.startswith("SCRAM"):
            # Its users are in the metadata, which a node gets from the controllers.
            raise ConfigError(
                f"--cluster with {protocol} needs {_TO_BROKERS}=PLAIN, or another one in {_TO_CONTROLLERS} "
                "(SCRAM does not do there), and the users in "
                f"listener.name.{protocol.lower()}.plain.sasl.jaas.config (docs/security.md)"
            )
        found[_TO_CONTROLLERS] = found[f"{_CONTROLLER}sasl.enabled.mechanisms"] = mechanism
    return found


def _common_settings(
    node: LocalNode, nodes: Sequence[LocalNode], overrides: Mapping[str, str]
) -> dict[str, str]:
    replicas = str(min(3, len(nodes)))
    in_sync = "2" if len(nodes) >= 3 else "1"
    return {
        "default.replication.factor": replicas,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": replicas,
        "share.coordinator.state.topic.min.isr": in_sync,
        **_apart(node, overrides),
        "log.dirs": node.folder,
    }
