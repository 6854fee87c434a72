"""Settings of a group. The notation is explained in `definition.py`."""

TABLE = """\
consumer.session.timeout.ms | int | 45000 | >=1 |  | obeyed
    A consumer of this group that is silent for this long is dropped.
consumer.heartbeat.interval.ms | int | 5000 | >=1 |  | obeyed
    How often consumers of this group are told to send a heartbeat.
consumer.assignment.interval.ms | int | 1000 | >=0 |  | obeyed
    The least time between two assignments of this group.
consumer.assignor.offload.enable | boolean | true | - |  | hidden
    Whether assignments of this group are computed beside the coordinator.
errors.deadletterqueue.copy.record.enable | boolean | false | - |  | obeyed
    Whether a dead letter carries the record itself, not only where it came from.
errors.deadletterqueue.topic.name | string |  | - |  | obeyed
    Topic for the dead letters of this share group; empty keeps none.
share.session.timeout.ms | int | 45000 | >=1 |  | obeyed
    A member of this share group that is silent for this long is dropped.
share.heartbeat.interval.ms | int | 5000 | >=1 |  | obeyed
    How often members of this share group are told to send a heartbeat.
share.assignment.interval.ms | int | 1000 | >=0 |  | obeyed
    The least time between two assignments of this share group.
share.assignor.offload.enable | boolean | true | - |  | hidden
    Whether assignments of this share group are computed beside the coordinator.
share.auto.offset.reset | string | latest | offset reset |  | obeyed
    Where this share group begins: earliest, latest, or by_duration: and how far back.
share.delivery.count.limit | int | 5 | >=2 |  | obeyed
    How often a record is delivered before it is given up.
share.isolation.level | string | read_uncommitted | in read_committed,read_uncommitted |  | obeyed
    Whether this share group sees only committed transactions.
share.partition.max.record.locks | int | 2000 | >=100 |  | obeyed
    The most records of a partition held at a time.
share.record.lock.duration.ms | int | 30000 | >=1000 |  | obeyed
    How long a delivered record is held for its member.
share.renew.acknowledge.enable | boolean | true | - |  | obeyed
    Whether members may prolong the hold on a record.
streams.session.timeout.ms | int | 45000 | >=1 |  | obeyed
    A member of this streams group that is silent for this long is dropped.
streams.heartbeat.interval.ms | int | 5000 | >=1 |  | obeyed
    How often members of this streams group are told to send a heartbeat.
streams.assignment.interval.ms | int | 1000 | >=0 |  | obeyed
    The least time between two assignments of this streams group.
streams.assignor.name | string | null | - |  |
    Task assignor of this group; the broker's first one if unset.
streams.assignor.offload.enable | boolean | true | - |  | hidden
    Whether task assignments of this group are computed beside the coordinator.
streams.initial.rebalance.delay.ms | int | 3000 | >=0 |  | obeyed
    How long this group waits for more members when it was empty.
streams.num.standby.replicas | int | 0 | >=0 |  | obeyed
    Standby copies of each stateful task of this group.
streams.num.warmup.replicas | int | 2 | >=0 |  | hidden
    Copies of this group that warm up at a time.
streams.acceptable.recovery.lag | long | 10000 | >=0 |  | obeyed hidden
    A copy that lags no more than this counts as caught up.
streams.rack.aware.assignment.tags | list |  | no empty items |  | obeyed
    Client tags over which standby copies of this group are spread.
streams.task.offset.interval.ms | int | 60000 | >=1 |  | obeyed hidden
    How often members report the offsets of their tasks.
"""
