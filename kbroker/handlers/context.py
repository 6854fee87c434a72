"""Who asks, and through which door: the part of a request that is not its body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.plain import made, plain

if TYPE_CHECKING:
    from kbroker.broker.connection_meter import ConnectionMeter
    from kbroker.handlers.produce_refused import RefusedRows

#: Kinds of listeners, as the schemas name them.
BROKER, CONTROLLER = "broker", "controller"


@plain()
class ConnectionContext:
    """What is the same for every request of one connection."""

    connection_id: str
    """Unlike that of any other connection of this node; what is kept for a connection is kept by this."""
    client_address: str
    """The peer's IP address, `127.0.0.1` for a peer whose address is unknown (tests)."""
    client_port: int = 0
    listener_name: str = "PLAINTEXT"
    security_protocol: str = "PLAINTEXT"
    local_address: str = "127.0.0.1"
    """The address that the client reached us under."""
    local_port: int = 0
    principal: str = "User:ANONYMOUS"
    role: str = BROKER
    """Which kind of listener it came to. CONTROLLER also for what a broker forwards, and what this node asks
    itself: it is for the active controller alone."""
    by_token: bool = False
    """Whether it has logged in by a delegation token; such a client makes no others (KIP-48)."""
    privileged: bool = False
    """True on a listener between brokers, where internal APIs are allowed."""
    trusted: bool = False
    """This node itself asks: no authorizer has a say."""
    client_software_name: str = "unknown"
    client_software_version: str = "unknown"
    client_id: str | None = None
    """As in the newest kind of request."""
    connected_ms: int = -1
    used: set[int] = made(default_factory=set)
    """The kinds of requests that came, as `key << 16 | version` (`broker/clients.py`)."""
    meter: ConnectionMeter | None = None
    """What its requests take of its client's quotas; None: there are none, or it has not logged in."""
    refused: RefusedRows | None = None
    """Batches that were refused, while others that came behind them may be under way."""


@plain()
class RequestContext:
    """One request's header, and its connection."""

    connection: ConnectionContext
    api_key: int
    version: int
    correlation_id: int
    client_id: str | None = None

    @property
    def client_address(self) -> str:
        """The peer's IP address as text."""
        return self.connection.client_address

    @property
    def client_host(self) -> str:
        """The peer's address as Kafka prints it in group descriptions (`/127.0.0.1`)."""
        return "/" + self.connection.client_address

    @property
    def listener_name(self) -> str:
        """The listener the request came in on."""
        return self.connection.listener_name

    @property
    def principal(self) -> str:
        """Who asks, as `User:name`."""
        return self.connection.principal

    @property
    def client_software_name(self) -> str:
        """From ApiVersions v3+ (KIP-511), `unknown` before."""
        return self.connection.client_software_name

    @property
    def client_software_version(self) -> str:
        """From ApiVersions v3+ (KIP-511), `unknown` before."""
        return self.connection.client_software_version
