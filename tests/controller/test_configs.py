"""What may change, what Kafka says otherwise, and the records of it."""

from __future__ import annotations

import pytest

from kbroker.config.broker_config import BrokerConfig
from kbroker.controller.configs import (
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    decide_incremental,
    decide_replacement,
)
from kbroker.errors import ErrorCode
from kbroker.metadata.image import ClusterImage, TopicImage, TopicsImage

TOPIC, BROKER, SUBSCRIPTION, GROUP = 2, 4, 16, 32
BROKER_CONFIG = BrokerConfig({"node.id": "1"})
_OPERATIONS = {"=": ConfigOperation.SET, "+": ConfigOperation.APPEND, "-": ConfigOperation.SUBTRACT}


def image(configs=None, features=None):
    topic = TopicImage("t", bytes(16), ())
    return ClusterImage(
        "c",
        topics=TopicsImage({"t": topic}, {topic.id: topic}),
        configs=configs or {},
        features=features or {},
    )


def change(name, operation="=", value=None):
    kind = ConfigOperation.DELETE if operation == "delete" else _OPERATIONS[operation]
    return ConfigChange(name, kind, value)


def incremental(kind, name, *changes, configs=None, features=None, validate_only=False):
    decision = decide_incremental(
        image(configs, features),
        BROKER_CONFIG,
        [(ConfigResource(kind, name), changes)],
        validate_only=validate_only,
    )
    (error,) = decision.response
    return error, [(r.NAME, getattr(r, "name", ""), getattr(r, "value", None)) for r in decision.records]


def test_set_and_delete():
    error, records = incremental(
        TOPIC,
        "t",
        change("retention.ms", "=", "5"),
        change("segment.ms", "delete"),
        change("no.such", "delete"),
        configs={(TOPIC, "t"): {"segment.ms": "70000"}},
    )
    assert error is None
    assert records == [("ConfigRecord", "retention.ms", "5"), ("ConfigRecord", "segment.ms", None)]


def test_what_is_as_wanted_already_writes_nothing():
    assert incremental(
        TOPIC, "t", change("retention.ms", "=", "5"), configs={(TOPIC, "t"): {"retention.ms": "5"}}
    ) == (None, [])


def test_lists_start_from_what_holds_now():
    def policy(*changes, current=None):
        configs = {(TOPIC, "t"): {"cleanup.policy": current}} if current else {}
        error, records = incremental(TOPIC, "t", *changes, configs=configs)
        assert error is None
        return [value for _, _, value in records]

    assert policy(change("cleanup.policy", "+", "compact")) == ["delete,compact"]
    assert policy(change("cleanup.policy", "+", "compact"), current="delete,compact") == []
    assert policy(change("cleanup.policy", "-", "delete,nothing"), current="delete,compact") == ["compact"]
    assert policy(change("cleanup.policy", "-", "compact"), current="compact") == [""]


def test_validate_only_refuses_the_same_and_writes_nothing():
    assert incremental(TOPIC, "t", change("retention.ms", "=", "5"), validate_only=True) == (None, [])
    error, _ = incremental(TOPIC, "t", change("retention.ms", "=", "x"), validate_only=True)
    assert error.code == ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize(
    ("kind", "name", "changes", "code", "message"),
    [
        (TOPIC, "t", [change("retention.ms", "=", "never")], 40,
         "Invalid value never for configuration retention.ms: Not a number of type LONG"),
        (TOPIC, "t", [change("retention.ms", "+", "5")], 40,
         "Can't APPEND to key retention.ms because its type is not LIST."),
        (TOPIC, "t", [change("no.such", "=", "5")], 40, "Unknown topic config name: no.such"),
        (TOPIC, "t", [change("max.message.bytes", "=", "10"), change("segment.bytes", "=", "-4")], 40,
         "Invalid value -4 for configuration segment.bytes: Value must be at least 1048576"),
        (TOPIC, "t",
         [change("min.compaction.lag.ms", "=", "10"), change("max.compaction.lag.ms", "=", "5")], 40,
         "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)"),
        (TOPIC, "t", [change("remote.storage.enable", "=", "true")], 40,
         "Tiered Storage functionality is disabled in the broker. "
         "Topic cannot be configured with remote log storage."),
        (TOPIC, "t", [change("compression.type", "=", "x" * 40_000)], 40,
         "The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes."),
        (TOPIC, "nobody", [change("retention.ms", "=", "5")], 3, "The topic 'nobody' does not exist."),
        (TOPIC, "nobody", [change("no.such", "=", "5")], 40, "Unknown topic config name: no.such"),
        (TOPIC, "", [], 42, "Default topic resources are not allowed."),
        (TOPIC, "bad name", [], 17,
         "Topic name is invalid: 'bad name' contains one or more characters other than ASCII alphanumerics, "
         "'.', '_' and '-'"),
        (0, "x", [], 42, "Unknown resource type 0"),
        (3, "x", [change("no.such", "+", "a")], 42, "Unknown resource type 3"),
        (GROUP, "", [], 42, "Default group resources are not allowed."),
        (GROUP, "g", [change("consumer.session.timeout.ms", "=", "1")], 40,
         "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive."),
        (GROUP, "g", [change("no.such", "=", "1")], 40, "Unknown group config name: no.such"),
        (GROUP, "g", [change("streams.num.standby.replicas", "=", "9")], 40,
         "streams.num.standby.replicas must be less than or equal to 2"),
        (GROUP, "g", [change("streams.task.offset.interval.ms", "=", "1")], 40,
         "streams.task.offset.interval.ms must be greater than or equal to 15000"),
        (GROUP, "g", [change("streams.assignor.name", "=", "nope")], 40,
         "streams.assignor.name 'nope' is not a registered task assignor. "
         "Registered assignors are: [sticky]."),
        (GROUP, "g", [change("streams.rack.aware.assignment.tags", "+", "a")], 40,
         "Can't APPEND to key streams.rack.aware.assignment.tags because its type is not LIST."),
        (SUBSCRIPTION, "", [], 42, "Subscription name can't be empty"),
        (SUBSCRIPTION, "s", [change("no.such", "=", "1")], 42,
         "Unknown client metrics configuration: no.such"),
        (SUBSCRIPTION, "s", [change("interval.ms", "=", "50")], 42,
         "Invalid value 50 for interval.ms, interval must be between 100 and 3600000 (1 hour)"),
        (SUBSCRIPTION, "s", [change("match", "=", "client_id=[")], 40,
         "Illegal client matching pattern: client_id=["),
        (SUBSCRIPTION, "s", [change("match", "=", "planet=x")], 40,
         "Illegal client matching pattern: planet=x"),
    ],
)  # fmt: skip
def test_refused_in_kafkas_words(kind, name, changes, code, message):
    error, records = incremental(kind, name, *changes)
    assert (error.code, error.text) == (code, message)
    assert records == []


def test_each_resource_stands_alone():
    decision = decide_incremental(
        image(),
        BROKER_CONFIG,
        [
            (ConfigResource(TOPIC, "nobody"), [change("retention.ms", "=", "5")]),
            (ConfigResource(TOPIC, "t"), [change("retention.ms", "=", "6")]),
        ],
    )
    assert [error and error.code for error in decision.response] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        None,
    ]
    assert [record.value for record in decision.records] == ["6"]


def test_a_replacement_removes_the_rest():
    decision = decide_replacement(
        image({(TOPIC, "t"): {"retention.ms": "5", "segment.ms": "70000"}}),
        BROKER_CONFIG,
        [(ConfigResource(TOPIC, "t"), {"segment.ms": "80000"})],
    )
    assert decision.response == [None]
    assert [(r.name, r.value) for r in decision.records] == [("segment.ms", "80000"), ("retention.ms", None)]


ELR = {"eligible.leader.replicas.version": 1}


def test_min_isr_is_one_number_for_all_brokers_with_elr():
    defaults = {(BROKER, ""): {"min.insync.replicas": "1"}}
    error, _ = incremental(
        BROKER, "1", change("min.insync.replicas", "=", "1"), configs=defaults, features=ELR
    )
    assert error.text == "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
    error, _ = incremental(
        BROKER, "", change("min.insync.replicas", "delete"), configs=defaults, features=ELR
    )
    assert error.text == "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
    assert incremental(BROKER, "1", change("min.insync.replicas", "=", "1"))[0] is None


def test_a_new_min_isr_voids_the_eligible_leader_replicas():
    _, records = incremental(TOPIC, "t", change("min.insync.replicas", "=", "2"), features=ELR)
    assert [name for name, _, _ in records] == ["ConfigRecord", "ClearElrRecord"]
