"""Share groups with ACLs: records of topics that may be read, refusals for the rest, also later."""

from __future__ import annotations

import base64
import time

import pytest

from kbroker.protocol.record_batch import Record, build_batch
from kbroker.testing import Broker
from kbroker.types import uuid_to_string
from tests.security.little_allowed import ALLOW, DESCRIBE, GROUP, LITERAL, TIMEOUT_S, TOPIC, Asker, acl
from tests.security.test_little_allowed import SETTINGS

READ, DENIED = 3, 29
MEMBER = "AAAAAAAAAAAAAAAAAAAABw"
RECORDS = base64.b64encode(bytes(build_batch([Record(timestamp=1_700_000_000_000, value=b"v")]))).decode()


@pytest.fixture
def askers():
    with Broker(config=SETTINGS) as broker:
        admin = Asker(f"127.0.0.1:{broker.ports['PLAINTEXT']}")
        yield admin, Asker(f"127.0.0.1:{broker.ports['SASL_PLAINTEXT']}", "bob")
        admin.close()


def prepare(admin):
    """Topics `yes` and `no` with a record each; their ids."""
    topics = [{"name": name, "numPartitions": 1, "replicationFactor": 1} for name in ("yes", "no")]
    created = admin.ask("CreateTopics", 7, {"topics": topics, "timeoutMs": 30_000}).topics
    for name in ("yes", "no"):
        data = [{"name": name, "partitionData": [{"index": 0, "records": RECORDS}]}]
        admin.ask("Produce", 9, {"acks": 1, "timeoutMs": 30_000, "topicData": data})
    earliest = {"name": "share.auto.offset.reset", "configOperation": 0, "value": "earliest"}
    admin.ask(
        "IncrementalAlterConfigs",
        1,
        {"resources": [{"resourceType": 32, "resourceName": "g", "configs": [earliest]}]},
    )
    until = time.monotonic() + TIMEOUT_S
    while admin.ask("FindCoordinator", 4, {"coordinatorKeys": ["g"]}).coordinators[0].error_code:
        assert time.monotonic() < until
    acls = [
        acl(GROUP, "g", LITERAL, "bob", READ),
        acl(TOPIC, "yes", LITERAL, "bob", READ),
        acl(TOPIC, "no", LITERAL, "bob", DESCRIBE),
    ]
    assert not any(each.error_code for each in admin.ask("CreateAcls", 3, {"creations": acls}).results)
    return {topic.name: uuid_to_string(topic.topic_id) for topic in created}


def fetch(asker, epoch, ids=()):
    topics = [{"topicId": each, "partitions": [{"partitionIndex": 0}]} for each in ids]
    answer = asker.ask(
        "ShareFetch",
        1,
        {
            "groupId": "g",
            "memberId": MEMBER,
            "shareSessionEpoch": epoch,
            "maxWaitMs": 200,
            "maxBytes": 1 << 20,
            "maxRecords": 100,
            "batchSize": 10,
            "topics": topics,
        },
    )
    assert answer.error_code == 0, answer
    return {
        uuid_to_string(topic.topic_id): (
            topic.partitions[0].error_code,
            len(topic.partitions[0].records or b""),
        )
        for topic in answer.responses
    }


def test_share_fetches_and_acknowledgements(askers):
    admin, bob = askers
    ids = prepare(admin)
    beat = {"groupId": "g", "memberId": MEMBER, "memberEpoch": 0, "subscribedTopicNames": ["yes", "no"]}
    joined = bob.ask("ShareGroupHeartbeat", 1, beat)
    assert joined.error_code == 0, joined
    epoch, found = 0, fetch(bob, 0, ids.values())
    assert found[ids["no"]] == (DENIED, 0)
    batch = {"firstOffset": 0, "lastOffset": 0, "acknowledgeTypes": [1]}
    topics = [
        {"topicId": each, "partitions": [{"partitionIndex": 0, "acknowledgementBatches": [batch]}]}
        for each in ids.values()
    ]
    until = time.monotonic() + TIMEOUT_S
    while not found.get(ids["yes"], (0, 0))[1]:
        assert time.monotonic() < until
        assert found.get(ids["yes"], (0, 0))[0] == 0
        epoch += 1
        found = fetch(bob, epoch)
    epoch += 1
    acknowledged = bob.ask(
        "ShareAcknowledge",
        1,
        {"groupId": "g", "memberId": MEMBER, "shareSessionEpoch": epoch, "topics": topics},
    )
    assert {
        uuid_to_string(each.topic_id): each.partitions[0].error_code for each in acknowledged.responses
    } == {ids["yes"]: 0, ids["no"]: DENIED}

    deny = acl(TOPIC, "yes", LITERAL, "bob", READ, permission=ALLOW - 1)
    assert not admin.ask("CreateAcls", 3, {"creations": [deny]}).results[0].error_code
    assert fetch(bob, epoch + 1)[ids["yes"]] == (DENIED, 0)


def test_group_and_topics_are_asked_for(askers):
    admin, bob = askers
    prepare(admin)
    for group, topic, code in (("other", "yes", 30), ("g", "hidden", DENIED)):
        beat = {"groupId": group, "memberId": MEMBER, "memberEpoch": 0, "subscribedTopicNames": [topic]}
        assert bob.ask("ShareGroupHeartbeat", 1, beat).error_code == code
