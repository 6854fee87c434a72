"""Connections to other nodes as Kafka's metrics name them; loaded when somebody looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kbroker.broker.peer import ChannelFigures
from kbroker.metrics.rates import RecentRates
from kbroker.metrics.registry import ATTRIBUTES

if TYPE_CHECKING:
    from kbroker.broker.services import Services

_SERVER = "kafka.server"
#: What each of our channels is in Kafka; all that is asked of the controller shares one.
_OF_ALL = {
    "raft-channel-metrics": ("raft", "raft-fetch"),
    "txn-marker-channel-metrics": ("markers",),
}
_OF_BROKER = {
    "alter-partition-metrics": ("controller",),
    "forwarding-metrics": ("forward",),
    "heartbeat-metrics": ("heartbeat",),
}
_FETCHERS = "replica-fetcher-metrics"
#: Kafka's name -> what is counted; `-total` and `-rate` of each are told.
_COUNTED = {
    "connection-creation": "opened",
    "connection-close": "closed",
    "incoming-byte": "bytes_in",
    "outgoing-byte": "bytes_out",
    "request": "requests",
    "response": "responses",
    "successful-authentication": "logins",
    "failed-authentication": "login_failures",
    "successful-reauthentication": "relogins",
}


def add(services: Services) -> None:
    """Add the families."""
    registry = services.metrics
    rates = RecentRates(lambda: {(each, name): n for each, name, n in _counts(services)})
    registry.on_tick.append(rates.tick)
    broker_id = str(services.config.node_id)
    for kind, channels in (_OF_ALL | _OF_BROKER).items():
        keys, labels = ((), ()) if kind in _OF_ALL else (("BrokerId",), (broker_id,))
        registry.rows(
            _SERVER,
            kind,
            "",
            ATTRIBUTES,
            keys,
            lambda labels=labels, channels=channels: [  # type: ignore[misc]
                (labels, _told([each for each in _figures(services) if each.channel in channels], rates))
            ],
        )

    def fetchers() -> Iterator[tuple[tuple[str, str], dict[str, float]]]:
        for each in _figures(services):
            kind, _, number = each.channel.partition("-")
            if kind == "fetch":
                yield (str(each.address.node_id), number), _told([each], rates)

    registry.rows(_SERVER, _FETCHERS, "", ATTRIBUTES, ("broker-id", "fetcher-id"), fetchers)


def _figures(services: Services) -> list[ChannelFigures]:
    return [] if services.peers is None else list(services.peers.figures)


def _counts(services: Services) -> Iterator[tuple[ChannelFigures, str, int]]:
    for each in _figures(services):
        for name, attribute in _COUNTED.items():
            yield each, name, getattr(each, attribute)


def _told(channels: Iterable[ChannelFigures], rates: RecentRates) -> dict[str, Any]:
    channels = list(channels)
    found: dict[str, Any] = {"connection-count": sum(each.opened - each.closed for each in channels)}
    for name, attribute in _COUNTED.items():
        found[f"{name}-total"] = sum(getattr(each, attribute) for each in channels)
        found[f"{name}-rate"] = sum(rates.of((each, name)) for each in channels)
    return found
