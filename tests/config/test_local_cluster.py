from kbroker.config.local_cluster import node_settings, plan_nodes


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
