"""The dashboard and the alerts in docs/examples name what a broker exports."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.group_offsets import commit_offsets
from kbroker.client.records import fetch, produce
from kbroker.errors import ApiError
from kbroker.protocol.record_batch import Record
from kbroker.types import TopicPartition

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
_NAME = re.compile(r"\b(?:kafka|process)_[a-z0-9_]+")


def expressions():
    dashboard = json.loads((EXAMPLES / "grafana-dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"]
    for variable in dashboard["templating"]["list"]:
        yield variable["query"]
    yield (EXAMPLES / "prometheus-alerts.yml").read_text()


@pytest.fixture(scope="module")
def samples(scraped):
    scraped.broker.create_topic("example")
    place = TopicPartition("example", 0)
    with Cluster(scraped.broker.bootstrap) as cluster:
        produce(cluster, place, [Record(-1, 0, None, b"v")] * 10)
        fetch(cluster, {place: 0})
        commit_offsets(cluster, "example-group", {place: 4})
        with pytest.raises(ApiError):
            fetch(cluster, {place: 99})
    return scraped.samples()


def test_every_name_is_exported(samples):
    exported = {name for name, _ in samples}
    named = {name for expression in expressions() for name in _NAME.findall(expression)}
    assert len(named) > 30
    assert not named - exported


def test_labels_that_are_selected_exist(samples):
    known: dict[str, set[str]] = {}
    for name, labels in samples:
        known.setdefault(name, set()).update(key for key, _ in labels)
    for expression in expressions():
        for name, selector in re.findall(r"\b((?:kafka|process)_[a-z0-9_]+)\{([^}]*)\}", expression):
            for key in re.findall(r'(\w+)(?:=~|!=|=)"(?!")', selector):
                assert key == "instance" or key in known[name], (name, key)


def test_lag_is_what_is_left_to_read(samples):
    labels = ("consumergroup", "example-group"), ("partition", "0"), ("topic", "example")
    assert samples["kafka_consumergroup_current_offset", labels] == 4
    assert samples["kafka_consumergroup_lag", labels] == samples["kafka_log_log_logendoffset", labels[1:]] - 4
    assert samples["kafka_coordinator_group_groupmetadatamanager_numoffsets", ()] >= 1
