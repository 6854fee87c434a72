"""DescribeConfigs names what a release named: held with what 3.9.2 and 2.8.2 answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.describe import describe_broker, describe_topic
from kbroker.config.release_settings import topic_settings
from kbroker.config.resource_checks import check_topic
from kbroker.config.topic_config import log_config_values
from kbroker.errors import ApiError

_DATA = Path(__file__).parents[1] / "data" / "releases"
_STATIC, _ENV = 4, "$env"
_NODE = {"node.id": "1", "process.roles": "broker,controller"}
#: Names of what the recorded brokers had and kbroker cannot be given, or has to be.
_OF_THE_RUN = {"broker.id", "zookeeper.connect", *_NODE}


def recorded(release, kind):
    lines = (_DATA / f"{release}.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    return {row[1]: row for row in map(json.loads, lines) if row[0] == kind}


def config(release, **settings):
    return BrokerConfig({**_NODE, "kbroker.compatibility": release, **settings})


def as_recorded(release):
    """A broker with the settings of the one that was asked."""
    static = {
        name: text
        for row in recorded(release, "broker").values()
        for name, text, source in row[7]
        if source == _STATIC and text not in (None, _ENV) and name not in _OF_THE_RUN
    }
    static |= {
        name: "1" for name, row in recorded(release, "broker").items() if row[3] == 0 and row[6] == _STATIC
    }
    return config(release, **static)


def row_of(kind, entry):
    synonyms = [[each.name, each.value, int(each.source)] for each in entry.synonyms]
    about = [int(entry.type), entry.read_only, entry.sensitive, int(entry.source)]
    return [kind, entry.name, entry.value, *about, synonyms]


@pytest.mark.parametrize("release", ["2.8", "3.9"])
def test_a_topic_has_the_settings_of_the_release(release):
    expected = recorded(release, "topic")
    entries = describe_topic(as_recorded(release), {"retention.ms": "1000"})
    assert {entry.name: row_of("topic", entry) for entry in entries} == expected
    # Two names that share a place of Java's table stand the other way round.
    assert sum(entry.name != name for entry, name in zip(entries, expected)) == 2


@pytest.mark.parametrize("release", ["2.8", "3.9"])
def test_a_broker_has_the_settings_of_the_release(release):
    expected = recorded(release, "broker")
    found = {entry.name: row_of("broker", entry) for entry in describe_broker(as_recorded(release))}
    assert {name for name in found if name not in expected} <= _OF_THE_RUN
    differing = {
        name
        for name, row in expected.items()
        if _ENV not in json.dumps(row) and name not in _OF_THE_RUN and found.get(name) != row
    }
    assert not differing


def test_what_came_later_is_unknown_and_what_is_gone_is_known():
    check_topic({"compression.gzip.level": "3", "message.format.version": "2.8"}, compatibility="3.9")
    for release, name in (
        ("2.8", "compression.gzip.level"),
        ("3.9", "max.decompressed.message.bytes"),
        ("all", "message.format.version"),
        ("4.0", "message.downconversion.enable"),
    ):
        with pytest.raises(ApiError, match=f"Unknown topic config name: {name}"):
            check_topic({name: "1"}, compatibility=release)
    assert "message.format.version" not in topic_settings("4.4")


def test_one_setting_said_how_far_off_a_time_may_be():
    own = {"message.timestamp.difference.max.ms": "5000"}
    for release in ("2.8", "3.9"):
        values = log_config_values(config(release), own)
        assert values["message_timestamp_before_max_ms"] == 5000
        assert values["message_timestamp_after_max_ms"] == 5000
    later = log_config_values(config("3.9"), {**own, "message.timestamp.after.max.ms": "7"})
    assert (later["message_timestamp_before_max_ms"], later["message_timestamp_after_max_ms"]) == (5000, 7)
    whole = config("2.8", **{"log.message.timestamp.difference.max.ms": "9"})
    assert log_config_values(whole, {})["message_timestamp_before_max_ms"] == 9
    assert log_config_values(config("all"), own)["message_timestamp_after_max_ms"] == 3_600_000
