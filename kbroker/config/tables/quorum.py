"""The controller quorum and its metadata log. The notation is explained in `definition.py`."""

TABLE = """\
controller.listener.names | list | null | no empty items | ro | obeyed
    Listeners of the controller quorum; never told to clients.
controller.quorum.voters | list |  | no empty items | ro | obeyed
    The fixed voters of the quorum, as id@host:port.
controller.quorum.bootstrap.servers | list |  | no empty items | ro | obeyed
    Where to find the quorum when its voters can change.
controller.quorum.auto.join.enable | boolean | false | - | ro | obeyed
    Whether a new controller makes itself a voter.
controller.quorum.election.timeout.ms | int | 1000 | >=0 | ro | obeyed
    How long a voter waits for a leader before it stands for election.
controller.quorum.election.backoff.max.ms | int | 1000 | >=0 | ro | obeyed
    The longest pause after an election that nobody won.
controller.quorum.fetch.timeout.ms | int | 2000 | >=0 | ro | obeyed
    How long a follower tolerates a leader it cannot fetch from.
controller.quorum.fetch.max.bytes | int | 1048576 | >=1 | ro |
    The most bytes of metadata in one quorum fetch.
controller.quorum.fetch.snapshot.max.bytes | int | 1048576 | >=1 | ro |
    The most bytes in one piece of a metadata snapshot.
controller.quorum.request.timeout.ms | int | 2000 | >=0 | ro | obeyed
    How long a quorum request may take.
controller.quorum.retry.backoff.ms | int | 20 | >=0 | ro | obeyed
    The pause before a quorum request is tried again.
controller.quorum.append.linger.ms | int | 25 | >=0 | ro |
    How long the quorum leader gathers records before it writes them.
controller.quota.window.num | int | 11 | >=1 | ro | obeyed
    Samples kept for the quota of controller changes.
controller.quota.window.size.seconds | int | 1 | >=1 | ro | obeyed
    The length of one such sample.
controller.socket.timeout.ms | int | 30000 | - | ro |
    Left over from ZooKeeper days; without effect.
controller.performance.sample.period.ms | long | 60000 | >=100 | ro | hidden
    How often the controller logs how long its work takes.
controller.performance.always.log.threshold.ms | long | 2000 | >=0 | ro | hidden
    Controller work longer than this is always logged.
broker.heartbeat.interval.ms | int | 2000 | - | ro | obeyed
    How often a broker tells the controller that it lives.
broker.session.timeout.ms | int | 9000 | - | ro | obeyed
    A broker silent for this long is fenced.
initial.broker.registration.timeout.ms | int | 60000 | - | ro | obeyed
    How long a starting broker tries to register.
metadata.log.dir | string | null | - | ro | obeyed
    Folder of the metadata log; the first data folder if unset.
metadata.log.segment.bytes | int | 1073741824 | >=8388608 | ro | obeyed
    Size of a segment of the metadata log.
metadata.log.segment.ms | long | 604800000 | - | ro | obeyed
    Age at which a segment of the metadata log is closed.
metadata.log.max.record.bytes.between.snapshots | long | 20971520 | >=1 | ro | obeyed
    A snapshot is taken after this many bytes of metadata.
metadata.log.max.snapshot.interval.ms | long | 3600000 | >=0 | ro | obeyed
    A snapshot is taken after this time if anything changed; 0 never.
metadata.max.idle.interval.ms | int | 500 | >=0 | ro |
    How often an idle active controller writes a no-op record; 0 never.
metadata.max.retention.bytes | long | 104857600 | - | ro | obeyed
    Size to which old metadata log and snapshots are cut.
metadata.max.retention.ms | long | 604800000 | - | ro | obeyed
    Age after which old metadata log and snapshots go.
internal.metadata.log.segment.bytes | int | null | - | ro | hidden
    For tests: metadata segments below the usual minimum.
internal.metadata.max.batch.size.in.bytes | int | 8388608 | - | ro | hidden
    The largest batch in the metadata log.
internal.metadata.delete.delay.millis | long | 60000 | - | ro | hidden
    How long deleted metadata files stay.
"""
