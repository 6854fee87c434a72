"""Streams groups (KIP-1071). The notation is explained in `definition.py`."""

TABLE = """\
group.streams.session.timeout.ms | int | 45000 | >=1 | ro | obeyed
    A streams group member silent for this long is dropped.
group.streams.heartbeat.interval.ms | int | 5000 | >=1 | ro | obeyed
    How often streams group members are told to send a heartbeat.
group.streams.min.session.timeout.ms | int | 45000 | >=1 | ro | obeyed
    Lower bound of the session time-out of a streams group.
group.streams.max.session.timeout.ms | int | 60000 | >=1 | ro | obeyed
    Upper bound of the session time-out of a streams group.
group.streams.min.heartbeat.interval.ms | int | 5000 | >=1 | ro | obeyed
    Lower bound of the heartbeat interval of a streams group.
group.streams.max.heartbeat.interval.ms | int | 15000 | >=1 | ro | obeyed
    Upper bound of the heartbeat interval of a streams group.
group.streams.max.size | int | 2147483647 | >=1 | ro | obeyed
    The most members of a streams group.
group.streams.assignors | list | sticky | no empty items | ro |
    Task assignors; the first is the one used by groups that name none.
group.streams.assignment.interval.ms | int | 1000 | >=0 | cluster | obeyed
    The least time between two assignments of a streams group.
group.streams.min.assignment.interval.ms | int | 0 | >=0 | ro | obeyed
    Lower bound of that time for a streams group.
group.streams.max.assignment.interval.ms | int | 15000 | >=0 | ro | obeyed
    Upper bound of that time for a streams group.
group.streams.assignor.offload.enable | boolean | true | - | cluster | hidden
    Whether task assignments are computed beside the coordinator.
group.streams.initial.rebalance.delay.ms | int | 3000 | >=0 | ro | obeyed
    How long an empty streams group waits for more members.
group.streams.num.standby.replicas | int | 0 | >=0 | ro | obeyed
    Standby copies of each stateful task.
group.streams.max.standby.replicas | int | 2 | >=0 | ro | obeyed
    Upper bound of the standby copies a group may ask for.
group.streams.num.warmup.replicas | int | 2 | >=0 | ro | hidden
    Copies that warm up at a time.
group.streams.max.warmup.replicas | int | 20 | >=0 | ro | hidden
    Upper bound of the warm-up copies a group may ask for.
group.streams.acceptable.recovery.lag | long | 10000 | >=0 | ro | obeyed hidden
    A copy that lags no more than this counts as caught up.
group.streams.rack.aware.assignment.tags | list |  | no empty items | ro | obeyed
    Client tags over which standby copies are spread.
group.streams.task.offset.interval.ms | int | 60000 | >=1 | ro | obeyed hidden
    How often members report the offsets of their tasks.
group.streams.min.task.offset.interval.ms | int | 15000 | >=1 | ro | obeyed hidden
    Lower bound of that interval.
group.streams.topology.description.plugin.class | class | null | - | ro |
    Java class that keeps topology descriptions; kbroker loads no Java.
"""
