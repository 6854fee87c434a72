"""Listeners, sockets, requests. The notation is explained in `definition.py`."""

TABLE = """\
listeners | list | PLAINTEXT://:9092 | no empty items | broker | obeyed
    Addresses to accept connections on, as NAME://host:port; an empty host means every interface.
advertised.listeners | list | null | no empty items | ro | obeyed
    Addresses that clients are told to connect to; without it they are told the listeners themselves.
listener.security.protocol.map | string |\
 SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT | - | broker | obeyed
    Which security protocol each listener name speaks, as NAME:PROTOCOL pairs.
inter.broker.listener.name | string | null | - | ro | obeyed
    Name of the listener that brokers use among themselves; excludes security.inter.broker.protocol.
security.inter.broker.protocol | string | PLAINTEXT | in PLAINTEXT,SSL,SASL_PLAINTEXT,SASL_SSL | ro | obeyed
    Security protocol among brokers when no listener is named for that.
early.start.listeners | list | null | no empty items | ro |
    Listeners that open before the authorizer is ready; the controller listeners if unset.
max.connections | int | 2147483647 | >=0 | cluster | obeyed
    How many connections the broker holds at most; a listener prefix limits one listener.
max.connections.per.ip | int | 2147483647 | >=0 | cluster | obeyed
    How many connections one address may hold at a time.
max.connections.per.ip.overrides | string |  | - | cluster | obeyed
    Exceptions from the limit per address, as host:count pairs.
max.connection.creation.rate | int | 2147483647 | >=0 | cluster | obeyed
    How many connections a second the broker accepts at most.
connections.max.idle.ms | long | 600000 | - | ro | obeyed
    A connection without a request for this long is closed.
connections.max.reauth.ms | long | 0 | - | ro | obeyed
    A SASL session must authenticate again within this time; 0 never asks for it.
connection.failed.authentication.delay.ms | int | 100 | >=0 | ro | obeyed
    How long a failed authentication is held back before the connection closes.
socket.listen.backlog.size | int | 50 | >=1 | ro |
    How many new connections the operating system may queue for us to accept.
socket.send.buffer.bytes | int | 102400 | - | ro | obeyed
    Send buffer of client sockets; -1 leaves it to the operating system.
socket.receive.buffer.bytes | int | 102400 | - | ro |
    Receive buffer of client sockets; -1 leaves it to the operating system.
socket.request.max.bytes | int | 104857600 | >=1 | ro | obeyed
    The largest request accepted; a longer announcement closes the connection before memory is taken.
socket.connection.setup.timeout.ms | long | 10000 | - | ro |
    How long the broker waits for its own connection to another node at first.
socket.connection.setup.timeout.max.ms | long | 30000 | - | ro |
    Upper bound of that wait after repeated failures.
num.network.threads | int | 3 | >=1 | cluster |
    Kafka's network threads per listener; kbroker serves all sockets from one event loop.
num.io.threads | int | 8 | >=1 | cluster |
    Kafka's request threads; kbroker handles requests on its event loop.
background.threads | int | 10 | >=1 | cluster |
    Kafka's threads for background chores.
queued.max.requests | int | 500 | >=1 | ro |
    Requests that may wait before the network stops reading.
queued.max.request.bytes | long | -1 | - | ro |
    Bytes of waiting requests before the network stops reading; -1 sets no limit.
request.timeout.ms | int | 30000 | - | ro | obeyed
    How long the broker waits for answers to requests of its own.
fetch.max.bytes | int | 57671680 | >=1024 | ro | obeyed
    The most bytes one Fetch answer carries; the first batch is sent even if it is longer.
max.incremental.fetch.session.cache.slots | int | 1000 | >=0 | ro | obeyed
    How many incremental fetch sessions are remembered.
max.request.partition.size.limit | int | 2000 | >=1 | ro | obeyed
    The most partitions in one DescribeTopicPartitions answer.
fetch.purgatory.purge.interval.requests | int | 1000 | - | ro |
    How many finished waiting fetches may pile up before Kafka sweeps them out.
producer.purgatory.purge.interval.requests | int | 1000 | - | ro |
    How many finished waiting produces may pile up before Kafka sweeps them out.
delete.records.purgatory.purge.interval.requests | int | 1 | - | ro |
    The same sweep for waiting DeleteRecords.
share.fetch.purgatory.purge.interval.requests | int | 1000 | - | ro |
    The same sweep for waiting ShareFetches.
"""
