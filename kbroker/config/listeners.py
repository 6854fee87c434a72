"""The addresses that a node binds and those it tells its clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kbroker.errors import ConfigError

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


class ListenerAddress(NamedTuple):
    """One listener. An empty host is every interface; port 0 lets the system choose."""

    name: str
    host: str
    port: int
    security_protocol: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


def bound_listeners(config: BrokerConfig) -> tuple[ListenerAddress, ...]:
    """The listeners that clients and brokers connect to, without those of the controller quorum.

    Raises:
        ConfigError: an entry is no NAME://host:port, a name or port comes twice, a name has no protocol.
    """
    return _split(config, "listeners", config.get_list("listeners"))[0]


def controller_listeners(config: BrokerConfig) -> tuple[ListenerAddress, ...]:
    """The listeners of the controller quorum, in the order of controller.listener.names.

    Raises:
        ConfigError: as `bound_listeners`.
    """
    return _split(config, "listeners", config.get_list("listeners"))[1]


def inter_broker_listener(config: BrokerConfig) -> str:
    """The name of the listener over which brokers reach each other: inter.broker.listener.name, or the first
    that has security.inter.broker.protocol.

    Raises:
        ConfigError: as `bound_listeners`.
    """
    name = config.get_str("inter.broker.listener.name").upper()
    if name:
        return name
    protocol = config.get_str("security.inter.broker.protocol") or "PLAINTEXT"
    listeners = bound_listeners(config)
    return next((each.name for each in listeners if each.security_protocol == protocol), protocol)


def protocol_of(config: BrokerConfig, listener: str) -> str:
    """The security protocol of a listener, here or of another node.

    Raises:
        ConfigError: listener.security.protocol.map is malformed.
    """
    protocols = _protocol_map(config)
    return protocols.get(listener.upper(), "PLAINTEXT")


def advertised_listeners(
    config: BrokerConfig, bound: Sequence[ListenerAddress], host_name: str
) -> tuple[ListenerAddress, ...]:
    """What clients are told: advertised.listeners, else the listeners with `host_name` for an empty host.

    Args:
        bound: the listeners as bound, with real ports.
        host_name: a name of this machine that clients can resolve.

    Raises:
        ConfigError: advertised.listeners is malformed, names an unknown listener, or advertises 0.0.0.0.
    """
    given = config.get_list("advertised.listeners")
    if not given:
        return tuple(
            listener._replace(host=host_name) if listener.host in ("", "0.0.0.0", "::") else listener
            for listener in bound
        )
    controllers = set(config.get_list("controller.listener.names"))
    found = [a for a in _parse(config, "advertised.listeners", given) if a.name not in controllers]
    by_name = {listener.name: listener for listener in bound}
    result: list[ListenerAddress] = []
    for listener in found:
        if listener.name not in by_name:
            raise ConfigError(f"advertised.listeners names {listener.name}, which is not among listeners")
        if listener.host in ("", "0.0.0.0"):
            raise ConfigError(
                f"advertised.listeners cannot contain {listener}: clients cannot connect to that address"
            )
        result.append(listener if listener.port else listener._replace(port=by_name[listener.name].port))
    return tuple(result)


def advertised_controllers(
    config: BrokerConfig, bound: Sequence[ListenerAddress], host_name: str
) -> tuple[ListenerAddress, ...]:
    """What other nodes are told of the controller listeners; as `advertised_listeners`."""
    given = _split(config, "advertised.listeners", config.get_list("advertised.listeners"))[1]
    by_name = {listener.name: listener for listener in given}
    result = []
    for listener in bound:
        told = by_name.get(listener.name, listener)
        if told.host in ("", "0.0.0.0", "::"):
            told = told._replace(host=host_name)
        result.append(told if told.port else told._replace(port=listener.port))
    return tuple(result)


def _split(
    config: BrokerConfig, setting: str, entries: Sequence[str]
) -> tuple[tuple[ListenerAddress, ...], tuple[ListenerAddress, ...]]:
    """Those for clients, and those of the controllers."""
    names = [name.upper() for name in config.get_list("controller.listener.names")]
    found = _parse(config, setting, entries)
    return (
        tuple(listener for listener in found if listener.name not in names),
        tuple(sorted((each for each in found if each.name in names), key=lambda e: names.index(e.name))),
    )


def _parse(config: BrokerConfig, setting: str, entries: Sequence[str]) -> list[ListenerAddress]:
    protocols = _protocol_map(config)
    found: list[ListenerAddress] = []
    for entry in entries:
        listener = _parse_entry(setting, entry, protocols)
        if any(listener.name == other.name for other in found):
            raise ConfigError(
                f"{setting}: each listener must have a different name, {listener.name} is there twice"
            )
        if listener.port and any(
            listener.port == other.port and listener.host == other.host for other in found
        ):
            raise ConfigError(f"{setting}: {listener.port} is the port of two listeners")
        found.append(listener)
    return found


def is_endpoint(entry: str) -> bool:
    """Whether the text is of the form NAME://host:port."""
    name, separator, address = entry.partition("://")
    _, colon, port = address.rpartition(":")
    return bool(name and separator and colon) and port.isascii() and port.isdigit() and int(port) <= 65535


def _parse_entry(setting: str, entry: str, protocols: dict[str, str]) -> ListenerAddress:
    if not is_endpoint(entry):
        raise ConfigError(
            f"{setting}: unable to parse {entry!r}, it must look like PLAINTEXT://localhost:9092"
        )
    name, _, address = entry.partition("://")
    host, _, port = address.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    name = name.upper()
    protocol = protocols.get(name)
    if protocol is None:
        raise ConfigError(
            f"{setting}: listener.security.protocol.map gives no security protocol for listener {name}"
        )
    return ListenerAddress(name, host, int(port), protocol)


def _protocol_map(config: BrokerConfig) -> dict[str, str]:
    text = config.get_str("listener.security.protocol.map")
    found: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, colon, protocol = pair.partition(":")
        protocol = protocol.strip().upper()
        if not colon or protocol not in PROTOCOLS:
            raise ConfigError(
                f"listener.security.protocol.map: {pair!r} does not name one of {', '.join(PROTOCOLS)}"
            )
        found[name.strip().upper()] = protocol
    # As in Kafka, controller listeners without an entry are plaintext if the map was left alone.
    if config.source_of("listener.security.protocol.map") == "default":
        for name in config.get_list("controller.listener.names"):
            found.setdefault(name.upper(), "PLAINTEXT")
    return found
