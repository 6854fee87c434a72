"""Settings of a topic. The notation is explained in `definition.py`."""

TABLE = """\
segment.bytes | int | 1073741824 | >=1048576 |  | obeyed
    A partition starts a new file at this size.
segment.ms | long | 604800000 | >=1 |  | obeyed
    A partition starts a new file when the open one is this old.
segment.jitter.ms | long | 0 | >=0 |  | obeyed
    Random time taken off segment.ms, so that files do not all roll at once.
segment.index.bytes | int | 10485760 | >=4 |  | obeyed
    The largest index file; a full index starts a new segment.
index.interval.bytes | int | 4096 | >=0 |  | obeyed
    An index entry is written about every so many bytes.
preallocate | boolean | false | - |  | obeyed
    Whether segment files get the room for their full size at once.
cleanup.policy | list | delete | of compact,delete |  | obeyed
    What becomes of old records: delete drops them, compact keeps the last of each key; both or neither
    may be given.
retention.ms | long | 604800000 | >=-1 |  | obeyed
    How long records are kept; -1 for ever.
retention.bytes | long | -1 | - |  | obeyed
    Size a partition is cut to from its old end; -1 never.
max.compaction.lag.ms | long | 9223372036854775807 | >=1 |  | obeyed
    Records older than this are compacted even if it is hardly worth it.
min.compaction.lag.ms | long | 0 | >=0 |  | obeyed
    Records younger than this are not compacted.
min.cleanable.dirty.ratio | double | 0.5 | 0..1 |  | obeyed
    The share of uncompacted bytes from which a log is worth compacting.
delete.retention.ms | long | 86400000 | >=0 |  | obeyed
    How long a tombstone of this topic survives compaction.
file.delete.delay.ms | long | 60000 | >=0 |  | obeyed
    How long a removed file stays on disk under another name.
max.message.bytes | int | 1048588 | >=0 |  | obeyed
    The largest record batch accepted, as it arrives.
max.decompressed.message.bytes | int | 2147483639 | 1..2147483639 |  | obeyed
    The largest record that a compressed batch may hold, as it is when unpacked.
message.timestamp.type | string | CreateTime | in CreateTime,LogAppendTime |  | obeyed
    Whether records keep the time of their producer or get that of their arrival.
message.timestamp.before.max.ms | long | 9223372036854775807 | >=0 |  | obeyed
    How far a producer's time may lie in the past.
message.timestamp.after.max.ms | long | 3600000 | >=0 |  | obeyed
    How far a producer's time may lie in the future.
min.insync.replicas | int | 1 | >=1 |  | obeyed
    With acks=all, how many replicas must be in sync for a write to be accepted.
unclean.leader.election.enable | boolean | false | - |  | obeyed
    Whether a replica that lags may become leader when no other is left; records can be lost.
flush.messages | long | 9223372036854775807 | >=1 |  | obeyed
    Records after which a partition of this topic is forced to disk.
flush.ms | long | 9223372036854775807 | >=0 |  | obeyed
    Time after which unwritten records are forced to disk.
compression.type | string | producer | in uncompressed,zstd,lz4,snappy,gzip,producer |  | obeyed
    The codec this topic is stored in; producer leaves records as they came.
compression.gzip.level | int | -1 | gzip level |  | obeyed
    Level used when the broker compresses this topic with gzip.
compression.lz4.level | int | 9 | 1..17 |  | obeyed
    Level used when the broker compresses this topic with lz4.
compression.zstd.level | int | 3 | -131072..22 |  | obeyed
    Level used when the broker compresses this topic with zstd.
leader.replication.throttled.replicas | list |  | throttled replicas |  | obeyed
    Replicas whose serving is throttled, as partition:broker pairs, or * for all.
follower.replication.throttled.replicas | list |  | throttled replicas |  | obeyed
    Replicas whose fetching is throttled, as partition:broker pairs, or * for all.
remote.storage.enable | boolean | false | - |  |
    Whether old segments of this topic move to remote storage.
local.retention.ms | long | -2 | >=-2 |  |
    With tiered storage, how long records stay on the local disk; -2 follows retention.ms.
local.retention.bytes | long | -2 | >=-2 |  |
    With tiered storage, how many bytes stay on the local disk; -2 follows retention.bytes.
remote.copy.lag.ms | long | 0 | >=-1 |  |
    Records get this old before they may be copied to remote storage.
remote.copy.lag.bytes | long | -1 | >=-1 |  |
    So many of the newest bytes are not copied to remote storage yet.
remote.log.copy.disable | boolean | false | - |  |
    Whether copying to remote storage stops while what is there stays readable.
remote.log.delete.on.disable | boolean | false | - |  |
    Whether turning tiered storage off removes the remote data.
errors.deadletterqueue.group.enable | boolean | false | - |  | obeyed
    Whether share groups may use this topic for their dead letters.
internal.segment.bytes | int | null | - |  | obeyed hidden
    For tests: segments below the usual minimum.
"""
