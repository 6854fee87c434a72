"""Transactions and delegation tokens. The notation is explained in `definition.py`."""

TABLE = """\
transaction.max.timeout.ms | int | 900000 | >=1 | ro | obeyed
    The longest transaction a producer may ask for.
transaction.state.log.num.partitions | int | 50 | >=1 | ro | obeyed
    Partitions of the transaction topic; never change it later.
transaction.state.log.replication.factor | short | 3 | >=1 | ro | obeyed
    Replicas of the transaction topic.
transaction.state.log.min.isr | int | 2 | >=1 | ro | obeyed
    Replicas of the transaction topic that must be in sync.
transaction.state.log.segment.bytes | int | 104857600 | >=1 | ro | obeyed
    Segment size of the transaction topic.
transaction.state.log.load.buffer.size | int | 5242880 | >=1 | ro |
    Bytes read at a time when a transaction coordinator loads.
transaction.abort.timed.out.transaction.cleanup.interval.ms | int | 10000 | >=1 | ro | obeyed
    How often transactions that ran out of time are looked for.
transaction.remove.expired.transaction.cleanup.interval.ms | int | 3600000 | >=1 | ro | obeyed
    How often unused transactional ids are looked for.
transactional.id.expiration.ms | int | 604800000 | >=1 | ro | obeyed
    A transactional id unused for this long is forgotten.
transaction.partition.verification.enable | boolean | true | - | cluster | obeyed
    Whether a partition asks the coordinator before it takes a transactional write.
transaction.two.phase.commit.enable | boolean | false | - | ro |
    Whether transactions may be prepared by an outside coordinator and never time out.
add.partitions.to.txn.retry.backoff.ms | int | 20 | >=1 | ro | obeyed
    The first pause before the broker asks a busy transaction coordinator again.
add.partitions.to.txn.retry.backoff.max.ms | int | 100 | >=0 | ro | obeyed
    The longest such pause.
delegation.token.secret.key | password | null | - | ro | obeyed
    Secret that signs delegation tokens; tokens are off without it.
delegation.token.max.lifetime.ms | long | 604800000 | >=1 | ro | obeyed
    The age at which a token cannot be renewed any more.
delegation.token.expiry.time.ms | long | 86400000 | >=1 | ro | obeyed
    How long a token lives without being renewed.
delegation.token.expiry.check.interval.ms | long | 3600000 | >=1 | ro | obeyed
    How often expired tokens are removed.
"""
