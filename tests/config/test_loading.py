"""Which of several places wins, and what is said of names that are wrong or without effect."""

from __future__ import annotations

import pytest

from kbroker.config.loading import load_config
from kbroker.errors import ConfigError


def test_later_places_win():
    loaded = load_config(
        files=[("f", {"num.partitions": "2", "log.retention.ms": "1", "message.max.bytes": "5"})],
        environment={"KAFKA_NUM_PARTITIONS": "3", "KAFKA_LOG_RETENTION_MS": "7"},
        assignments=[("num.partitions", "4")],
    )
    assert loaded.config.get_int("num.partitions") == 4
    assert loaded.config.get("log.retention.ms") == 7
    assert loaded.config.get_int("message.max.bytes") == 5


def test_profiles():
    dev, production = load_config(), load_config(profile="production")
    assert dev.config.get_int("group.initial.rebalance.delay.ms") == 0
    assert dev.config.get_int("offsets.topic.replication.factor") == 1
    assert dev.config.get_bool("kbroker.metadata.fsync") is False
    assert production.config.get_int("group.initial.rebalance.delay.ms") == 3000
    assert production.config.get_int("offsets.topic.replication.factor") == 3
    assert production.config.get_bool("kbroker.metadata.fsync") is True
    with pytest.raises(ConfigError, match="one of dev, production"):
        load_config(profile="test")


def test_an_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(ConfigError) as caught:
        load_config(files=[("server.properties", {"log.retension.ms": "1"})])
    assert str(caught.value) == (
        "server.properties: unknown setting log.retension.ms; did you mean log.retention.ms?"
    )
    with pytest.raises(ConfigError, match=r"command line: unknown setting xyzzy$"):
        load_config(assignments=[("xyzzy", "1")])


def test_an_unknown_name_in_the_environment_only_warns():
    loaded = load_config(environment={"KAFKA_BOOTSTRAP_SERVERS": "localhost:9092"})
    assert len(loaded.warnings) == 1
    assert "bootstrap.servers" in loaded.warnings[0]


def test_settings_without_effect_are_named_once_and_only_when_they_differ():
    loaded = load_config(
        files=[
            (
                "f",
                {
                    "num.io.threads": "8",
                    "num.network.threads": "5",
                    "password.encoder.secret": "s",
                    "super.users": "User:a",
                    "listener.name.x.num.network.threads": "5",
                },
            )
        ]
    )
    assert loaded.warnings == [
        "these settings are known but have no effect in kbroker yet: "
        "listener.name.x.num.network.threads, num.network.threads, password.encoder.secret"
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"num.partitions": "0"},
            "Invalid value 0 for configuration num.partitions: Value must be at least 1",
        ),
        ({"num.partitions": "x"}, "Not a number of type INT"),
        ({"node.id": "1", "broker.id": "2"}, "must be the same"),
        ({"group.consumer.session.timeout.ms": "70000"}, "group.consumer.session.timeout.ms must be between"),
        ({"replica.lag.time.max.ms": "100"}, "replica.fetch.wait.max.ms"),
        ({"listener.name.x.max.connections": "-1"}, "at least 0"),
        ({"log.retention.hours": "0"}, "log.retention.hours must be unlimited"),
    ],
)
def test_bad_values_are_one_sentence(settings, message):
    with pytest.raises(ConfigError, match=message):
        load_config(files=[("f", settings)])


def test_broker_id_names_the_node():
    assert load_config(files=[("f", {"broker.id": "7"})]).config.node_id == 7
    assert load_config(files=[("f", {"broker.id": "7"})], assignments=[("node.id", "8")]).config.node_id == 8


def test_log_dir_counts_as_log_dirs():
    fallbacks = {"log.dirs": "here"}
    assert load_config(fallbacks=fallbacks).config.log_dirs == ("here",)
    assert load_config(files=[("f", {"log.dir": "/a"})], fallbacks=fallbacks).config.log_dirs == ("/a",)
    assert load_config(
        files=[("f", {"log.dirs": "/a,/b"})], assignments=[("log.dir", "/c")]
    ).config.log_dirs == ("/c",)
