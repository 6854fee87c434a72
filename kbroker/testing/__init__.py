"""A broker for tests: `with Broker() as broker: Producer({"bootstrap.servers": broker.bootstrap})`; and a
`Cluster` of several.

Importing this costs nothing; the broker itself is imported when one starts.
"""

from kbroker.testing.broker import Broker
from kbroker.testing.cluster import Cluster

__all__ = ["Broker", "Cluster"]
