"""Every API asked by a user who may little: the answers are those of Apache Kafka 4.4.

Rows of correctness.md, section 4, by their numbers: CVE-2018-1288 (a Fetch with a replica id), CVE-2018-17196
(transactional batches), and that refusals do not tell what exists.
"""

from __future__ import annotations

import json

import pytest

from kbroker.handlers.api_table import API_TABLE, OWN_TABLE, TELEMETRY_TABLE
from kbroker.handlers.guards import CLUSTER, GUARDS, OWN
from kbroker.testing import Broker
from tests.security.little_allowed import Asker, answers, recorded
from tests.security.logins import USERS

STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
SETTINGS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
    "authorizer.class.name": STANDARD,
    "super.users": "User:ANONYMOUS;User:admin",
}
EXPECTED = list(recorded())


@pytest.fixture(scope="module")
def given():
    with Broker(config=SETTINGS) as broker:
        addresses = [f"127.0.0.1:{broker.ports[name]}" for name in ("PLAINTEXT", "SASL_PLAINTEXT")]
        yield list(answers(*addresses))


@pytest.mark.parametrize(
    "number", range(len(EXPECTED)), ids=lambda n: f"{n}-{EXPECTED[n][0]}-{EXPECTED[n][1]}"
)
def test_the_answer_is_that_of_kafka(given, number):
    name, version, request, answer = EXPECTED[number]
    assert given[number][3] == answer, f"{name} v{version} {json.dumps(request)}"


def test_every_api_has_its_guard():
    """None is served without somebody having thought of who may use it."""
    for key in (*API_TABLE, *TELEMETRY_TABLE, *OWN_TABLE):
        assert (key in CLUSTER) + (key in GUARDS) + (key in OWN) == 1, key


def test_a_refusal_does_not_tell_what_exists():
    """What Kafka and kbroker answer of `no`, which exists, they answer of `gone`, too."""

    def of_topics(value, found):
        if isinstance(value, dict):
            name = value.get("name") or value.get("topic") or value.get("topic_name")
            if name in ("no", "gone"):
                found.setdefault(name, []).append({k: v for k, v in value.items() if v != name})
            for each in value.values():
                of_topics(each, found)
        elif isinstance(value, list):
            for each in value:
                of_topics(each, found)
        return found

    compared = 0
    for name, version, _, answer in EXPECTED:
        found = of_topics(answer, {})
        if set(found) == {"no", "gone"} and name != "CreateTopics":
            compared += 1
            assert found["no"] == found["gone"], (name, version)
    assert compared > 10


def test_a_fetch_as_a_replica_moves_nothing():
    """CVE-2018-1288."""
    rows = [row for row in EXPECTED if row[0] == "Fetch" and row[2]["replicaId"] >= 0]
    assert rows
    for _, _, _, answer in rows:
        codes = {part["error_code"] for topic in answer["responses"] for part in topic["partitions"]}
        assert codes == {29}


def test_transactional_batches_need_the_transactional_id():
    """CVE-2018-17196: whatever the request says of itself."""
    rows = [row for row in EXPECTED if row[0] == "Produce" and row[2]["acks"] == -1]
    refused = [
        answer
        for _, _, request, answer in rows
        if {p["error_code"] for t in answer["responses"] for p in t["partition_responses"]} == {53}
    ]
    assert len(refused) == 3  # another's id, an id of nobody, no id at all


def test_without_an_authorizer_nobody_asks():
    with Broker() as broker:
        address = broker.bootstrap
        asker = Asker(address)
        topics = [{"name": "t", "numPartitions": 1, "replicationFactor": 1}]
        assert not asker.ask("CreateTopics", 7, {"topics": topics, "timeoutMs": 30_000}).topics[0].error_code
        assert asker.ask("CreateAcls", 3, {"creations": []}).results == []
        wanted = {"resourceTypeFilter": 1, "patternTypeFilter": 1, "operation": 1, "permissionType": 1}
        assert asker.ask("DescribeAcls", 3, wanted).error_code == 54
        asker.close()
