"""Tiered storage (KIP-405). The notation is explained in `definition.py`."""

TABLE = """\
remote.log.storage.system.enable | boolean | false | - | ro |
    Whether old segments can move to remote storage.
remote.log.storage.manager.class.name | string | null | not blank | ro |
    Java class that talks to remote storage; kbroker loads no Java.
remote.log.storage.manager.class.path | string | null | - | ro |
    Where that class is found.
remote.log.storage.manager.impl.prefix | string | rsm.config. | not blank | ro |
    Prefix of settings handed to that class.
remote.log.metadata.manager.class.name | string |\
 org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager | not blank | ro |
    Java class that keeps track of remote segments; kbroker loads no Java.
remote.log.metadata.manager.class.path | string | null | - | ro |
    Where that class is found.
remote.log.metadata.manager.impl.prefix | string | rlmm.config. | not blank | ro |
    Prefix of settings handed to that class.
remote.log.metadata.manager.listener.name | string | null | not blank | ro |
    Listener by which that class reaches the cluster.
remote.log.metadata.custom.metadata.max.bytes | int | 128 | >=0 | ro |
    The most bytes of its own that a storage plugin may keep per segment.
remote.log.manager.thread.pool.size | int | 2 | >=1 | ro |
    Workers that look after remote segments.
remote.log.manager.copier.thread.pool.size | int | 10 | >=1 | cluster |
    Workers that copy segments away.
remote.log.manager.expiration.thread.pool.size | int | 10 | >=1 | cluster |
    Workers that remove expired remote segments.
remote.log.manager.follower.thread.pool.size | int | 2 | >=1 | cluster |
    Workers that follow remote segments on followers.
remote.log.manager.task.interval.ms | long | 30000 | >=1 | ro |
    How often those workers look.
remote.log.manager.task.retry.backoff.ms | long | 500 | >=1 | ro | hidden
    The first pause after such work failed.
remote.log.manager.task.retry.backoff.max.ms | long | 30000 | >=1 | ro | hidden
    The longest such pause.
remote.log.manager.task.retry.jitter | double | 0.2 | 0..0.5 | ro | hidden
    Random part of such a pause.
remote.log.manager.copy.max.bytes.per.second | long | 9223372036854775807 | >=1 | cluster |
    The most bytes a second copied away.
remote.log.manager.copy.quota.window.num | int | 11 | >=1 | ro |
    Samples kept for that limit.
remote.log.manager.copy.quota.window.size.seconds | int | 1 | >=1 | ro |
    The length of one such sample.
remote.log.manager.fetch.max.bytes.per.second | long | 9223372036854775807 | >=1 | cluster |
    The most bytes a second fetched back.
remote.log.manager.fetch.quota.window.num | int | 11 | >=1 | ro |
    Samples kept for that limit.
remote.log.manager.fetch.quota.window.size.seconds | int | 1 | >=1 | ro |
    The length of one such sample.
remote.log.reader.threads | int | 10 | >=1 | cluster |
    Workers that read remote segments for consumers.
remote.log.reader.max.pending.tasks | int | 100 | >=1 | ro |
    How many such reads may wait.
remote.log.index.file.cache.total.size.bytes | long | 1073741824 | >=1 | cluster |
    Disk space for copies of remote index files.
remote.log.index.file.cache.ttl.ms | long | 900000 | >=-1 | ro | hidden
    How long such a copy is kept unused.
remote.fetch.max.wait.ms | int | 500 | >=1 | cluster |
    How long a fetch waits for remote data.
remote.list.offsets.request.timeout.ms | long | 30000 | >=1 | cluster |
    How long a search for offsets in remote data may take.
"""
