"""librdkafka and Kafka's own `kafka-acls` with a broker that asks who may do what."""

from __future__ import annotations

import confluent_kafka
import confluent_kafka.admin
import kafka.admin
import pytest

from kbroker.cli.admin import main
from kbroker.testing import Broker
from tests.security.test_little_allowed import SETTINGS

Code = confluent_kafka.KafkaError


@pytest.fixture(scope="module")
def guarded():
    with Broker(config=SETTINGS) as guarded:
        guarded.create_topic("orders")
        yield guarded


@pytest.fixture
def acls(guarded, capsys):
    """`acls("add", …)` -> what was printed."""

    def run(*arguments):
        assert main(["-b", f"127.0.0.1:{guarded.ports['PLAINTEXT']}", "acls", *arguments]) == 0
        return capsys.readouterr().out

    return run


def bob(guarded, **more):
    return {
        "bootstrap.servers": f"127.0.0.1:{guarded.ports['SASL_PLAINTEXT']}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "bob",
        "sasl.password": "bob-secret",
        **more,
    }


def send(guarded, **more):
    """The error of one record, None if it was taken."""
    producer = confluent_kafka.Producer(bob(guarded, **more))
    found = []
    producer.produce("orders", b"value", on_delivery=lambda error, _: found.append(error))
    while not found:
        producer.poll(0.1)
    return found[0] and found[0].code()


def first(guarded):
    """The first message of the group, or the code of the error."""
    consumer = confluent_kafka.Consumer(bob(guarded, **{"group.id": "g", "auto.offset.reset": "earliest"}))
    consumer.subscribe(["orders"])
    try:
        while True:
            message = consumer.poll(0.1)
            if message is None:
                continue
            return message.error().code() if message.error() else message.value()
    finally:
        consumer.close()


def test_librdkafka(guarded, acls):
    assert send(guarded) == Code.TOPIC_AUTHORIZATION_FAILED
    acls("add", "--topic", "orders", "--principal", "bob", "--allow", "write")
    assert send(guarded, **{"enable.idempotence": True}) is None
    assert first(guarded) == Code.GROUP_AUTHORIZATION_FAILED
    acls("add", "--group", "g", "--principal", "bob", "--allow", "read")
    assert first(guarded) == Code.TOPIC_AUTHORIZATION_FAILED
    acls("add", "--topic", "or", "--prefix", "--principal", "bob", "--allow", "read")
    assert first(guarded) == b"value"
    acls("add", "--topic", "*", "--principal", "bob", "--deny", "write", "--host", "127.0.0.1")
    assert send(guarded) == Code.TOPIC_AUTHORIZATION_FAILED
    assert "deny" in acls("list", "--topic", "orders", "--matching")
    acls("remove", "--principal", "bob", "--yes")
    assert send(guarded) == Code.TOPIC_AUTHORIZATION_FAILED


def test_a_transactional_producer(guarded, acls):
    producer = confluent_kafka.Producer(bob(guarded, **{"transactional.id": "tx"}))
    with pytest.raises(confluent_kafka.KafkaException) as refused:
        producer.init_transactions(60)
    assert refused.value.args[0].code() == Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    acls("add", "--transactional-id", "tx", "--principal", "bob", "--allow", "write")
    acls("add", "--topic", "orders", "--principal", "bob", "--allow", "write")
    producer = confluent_kafka.Producer(bob(guarded, **{"transactional.id": "tx"}))
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce("orders", b"in a transaction")
    producer.commit_transaction(60)
    acls("remove", "--principal", "bob", "--yes")


def test_admin_clients(guarded, acls):
    """librdkafka's and kafka-python's requests for ACLs."""
    at = f"127.0.0.1:{guarded.ports['PLAINTEXT']}"
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": at})
    kind, pattern = confluent_kafka.admin.ResourceType, confluent_kafka.admin.ResourcePatternType
    operation, permission = confluent_kafka.admin.AclOperation, confluent_kafka.admin.AclPermissionType
    wanted = confluent_kafka.admin.AclBinding(
        kind.TOPIC, "rd-", pattern.PREFIXED, "User:rd", "*", operation.READ, permission.ALLOW
    )
    for future in admin.create_acls([wanted]).values():
        assert future.result(60) is None
    everything = confluent_kafka.admin.AclBindingFilter(
        kind.ANY, None, pattern.ANY, "User:rd", None, operation.ANY, permission.ANY
    )
    assert admin.describe_acls(everything).result(60) == [wanted]
    (future,) = admin.delete_acls([everything]).values()
    assert future.result(60) == [wanted]

    python = kafka.admin.KafkaAdminClient(bootstrap_servers=at)
    resource = kafka.admin.ResourcePattern(kafka.admin.ResourceType.GROUP, "py")
    entry = kafka.admin.ACL(
        "User:py", "*", kafka.admin.ACLOperation.READ, kafka.admin.ACLPermissionType.DENY, resource
    )
    assert python.create_acls([entry])["succeeded"] == [entry]
    found, _ = python.describe_acls(_filter_of(entry))
    assert found == [entry]
    assert python.delete_acls([_filter_of(entry)])[0][1][0] == entry
    python.close()
    assert "User" not in acls("list")


def _filter_of(entry):
    pattern = kafka.admin.ResourcePatternFilter(
        entry.resource_pattern.resource_type, "py", kafka.admin.ACLResourcePatternType.LITERAL
    )
    return kafka.admin.ACLFilter(
        entry.principal, None, kafka.admin.ACLOperation.ANY, kafka.admin.ACLPermissionType.ANY, pattern
    )


@pytest.mark.jvm
def test_kafka_acls(guarded, java, acls):
    at = ("--bootstrap-server", f"127.0.0.1:{guarded.ports['PLAINTEXT']}")
    who = ("--allow-principal", "User:eve")
    added = java.run("kafka-acls", *at, "--add", *who, "--consumer", "--topic", "t", "--group", "g")
    assert "(principal=User:eve, host=*, operation=READ, permissionType=ALLOW)" in added.ok()
    prefix = ("--topic", "pay-", "--resource-pattern-type", "prefixed")
    java.run(
        "kafka-acls", *at, "--add", "--deny-principal", "User:eve", "--deny-host", "10.1.1.1", *prefix
    ).ok()
    listed = java.run(
        "kafka-acls", *at, "--list", "--topic", "pay-1", "--resource-pattern-type", "match"
    ).ok()
    assert "name=pay-, patternType=PREFIXED" in listed
    assert "(principal=User:eve, host=10.1.1.1, operation=ALL, permissionType=DENY)" in listed
    assert acls("list", "--principal", "eve").count("User:eve") == 4
    java.run("kafka-acls", *at, "--remove", "--force", *prefix).ok()
    java.run("kafka-acls", *at, "--remove", "--force", "--topic", "t", "--group", "g").ok()
    assert "User:eve" not in java.run("kafka-acls", *at, "--list").ok()
