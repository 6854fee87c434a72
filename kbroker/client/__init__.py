"""A small client of our own: synchronous, over the generated codecs, for `kbroker-admin` and for tests.

It speaks to Apache Kafka as well: versions are negotiated with each broker. `Cluster` asks; the modules
`topics`, `offsets`, `groups`, `group_offsets`, `configs`, `describe` and `records` are functions over it that
return plain values.
"""

from kbroker.client.cluster import Cluster
from kbroker.client.connection import Address, Connection
from kbroker.client.errors import ClientError, Unreachable, Unsupported

__all__ = ["Address", "ClientError", "Cluster", "Connection", "Unreachable", "Unsupported"]
