"""A broker for tests: `with Broker() as broker: Producer({"bootstrap.servers": broker.bootstrap})`; and a
`Cluster` of several.

Importing this costs nothing; the broker itself is imported when one starts.
"""

from typing import TYPE_CHECKING, Any

from kbroker.testing.broker import Broker

if TYPE_CHECKING:
    from kbroker.testing.cluster import Cluster

__all__ = ["Broker", "Cluster"]


def __getattr__(name: str) -> Any:
    if name == "Cluster":
        from kbroker.testing.cluster import Cluster

        return Cluster
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
