"""Logins and connections of a listener, as its metrics tell them."""

from __future__ import annotations

import pytest

from kbroker.cli.admin import main as admin
from kbroker.client.cluster import Cluster
from kbroker.client.records import produce
from kbroker.client.topics import create_topic, list_topics
from kbroker.errors import ApiError
from kbroker.protocol.record_batch import Record
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tests.doubles import wait_until
from tests.metrics.scrape import Scraped

CONFIG = {
    "kbroker.metrics.listener": "127.0.0.1:0",
    "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
    "sasl.enabled.mechanisms": "PLAIN",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="admin" password="a" user_admin="a" user_ann="secret";'
    ),
    "connection.failed.authentication.delay.ms": "1",
}


def settings(password):
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": (
            "org.apache.kafka.common.security.plain.PlainLoginModule required "
            f'username="ann" password="{password}";'
        ),
    }


def test_logins_are_counted():
    with Broker(config=CONFIG) as broker:
        scraped = Scraped(broker)

        def value(name):
            return scraped.value(
                f"kafka_server_socket_server_metrics_{name}", listener="SASL_PLAINTEXT", networkProcessor="0"
            )

        before = value("successful_authentication_total"), value("failed_authentication_total")
        with Cluster(broker.bootstrap, settings=settings("secret")) as cluster:
            list_topics(cluster)
        with (
            pytest.raises((ApiError, OSError, Exception)),
            Cluster(broker.bootstrap, settings=settings("wrong"), timeout_s=5) as cluster,
        ):
            list_topics(cluster)
        assert value("successful_authentication_total") > before[0]
        assert value("failed_authentication_total") > before[1]
        assert value("connection_creation_total") >= 2
        assert value("incoming_byte_total") > 100
        assert value("outgoing_byte_total") > 100


def test_quotas_tell_what_clients_do(monkeypatch):
    with Broker(config={"kbroker.metrics.listener": "127.0.0.1:0"}) as broker:
        broker.create_topic("t")
        scraped = Scraped(broker)
        monkeypatch.setenv("KBROKER_BOOTSTRAP", broker.bootstrap)
        assert admin(["quotas", "set", "--client-id", "<default>", "producer_byte_rate=10000000"]) == 0
        with Cluster(broker.bootstrap) as cluster:
            produce(cluster, TopicPartition("t", 0), [Record(-1, 0, None, b"v" * 1000)] * 20)
            labels = {"resource": "Produce", "clientId": "kbroker"}
            assert scraped.value("kafka_server_quota_byte_rate", **labels) > 0
            assert scraped.value("kafka_server_quota_throttle_time", **labels) == 0
            assert admin(["quotas", "set", "--client-id", "<default>", "request_percentage=90"]) == 0
            assert admin(["quotas", "set", "--client-id", "<default>", "controller_mutation_rate=10"]) == 0
            produce(cluster, TopicPartition("t", 0), [Record(-1, 0, None, b"v" * 1000)])
            create_topic(cluster, "u", partitions=20)
            assert (
                0 < scraped.value("kafka_server_quota_request_time", **labels | {"resource": "Request"}) < 90
            )
            labels["resource"] = "ControllerMutation"
            assert 0 < scraped.value("kafka_server_quota_tokens", **labels) <= 91


def test_a_broker_tells_how_far_it_protects_itself():
    config = {"kbroker.metrics.listener": "127.0.0.1:0", "kbroker.protect.memory.bytes": "1,2"}
    with Broker(config=config) as broker:
        scraped = Scraped(broker)
        wait_until(lambda: scraped.value("kbroker_server_protection_level") == 2, patience_s=60)
        assert scraped.value("kbroker_server_protection_figure", figure="memory") > 1_000_000


def test_a_lone_node_tells_that_its_broker_is_active():
    with Broker(config={"kbroker.metrics.listener": "127.0.0.1:0"}) as broker:
        samples = Scraped(broker).samples()
        # Kafka's number of ACTIVE; 20 would be controlled shutdown.
        assert samples["kafka_controller_kafkacontroller_brokerregistrationstate", (("broker", "1"),)] == 30
        for name in ("partitionswithlatetransactionscount", "sharesessionscount"):
            assert [value for (each, _), value in samples.items() if each.endswith(name)] == [0]
        acks = {labels[0][1] for (each, labels) in samples if "recordacknowledgements" in each}
        assert acks == {"Accept", "Reject", "Release", "Renew"}
