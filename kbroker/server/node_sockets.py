"""A node's listeners, bound before anything is written, and what others are told of them."""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbroker.config.listeners import (
    ListenerAddress,
    advertised_controllers,
    advertised_listeners,
    bound_listeners,
    controller_listeners,
    inter_broker_listener,
    protocol_of,
)
from kbroker.config.quorum import QuorumConfig, check_listeners
from kbroker.handlers.context import BROKER, CONTROLLER
from kbroker.metadata.image import Endpoint
from kbroker.server.binding import bind_sockets

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.server.listener import SocketServer
    from kbroker.server.listener_security import ListenerSecurity
    from kbroker.server.peer_security import PeersSecurity

_log = logging.getLogger(__name__)
_PROTOCOL_NUMBERS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


class NodeSockets:
    """Listening, but not accepting yet.

    Args:
        config: of the node.
        quorum: its part in the cluster.

    Raises:
        ConfigError: the listeners are not what the roles need, or an address cannot be used.
    """

    def __init__(self, config: BrokerConfig, quorum: QuorumConfig) -> None:
        clients, controllers = bound_listeners(config), controller_listeners(config)
        check_listeners(quorum, clients, controllers)
        secured = [each for each in (*clients, *controllers) if each.security_protocol != "PLAINTEXT"]
        self._security = _security(config, secured) if secured else {}
        _warn_of_idle_back_ends(config, secured)
        #: How this node shows itself to others; None: as everybody can.
        self.peer_security = _peer_security(config, quorum)
        self._sockets: dict[str, tuple[ListenerAddress, str, list[socket.socket]]] = {}
        try:
            bound_clients = [self._bind(each, BROKER) for each in clients]
            bound_controllers = [self._bind(each, CONTROLLER) for each in controllers]
            name = config.get_str("kbroker.advertised.host") or socket.gethostname()
            #: What clients and other brokers are told.
            self.clients = advertised_listeners(config, bound_clients, name)
            #: What the other nodes are told of the controller listeners.
            self.controllers = advertised_controllers(config, bound_controllers, name)
        except BaseException:
            self.close()
            raise

    @property
    def bootstrap(self) -> str:
        """The host:port that clients start with; of a controller by itself, that of its quorum."""
        first = (*self.clients, *self.controllers)[0]
        host = f"[{first.host}]" if ":" in first.host else first.host
        return f"{host}:{first.port}"

    @property
    def ports(self) -> dict[str, int]:
        """The port of each listener for clients, by its name."""
        return {each.name: each.port for each in self.clients}

    async def accept(self, server: SocketServer, role: str, services: Services) -> None:
        """Begin to accept on all listeners of that kind."""
        for listener, of_role, sockets in self._sockets.values():
            if of_role != role:
                continue
            security = self._security.get(listener.name)
            if security is not None:
                security.serve(services)
                if role == BROKER:
                    security.warn_if_nobody_has_credentials()
            await server.listen_on(
                listener.name, sockets, listener.security_protocol, role, security=security
            )

    def close(self) -> None:
        """Give the ports back."""
        if self.peer_security is not None:
            self.peer_security.close()
        for security in self._security.values():
            security.close()
        for _, _, sockets in self._sockets.values():
            for sock in sockets:
                sock.close()

    def _bind(self, listener: ListenerAddress, role: str) -> ListenerAddress:
        sockets = bind_sockets(listener.name, listener.host, listener.port)
        self._sockets[listener.name] = listener, role, sockets
        return listener._replace(port=sockets[0].getsockname()[1])


def _security(config: BrokerConfig, listeners: Sequence[ListenerAddress]) -> dict[str, ListenerSecurity]:
    # Plain nodes load nothing of it.
    from kbroker.server.listener_security import ListenerSecurity
    from kbroker.server.newcomers import EarlyBytes

    early = EarlyBytes()
    return {each.name: ListenerSecurity(config, each, early) for each in listeners}


def _warn_of_idle_back_ends(config: BrokerConfig, secured: Sequence[ListenerAddress]) -> None:
    """Who sets up where passwords are looked up wants somebody to be asked for one."""
    if config.get_list("kbroker.plain.backends") == ("jaas",):
        return
    from kbroker.config.security import ListenerSettings

    with_sasl = (each for each in secured if each.security_protocol.startswith("SASL_"))
    if any(
        "PLAIN" in ListenerSettings(config, each.name).words("sasl.enabled.mechanisms") for each in with_sasl
    ):
        return
    _log.warning("kbroker.plain.backends has no effect: no listener has SASL PLAIN")


def _peer_security(config: BrokerConfig, quorum: QuorumConfig) -> PeersSecurity | None:
    names = (inter_broker_listener(config), quorum.controller_listener)
    if all(protocol_of(config, name) == "PLAINTEXT" for name in names):
        return None
    from kbroker.server.peer_security import PeersSecurity

    return PeersSecurity(config, quorum.controller_listener)


def endpoints(listeners: Sequence[ListenerAddress]) -> list[Endpoint]:
    """Listeners as the metadata has them."""
    return [Endpoint(a.name, a.host, a.port, _PROTOCOL_NUMBERS[a.security_protocol]) for a in listeners]
