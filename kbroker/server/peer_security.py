"""How this node shows itself to other nodes: TLS and login, for brokers and for controllers.

Only made where one of the two is not PLAINTEXT.
"""

from __future__ import annotations

import random
import secrets
import threading
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
from kbroker.security.token_keeper import Outside

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
        outside: for tokens that it shows.

    Raises:
        ConfigError: the settings do not do.
    """

    def __init__(
        self,
        config: BrokerConfig,
        listener: str,
        protocol: str,
        mechanism_setting: str,
        outside: Outside,
    ) -> None:
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
            self.logins = _logins(config, settings, self.mechanism, what, outside)

    @property
    def tls(self) -> ssl.SSLContext | None:
        """For a new connection; None: it is not encrypted."""
        return None if self._tls is None else self._tls.context()

    def _renew(self, changed: frozenset[str]) -> None:
        if self._tls is not None and any("ssl." in each for each in changed):
            self._tls.renew()


def _logins(
    config: BrokerConfig, settings: ListenerSettings, mechanism: str, what: str, outside: Outside
) -> ClientLogins:
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
        outside,
        what,
        config.get_list("kbroker.oauthbearer.allowed.urls"),
    )


class Patience:
    """Clocks, chance and threads for logins that ask a provider. Who waits does so until `close` at most."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self.outside = Outside(
            now_ms=lambda: time.time_ns() // 1_000_000,
            clock_s=time.monotonic,
            sleep=self._over.wait,
            chance=random.random,
            later=self._later,
        )

    def close(self) -> None:
        """Nothing is waited for any more; who asks a provider at this moment is left alone with it."""
        self._over.set()

    def _later(self, wait_s: float, work: Callable[[], None]) -> None:
        def run() -> None:
            if not self._over.wait(wait_s):
                work()

        threading.Thread(target=run, name="kbroker-token", daemon=True).start()


class PeersSecurity:
    """What each address needs.

    Args:
        config: of the node.
        controller_listener: the name of the controllers' one.

    Raises:
        ConfigError: the settings do not do.
    """

    def __init__(self, config: BrokerConfig, controller_listener: str) -> None:
        self._patience = Patience()

        def towards(listener: str, mechanism_setting: str) -> PeerSecurity | None:
            protocol = protocol_of(config, listener)
            if protocol == "PLAINTEXT":
                return None
            return PeerSecurity(config, listener, protocol, mechanism_setting, self._patience.outside)

        self._brokers = towards(inter_broker_listener(config), "sasl.mechanism.inter.broker.protocol")
        self._controllers = towards(controller_listener, "sasl.mechanism.controller.protocol")

    def __call__(self, address: PeerAddress) -> PeerSecurity | None:
        """None: that address needs nothing."""
        if address.security_protocol == AS_CONTROLLER:
            return self._controllers
        return self._brokers if address.security_protocol else None

    def close(self) -> None:
        """The node stops: nobody waits for tokens any more."""
        self._patience.close()
