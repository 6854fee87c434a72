"""Layers, live changes, synonyms; topics' and listeners' settings made of them."""

from __future__ import annotations

import pytest

from kbroker.config.broker_config import BrokerConfig, ConfigSource as Source
from kbroker.config.describe import (
    describe_broker,
    describe_broker_defaults,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from kbroker.config.listeners import advertised_listeners, bound_listeners
from kbroker.config.topic_config import log_config_values, topic_value
from kbroker.errors import ConfigError


def config(**settings):
    return BrokerConfig({"node.id": "1", **{name.replace("_", "."): text for name, text in settings.items()}})


def test_each_layer_hides_the_one_below():
    broker = config(message_max_bytes="10")
    assert broker.get_int("message.max.bytes") == 10
    broker.update_dynamic({"message.max.bytes": "20"}, {})
    assert broker.get_int("message.max.bytes") == 20
    broker.update_dynamic({"message.max.bytes": "20"}, {"message.max.bytes": "30"})
    assert broker.get_int("message.max.bytes") == 30
    assert broker.source_of("message.max.bytes") == "broker"
    broker.update_dynamic({}, {})
    assert broker.get_int("message.max.bytes") == 10


def test_listeners_hear_what_changed_and_only_that():
    broker, heard, heard_all = config(), [], []
    broker.subscribe(heard.append, ["message.max.bytes"])
    broker.subscribe(heard_all.append)
    broker.update_dynamic({"log.retention.ms": "5", "num.io.threads": "8"}, {})
    assert heard == []
    assert heard_all == [frozenset({"log.retention.ms"})]
    broker.update_dynamic({"log.retention.ms": "5"}, {"message.max.bytes": "7", "my.own": "x"})
    assert heard == [frozenset({"message.max.bytes"})]
    broker.update_dynamic({"log.retention.ms": "5"}, {})
    assert heard[1:] == [frozenset({"message.max.bytes"})]


def test_dynamic_values_that_cannot_be_are_told_and_left_out():
    broker = config()
    problems = broker.update_dynamic({"message.max.bytes": "many", "node.id": "9"}, {})
    assert len(problems) == 2
    assert broker.get_int("message.max.bytes") == 1048588
    assert broker.node_id == 1


def test_retention_comes_in_three_units():
    def retention(**settings):
        return topic_value(config(**settings), {}, "retention.ms")

    assert retention() == 168 * 3600 * 1000
    assert retention(log_retention_hours="2") == 7_200_000
    assert retention(log_retention_hours="2", log_retention_minutes="3") == 180_000
    assert retention(log_retention_hours="2", log_retention_minutes="3", log_retention_ms="4") == 4
    assert retention(log_retention_hours="-1") == -1
    assert topic_value(config(log_retention_ms="4"), {"retention.ms": "5"}, "retention.ms") == 5
    assert topic_value(config(), {}, "flush.ms") == 2**63 - 1
    assert topic_value(config(log_flush_scheduler_interval_ms="9"), {}, "flush.ms") == 9


def test_log_config_values_fit_the_log_config():
    from kbroker.storage.log_config import LogConfig

    values = log_config_values(config(), {"cleanup.policy": "compact,delete", "segment.bytes": "2000000"})
    log_config = LogConfig(**values)
    assert log_config.cleanup_policy == {"compact", "delete"}
    assert log_config.segment_bytes == 2_000_000
    defaults = LogConfig(**log_config_values(config(), {}))
    assert defaults == LogConfig()
    assert LogConfig(**log_config_values(config(), {"internal.segment.bytes": "99"})).segment_bytes == 99


def by_name(entries):
    return {entry.name: entry for entry in entries}


def test_a_topic_names_the_layers_of_its_brokers_settings():
    broker = config()
    broker.update_dynamic({"message.max.bytes": "20"}, {"message.max.bytes": "30"})
    entry = by_name(describe_topic(broker, {"max.message.bytes": "40"}))["max.message.bytes"]
    assert entry.value == "40"
    assert entry.source is Source.TOPIC
    assert [tuple(synonym) for synonym in entry.synonyms] == [
        ("max.message.bytes", "40", Source.TOPIC),
        ("message.max.bytes", "30", Source.DYNAMIC_BROKER),
        ("message.max.bytes", "20", Source.DYNAMIC_DEFAULT_BROKER),
        ("message.max.bytes", "1048588", Source.DEFAULT),
    ]


def test_synonyms_in_other_units_follow_only_their_own():
    broker = config()
    entry = by_name(describe_topic(broker, {}))["retention.ms"]
    assert (entry.value, entry.source, entry.synonyms) == ("604800000", Source.DEFAULT, ())
    broker.update_dynamic({"log.retention.ms": "86400001"}, {})
    entry = by_name(describe_topic(broker, {}))["retention.ms"]
    assert [tuple(synonym)[:2] for synonym in entry.synonyms] == [
        ("log.retention.ms", "86400001"),
        ("log.retention.hours", "168"),
    ]


def test_a_broker_shows_all_but_hidden_and_secret_values():
    broker = config(ssl_key_password="secret", super_users="User:a")
    entries = by_name(describe_broker(broker))
    assert "log.initial.task.delay.ms" not in entries
    assert entries["ssl.key.password"].value is None
    assert entries["ssl.key.password"].sensitive
    assert entries["ssl.key.password"].synonyms[0].value is None
    unknown = entries["super.users"]
    assert (unknown.value, unknown.sensitive, unknown.read_only, unknown.type.name) == (
        None,
        True,
        True,
        "UNKNOWN",
    )
    assert entries["node.id"].read_only
    assert entries["node.id"].source is Source.STATIC_BROKER
    assert not entries["message.max.bytes"].read_only


def test_the_defaults_of_all_brokers_show_only_what_is_set():
    broker = config()
    assert describe_broker_defaults(broker) == []
    broker.update_dynamic({"message.max.bytes": "20"}, {"message.max.bytes": "30"})
    (entry,) = describe_broker_defaults(broker)
    assert entry.value == "20"
    assert [tuple(s) for s in entry.synonyms] == [("message.max.bytes", "20", Source.DYNAMIC_DEFAULT_BROKER)]


def test_groups_and_subscriptions_are_described_though_nobody_set_anything():
    group = by_name(describe_group(config(), {"consumer.session.timeout.ms": "50000"}))
    assert group["consumer.session.timeout.ms"].source is Source.GROUP
    assert group["consumer.heartbeat.interval.ms"].synonyms[0].name == "group.consumer.heartbeat.interval.ms"
    assert group["streams.assignor.name"].value == "sticky"
    assert group["share.auto.offset.reset"].value == "latest"
    subscription = by_name(describe_client_metrics({"interval.ms": "1000"}, ["interval.ms", "match"]))
    assert subscription["interval.ms"].source is Source.CLIENT_METRICS
    assert subscription["match"].value == ""


def test_listeners():
    broker = BrokerConfig(
        {
            "node.id": "1",
            "listeners": "PLAINTEXT://:9092,INSIDE://[::1]:9094,CONTROLLER://:9093",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
        }
    )
    bound = bound_listeners(broker)
    assert [str(listener) for listener in bound] == ["PLAINTEXT://:9092", "INSIDE://[::1]:9094"]
    assert [str(listener) for listener in advertised_listeners(broker, bound, "me")] == [
        "PLAINTEXT://me:9092",
        "INSIDE://[::1]:9094",
    ]
    broker.static["advertised.listeners"] = "PLAINTEXT://kafka.example:0,CONTROLLER://kafka.example:9093"
    broker._values.clear()
    assert [str(listener) for listener in advertised_listeners(broker, bound, "me")] == [
        "PLAINTEXT://kafka.example:9092"
    ]


@pytest.mark.parametrize(
    ("listeners", "message"),
    [
        ("localhost:9092", "unable to parse"),
        ("PLAINTEXT://localhost:x", "unable to parse"),
        ("PLAINTEXT://localhost:99999", "unable to parse"),
        ("PLAINTEXT://:1,PLAINTEXT://:2", "different name"),
        ("PLAINTEXT://:1,SSL://:1", "port of two listeners"),
        ("OTHER://:1", "no security protocol for listener OTHER"),
    ],
)
def test_listeners_that_cannot_be(listeners, message):
    with pytest.raises(ConfigError, match=message):
        bound_listeners(config(listeners=listeners))


def test_an_address_that_nobody_can_connect_to_is_not_advertised():
    broker = config(advertised_listeners="PLAINTEXT://0.0.0.0:9092")
    with pytest.raises(ConfigError, match="clients cannot connect"):
        advertised_listeners(broker, bound_listeners(broker), "me")


@pytest.mark.parametrize("name", ["node.id", "broker.id"])
def test_the_two_names_of_the_id_stand_in_for_each_other(name: str) -> None:
    config = BrokerConfig({name: "7"})
    assert (config.node_id, config.get_int("node.id"), config.get_int("broker.id")) == (7, 7, 7)
