"""Which settings older releases of Apache Kafka had, for `kbroker.compatibility`: what DescribeConfigs names
of a topic and of a broker, and what a topic may be given.

Two releases were asked (`protocol/releases.py`, `asked_release`). What they do not have yet is in force here
all the same; of what they still have kbroker obeys two of a topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from kbroker.config.definition import Definition, Scope, parse_table
from kbroker.config.definitions import topic_definitions_of
from kbroker.config.release_defaults import is_older
from kbroker.config.values import ConfigType

#: Of a topic: what 3.9 does not have, and what 2.8 has not either.
_TOPIC_SINCE_4_0 = """\
max.decompressed.message.bytes remote.copy.lag.ms remote.copy.lag.bytes
errors.deadletterqueue.group.enable
"""
_TOPIC_SINCE_3_0 = """\
message.timestamp.before.max.ms message.timestamp.after.max.ms compression.gzip.level
compression.lz4.level compression.zstd.level remote.storage.enable local.retention.ms
local.retention.bytes remote.log.copy.disable remote.log.delete.on.disable
"""
#: Of a topic, until 4.0.
_TOPIC_GONE = """\
message.downconversion.enable | boolean | true | - |  |
message.format.version | string | 3.0-IV1 | - |  |
message.timestamp.difference.max.ms | long | 9223372036854775807 | - |  |
"""

#: Of a broker: what 3.9 does not have, and what 2.8 has not either.
_BROKER_SINCE_4_0 = """\
config.providers errors.deadletterqueue.auto.create.topics.enable errors.deadletterqueue.topic.name.prefix
share.fetch.purgatory.purge.interval.requests cordoned.log.dirs log.remote.copy.lag.ms
log.remote.copy.lag.bytes max.decompressed.message.bytes follower.fetch.last.tiered.offset.enable
controller.quorum.auto.join.enable controller.quorum.fetch.max.bytes
controller.quorum.fetch.snapshot.max.bytes group.coordinator.background.threads
group.coordinator.cached.buffer.max.bytes group.consumer.migration.policy
group.consumer.assignment.interval.ms group.consumer.min.assignment.interval.ms
group.consumer.max.assignment.interval.ms group.share.assignors group.share.assignment.interval.ms
group.share.min.assignment.interval.ms group.share.max.assignment.interval.ms
group.share.min.delivery.count.limit group.share.max.delivery.count.limit
group.share.min.partition.max.record.locks group.share.max.partition.max.record.locks
group.share.max.share.sessions share.coordinator.append.linger.ms
share.coordinator.cached.buffer.max.bytes share.coordinator.load.buffer.size
share.coordinator.snapshot.update.records.per.snapshot share.coordinator.state.topic.compression.codec
share.coordinator.state.topic.num.partitions share.coordinator.state.topic.segment.bytes
share.coordinator.state.topic.min.isr
share.coordinator.state.topic.replication.factor share.coordinator.threads
share.coordinator.write.timeout.ms group.streams.session.timeout.ms
group.streams.heartbeat.interval.ms group.streams.min.session.timeout.ms
group.streams.max.session.timeout.ms group.streams.min.heartbeat.interval.ms
group.streams.max.heartbeat.interval.ms group.streams.max.size group.streams.assignors
group.streams.assignment.interval.ms group.streams.min.assignment.interval.ms
group.streams.max.assignment.interval.ms group.streams.initial.rebalance.delay.ms
group.streams.num.standby.replicas group.streams.max.standby.replicas
group.streams.rack.aware.assignment.tags group.streams.topology.description.plugin.class
transaction.two.phase.commit.enable add.partitions.to.txn.retry.backoff.ms
add.partitions.to.txn.retry.backoff.max.ms sasl.oauthbearer.allow.unverified.audience
sasl.oauthbearer.allow.unverified.issuer sasl.oauthbearer.jwt.retriever.class
sasl.oauthbearer.jwt.validator.class sasl.oauthbearer.scope sasl.oauthbearer.client.credentials.client.id
sasl.oauthbearer.client.credentials.client.secret sasl.oauthbearer.assertion.algorithm
sasl.oauthbearer.assertion.claim.aud sasl.oauthbearer.assertion.claim.exp.seconds
sasl.oauthbearer.assertion.claim.iss sasl.oauthbearer.assertion.claim.jti.include
sasl.oauthbearer.assertion.claim.nbf.seconds sasl.oauthbearer.assertion.claim.sub
sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.private.key.file
sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.template.file
remote.log.manager.follower.thread.pool.size remote.list.offsets.request.timeout.ms
"""
_BROKER_SINCE_3_0 = """\
node.id process.roles telemetry.max.bytes early.start.listeners socket.listen.backlog.size
max.request.partition.size.limit log.dir.failure.timeout.ms log.message.timestamp.before.max.ms
log.message.timestamp.after.max.ms log.local.retention.ms log.local.retention.bytes compression.gzip.level
compression.lz4.level compression.zstd.level producer.id.expiration.ms controller.listener.names
controller.quorum.voters controller.quorum.bootstrap.servers controller.quorum.election.timeout.ms
controller.quorum.election.backoff.max.ms controller.quorum.fetch.timeout.ms
controller.quorum.request.timeout.ms controller.quorum.retry.backoff.ms controller.quorum.append.linger.ms
broker.heartbeat.interval.ms broker.session.timeout.ms initial.broker.registration.timeout.ms
metadata.log.dir metadata.log.segment.bytes metadata.log.segment.ms
metadata.log.max.record.bytes.between.snapshots metadata.log.max.snapshot.interval.ms
metadata.max.idle.interval.ms metadata.max.retention.bytes metadata.max.retention.ms
group.coordinator.rebalance.protocols group.coordinator.threads group.coordinator.append.linger.ms
group.consumer.session.timeout.ms group.consumer.heartbeat.interval.ms
group.consumer.min.session.timeout.ms group.consumer.max.session.timeout.ms
group.consumer.min.heartbeat.interval.ms group.consumer.max.heartbeat.interval.ms group.consumer.max.size
group.consumer.assignors group.share.session.timeout.ms group.share.heartbeat.interval.ms
group.share.min.session.timeout.ms group.share.max.session.timeout.ms
group.share.min.heartbeat.interval.ms group.share.max.heartbeat.interval.ms group.share.max.size
group.share.delivery.count.limit group.share.record.lock.duration.ms
group.share.min.record.lock.duration.ms group.share.max.record.lock.duration.ms
group.share.partition.max.record.locks transaction.partition.verification.enable
sasl.mechanism.controller.protocol sasl.login.connect.timeout.ms sasl.login.read.timeout.ms
sasl.login.retry.backoff.ms sasl.login.retry.backoff.max.ms sasl.oauthbearer.scope.claim.name
sasl.oauthbearer.sub.claim.name sasl.oauthbearer.token.endpoint.url sasl.oauthbearer.jwks.endpoint.url
sasl.oauthbearer.jwks.endpoint.refresh.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.ms
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms sasl.oauthbearer.clock.skew.seconds
sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer ssl.allow.dn.changes
ssl.allow.san.changes remote.log.storage.system.enable remote.log.storage.manager.class.name
remote.log.storage.manager.class.path remote.log.storage.manager.impl.prefix
remote.log.metadata.manager.class.name remote.log.metadata.manager.class.path
remote.log.metadata.manager.impl.prefix remote.log.metadata.manager.listener.name
remote.log.metadata.custom.metadata.max.bytes remote.log.manager.thread.pool.size
remote.log.manager.copier.thread.pool.size remote.log.manager.expiration.thread.pool.size
remote.log.manager.task.interval.ms remote.log.manager.copy.max.bytes.per.second
remote.log.manager.copy.quota.window.num remote.log.manager.copy.quota.window.size.seconds
remote.log.manager.fetch.max.bytes.per.second remote.log.manager.fetch.quota.window.num
remote.log.manager.fetch.quota.window.size.seconds remote.log.reader.threads
remote.log.reader.max.pending.tasks remote.log.index.file.cache.total.size.bytes remote.fetch.max.wait.ms
"""
#: Of a broker, until 4.0; of 2.8 only, and of 3.9 only.
_BROKER_GONE = """\
broker.id.generation.enable | boolean | true | - | ro |
control.plane.listener.name | string | null | - | ro |
controlled.shutdown.max.retries | int | 3 | - | ro |
controlled.shutdown.retry.backoff.ms | long | 5000 | - | ro |
delegation.token.master.key | password | null | - | ro |
inter.broker.protocol.version | string | 3.9-IV0 | - | ro |
leader.imbalance.per.broker.percentage | int | 10 | - | ro |
log.message.downconversion.enable | boolean | true | - | cluster |
log.message.format.version | string | 3.0-IV1 | - | ro |
log.message.timestamp.difference.max.ms | long | 9223372036854775807 | - | cluster |
offsets.commit.required.acks | short | -1 | - | ro |
password.encoder.cipher.algorithm | string | AES/CBC/PKCS5Padding | - | ro |
password.encoder.iterations | int | 4096 | - | ro |
password.encoder.key.length | int | 128 | - | ro |
password.encoder.keyfactory.algorithm | string | null | - | ro |
password.encoder.old.secret | password | null | - | ro |
password.encoder.secret | password | null | - | ro |
reserved.broker.max.id | int | 1000 | - | ro |
zookeeper.clientCnxnSocket | string | null | - | ro |
zookeeper.connect | string | null | - | ro |
zookeeper.connection.timeout.ms | int | null | - | ro |
zookeeper.max.in.flight.requests | int | 10 | - | ro |
zookeeper.session.timeout.ms | int | 18000 | - | ro |
zookeeper.set.acl | boolean | false | - | ro |
zookeeper.ssl.cipher.suites | list | null | - | ro |
zookeeper.ssl.client.enable | boolean | false | - | ro |
zookeeper.ssl.crl.enable | boolean | false | - | ro |
zookeeper.ssl.enabled.protocols | list | null | - | ro |
zookeeper.ssl.endpoint.identification.algorithm | string | HTTPS | - | ro |
zookeeper.ssl.keystore.location | string | null | - | ro |
zookeeper.ssl.keystore.password | password | null | - | ro |
zookeeper.ssl.keystore.type | string | null | - | ro |
zookeeper.ssl.ocsp.enable | boolean | false | - | ro |
zookeeper.ssl.protocol | string | TLSv1.2 | - | ro |
zookeeper.ssl.truststore.location | string | null | - | ro |
zookeeper.ssl.truststore.password | password | null | - | ro |
zookeeper.ssl.truststore.type | string | null | - | ro |
"""
_BROKER_OF_2_8 = """\
advertised.host.name | string | null | - | ro |
advertised.port | int | null | - | ro |
host.name | string |  | - | ro |
port | int | 9092 | - | ro |
quota.consumer.default | long | 9223372036854775807 | - | ro |
quota.producer.default | long | 9223372036854775807 | - | ro |
zookeeper.sync.time.ms | int | 2000 | - | ro |
"""
_BROKER_OF_3_9 = """\
alter.config.policy.kraft.compatibility.enable | boolean | false | - | ro |
auto.include.jmx.reporter | boolean | true | - | ro |
eligible.leader.replicas.enable | boolean | false | - | ro |
group.share.max.groups | short | 10 | - | ro |
zookeeper.metadata.migration.enable | boolean | false | - | ro |
"""

#: Of 3.9, and of 2.8, where it is another: the default that is shown, though kbroker's own is in force (null:
#: none). Those in force are in `release_defaults.py`.
_SHOWN_BEFORE_4_0 = {
    "group.consumer.assignors": "org.apache.kafka.coordinator.group.assignor.UniformAssignor,"
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor",
    "group.coordinator.append.linger.ms": "10",
    "group.share.partition.max.record.locks": "200",
    "metric.reporters": "",
    "node.id": "-1",
    "process.roles": "",
    "remote.log.manager.copier.thread.pool.size": "-1",
    "remote.log.manager.expiration.thread.pool.size": "-1",
    "remote.log.manager.thread.pool.size": "10",
    "sasl.oauthbearer.expected.audience": None,
}
_SHOWN_BEFORE_3_0 = {
    **_SHOWN_BEFORE_4_0,
    "listeners": None,
    "log.message.format.version": "2.8-IV1",
    "inter.broker.protocol.version": "2.8-IV1",
    "message.format.version": "2.8-IV1",
    "principal.builder.class": None,
}
#: Before 4.0: lists that were texts, and other kinds of settings.
_TYPES_BEFORE_4_0 = {
    **dict.fromkeys(
        (
            "advertised.listeners",
            "controller.listener.names",
            "early.start.listeners",
            "listeners",
            "log.dir",
            "log.dirs",
        ),
        ConfigType.STRING,
    ),
    "group.share.max.size": ConfigType.SHORT,
}
_SCOPES_BEFORE_4_0 = {
    "advertised.listeners": Scope.PER_BROKER,
    "remote.log.manager.copier.thread.pool.size": Scope.READ_ONLY,
    "remote.log.manager.expiration.thread.pool.size": Scope.READ_ONLY,
    "remote.log.reader.threads": Scope.READ_ONLY,
}

DOWN_CONVERSION = "message.downconversion.enable"
TIME_DIFFERENCE = "message.timestamp.difference.max.ms"


class ReleaseSettings:
    """The settings that a release has.

    Attributes:
        hidden_topic, hidden_broker: names of today's that it has not.
        topic, broker: those that are gone since, by name.
        shown_defaults: name to the default to show instead of what is in force.
        types, scopes: name to what it was.
    """

    __slots__ = ("broker", "hidden_broker", "hidden_topic", "scopes", "shown_defaults", "topic", "types")

    def __init__(self, release: str) -> None:
        is_2_8 = release == "2.8"
        self.hidden_topic = frozenset((_TOPIC_SINCE_4_0 + is_2_8 * _TOPIC_SINCE_3_0).split())
        self.hidden_broker = frozenset((_BROKER_SINCE_4_0 + is_2_8 * _BROKER_SINCE_3_0).split())
        self.topic = parse_table(_TOPIC_GONE)
        self.broker = parse_table(_BROKER_GONE + (_BROKER_OF_2_8 if is_2_8 else _BROKER_OF_3_9))
        self.shown_defaults: Mapping[str, str | None] = _SHOWN_BEFORE_3_0 if is_2_8 else _SHOWN_BEFORE_4_0
        self.types: Mapping[str, ConfigType] = _TYPES_BEFORE_4_0
        self.scopes: Mapping[str, Scope] = _SCOPES_BEFORE_4_0


@cache
def release_settings(compatibility: str) -> ReleaseSettings | None:
    """Those of a release; None: today's."""
    if is_older(compatibility, "3.3"):
        return ReleaseSettings("2.8")
    return ReleaseSettings("3.9") if is_older(compatibility, "4.0") else None


@cache
def topic_settings(compatibility: str) -> Mapping[str, Definition]:
    """What a topic may be given, with the limits of then."""
    found, then = topic_definitions_of(compatibility), release_settings(compatibility)
    if then is None:
        return found
    return then.topic | {name: each for name, each in found.items() if name not in then.hidden_topic}
