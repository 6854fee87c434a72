"""Who is connected, with what software, and which requests it uses: the list behind `kbroker-admin clients`.

A connection notes each API and version when it uses it first (`server/dispatch.py`), and nothing after, so
that the list costs no request anything. Connections are shown together by who they belong to. Of clients that
have left, the latest `GONE_MAX` are remembered.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple, Protocol

from kbroker.plain import made, plain
from kbroker.protocol.releases import releases

#: Clients remembered after their last connection has closed.
GONE_MAX = 1000
#: Characters kept of what a client calls itself.
NAME_LENGTH_MAX = 255


class Connected(Protocol):
    """What the list needs to know of a connection (`handlers/context.py: ConnectionContext`)."""

    connection_id: str
    client_address: str
    listener_name: str
    principal: str
    client_id: str | None
    client_software_name: str
    client_software_version: str
    connected_ms: int
    used: set[int]


class ClientName(NamedTuple):
    """What makes two connections those of one client."""

    client_id: str | None
    software: str
    software_version: str
    address: str
    listener: str
    principal: str


@plain()
class Client:
    """One client.

    Attributes:
        connections: open now.
        since_ms: when the first of its connections was opened, as far as remembered; ms since 1970.
        gone_ms: when the last was closed; None while one is open.
        used: API key to the lowest and highest version seen.
    """

    name: ClientName
    since_ms: int
    connections: int = 0
    gone_ms: int | None = None
    used: dict[int, tuple[int, int]] = made(default_factory=dict)

    def note(self, used: Iterable[int]) -> None:
        """Add what a connection used, as `key << 16 | version`."""
        known = self.used
        for key_and_version in used:
            key, version = key_and_version >> 16, key_and_version & 0xFFFF
            versions = known.get(key)
            if versions is None:
                known[key] = (version, version)
            elif not versions[0] <= version <= versions[1]:
                known[key] = (min(versions[0], version), max(versions[1], version))

    @property
    def dropped(self) -> dict[int, int]:
        """What it used and Kafka 4 does not serve any more (KIP-896): API key to the version needed there."""
        needed = _lowest_versions()
        return {key: needed[key] for key, (low, _) in self.used.items() if low < needed.get(key, 0)}


class ClientRegistry:
    """The connections of one node, and clients that have gone."""

    def __init__(self) -> None:
        self._open: dict[str, Connected] = {}
        self._gone: OrderedDict[ClientName, Client] = OrderedDict()
        self._on_closed: list[Callable[[str], None]] = []

    @property
    def connections(self) -> Iterable[Connected]:
        """Those that are open."""
        return self._open.values()

    def on_closed(self, listener: Callable[[str], None]) -> None:
        """Tell `listener` the id of every connection that closes."""
        self._on_closed.append(listener)

    def opened(self, connection: Connected, now_ms: int) -> None:
        """A connection was accepted."""
        connection.connected_ms = now_ms
        self._open[connection.connection_id] = connection

    def closed(self, connection: Connected, now_ms: int) -> None:
        """A connection is over. One that never asked anything is forgotten."""
        if self._open.pop(connection.connection_id, None) is None:
            return
        if connection.used:
            name = _name(connection)
            client = self._gone.setdefault(name, Client(name, connection.connected_ms))
            client.note(connection.used)
            client.gone_ms = now_ms
            self._gone.move_to_end(name)
            if len(self._gone) > GONE_MAX:
                self._gone.popitem(last=False)
        for listener in self._on_closed:
            listener(connection.connection_id)

    def clients(self, *, gone: bool = False) -> list[Client]:
        """Connected clients, those that came first first; then those that have left, the latest first.

        Args:
            gone: with those that have left.
        """
        found: dict[ClientName, Client] = {}
        for connection in self._open.values():
            if connection.used:
                name = _name(connection)
                client = found.setdefault(name, Client(name, connection.connected_ms))
                client.connections += 1
                client.note(connection.used)
        for name, earlier in self._gone.items():
            if name in found:
                found[name].since_ms = min(found[name].since_ms, earlier.since_ms)
                for key, versions in earlier.used.items():
                    found[name].note(key << 16 | version for version in versions)
        clients = sorted(found.values(), key=lambda client: client.since_ms)
        if gone:
            clients += [client for name, client in reversed(self._gone.items()) if name not in found]
        return clients


def _name(connection: Connected) -> ClientName:
    client_id = connection.client_id
    return ClientName(
        None if client_id is None else client_id[:NAME_LENGTH_MAX],
        connection.client_software_name[:NAME_LENGTH_MAX],
        connection.client_software_version[:NAME_LENGTH_MAX],
        connection.client_address,
        connection.listener_name,
        connection.principal,
    )


@cache
def _lowest_versions() -> Mapping[int, int]:
    """Of the newest release of Kafka, by API key."""
    newest = list(releases().values())[-1]
    return {key: low for key, (low, _) in newest.served.items()}
