"""Texts and codes are those of Apache Kafka 4.4.0."""

from __future__ import annotations

import pytest

from kbroker.controller.topics import TopicRef, create_partitions, create_topics, delete_topics
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kbroker.protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kbroker.types import ZERO_UUID
from tests.controller.clusters import cluster, rules, uuid, with_topic


def topic(name="t", partitions=-1, factor=-1, assignments=(), **configs):
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(ids))
            for index, ids in assignments
        ],
        configs=[CreatableTopicConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()],
    )


def create(image, *topics, validate_only=False, **settings):
    return create_topics(image, list(topics), validate_only, rules(**settings))


def errors(decision):
    return [(result.name, result.error_code, result.error_message) for result in decision.response]


def test_records_make_the_topic():
    image = cluster(1)
    decision = create(image, topic("t", 2, 1, ok_a="5"))
    (result,) = decision.response
    assert (result.error_code, result.num_partitions, result.replication_factor) == (0, 2, 1)
    new = image.apply(decision.records)
    assert new.topics.get("t").id == result.topic_id
    assert new.topic_config("t") == {"ok.a": "5"}
    partition = new.topics.partition("t", 1)
    assert (partition.leader, partition.isr, partition.leader_epoch) == (1, (1,), 0)
    assert partition.directories == (uuid(101),)


def test_defaults_for_counts_of_minus_one():
    decision = create(cluster(1, 2), topic(), default_partitions=3, default_replication_factor=2)
    assert (decision.response[0].num_partitions, decision.response[0].replication_factor) == (3, 2)


def test_the_first_isr_is_the_live_replicas():
    image = cluster(1, fenced=[2])
    decision = create(image, topic("t", 1, 2))
    partition = image.apply(decision.records).topics.partition("t", 0)
    assert (partition.replicas, partition.isr, partition.leader) == ((1, 2), (1,), 1)


def test_older_levels_know_no_directories():
    image = cluster(1, level=16)
    new = image.apply(create(image, topic("t", 1, 1)).records)
    assert new.topics.partition("t", 0).directories == ()


def test_manual_assignments_in_any_order():
    image = cluster(1, 2)
    decision = create(image, topic("t", assignments=[(1, [2]), (0, [1])]))
    new = image.apply(decision.records)
    assert [p.replicas for p in new.topics.get("t").partitions] == [(1,), (2,)]
    assert decision.response[0].num_partitions == 2


def test_validate_only_answers_the_same_and_writes_nothing():
    decision = create(cluster(1), topic("t", 3, 1), validate_only=True)
    assert decision.response[0].num_partitions == 3
    assert decision.response[0].topic_id != ZERO_UUID
    assert list(decision.records) == []


def test_one_bad_topic_does_not_touch_the_others():
    image = with_topic(cluster(1), "old")
    decision = create(image, topic("a", 1, 1), topic("a b", 1, 1), topic("old", 1, 1))
    assert [code for _, code, _ in errors(decision)] == [0, 17, 36]
    assert set(image.apply(decision.records).topics.names()) == {"a", "old"}


@pytest.mark.parametrize(
    ("wanted", "code", "message"),
    [
        (topic(""), 17, "Topic name is invalid: the empty string is not allowed"),
        (topic("."), 17, "Topic name is invalid: '.' is not allowed"),
        (topic(".."), 17, "Topic name is invalid: '..' is not allowed"),
        (
            topic("a b"),
            17,
            "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'",
        ),
        (
            topic("ü"),
            17,
            "Topic name is invalid: 'ü' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'",
        ),
        (
            topic("a\n"),
            17,
            "Topic name is invalid: 'a\n' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'",
        ),
        (
            topic("x" * 250),
            17,
            f"Topic name is invalid: the length of '{'x' * 250}' is longer than the max allowed length 249",
        ),
        (topic("old"), 36, "Topic 'old' already exists."),
        (topic("my_topic"), 17, "Topic 'my_topic' collides with existing topic: my.topic"),
        (topic("t", 0, 1), 37, "Number of partitions was set to an invalid non-positive value."),
        (topic("t", -2, 1), 37, "Number of partitions was set to an invalid non-positive value."),
        (topic("t", 1, 0), 38, "Replication factor must be larger than 0, or -1 to use the default value."),
        (topic("t", 1, -2), 38, "Replication factor must be larger than 0, or -1 to use the default value."),
        (
            topic("t", 1, 2),
            38,
            "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be "
            "reached because only 1 broker(s) are registered or some brokers have all their log directories "
            "cordoned.",
        ),
        (
            topic("t", 3, 1, [(0, [1])]),
            42,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        ),
        (
            topic("t", 3, -1, [(0, [1])]),
            42,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (
            topic("t", assignments=[(0, [1]), (2, [1])]),
            39,
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            topic("t", assignments=[(-1, [1])]),
            39,
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            topic("t", assignments=[(0, [9])]),
            39,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (
            topic("t", assignments=[(0, [1, 1])]),
            39,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (
            topic("t", assignments=[(0, [])]),
            39,
            "The manual partition assignment includes an empty replica list.",
        ),
        (
            topic("t", assignments=[(0, [1]), (0, [1])]),
            39,
            "Found multiple manual partition assignments for partition 0",
        ),
        (topic("t", 1, 1, bad="1"), 40, "Unknown topic config name: bad"),
        (topic("t", 1, 1, ok_x=None), 40, "Null value not supported for topic configs: ok.x"),
    ],
)
def test_refusals(wanted, code, message):
    image = with_topic(with_topic(cluster(1), "old"), "my.topic")
    decision = create(image, wanted)
    assert errors(decision) == [(wanted.name, code, message)]
    assert decision.response[0].num_partitions == -1
    assert list(decision.records) == []


def test_all_manual_replicas_fenced():
    decision = create(cluster(1, fenced=[2]), topic("t", assignments=[(0, [1]), (1, [2])]))
    assert errors(decision) == [
        (
            "t",
            39,
            "All brokers specified in the manual partition assignment for partition 1 are fenced or in "
            "controlled shutdown.",
        )
    ]


def test_duplicates_are_one_error_and_collisions_within_a_request_are_none():
    decision = create(cluster(1), topic("t", 1, 1), topic("u.x", 1, 1), topic("t", 2, 1), topic("u_x", 1, 1))
    assert errors(decision) == [("t", 42, "Duplicate topic name."), ("u.x", 0, None), ("u_x", 0, None)]


def test_the_last_value_of_a_config_wins():
    wanted = topic("t", 1, 1)
    wanted.configs = [CreatableTopicConfig(name="ok.a", value=v) for v in ("1", "2")]
    image = cluster(1)
    assert image.apply(create(image, wanted).records).topic_config("t") == {"ok.a": "2"}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ([topic("t", 10_001, 1)], "Excessively large number of partitions per request."),
        ([topic("t", 2**31 - 1, 1)], "Excessively large number of partitions per request."),
        (
            [topic("t", 6000, 1), topic("u", 6000, 1)],
            "Excessively large number of partitions per request.",
        ),
        ([topic("t", 10_000, 1)], "Unable to perform excessively large batch operation."),
    ],
)
def test_requests_that_are_too_large_as_a_whole(wanted, message):
    with pytest.raises(ApiError, match=message) as caught:
        create(cluster(1), *wanted)
    assert caught.value.code is ErrorCode.POLICY_VIOLATION


# -- CreatePartitions ------------------------------------------------------------------------------------


def more(name="t", count=2, assignments=None, validate_only=False, also=()):
    manual = None
    if assignments is not None:
        manual = [CreatePartitionsAssignment(broker_ids=list(ids)) for ids in assignments]
    wanted = CreatePartitionsTopic(name=name, count=count, assignments=manual)
    return CreatePartitionsRequest(topics=[wanted, *also], validate_only=validate_only)


def test_partitions_are_added_behind_the_others():
    image = with_topic(cluster(1, 2), "t", 2, 2)
    decision = create_partitions(image, more(count=5), rules())
    assert [(r.error_code, r.error_message) for r in decision.response] == [(0, None)]
    partitions = image.apply(decision.records).topics.get("t").partitions
    assert len(partitions) == 5
    assert all(len(p.replicas) == 2 for p in partitions)


def test_added_partitions_may_be_assigned_by_hand():
    image = with_topic(cluster(1, 2), "t", 1, 1)
    decision = create_partitions(image, more(count=3, assignments=[[2], [1]]), rules())
    partitions = image.apply(decision.records).topics.get("t").partitions
    assert [p.replicas for p in partitions[1:]] == [(2,), (1,)]


def test_adding_can_be_tried_only():
    image = with_topic(cluster(1), "t")
    assert list(create_partitions(image, more(validate_only=True), rules()).records) == []


@pytest.mark.parametrize(
    ("request_", "code", "message"),
    [
        (more(count=3), 37, "Topic already has 3 partition(s)."),
        (more(count=2), 37, "The topic t currently has 3 partition(s); 2 would not be an increase."),
        (more(count=-1), 37, "The topic t currently has 3 partition(s); -1 would not be an increase."),
        (more("nobody"), 3, None),
        (
            more(count=4, assignments=[[1], [1]]),
            39,
            "Attempted to add 1 additional partition(s), but only 2 assignment(s) were specified.",
        ),
        (
            more(count=4, assignments=[[2]]),
            39,
            "The manual partition assignment includes broker 2, but no such broker is registered.",
        ),
        (
            more(count=4, assignments=[[1, 1]]),
            39,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (
            more(count=4, assignments=[[]]),
            39,
            "The manual partition assignment includes an empty replica list.",
        ),
    ],
)
def test_refused_growth(request_, code, message):
    decision = create_partitions(with_topic(cluster(1), "t", 3), request_, rules())
    assert [(r.error_code, r.error_message) for r in decision.response] == [(code, message)]
    assert list(decision.records) == []


def test_a_topic_twice_grows_not_at_all():
    image = with_topic(cluster(1), "t")
    request = more(count=4, also=[CreatePartitionsTopic(name="t", count=5)])
    decision = create_partitions(image, request, rules())
    assert [(r.name, r.error_code) for r in decision.response] == [("t", 42)]


def test_too_much_growth_at_once():
    with pytest.raises(ApiError, match="additional partitions per request"):
        create_partitions(with_topic(cluster(1), "t"), more(count=20_000), rules())
    # A topic that does not exist cannot grow.
    (refused,) = create_partitions(cluster(1), more(count=20_000), rules()).response
    assert refused.error_code == 3


# -- DeleteTopics ----------------------------------------------------------------------------------------


def test_topics_go_by_name_and_by_id():
    image = with_topic(with_topic(cluster(1), "a"), "b")
    ids = {t.name: t.id for t in image.topics}
    # The rules of the tests begin with the same id for each request.
    assert ids["a"] == uuid(1000)
    decision = delete_topics(image, [TopicRef("b", ZERO_UUID)])
    (result,) = decision.response
    assert (result.name, result.topic_id, result.error_code) == ("b", ids["b"], 0)
    assert image.apply(decision.records).topics.get("b") is None
    by_id = delete_topics(image, [TopicRef(None, ids["b"])])
    assert by_id.response[0].error_code == 0


KNOWN = uuid(1000)


@pytest.mark.parametrize(
    ("refs", "expected"),
    [
        (
            [TopicRef("x", ZERO_UUID)],
            [("x", ZERO_UUID, 3, "This server does not host this topic-partition.")],
        ),
        ([TopicRef(None, uuid(7))], [(None, uuid(7), 100, "This server does not host this topic ID.")]),
        (
            [TopicRef(None, ZERO_UUID)],
            [(None, ZERO_UUID, 42, "Neither topic name nor id were specified.")],
        ),
        (
            [TopicRef("a", KNOWN)],
            [("a", KNOWN, 42, "You may not specify both topic name and topic id.")],
        ),
        (
            [TopicRef("a", ZERO_UUID), TopicRef(None, KNOWN)],
            [("a", KNOWN, 42, "The provided topic name maps to an ID that was already supplied.")],
        ),
        ([TopicRef("a", ZERO_UUID)] * 2, [("a", ZERO_UUID, 42, "Duplicate topic name.")]),
        ([TopicRef(None, KNOWN)] * 2, [(None, KNOWN, 42, "Duplicate topic id.")]),
    ],
)
def test_refused_deletions(refs, expected):
    decision = delete_topics(with_topic(cluster(1), "a"), refs)
    found = [(r.name, r.topic_id, r.error_code, r.error_message) for r in decision.response]
    assert found == expected
    assert list(decision.records) == []
