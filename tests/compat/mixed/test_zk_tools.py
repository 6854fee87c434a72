"""Apache Kafka's tools that speak with ZooKeeper itself, of 2.8 and 3.9: they read what a kbroker wrote, and
it obeys what they write."""

from __future__ import annotations

import json
import subprocess

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from kbroker.client.cluster import Cluster as Client
from kbroker.client.configs import ResourceType as ConfigType, describe_configs
from kbroker.client.topics import describe_topics
from kbroker.errors import ApiError
from kbroker.testing import Broker
from tests.compat.mixed.mixed_cluster import JAVA, KAFKA_39
from tests.doubles import wait_until
from tests.needs import cache_folder, need_java
from tests.server.zookeeper import ZooKeeperServer
from tools.kafka_jars import class_path

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(600)]
KAFKA_28 = "2.8.2"
AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    need_java()
    pytest.importorskip("kazoo")
    with ZooKeeperServer(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


@pytest.fixture(scope="module")
def where(server):
    return f"{server.address}/tools"


@pytest.fixture(scope="module")
def broker(where):
    config = {"authorizer.class.name": AUTHORIZER, "super.users": "User:ANONYMOUS"}
    with Broker(zookeeper=where, config=config) as broker:
        broker.create_topic("t", partitions=3, config={"retention.ms": "86400000"})
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        literal, prefixed = ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED
        lists = [
            AclBinding(
                ResourceType.TOPIC,
                name,
                kind,
                f"User:{user}",
                "*",
                AclOperation.READ,
                AclPermissionType.ALLOW,
            )
            for name, kind, user in (("t", literal, "ann"), ("t-", prefixed, "ben"))
        ]
        scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        users = [UserScramCredentialUpsertion("ann", scram, b"secret")]
        for future in [
            *admin.create_acls(lists).values(),
            *admin.alter_user_scram_credentials(users).values(),
        ]:
            future.result(30)
        yield broker


def tool(release, name, *arguments):
    """What it prints."""
    command = [*JAVA, "-cp", class_path(cache_folder(), release), name, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def topics(where, *arguments):
    return tool(KAFKA_28, "kafka.admin.TopicCommand", "--zookeeper", where, *arguments)


def configs(release, where, *arguments):
    return tool(release, "kafka.admin.ConfigCommand", "--zookeeper", where, *arguments)


def test_kafka_topics_of_2_8(broker, where):
    described = topics(where, "--describe", "--topic", "t")
    assert "PartitionCount: 3" in described
    assert "retention.ms=86400000" in described
    assert described.count("Leader: 1\tReplicas: 1\tIsr: 1") == 3
    topics(where, "--create", "--topic", "made", "--partitions", "2", "--replication-factor", "1")
    with Client(broker.bootstrap) as client:

        def led(topic, count):
            try:
                found = describe_topics(client, [topic])[0].partitions
            except ApiError:
                return False
            return len(found) == count and all(each.leader == 1 for each in found)

        wait_until(lambda: led("made", 2), "what the tool has made")
        topics(where, "--delete", "--topic", "made")
        wait_until(
            lambda: not any(each.name == "made" for each in client.metadata(None).topics), "a deletion"
        )
    assert topics(where, "--list").split() == ["t"]


@pytest.mark.parametrize("release", [KAFKA_28, KAFKA_39])
def test_kafka_configs(broker, where, release):
    described = configs(release, where, "--describe", "--entity-type", "users", "--entity-name", "ann")
    assert "SCRAM-SHA-256=salt=" in described
    assert "iterations=4096" in described
    if release == KAFKA_28:
        name = ["--entity-type", "topics", "--entity-name", "t"]
        assert "retention.ms=86400000" in configs(release, where, "--describe", *name)
        configs(release, where, "--alter", *name, "--add-config", "max.message.bytes=12345")
        with Client(broker.bootstrap) as client:

            def largest():
                found = describe_configs(client, ConfigType.TOPIC, "t")
                return next(each.value for each in found if each.name == "max.message.bytes")

            wait_until(lambda: largest() == "12345", "the tool's setting")


@pytest.mark.parametrize("release", [KAFKA_28, KAFKA_39])
def test_kafka_acls(broker, where, release):
    connect = ["--authorizer", AUTHORIZER, "--authorizer-properties", f"zookeeper.connect={where}"]
    listed = tool(release, "kafka.admin.AclCommand", *connect, "--list")
    for kind, name, user in (("LITERAL", "t", "ann"), ("PREFIXED", "t-", "ben")):
        (line,) = (
            each for each in listed.splitlines() if f"patternType={kind}" in each and f"name={name}," in each
        )
        assert f"User:{user}" in listed[listed.index(line) :]


@pytest.mark.parametrize("release", [KAFKA_28, KAFKA_39])
def test_zookeeper_shell(broker, server, release):
    shell = "org.apache.zookeeper.ZooKeeperMainWithTlsSupportForKafka"
    printed = tool(release, shell, "-server", server.address, "get", "/tools/brokers/topics/t")
    (data,) = (each for each in printed.splitlines() if each.startswith("{"))
    assert json.loads(data)["partitions"]["0"] == [1]
