"""What a node is in its cluster: process.roles and the controller quorum, checked as Kafka checks them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kbroker.config.listeners import ListenerAddress, inter_broker_listener
from kbroker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbroker.config.broker_config import BrokerConfig

_DEFAULT_LISTENER = "CONTROLLER"
#: KIP-866: the cluster is moving from ZooKeeper to KRaft.
MIGRATION = "zookeeper.metadata.migration.enable"


class HostPort(NamedTuple):
    """An address without a node."""

    host: str
    port: int


class ConfiguredVoter(NamedTuple):
    """An entry of controller.quorum.voters."""

    id: int
    host: str
    port: int


class QuorumConfig(NamedTuple):
    """The node's part.

    Attributes:
        is_broker, is_controller: process.roles.
        controller_listener: the first of controller.listener.names, over which controllers are reached.
        voters: the fixed quorum; empty: it is in the metadata, or is this node.
        bootstrap: addresses to ask for the quorum.
    """

    is_broker: bool
    is_controller: bool
    controller_listener: str
    voters: tuple[ConfiguredVoter, ...]
    bootstrap: tuple[HostPort, ...]


def uses_zookeeper(config: BrokerConfig) -> bool:
    """Whether the cluster's metadata are in ZooKeeper: zookeeper.connect without process.roles."""
    return bool(config.static.get("zookeeper.connect")) and not config.get_list("process.roles")


def migrates(config: BrokerConfig) -> bool:
    """Whether the node takes part in its cluster's migration from ZooKeeper to KRaft.

    Raises:
        ConfigError: the setting is neither true nor false.
    """
    text = config.static.get(MIGRATION, "").strip().lower()
    if text not in ("", "true", "false"):
        raise ConfigError(f"{MIGRATION} must be true or false")
    return text == "true"


def quorum_config(config: BrokerConfig) -> QuorumConfig:
    """Read the settings.

    Raises:
        ConfigError: they do not fit together.
    """
    roles = set(config.get_list("process.roles"))
    if uses_zookeeper(config):
        return _of_zookeeper(config)
    if not roles:
        raise ConfigError(
            "process.roles must be broker, controller or both; or zookeeper.connect must be set"
        )
    names = _controller_listeners(config)
    found = _settings(config, "broker" in roles, "controller" in roles)
    _check(config.node_id, found, bool(names))
    if migrates(config) and found.is_controller and not config.static.get("zookeeper.connect"):
        raise ConfigError(f"If using `{MIGRATION}` in KRaft mode, `zookeeper.connect` must also be set.")
    return found


def _controller_listeners(config: BrokerConfig) -> list[str]:
    return [name.upper() for name in config.get_list("controller.listener.names")]


def _settings(config: BrokerConfig, is_broker: bool, is_controller: bool) -> QuorumConfig:
    return QuorumConfig(
        is_broker,
        is_controller,
        next(iter(_controller_listeners(config)), _DEFAULT_LISTENER),
        tuple(map(_voter, config.get_list("controller.quorum.voters"))),
        tuple(map(_host_port, config.get_list("controller.quorum.bootstrap.servers"))),
    )


def _of_zookeeper(config: BrokerConfig) -> QuorumConfig:
    """Controllers are brokers there; during a migration there is a quorum as well, which a broker joins."""
    names = _controller_listeners(config)
    if not migrates(config):
        if names:
            raise ConfigError(
                "controller.listener.names must be empty when not running in KRaft mode: "
                f"[{', '.join(names)}]"
            )
        return QuorumConfig(True, False, inter_broker_listener(config), (), ())
    found = _settings(config, True, False)
    if int(config.static.get("broker.id", "-1")) < 0:
        raise ConfigError(
            "broker.id generation is incompatible with ZooKeeper migration. Please stop using it before "
            "enabling migration (set broker.id to a value greater or equal to 0)."
        )
    if not found.voters and not found.bootstrap:
        raise ConfigError(
            f"If using {MIGRATION}, either controller.quorum.bootstrap.servers must contain the set of "
            "bootstrap controllers or controller.quorum.voters must contain a parseable set of controllers."
        )
    if not names:
        raise ConfigError(
            "controller.listener.names must not be empty when running in ZooKeeper migration mode: []"
        )
    _check(config.node_id, found, has_names=True)
    return found


def check_listeners(
    quorum: QuorumConfig, clients: Sequence[ListenerAddress], controllers: Sequence[ListenerAddress]
) -> None:
    """Whether `listeners` has what the roles need, and nothing else.

    Raises:
        ConfigError: it has not.
    """
    if quorum.is_broker and not clients:
        raise ConfigError("listeners has no listener for clients")
    if not quorum.is_broker and clients:
        raise ConfigError(
            f"listeners must only contain the controller's listeners when process.roles is controller, not "
            f"{clients[0].name}"
        )
    if not quorum.is_controller and controllers:
        raise ConfigError(
            f"listeners must not contain {controllers[0].name}, a listener of controller.listener.names, "
            "when process.roles is broker"
        )
    needs_listener = len(quorum.voters) > 1 or quorum.bootstrap or not quorum.is_broker
    if quorum.is_controller and not controllers and needs_listener:
        raise ConfigError(
            "listeners needs a listener of controller.listener.names when process.roles contains controller"
        )


def _check(node_id: int, quorum: QuorumConfig, has_names: bool) -> None:
    ids = [voter.id for voter in quorum.voters]
    if len(set(ids)) < len(ids):
        raise ConfigError("controller.quorum.voters names a node twice")
    addresses: dict[tuple[str, int], int] = {}
    for voter in quorum.voters:
        other = addresses.setdefault((voter.host, voter.port), voter.id)
        if other != voter.id:
            raise ConfigError(
                f"controller.quorum.voters gives nodes {other} and {voter.id} the same address, "
                f"{voter.host}:{voter.port}"
            )
    if not quorum.is_controller and not quorum.voters and not quorum.bootstrap:
        raise ConfigError(
            "a broker without a controller of its own needs controller.quorum.bootstrap.servers or "
            "controller.quorum.voters"
        )
    if not has_names and (len(quorum.voters) > 1 or not (quorum.is_broker and quorum.is_controller)):
        raise ConfigError("controller.listener.names must name the listener of the controllers")
    if quorum.voters and quorum.is_controller and node_id not in ids:
        raise ConfigError(
            f"controller.quorum.voters must contain this node, {node_id}, as process.roles contains "
            "controller"
        )
    if not quorum.is_controller and node_id in ids:
        raise ConfigError(
            f"controller.quorum.voters must not contain this node, {node_id}, as process.roles is broker"
        )


def peer_routes(config: BrokerConfig) -> dict[tuple[str, int], tuple[str, int]]:
    """kbroker.peer.routes: by the advertised address, where to connect in its place.

    Raises:
        ConfigError: it is malformed.
    """
    routes: dict[tuple[str, int], tuple[str, int]] = {}
    for text in config.get_list("kbroker.peer.routes"):
        told, _, real = text.partition(">")
        try:
            routes[_pair(told)] = _pair(real)
        except ConfigError:
            raise ConfigError("kbroker.peer.routes must be a list of host:port>host:port") from None
    return routes


def _pair(text: str) -> tuple[str, int]:
    host, port = _host_port(text)
    return host, port


def _voter(text: str) -> ConfiguredVoter:
    node, _, address = text.partition("@")
    host, _, port = address.rpartition(":")
    # A list that was separated by something else than commas must not pass as one voter.
    if not (node.isdecimal() and _is_host(host) and _is_port(port)):
        raise ConfigError("controller.quorum.voters must be a list of id@host:port")
    return ConfiguredVoter(int(node), host.strip("[]"), int(port))


def _host_port(text: str) -> HostPort:
    host, _, port = text.rpartition(":")
    if not (_is_host(host) and _is_port(port)):
        raise ConfigError("controller.quorum.bootstrap.servers must be a list of host:port")
    return HostPort(host.strip("[]"), int(port))


def _is_host(text: str) -> bool:
    return re.fullmatch(r"\[[0-9a-zA-Z.:%_-]+\]|[0-9a-zA-Z.:%_-]+", text) is not None


def _is_port(text: str) -> bool:
    return text.isdecimal() and int(text) <= 65_535
