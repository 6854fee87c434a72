"""Followers and quotas. The notation is explained in `definition.py`."""

TABLE = """\
replica.lag.time.max.ms | long | 30000 | - | ro | obeyed
    A follower that has not caught up for this long leaves the in-sync replicas.
replica.fetch.max.bytes | int | 1048576 | >=0 | ro | obeyed
    Bytes per partition that a follower asks for at a time.
replica.fetch.min.bytes | int | 1 | - | ro | obeyed
    A follower's fetch waits until this much has come.
replica.fetch.response.max.bytes | int | 10485760 | >=0 | ro | obeyed
    The most bytes in one answer to a follower.
replica.fetch.wait.max.ms | int | 500 | - | ro | obeyed
    The longest such wait; below replica.lag.time.max.ms.
replica.fetch.backoff.ms | int | 1000 | >=0 | ro | obeyed
    The pause after a follower's fetch failed.
replica.high.watermark.checkpoint.interval.ms | long | 5000 | - | ro | obeyed
    How often high watermarks are noted on disk.
replica.socket.timeout.ms | int | 30000 | - | ro | obeyed
    How long a follower waits for an answer.
replica.socket.receive.buffer.bytes | int | 65536 | - | ro |
    Receive buffer of a follower's connection.
replica.selector.class | string | null | - | ro | obeyed
    Who chooses the replica that a consumer may fetch from.
num.replica.fetchers | int | 1 | >=1 | cluster | obeyed
    Fetchers per source broker.
follower.fetch.last.tiered.offset.enable | boolean | false | - | cluster |
    Whether a new follower begins at the end of what lies in remote storage.
quota.window.num | int | 11 | >=1 | ro | obeyed
    Samples kept for client quotas.
quota.window.size.seconds | int | 1 | >=1 | ro | obeyed
    The length of one such sample.
replication.quota.window.num | int | 11 | >=1 | ro |
    Samples kept for replication quotas.
replication.quota.window.size.seconds | int | 1 | >=1 | ro | obeyed
    The length of one such sample; here: how much time's worth may be moved at once.
alter.log.dirs.replication.quota.window.num | int | 11 | >=1 | ro |
    Samples kept for the quota of moves between folders.
alter.log.dirs.replication.quota.window.size.seconds | int | 1 | >=1 | ro | obeyed
    The length of one such sample; here: how much time's worth may be copied at once.
client.quota.callback.class | class | null | - | ro |
    Java class that decides quotas; kbroker loads no Java.
leader.replication.throttled.rate | long | 9223372036854775807 | >=0 | cluster | hidden obeyed
    Bytes a second that leaders send for throttled replicas.
follower.replication.throttled.rate | long | 9223372036854775807 | >=0 | cluster | hidden obeyed
    Bytes a second that followers fetch for throttled replicas.
replica.alter.log.dirs.io.max.bytes.per.second | long | 9223372036854775807 | >=0 | cluster | hidden obeyed
    Bytes a second that moves between folders may take.
"""
