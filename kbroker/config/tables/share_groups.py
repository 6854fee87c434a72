"""Share groups (KIP-932). The notation is explained in `definition.py`."""

TABLE = """\
group.share.session.timeout.ms | int | 45000 | >=1 | ro | obeyed
    A share group member silent for this long is dropped.
group.share.heartbeat.interval.ms | int | 5000 | >=1 | ro | obeyed
    How often share group members are told to send a heartbeat.
group.share.min.session.timeout.ms | int | 45000 | >=1 | ro | obeyed
    Lower bound of the session time-out of a share group.
group.share.max.session.timeout.ms | int | 60000 | >=1 | ro | obeyed
    Upper bound of the session time-out of a share group.
group.share.min.heartbeat.interval.ms | int | 5000 | >=1 | ro | obeyed
    Lower bound of the heartbeat interval of a share group.
group.share.max.heartbeat.interval.ms | int | 15000 | >=1 | ro | obeyed
    Upper bound of the heartbeat interval of a share group.
group.share.max.size | int | 200 | 1..1000 | ro | obeyed
    The most members of a share group.
group.share.assignors | list | simple | no empty items | ro |
    Assignors for share groups.
group.share.assignment.interval.ms | int | 1000 | >=0 | cluster | obeyed
    The least time between two assignments of a share group.
group.share.min.assignment.interval.ms | int | 0 | >=0 | ro | obeyed
    Lower bound of that time for a share group.
group.share.max.assignment.interval.ms | int | 15000 | >=0 | ro | obeyed
    Upper bound of that time for a share group.
group.share.assignor.offload.enable | boolean | true | - | cluster | hidden
    Whether share assignments are computed beside the coordinator.
group.share.delivery.count.limit | int | 5 | 2..10 | ro | obeyed
    How often a record is delivered before it is given up.
group.share.min.delivery.count.limit | int | 2 | 2..5 | ro | obeyed
    Lower bound of that count for a share group.
group.share.max.delivery.count.limit | int | 10 | 5..25 | ro | obeyed
    Upper bound of that count for a share group.
group.share.record.lock.duration.ms | int | 30000 | 1000..3600000 | ro | obeyed
    How long a delivered record is held for its member.
group.share.min.record.lock.duration.ms | int | 15000 | 1000..30000 | ro | obeyed
    Lower bound of that time for a share group.
group.share.max.record.lock.duration.ms | int | 60000 | 30000..3600000 | ro | obeyed
    Upper bound of that time for a share group.
group.share.partition.max.record.locks | int | 2000 | 100..10000 | ro | obeyed
    The most records of a partition held at a time.
group.share.min.partition.max.record.locks | int | 100 | 100..2000 | ro | obeyed
    Lower bound of that number for a share group.
group.share.max.partition.max.record.locks | int | 4000 | 2000..10000 | ro | obeyed
    Upper bound of that number for a share group.
group.share.max.share.sessions | int | 2000 | >=1 | ro | obeyed
    How many share sessions the broker remembers.
group.share.initialize.retry.interval.ms | int | 30000 | >=1 | ro | obeyed hidden
    How soon a failed start of share state is tried again.
group.share.persister.class.name | string | org.apache.kafka.server.share.persister.DefaultStatePersister |\
 - | ro | hidden
    Java class that keeps share state; kbroker loads no Java.
group.share.dlq.manager.class.name | string |\
 org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager | - | ro | hidden
    Java class that writes dead letters; kbroker loads no Java.
share.coordinator.append.linger.ms | int | -1 | >=-1 | ro |
    How long the share coordinator gathers records before it writes; -1 adapts by itself.
share.coordinator.cached.buffer.max.bytes | int | 1048588 | >=524288 | cluster |
    The largest write buffer the share coordinator keeps.
share.coordinator.cold.partition.snapshot.interval.ms | int | 300000 | >=1 | ro | obeyed hidden
    How often the state of idle share partitions is written anew.
share.coordinator.load.buffer.size | int | 5242880 | >=1 | ro |
    Bytes read at a time when the share coordinator loads.
share.coordinator.snapshot.update.records.per.snapshot | int | 500 | 0..500 | ro | obeyed
    Updates written before the next full snapshot of a share partition.
share.coordinator.state.topic.compression.codec | int | 0 | - | ro |
    Codec number for batches of the share state topic.
share.coordinator.state.topic.min.isr | short | 2 | >=1 | ro | obeyed
    Replicas of the share state topic that must be in sync.
share.coordinator.state.topic.num.partitions | int | 50 | >=1 | ro | obeyed
    Partitions of the share state topic; never change it later.
share.coordinator.state.topic.prune.interval.ms | int | 300000 | >=1 | ro | obeyed hidden
    How often old share state is cut off.
share.coordinator.state.topic.replication.factor | short | 3 | >=1 | ro | obeyed
    Replicas of the share state topic.
share.coordinator.state.topic.segment.bytes | int | 104857600 | >=1 | ro | obeyed
    Segment size of the share state topic.
share.coordinator.threads | int | 1 | >=1 | ro |
    Kafka's share coordinator threads.
share.coordinator.write.timeout.ms | int | 5000 | >=1 | ro | obeyed
    How long a write of share state may take.
"""
