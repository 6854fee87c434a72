import pytest

from kbroker.config.local_cluster import node_settings, plan_nodes
from kbroker.errors import ConfigError


def test_nodes_of_one_machine_share_no_file_and_no_port():
    nodes = plan_nodes("/data", "localhost", [(1, 11), (2, 12), (3, 13)])
    given = {
        "kbroker.log.file": "/var/log/k.log",
        "kbroker.audit.log": "audit",
        "kbroker.metrics.listener": "0.0.0.0:9404",
    }
    settings = [node_settings(node, nodes, "id", given) for node in nodes]
    assert [each["kbroker.log.file"] for each in settings][1:] == ["/var/log/k-2.log", "/var/log/k-3.log"]
    assert [each["kbroker.audit.log"] for each in settings] == ["audit-1", "audit-2", "audit-3"]
    ports = [each["kbroker.metrics.listener"] for each in settings]
    assert ports == ["0.0.0.0:9404", "0.0.0.0:9405", "0.0.0.0:9406"]


def test_any_free_port_stays_any():
    nodes = plan_nodes("/data", "localhost", [(1, 11), (2, 12)])
    for node in nodes:
        assert (
            node_settings(node, nodes, "id", {"kbroker.metrics.listener": "0"})["kbroker.metrics.listener"]
            == "0"
        )
        assert "kbroker.log.file" not in node_settings(node, nodes, "id", {})


def secured(given):
    nodes = plan_nodes("/data", "localhost", [(1, 11), (2, 12)])
    return node_settings(nodes[0], nodes, "id", {"security.inter.broker.protocol": "SASL_SSL", **given})


def test_controllers_let_in_whom_the_clients_listener_lets_in():
    jaas = "listener.name.sasl_ssl.plain.sasl.jaas.config"
    found = secured(
        {
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            jaas: "users",
            "listener.name.sasl_ssl.ssl.client.auth": "required",
            "listener.name.controller.ssl.client.auth": "none",
        }
    )
    assert found["listeners"] == "SASL_SSL://localhost:1,CONTROLLER://localhost:11"
    assert found["listener.security.protocol.map"] == "SASL_SSL:SASL_SSL,CONTROLLER:SASL_SSL"
    assert found["listener.name.controller.plain.sasl.jaas.config"] == found[jaas] == "users"
    # What is said of them themselves counts.
    assert found["listener.name.controller.ssl.client.auth"] == "none"
    assert found["sasl.mechanism.controller.protocol"] == "PLAIN"
    assert found["listener.name.controller.sasl.enabled.mechanisms"] == "PLAIN"


def test_scram_between_brokers_needs_another_way_to_the_controllers():
    scram = {"sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-512"}
    with pytest.raises(ConfigError, match="SCRAM does not do there"):
        secured(scram)
    found = secured(scram | {"sasl.mechanism.controller.protocol": "PLAIN"})
    assert found["sasl.mechanism.inter.broker.protocol"] == "SCRAM-SHA-512"
    assert found["listener.name.controller.sasl.enabled.mechanisms"] == "PLAIN"


def test_who_maps_the_listeners_says_it_all():
    given = {"listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:SASL_SSL"}
    found = secured(given)
    assert found["listeners"] == "PLAINTEXT://localhost:1,CONTROLLER://localhost:11"
    assert "sasl.mechanism.controller.protocol" not in found
