from __future__ import annotations

import pytest

from kbroker.handlers.api_table import API_TABLE


@pytest.mark.parametrize("version", range(6))
def test_every_version_names_all_apis_of_the_table(node, version):
    named = {"client_software_name": "x", "client_software_version": "1"} if version >= 3 else {}
    response = node.connect().ask("ApiVersions", version, **named)
    assert response.error_code == 0
    ranges = {entry.api_key: (entry.min_version, entry.max_version) for entry in response.api_keys}
    assert ranges == {key: (0, high) for key, (_, _, high) in API_TABLE.items()}


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("a", True),
        ("A.b-c--d..9", True),
        ("librdkafka", True),
        ("", False),
        (" ", False),
        ("-a", False),
        ("a.", False),
        ("a b", False),
        ("ä", False),
        ("a\n", False),
    ],
)
def test_names_of_client_software_follow_the_rule(node, name, good):
    client = node.connect()
    response = client.ask("ApiVersions", 3, client_software_name=name, client_software_version="1.0")
    assert response.error_code == (0 if good else 42)
    assert bool(response.api_keys) == good
    assert client.core.context.client_software_name == (name if good else "unknown")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, 0),
        ({"node_id": 1}, 42),
        ({"cluster_id": "cluster-id"}, 42),
        ({"cluster_id": "cluster-id", "node_id": 1}, 0),
        ({"cluster_id": "another", "node_id": 1}, 129),
        ({"cluster_id": "cluster-id", "node_id": 2}, 129),
    ],
)
def test_version_5_compares_the_cluster_and_node_the_client_means(node, fields, code):
    response = node.connect().ask(
        "ApiVersions", 5, client_software_name="x", client_software_version="1", **fields
    )
    assert response.error_code == code


def test_features_whose_lowest_level_is_0_are_shown_from_version_4_on(node):
    named = {"client_software_name": "x", "client_software_version": "1"}
    shown = [
        {feature.name for feature in node.connect().ask("ApiVersions", version, **named).supported_features}
        for version in (3, 4)
    ]
    assert "metadata.version" in shown[0]
    assert "kraft.version" not in shown[0]
    assert shown[1] > shown[0]
