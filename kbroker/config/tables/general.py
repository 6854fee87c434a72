"""Identity, topics, elections, metrics. The notation is explained in `definition.py`."""

TABLE = """\
node.id | int | required | >=0 | ro | obeyed
    The number of this node, unique in the cluster.
broker.id | int | -1 | - | ro | obeyed
    Older name of node.id; both must agree.
broker.rack | string | null | - | ro | obeyed
    Where this broker stands; replicas are spread over racks, and clients may fetch from their own.
process.roles | list | null | of broker,controller | ro | obeyed
    What this node is: broker, controller or both.
auto.create.topics.enable | boolean | true | - | ro | obeyed
    Whether a topic that a client asks for comes into being by itself.
delete.topic.enable | boolean | true | - | ro | obeyed
    Whether topics can be deleted.
num.partitions | int | 1 | >=1 | ro | obeyed
    Partitions of a topic whose creator did not say how many.
default.replication.factor | int | 1 | - | ro | obeyed
    Replicas of a topic whose creator did not say how many.
create.topic.policy.class.name | class | null | - | ro |
    Java class that may refuse topics; kbroker loads no Java.
alter.config.policy.class.name | class | null | - | ro |
    Java class that may refuse config changes; kbroker loads no Java.
authorizer.class.name | string |  | - | ro | obeyed
    Who decides what a client may do; empty lets everybody do everything.
principal.builder.class | class |\
 org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder | - | broker |
    Java class that names the client of a connection; kbroker loads no Java.
security.providers | string | null | - | ro |
    Java security providers; without meaning outside Java.
config.providers | list |  | no empty items | cluster |
    Names of sources that placeholders in settings are read from.
controlled.shutdown.enable | boolean | true | - | ro |
    Whether a stopping broker hands its leaderships over first.
auto.leader.rebalance.enable | boolean | true | - | ro | obeyed
    Whether leadership returns by itself to the preferred replica.
leader.imbalance.check.interval.seconds | long | 300 | >=1 | ro | obeyed
    How often the controller looks for leaders that are not the preferred ones.
unclean.leader.election.enable | boolean | false | - | cluster | obeyed
    Whether a replica that lags may become leader when no other is left; records can be lost.
unclean.leader.election.interval.ms | long | 300000 | >=1 | ro | obeyed hidden
    How often the controller looks for partitions that need such an election.
telemetry.max.bytes | int | 1048576 | >=1 | ro | obeyed
    The largest metrics push accepted from a client.
metric.reporters | list | org.apache.kafka.common.metrics.JmxReporter | no empty items | cluster |
    Java classes that report metrics; kbroker loads no Java.
metrics.num.samples | int | 2 | >=1 | ro |
    How many samples a metric is averaged over.
metrics.sample.window.ms | long | 30000 | >=1 | ro |
    The length of one such sample.
metrics.recording.level | string | INFO | - | ro |
    How detailed the recorded metrics are: INFO, DEBUG or TRACE.
kafka.metrics.reporters | list |  | no empty items | ro |
    Java classes for the older metrics library; kbroker loads no Java.
kafka.metrics.polling.interval.secs | int | 10 | >=1 | ro |
    How often those reporters look.
server.max.startup.time.ms | long | 9223372036854775807 | >=0 | ro | hidden
    The start is given up after this time.
unstable.api.versions.enable | boolean | false | - | ro | hidden
    Whether unfinished API versions are offered.
unstable.feature.versions.enable | boolean | false | - | ro | hidden
    Whether unfinished feature levels are offered.
errors.deadletterqueue.auto.create.topics.enable | boolean | false | - | cluster | obeyed
    Whether a missing dead-letter topic of a share group is created.
errors.deadletterqueue.topic.name.prefix | string | dlq. | - | cluster | obeyed
    What the names of dead-letter topics have to begin with.
"""
