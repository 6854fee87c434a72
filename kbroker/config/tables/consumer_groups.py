"""Consumer groups of the new protocol (KIP-848). The notation is explained in `definition.py`."""

TABLE = """\
group.consumer.session.timeout.ms | int | 45000 | >=1 | ro | obeyed
    A member of a new-protocol group that is silent for this long is dropped.
group.consumer.heartbeat.interval.ms | int | 5000 | >=1 | ro | obeyed
    How often such members are told to send a heartbeat.
group.consumer.min.session.timeout.ms | int | 45000 | >=1 | ro | obeyed
    Lower bound of the session time-out that a group may set.
group.consumer.max.session.timeout.ms | int | 60000 | >=1 | ro | obeyed
    Upper bound of the session time-out that a group may set.
group.consumer.min.heartbeat.interval.ms | int | 5000 | >=1 | ro | obeyed
    Lower bound of the heartbeat interval that a group may set.
group.consumer.max.heartbeat.interval.ms | int | 15000 | >=1 | ro | obeyed
    Upper bound of the heartbeat interval that a group may set.
group.consumer.max.size | int | 2147483647 | >=1 | ro | obeyed
    The most members of such a group.
group.consumer.assignors | list | uniform,range | no empty items | ro | obeyed
    Server-side assignors in the order of preference.
group.consumer.migration.policy | string | bidirectional |\
 anycase DISABLED,DOWNGRADE,UPGRADE,BIDIRECTIONAL | ro | obeyed
    Which way groups may change between the classic and the new protocol while in use.
group.consumer.assignment.interval.ms | int | 1000 | >=0 | cluster | obeyed
    The least time between two assignments of a group.
group.consumer.min.assignment.interval.ms | int | 0 | >=0 | ro | obeyed
    Lower bound of that time for a group.
group.consumer.max.assignment.interval.ms | int | 15000 | >=0 | ro | obeyed
    Upper bound of that time for a group.
group.consumer.assignor.offload.enable | boolean | true | - | cluster | hidden
    Whether assignments are computed beside the coordinator.
group.consumer.regex.refresh.interval.ms | int | 600000 | >=10000 | ro | obeyed hidden
    How often pattern subscriptions are matched against the topics again.
"""
