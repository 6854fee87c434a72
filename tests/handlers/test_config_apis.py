"""The config APIs over the wire, where the recorded conversations say nothing."""

from __future__ import annotations

import logging

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError
from kbroker.protocol.generated.alter_configs_request import (
    AlterableConfig as OldConfig,
    AlterConfigsRequest,
    AlterConfigsResource as OldResource,
)
from kbroker.protocol.generated.alter_configs_response import AlterConfigsResponse
from kbroker.protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kbroker.protocol.generated.describe_configs_response import DescribeConfigsResponse
from kbroker.protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kbroker.protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kbroker.testing import Broker

TOPIC, BROKER, LOGGER = 2, 4, 8
SET, DELETE, APPEND, SUBTRACT = range(4)


@pytest.fixture(scope="module")
def cluster():
    with Broker(config={"log.retention.hours": 2}) as broker, Cluster(broker.bootstrap) as found:
        broker.create_topic("t")
        yield found


def incremental(cluster, kind, name, *changes):
    configs = [AlterableConfig(name=n, config_operation=o, value=v) for n, o, v in changes]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    answer = cluster.ask(
        IncrementalAlterConfigsRequest(resources=[resource]), IncrementalAlterConfigsResponse
    )
    (found,) = answer.responses
    return found.error_code, found.error_message


def replace(cluster, *resources):
    wanted = [
        OldResource(
            resource_type=kind,
            resource_name=name,
            configs=[OldConfig(name=key, value=value) for key, value in settings.items()],
        )
        for kind, name, settings in resources
    ]
    answer = cluster.ask(AlterConfigsRequest(resources=wanted), AlterConfigsResponse)
    return [(found.error_code, found.error_message) for found in answer.responses]


def describe(cluster, kind, name, keys=None, **options):
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    answer = cluster.ask(DescribeConfigsRequest(resources=[resource], **options), DescribeConfigsResponse)
    (found,) = answer.results
    assert found.error_code == 0, found.error_message
    return {config.name: config for config in found.configs}


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("", [("listeners", SET, "PLAINTEXT://:1")],
         "Cannot update these configs at default cluster level, broker id must be specified: [listeners]"),
        ("1", [("ssl.keystore.location", SET, "/x")],
         "These security configs can be dynamically updated only per-listener using the listener prefix: "
         "[ssl.keystore.location]"),
        ("", [("sasl.kerberos.min.time.before.relogin", SET, "1")],
         "Cannot update these configs at default cluster level, broker id must be specified: "
         "[sasl.kerberos.min.time.before.relogin]"),
        ("1", [("node.id", SET, "2"), ("broker.rack", SET, "r")],
         "Cannot update these configs dynamically: [node.id, broker.rack]"),
        ("1", [("log.retention.ms", SET, "0")],
         "log.retention.ms must be unlimited (-1) or, greater than or equal to 1"),
        ("1", [("listeners", SET, "P://:1,a")],
         "Error creating broker listeners from '[P://:1, a]': Unable to parse a to a broker endpoint"),
        ("1", [("num.io.threads", SET, "100")],
         "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update "
         "validation failed for num.io.threads=100, value should not be greater than double the current "
         "value 8 for configuration Invalid dynamic configuration"),
        ("1", [("message.max.bytes", 7, "1")], "Unknown operations type 7"),
        ("1", [("message.max.bytes", SET, None)], "Null value not supported for : message.max.bytes"),
        ("1", [("message.max.bytes", SET, "1"), ("message.max.bytes", DELETE, None)],
         "Error due to duplicate config keys"),
        ("1", [("log.cleanup.policy", APPEND, "bad")],
         "Invalid value bad for configuration log.cleanup.policy: String must be one of: compact, delete"),
        ("1", [("max.connections", SET, "0")],
         "Invalid value org.apache.kafka.common.config.ConfigException: Invalid max.connections 0 "
         "for configuration Invalid dynamic configuration"),
        ("1", [("listener.name.plaintext.max.connection.creation.rate", SET, "0")],
         "Invalid value org.apache.kafka.common.config.ConfigException: Invalid "
         "max.connection.creation.rate 0 for configuration Invalid dynamic configuration"),
        ("1", [("max.connections.per.ip", SET, "0")],
         "requirement failed: max.connections.per.ip can be set to zero only if "
         "max.connections.per.ip.overrides property is set."),
        ("1", [("max.connections.per.ip.overrides", SET, "here:x")],
         "Error parsing configuration property 'max.connections.per.ip.overrides': here:x is no host:count"),
        ("", [("kbroker.protect.cpu.percent", SET, "80,much")],
         "Invalid value for a limit: '80,much' is not one or two numbers"),
        ("", [("kbroker.request.limits", SET, "api=Nonsense rate=1")],
         "Invalid value for a limit: there is no API Nonsense"),
    ],
)  # fmt: skip
def test_broker_settings_that_are_refused(cluster, name, changes, message):
    assert incremental(cluster, BROKER, name, *changes) == (42, message)


def test_security_settings_of_a_broker_need_no_listener(cluster):
    assert incremental(cluster, BROKER, "1", ("sasl.kerberos.min.time.before.relogin", SET, "58000")) == (
        0,
        None,
    )
    assert incremental(cluster, BROKER, "1", ("ssl.cipher.suites", SET, "x")) == (0, None)


@pytest.mark.parametrize("name", ["zookeeper.connect", "follower.replication.throttled.rate"])
def test_a_list_operation_on_an_unknown_broker_setting(cluster, name):
    assert incremental(cluster, BROKER, "", (name, APPEND, "1")) == (
        40,
        f"Unknown config name: {name}",
    )


def test_dynamic_settings_are_in_force_at_once(cluster):
    assert incremental(cluster, BROKER, "", ("log.retention.ms", SET, "86400001"))[0] == 0
    retention = describe(cluster, TOPIC, "t", ["retention.ms"], include_synonyms=True)["retention.ms"]
    assert retention.value == "86400001"
    assert [(s.name, s.value) for s in retention.synonyms] == [
        ("log.retention.ms", "86400001"),
        ("log.retention.hours", "2"),
        ("log.retention.hours", "168"),
    ]
    assert incremental(cluster, BROKER, "", ("log.retention.ms", DELETE, None))[0] == 0
    assert describe(cluster, TOPIC, "t", ["retention.ms"])["retention.ms"].value == "7200000"


def test_settings_nobody_knows_are_kept_and_hidden(cluster):
    assert incremental(cluster, BROKER, "1", ("my.own", SET, "x"))[0] == 0
    found = describe(cluster, BROKER, "1", ["my.own"])["my.own"]
    assert (found.value, found.is_sensitive, found.read_only, found.config_type) == (None, True, True, 0)
    assert incremental(cluster, BROKER, "1", ("my.own", DELETE, None))[0] == 0
    assert describe(cluster, BROKER, "1", ["my.own"]) == {}


def test_documentation_on_request(cluster):
    shown = describe(cluster, BROKER, "1", None, include_documentation=True)
    assert all(config.documentation for config in shown.values() if config.config_type)
    assert "kbroker.metadata.fsync" not in shown
    own = describe(cluster, BROKER, "1", ["kbroker.metadata.fsync"])
    assert own["kbroker.metadata.fsync"].value == "false"


def test_the_same_resource_twice_is_answered(cluster):
    twice = (TOPIC, "t", {"segment.ms": "1000000"})
    assert replace(cluster, twice, twice) == [(42, "Each resource must appear at most once.")] * 2
    assert replace(cluster, (LOGGER, "1", {"root": "INFO"})) == [(42, "Unknown resource type 8")]


def test_an_answer_that_would_be_huge_closes_the_connection(cluster):
    resource = DescribeConfigsResource(resource_type=TOPIC, resource_name="t", configuration_keys=None)
    assert len(
        cluster.ask(DescribeConfigsRequest(resources=[resource] * 1000), DescribeConfigsResponse).results
    )
    with pytest.raises(ClientError):
        cluster.ask(DescribeConfigsRequest(resources=[resource] * 10_000), DescribeConfigsResponse)


def test_log_levels_are_seen_and_set(cluster):
    logging.getLogger("kbroker.tests.levels")
    name = "kbroker.tests.levels"
    assert incremental(cluster, LOGGER, "1", (name, SET, "DEBUG")) == (0, None)
    assert logging.getLogger(name).level == logging.DEBUG
    level = describe(cluster, LOGGER, "1", [name])[name]
    assert (level.value, level.config_source, level.config_type) == ("DEBUG", 6, 2)
    assert level.synonyms == []
    assert incremental(cluster, LOGGER, "1", (name, DELETE, None)) == (0, None)
    assert logging.getLogger(name).level == logging.NOTSET
    assert "root" in describe(cluster, LOGGER, "1")


@pytest.mark.parametrize(
    ("node", "change", "code", "message"),
    [
        ("1", ("root", SET, "NOPE"), 40,
         "Cannot set the log level of root to NOPE as it is not a supported log level. "
         "Valid log levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN"),
        ("1", ("root", APPEND, "INFO"), 42, "APPEND operation is not allowed for the BROKER_LOGGER resource"),
        ("1", ("root", DELETE, None), 42, "Removing the log level of the root logger is not allowed"),
        ("1", ("no.such", SET, "INFO"), 40, "Logger no.such does not exist!"),
        ("2", ("root", SET, "INFO"), 42, "Unexpected node id. Expected 1, but received 2"),
        ("x", ("root", SET, "INFO"), 42, "Node id must be an integer, but it is: x"),
    ],
)  # fmt: skip
def test_log_levels_that_are_refused(cluster, node, change, code, message):
    assert incremental(cluster, LOGGER, node, change) == (code, message)


def test_a_resource_of_an_unknown_type_spoils_the_request(cluster):
    resources = [
        DescribeConfigsResource(resource_type=kind, resource_name=name)
        for kind, name in ((TOPIC, "t"), (3, "x"))
    ]
    answer = cluster.ask(DescribeConfigsRequest(resources=resources), DescribeConfigsResponse)
    assert [(r.error_code, len(r.configs)) for r in answer.results] == [(42, 0), (42, 0)]


def test_a_hidden_setting_shows_only_where_it_is_set(cluster):
    assert describe(cluster, TOPIC, "t", ["internal.segment.bytes"]) == {}
