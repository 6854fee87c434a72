from __future__ import annotations

import pytest

from kbroker.config.broker_config import BrokerConfig, ConfigSource
from kbroker.config.definitions import broker_definitions
from kbroker.config.describe import describe_broker, describe_topic
from kbroker.config.release_defaults import release_defaults
from kbroker.config.resource_checks import check_topic
from kbroker.config.topic_config import log_config_values
from kbroker.errors import ApiError, ConfigError
from kbroker.protocol.releases import releases

NODE = {"node.id": "1", "process.roles": "broker,controller"}


def config(release, **settings):
    return BrokerConfig({**NODE, "kbroker.compatibility": release, **settings})


def test_every_release_that_is_known_can_be_chosen_and_no_other():
    for release in ["all", *releases()]:
        assert config(release).get_str("kbroker.compatibility") == release
    for release in ("5.0", "0.7", "3.10", "", "4.4.0"):
        with pytest.raises(ConfigError):
            config(release)


@pytest.mark.parametrize("release", ["all", *releases()])
def test_older_defaults_are_values_of_settings_that_exist(release):
    for name, text in release_defaults(release).items():
        definition = broker_definitions()[name]
        assert definition.parse(text) != definition.default


def test_an_older_default_is_a_default_in_every_way():
    old = config("1.1")
    assert old.get_int("offsets.retention.minutes") == 1440
    assert log_config_values(old, {})["message_timestamp_after_max_ms"] == 2**63 - 1
    assert log_config_values(old, {})["max_message_bytes"] == 1_000_012
    (entry,) = describe_broker(old, ["offsets.retention.minutes"])
    assert (entry.value, entry.source) == ("1440", ConfigSource.DEFAULT)
    (entry,) = describe_topic(old, {}, ["max.message.bytes"])
    assert (entry.value, entry.source) == ("1000012", ConfigSource.DEFAULT)


def test_what_is_set_goes_first():
    old = config("1.1", **{"offsets.retention.minutes": "7"})
    assert old.get_int("offsets.retention.minutes") == 7
    old.update_dynamic({"message.max.bytes": "2000"}, {})
    assert old.get_int("message.max.bytes") == 2000
    old.update_dynamic({}, {})
    assert old.get_int("message.max.bytes") == 1_000_012


def test_all_and_the_newest_have_the_newest_defaults():
    assert release_defaults("all") == release_defaults("4.4") == release_defaults("4.0") == {}
    assert config("all").get_int("log.message.timestamp.after.max.ms") == 3_600_000


@pytest.mark.parametrize(
    ("release", "lowest"), [("2.8", 14), ("3.9", 14), ("4.0", 1 << 20), ("all", 1 << 20)]
)
def test_a_topic_may_have_the_small_segments_that_a_release_allowed(release, lowest):
    check_topic({"segment.bytes": str(lowest)}, compatibility=release)
    with pytest.raises(ApiError, match=f"Value must be at least {lowest}"):
        check_topic({"segment.bytes": str(lowest - 1)}, compatibility=release)
    values = log_config_values(config(release), {"segment.bytes": "14"})
    assert values["segment_bytes"] == (14 if lowest == 14 else 1 << 30)
