"""A broker for tests: `with Broker() as broker: Producer({"bootstrap.servers": broker.bootstrap})`.

Importing this costs nothing; the broker itself is imported when one starts.
"""

from kbroker.testing.broker import Broker

__all__ = ["Broker"]
