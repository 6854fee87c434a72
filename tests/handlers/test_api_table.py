from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from kbroker import handlers
from kbroker.handlers.api_table import (
    API_TABLE,
    CONTROLLER_TABLE,
    LEGACY_TABLE,
    OWN_TABLE,
    TELEMETRY_TABLE,
    ZOOKEEPER_TABLE,
    ServedApis,
)
from kbroker.handlers.context import CONTROLLER
from kbroker.protocol.api_keys import FACTS, request_class, response_class
from kbroker.protocol.releases import releases

#: Version 0 was an early access of Kafka 4.0, and is gone.
EARLY_ACCESS = {76, 77, 78, 79}

MODERN = {**API_TABLE, **TELEMETRY_TABLE, **OWN_TABLE}


@pytest.mark.parametrize("key", MODERN)
def test_the_table_says_what_the_handler_says(key):
    name, low, high = MODERN[key]
    module = import_module(f"kbroker.handlers.{name}")
    assert (low, high) == module.VERSIONS
    assert hasattr(module, "raw_path") or callable(module.handle)
    assert module.__doc__
    for message in (request_class(key), response_class(key)):
        assert message.MIN_VERSION <= low <= high <= message.MAX_VERSION
    assert name == "".join("_" + c.lower() if c.isupper() else c for c in FACTS[key].name).lstrip("_")


@pytest.mark.parametrize("key", LEGACY_TABLE)
def test_the_oldest_versions_lie_just_below_the_others(key):
    name, low, high = LEGACY_TABLE[key]
    assert (low, high) == import_module(f"kbroker.handlers.{name}").VERSIONS
    assert name == f"{API_TABLE[key][0]}_legacy"
    assert low == 0
    assert high + 1 == API_TABLE[key][1]


@pytest.mark.parametrize("key", CONTROLLER_TABLE)
def test_a_controller_has_a_handler_of_its_own(key):
    name, low, high = CONTROLLER_TABLE[key]
    assert (low, high) == import_module(f"kbroker.handlers.{name}").VERSIONS == API_TABLE[key][1:]
    assert ServedApis(role=CONTROLLER).module(key, high) == name


@pytest.mark.parametrize("key", ZOOKEEPER_TABLE)
def test_where_zookeeper_keeps_the_cluster_brokers_answer_more(key):
    name, low, high = ZOOKEEPER_TABLE[key]
    module = import_module(f"kbroker.handlers.{name}")
    assert (low, high) == getattr(module, "ZOOKEEPER_VERSIONS", module.VERSIONS)
    assert ServedApis(zookeeper=True).module(key, high) == ServedApis(zookeeper=True).module(key, low) == name
    assert ServedApis().module(key, high) is None
    assert key not in {each[0] for each in ServedApis().advertised}
    for message in (request_class(key), response_class(key)):
        assert message.MIN_VERSION <= low <= high <= message.MAX_VERSION


def test_every_handler_is_in_a_table():
    folder = Path(handlers.__file__).parent
    tables = [MODERN, LEGACY_TABLE, CONTROLLER_TABLE, ZOOKEEPER_TABLE]
    named = {name for table in tables for name, _, _ in table.values()}
    for path in folder.glob("*.py"):
        if "VERSIONS = (" in path.read_text():
            assert path.stem in named, path.stem


def test_everything_is_served_from_version_0_on():
    apis = ServedApis()
    for key, low, high in apis.advertised:
        assert (low, high) == (1 if key in EARLY_ACCESS else 0, API_TABLE[key][2])
        assert all(apis.module(key, version) for version in range(low, high + 1))
        assert apis.module(key, high + 1) is None


@pytest.mark.parametrize("name", releases())
def test_a_release_is_what_we_have_of_it(name):
    kafka, apis = releases()[name], ServedApis(name)
    advertised = {key: (low, high) for key, low, high in apis.advertised}
    served = {key: kafka.advertised[key] for key in API_TABLE if key in kafka.advertised}
    assert advertised == {**served, **kafka.between_brokers}
    for key, (_, _, highest) in API_TABLE.items():
        served = [version for version in range(highest + 2) if apis.module(key, version)]
        low, high = kafka.served.get(key, (0, -1))
        assert served == list(range(low, high + 1))


@pytest.mark.parametrize("name", ["all", "3.6", "3.7", "4.4"])
def test_telemetry_is_answered_since_3_7_and_told_apart(name):
    apis = ServedApis(name)
    served = {key for key in TELEMETRY_TABLE if apis.module(key, 0)}
    assert served == {key for key, _, _ in apis.telemetry}
    assert bool(served) == (name != "3.6")
    assert not served & {key for key, _, _ in apis.advertised}


@pytest.mark.parametrize("name", ["all", "2.4", "4.4"])
def test_our_own_request_is_answered_and_not_told(name):
    apis = ServedApis(name)
    assert apis.module(19266, 0) == "kbroker_command"
    assert apis.module(19266, 1) is None
    assert 19266 not in {key for key, _, _ in apis.advertised + apis.telemetry}


def test_in_zookeeper_nothing_is_told_of_a_quorum_and_of_groups_that_need_its_features():
    told = {key for key, _, _ in ServedApis(zookeeper=True).advertised}
    everywhere = {key for key, _, _ in ServedApis().advertised}
    assert told - everywhere == ZOOKEEPER_TABLE.keys() - everywhere
    named = {FACTS[key].name for key in everywhere - told}
    assert {"ShareFetch", "StreamsGroupHeartbeat", "DescribeQuorum"} <= named
    assert not named & {"ConsumerGroupHeartbeat", "DescribeTopicPartitions", "Produce", "ListConfigResources"}


def test_controllers_speak_as_they_are_whatever_release_clients_are_to_see():
    today, then = ServedApis(role=CONTROLLER), ServedApis("2.8", CONTROLLER)
    assert then.advertised == today.advertised
    assert then.versions(1) == today.versions(1) == API_TABLE[1][1:]
