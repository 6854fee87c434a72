"""Segments, retention, compaction, batches. The notation is explained in `definition.py`."""

TABLE = """\
log.dirs | list | null | no empty items | ro | obeyed
    Data folders, separated by commas; wins over log.dir.
log.dir | list | /tmp/kafka-logs | no empty items | ro | obeyed
    The data folder if log.dirs is unset.
cordoned.log.dirs | list |  | no empty items | broker | obeyed
    Data folders that get no new partitions; * for all.
log.dir.failure.timeout.ms | long | 30000 | >=1 | ro | obeyed
    A broker that cannot report a failed folder within this time stops.
log.segment.bytes | int | 1073741824 | >=1048576 | cluster | obeyed
    A partition starts a new file at this size.
log.roll.ms | long | null | - | cluster | obeyed
    A partition starts a new file when the open one is this old.
log.roll.hours | int | 168 | >=1 | ro | obeyed
    The same in hours, if log.roll.ms is unset.
log.roll.jitter.ms | long | null | - | cluster | obeyed
    Random time taken off that age, so that files do not all roll at once.
log.roll.jitter.hours | int | 0 | >=0 | ro | obeyed
    The same in hours, if log.roll.jitter.ms is unset.
log.retention.ms | long | null | - | cluster | obeyed
    How long records are kept; -1 for ever.
log.retention.minutes | int | null | - | ro | obeyed
    The same in minutes, if log.retention.ms is unset.
log.retention.hours | int | 168 | - | ro | obeyed
    The same in hours, if neither of the finer units is set.
log.retention.bytes | long | -1 | - | cluster | obeyed
    Size a partition is cut to from its old end; -1 never.
log.retention.check.interval.ms | long | 300000 | >=1 | ro | obeyed
    How often retention is looked after.
log.segment.delete.delay.ms | long | 60000 | >=0 | cluster | obeyed
    How long a removed file stays on disk under another name.
log.cleanup.policy | list | delete | of compact,delete | cluster | obeyed
    What becomes of old records: delete drops them, compact keeps the last of each key; both or neither
    may be given.
log.index.interval.bytes | int | 4096 | >=0 | cluster | obeyed
    An index entry is written about every so many bytes.
log.index.size.max.bytes | int | 10485760 | >=4 | cluster | obeyed
    The largest index file; a full index starts a new segment.
log.preallocate | boolean | false | - | cluster | obeyed
    Whether segment files get the room for their full size at once.
log.flush.interval.messages | long | 9223372036854775807 | >=1 | cluster | obeyed
    Records after which a partition is forced to disk.
log.flush.interval.ms | long | null | - | cluster | obeyed
    Time after which unwritten records are forced to disk.
log.flush.scheduler.interval.ms | long | 9223372036854775807 | - | ro | obeyed
    How often partitions are looked through for that.
log.flush.offset.checkpoint.interval.ms | int | 60000 | >=0 | ro | obeyed
    How often it is noted up to where logs are safely on disk.
log.flush.start.offset.checkpoint.interval.ms | int | 60000 | >=0 | ro | obeyed
    How often the start offsets of logs are noted.
log.initial.task.delay.ms | long | 30000 | >=0 | ro | obeyed hidden
    How long after the start the first background work on logs waits.
log.message.timestamp.type | string | CreateTime | in CreateTime,LogAppendTime | cluster | obeyed
    Whether records keep the time of their producer or get that of their arrival.
log.message.timestamp.before.max.ms | long | 9223372036854775807 | >=0 | cluster | obeyed
    How far a producer's time may lie in the past.
log.message.timestamp.after.max.ms | long | 3600000 | >=0 | cluster | obeyed
    How far a producer's time may lie in the future.
log.cleaner.enable | boolean | true | - | ro | obeyed
    Whether compaction runs.
log.cleaner.threads | int | 1 | >=0 | cluster | obeyed
    How many workers compact.
log.cleaner.backoff.ms | long | 15000 | >=0 | cluster | obeyed
    The pause when there is nothing to compact.
log.cleaner.dedupe.buffer.size | long | 134217728 | - | cluster | obeyed
    Memory for the keys seen during compaction, all workers together.
log.cleaner.io.buffer.size | int | 524288 | >=0 | cluster | obeyed
    Memory for reading and writing during compaction.
log.cleaner.io.buffer.load.factor | double | 0.9 | - | cluster | obeyed
    How full the key map may get.
log.cleaner.io.max.bytes.per.second | double | 1.7976931348623157E308 | - | cluster | obeyed
    The most bytes a second that compaction reads and writes.
log.cleaner.min.cleanable.ratio | double | 0.5 | 0..1 | cluster | obeyed
    The share of uncompacted bytes from which a log is worth compacting.
log.cleaner.delete.retention.ms | long | 86400000 | >=0 | cluster | obeyed
    How long a tombstone survives compaction.
log.cleaner.min.compaction.lag.ms | long | 0 | >=0 | cluster | obeyed
    Records younger than this are not compacted.
log.cleaner.max.compaction.lag.ms | long | 9223372036854775807 | >=1 | cluster | obeyed
    Records older than this are compacted even if it is hardly worth it.
log.local.retention.ms | long | -2 | >=-2 | cluster |
    With tiered storage, how long records stay on the local disk; -2 follows retention.
log.local.retention.bytes | long | -2 | >=-2 | cluster |
    With tiered storage, how many bytes stay on the local disk; -2 follows retention.
log.remote.copy.lag.ms | long | 0 | >=-1 | cluster |
    Records get this old before they may be copied to remote storage.
log.remote.copy.lag.bytes | long | -1 | >=-1 | cluster |
    So many of the newest bytes are not copied to remote storage yet.
compression.type | string | producer | in uncompressed,zstd,lz4,snappy,gzip,producer | cluster | obeyed
    The codec records are stored in; producer leaves them as they came.
compression.gzip.level | int | -1 | gzip level | cluster | obeyed
    Level used when the broker compresses with gzip.
compression.lz4.level | int | 9 | 1..17 | cluster | obeyed
    Level used when the broker compresses with lz4.
compression.zstd.level | int | 3 | -131072..22 | cluster | obeyed
    Level used when the broker compresses with zstd.
message.max.bytes | int | 1048588 | >=0 | cluster | obeyed
    The largest record batch accepted, as it arrives.
max.decompressed.message.bytes | int | 2147483639 | 1..2147483639 | cluster | obeyed
    The largest record that a compressed batch may hold, as it is when unpacked.
num.recovery.threads.per.data.dir | int | 2 | >=1 | cluster |
    Workers per folder that repair logs at the start and close them at the end; kbroker has one for all.
num.replica.alter.log.dirs.threads | int | null | - | ro | obeyed
    Workers that move replicas between folders; as many as folders if unset.
producer.id.expiration.ms | int | 86400000 | >=1 | cluster | obeyed
    A producer silent for this long is forgotten by the partition.
producer.id.expiration.check.interval.ms | int | 600000 | >=1 | ro | obeyed hidden
    How often silent producers are looked for.
min.insync.replicas | int | 1 | >=1 | cluster | obeyed
    With acks=all, how many replicas must be in sync for a write to be accepted.
"""
