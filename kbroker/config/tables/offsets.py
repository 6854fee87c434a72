"""The group coordinator, its topic, and classic groups. The notation is explained in `definition.py`."""

TABLE = """\
offset.metadata.max.bytes | int | 4096 | - | ro | obeyed
    The longest note that a commit may carry.
offsets.commit.timeout.ms | int | 5000 | >=1 | ro | obeyed
    How long a commit waits to be stored.
offsets.load.buffer.size | int | 5242880 | >=1 | ro |
    Bytes read at a time when a coordinator loads.
offsets.retention.check.interval.ms | long | 600000 | >=1 | ro | obeyed
    How often expired commits are looked for.
offsets.retention.minutes | int | 10080 | >=1 | ro | obeyed
    How long commits outlive the use of their group.
offsets.topic.compression.codec | int | 0 | - | ro |
    Codec number for batches of the offsets topic.
offsets.topic.num.partitions | int | 50 | >=1 | ro | obeyed
    Partitions of the offsets topic; never change it later.
offsets.topic.replication.factor | short | 3 | >=1 | ro | obeyed
    Replicas of the offsets topic.
offsets.topic.segment.bytes | int | 104857600 | >=1 | ro | obeyed
    Segment size of the offsets topic; small, so that it compacts and loads fast.
group.initial.rebalance.delay.ms | int | 3000 | - | ro | obeyed
    How long an empty classic group waits for more members before its first rebalance.
group.min.session.timeout.ms | int | 6000 | - | ro | obeyed
    The shortest session time-out a classic member may ask for.
group.max.session.timeout.ms | int | 1800000 | - | ro | obeyed
    The longest session time-out a classic member may ask for.
group.max.size | int | 2147483647 | >=1 | ro | obeyed
    The most members of a classic group.
group.coordinator.rebalance.protocols | list | classic,consumer,streams |\
 of consumer,classic,share,streams | ro | obeyed
    Which kinds of groups are served.
group.coordinator.threads | int | 4 | >=1 | ro |
    Kafka's coordinator threads; kbroker runs coordinators on its event loop.
group.coordinator.background.threads | int | 2 | >=1 | ro |
    Kafka's helper threads of the coordinator.
group.coordinator.append.linger.ms | int | -1 | >=-1 | ro | obeyed
    How long a coordinator gathers offset commits before it writes; -1: what comes together.
group.coordinator.cached.buffer.max.bytes | int | 1048588 | >=524288 | cluster |
    The largest write buffer that a coordinator keeps for the next write.
"""
