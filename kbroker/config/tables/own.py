"""Settings that only kbroker has; all begin with `kbroker.`. The notation is explained in `definition.py`."""

TABLE = """\
kbroker.advertised.host | string | null | not blank | ro | obeyed
    The name told to clients for a listener on all interfaces; the machine's own if unset.
kbroker.auto.create.wait | boolean | false | - | ro | obeyed
    Whether Metadata waits for a topic that it creates, instead of saying first, as Kafka does, that it is
    unknown.
kbroker.cluster.id | string | null | not blank | ro | obeyed
    The id that a new cluster gets and an old one must have; a random one if unset.
kbroker.event.loop | string | auto | in auto,uvloop,asyncio | ro | obeyed
    The event loop: uvloop if it is installed, or the one named.
kbroker.log.level | string | info | anycase DEBUG,INFO,WARNING,ERROR | ro | obeyed
    The least important log lines written to stderr.
kbroker.metadata.fsync | boolean | true | - | ro | obeyed
    Whether a metadata change waits until it is forced to disk; the development profile does not wait.
"""
