"""How this node shows itself to other nodes: TLS and login, for brokers and for controllers.

Only made where one of the two is not PLAINTEXT.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.broker.peer import AS_CONTROLLER, PeerAddress
from kbroker.config.definitions import broker_definition
from kbroker.config.listeners import inter_broker_listener, protocol_of
from kbroker.config.security import ListenerSettings
from kbroker.errors import ConfigError
from kbroker.security.jaas import parse_jaas
from kbroker.security.sasl_client import ClientLogins

if TYPE_CHECKING:
    import ssl

    from kbroker.config.broker_config import BrokerConfig
    from kbroker.security.ssl_context import TlsSource


class PeerSecurity:
    """Towards nodes of one kind.

    Args:
        config: of the node.
        listener: theirs; its settings here are those of this node's own side.
        protocol: of that listener, not PLAINTEXT.
        mechanism_setting: names the mechanism.

    Raises:
        ConfigError: the settings do not do.
    """

    def __init__(self, config: BrokerConfig, listener: str, protocol: str, mechanism_setting: str) -> None:
        settings = ListenerSettings(config, listener)
        self.mechanism = settings.text(mechanism_setting) if protocol.startswith("SASL_") else ""
        self._tls: TlsSource | None = None
        #: Only with a mechanism.
        self.logins: ClientLogins | None = None
        if protocol in ("SSL", "SASL_SSL"):
            from kbroker.security.ssl_context import TlsSource, client_context, store_paths

            self._tls = TlsSource(
                lambda: client_context(settings.text, listener),
                lambda: store_paths(settings.text),
                time.monotonic,
            )
            config.subscribe(self._renew)
        if self.mechanism:
            what = f"{mechanism_setting} over {listener}"
            self.logins = _logins(config, settings, self.mechanism, what)

    @property
    def tls(self) -> ssl.SSLContext | None:
        """For a new connection; None: it is not encrypted."""
        return None if self._tls is None else self._tls.context()

    def _renew(self, changed: frozenset[str]) -> None:
        if self._tls is not None and any("ssl." in each for each in changed):
            self._tls.renew()


def _logins(config: BrokerConfig, settings: ListenerSettings, mechanism: str, what: str) -> ClientLogins:
    text = settings.text("sasl.jaas.config", mechanism)
    name = settings.name_of("sasl.jaas.config", mechanism)
    if not text:
        raise ConfigError(f"{what}: {name} must say who this node is")
    return ClientLogins(
        mechanism,
        parse_jaas(text, name),
        # Some that clients have are none of a broker.
        lambda name: "" if broker_definition(name) is None else settings.text(name, mechanism),
        lambda: secrets.token_urlsafe(24),
        lambda: time.time_ns() // 1_000_000,
        what,
        config.get_list("kbroker.oauthbearer.allowed.urls"),
    )


def peer_security(
    config: BrokerConfig, controller_listener: str
) -> Callable[[PeerAddress], PeerSecurity | None] | None:
    """What each address needs; None: none of them needs any.

    Raises:
        ConfigError: the settings do not do.
    """
    broker_listener = inter_broker_listener(config)
    broker, controller = protocol_of(config, broker_listener), protocol_of(config, controller_listener)
    if broker == controller == "PLAINTEXT":
        return None
    to_brokers = to_controllers = None
    if broker != "PLAINTEXT":
        setting = "sasl.mechanism.inter.broker.protocol"
        to_brokers = PeerSecurity(config, broker_listener, broker, setting)
    if controller != "PLAINTEXT":
        setting = "sasl.mechanism.controller.protocol"
        to_controllers = PeerSecurity(config, controller_listener, controller, setting)
    return lambda address: (
        to_controllers
        if address.security_protocol == AS_CONTROLLER
        else to_brokers
        if address.security_protocol
        else None
    )
