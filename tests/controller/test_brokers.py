from __future__ import annotations

import pytest

from kbroker.controller.brokers import (
    NodeRegistration,
    fence_broker,
    join_broker,
    register_broker,
    register_controller,
    unfence_broker,
)
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.elections import broker_back, broker_gone
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import Endpoint
from kbroker.plain import replace
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from tests.controller.clusters import cluster, uuid, with_topic

RULES = ElectionRules()


def node(number=1, incarnation=50, **changes):
    fields = {"log_dirs": [uuid(100 + number)], "rack": "r"}
    return NodeRegistration(
        number,
        uuid(incarnation),
        [Endpoint("PLAINTEXT", "h", 9)],
        SUPPORTED_FEATURES,
        **{**fields, **changes},
    )


def partition(image, index=0):
    return image.topics.partition("t", index)


def test_a_broker_registers_fenced_and_its_epoch_is_the_offset():
    image = cluster()
    decision = register_broker(image, node())
    assert decision.response == image.offset + 1
    broker = image.apply(decision.records).brokers[1]
    assert (broker.epoch, broker.fenced, broker.rack, broker.log_dirs) == (100, True, "r", (uuid(101),))
    assert broker.features["metadata.version"].max_level == 33


def test_a_new_incarnation_gives_up_what_the_old_one_led():
    image = with_topic(cluster(1), "t")
    decision = register_broker(image, node())
    new = image.apply(decision.records)
    state = partition(new)
    # Alone in the ISR it stays there: nobody else has the records.
    assert (state.leader, state.isr, state.leader_epoch) == (-1, (1,), 1)
    back = new.apply(unfence_broker(new, 1, decision.response).records)
    assert (partition(back).leader, partition(back).leader_epoch) == (1, 2)


def test_the_same_incarnation_again_changes_no_partition():
    image = with_topic(cluster(1), "t")
    decision = register_broker(image, node(incarnation=1))
    assert [record.NAME for record in decision.records] == ["RegisterBrokerRecord"]


def test_joining_is_both_steps_at_once():
    image = with_topic(cluster(1), "t", 3)
    decision = join_broker(image, node())
    new = image.apply(decision.records)
    assert new.brokers[1].epoch == decision.response == image.offset + 1
    assert not new.brokers[1].fenced
    # Not given up in between: each partition is led anew, by one record.
    assert {(p.leader, p.leader_epoch) for p in new.topics.get("t").partitions} == {(1, 1)}
    assert len(decision.records) == 3 + 2


def test_joining_elsewhere_in_sync_takes_nothing_back():
    image = with_topic(cluster(1, 2), "t", 4, 2)
    new = image.apply(join_broker(image, node()).records)
    for before, after in zip(image.topics.get("t").partitions, new.topics.get("t").partitions):
        assert after.leader == 2
        assert after.isr == (2,)
        assert after.leader_epoch == (1 if before.leader == 1 else 0)


def test_another_replica_in_sync_takes_over():
    image = with_topic(cluster(1, 2), "t", 1, 2)
    first = partition(image).leader
    other = 3 - first
    new = image.apply(broker_gone(image, RULES, first))
    assert (partition(new).leader, partition(new).isr, partition(new).leader_epoch) == (other, (other,), 1)


def test_a_follower_leaves_the_isr_without_a_new_leader_epoch():
    image = with_topic(cluster(1, 2), "t", 1, 2)
    follower = 3 - partition(image).leader
    new = image.apply(broker_gone(image, RULES, follower))
    assert partition(new).isr == (partition(image).leader,)
    assert partition(new).leader_epoch == 0


def test_a_fenced_replica_is_not_elected():
    image = with_topic(cluster(1, 2), "t", 1, 2)
    first = partition(image).leader
    other = 3 - first
    brokers = {**image.brokers, other: image.brokers[other]._replace(fenced=True)}
    fenced = type(image)(**{**{f: getattr(image, f) for f in image.__slots__}, "brokers": brokers})
    assert partition(fenced.apply(broker_gone(fenced, RULES, first))).leader == -1


def test_only_an_in_sync_replica_leads_when_it_is_back():
    image = with_topic(cluster(1, 2), "t", 1, 2)
    topic_id = image.topics.get("t").id
    change = PartitionChangeRecord(partition_id=0, topic_id=topic_id, isr=[1], leader=-1)
    brokers = {node: broker._replace(fenced=True) for node, broker in image.brokers.items()}
    image = replace(image, brokers=brokers).apply([change])
    assert broker_back(image, RULES, 2) == []
    assert partition(image.apply(broker_back(image, RULES, 1))).leader == 1


def test_an_eligible_replica_of_an_empty_isr_leads_and_the_lists_are_cleared():
    image = with_topic(cluster(1, elr=True), "t")
    topic_id = image.topics.get("t").id
    change = {"isr": [], "leader": -1, "eligible_leader_replicas": [1], "last_known_elr": [1]}
    image = image.apply([PartitionChangeRecord(partition_id=0, topic_id=topic_id, **change)])
    state = partition(image.apply(broker_back(image, RULES, 1)))
    assert (state.leader, state.isr, state.elr, state.last_known_elr) == (1, (1,), (), ())


def test_unfencing_checks_the_epoch_and_happens_once():
    image = cluster(1)
    assert list(unfence_broker(image, 1, 10).records) == []
    with pytest.raises(ApiError) as stale:
        unfence_broker(image, 1, 9)
    assert stale.value.code is ErrorCode.STALE_BROKER_EPOCH
    with pytest.raises(ApiError) as unknown:
        unfence_broker(image, 2, 9)
    assert unknown.value.code is ErrorCode.STALE_BROKER_EPOCH


def test_a_fenced_broker_leads_nothing_until_it_is_back():
    image = with_topic(cluster(1), "t", 2)
    fenced = image.apply(fence_broker(image, 1, 10).records)
    assert fenced.brokers[1].fenced
    assert {p.leader for p in fenced.topics.get("t").partitions} == {-1}
    assert list(fence_broker(fenced, 1, 10).records) == []
    back = fenced.apply(unfence_broker(fenced, 1, 10).records)
    assert {(p.leader, p.leader_epoch) for p in back.topics.get("t").partitions} == {(1, 2)}
    with pytest.raises(ApiError) as stale:
        fence_broker(image, 1, 9)
    assert stale.value.code is ErrorCode.STALE_BROKER_EPOCH


def test_a_broker_that_cannot_work_at_a_finalized_level_is_refused():
    image = cluster(1).apply([])
    features = {**image.features, "group.version": 2}
    newer = type(image)(**{**{f: getattr(image, f) for f in image.__slots__}, "features": features})
    with pytest.raises(ApiError, match=r"finalized version 2 of group\.version") as caught:
        register_broker(newer, node())
    assert caught.value.code is ErrorCode.UNSUPPORTED_VERSION


def test_one_log_directory_twice_is_refused():
    with pytest.raises(ApiError) as caught:
        register_broker(cluster(), node(log_dirs=[uuid(1), uuid(1)]))
    assert caught.value.code is ErrorCode.INVALID_REGISTRATION


def test_older_levels_get_older_registrations():
    image = cluster(level=16)
    (record,) = register_broker(image, node()).records
    assert (record.log_dirs, record.cordoned_log_dirs) == ([], None)
    assert list(register_controller(cluster(level=14), node()).records) == []
    assert len(register_controller(cluster(level=15), node()).records) == 1


@pytest.mark.parametrize(
    "endpoint", [Endpoint("X", "h", 0), Endpoint("X", "h", 9, 4), Endpoint("X", "h", 9, -1)]
)
@pytest.mark.parametrize("register", [register_broker, register_controller])
def test_no_endpoint_is_recorded_that_kafkas_nodes_cannot_read(register, endpoint):
    wrong = replace(node(), endpoints=[endpoint])
    with pytest.raises(ApiError, match="Listener X of node 1") as refused:
        register(cluster(), wrong)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_joining_after_a_crash_keeps_the_only_copies_and_no_others():
    """32: unsynced data may be gone; where another replica has it that one leads."""
    image = cluster(1, 2, elr=True)
    image = with_topic(with_topic(image, "t", 1, 2), "alone", 1, 1)
    alone = image.topics.get("alone").partitions[0].leader
    decision = join_broker(image, node(alone, previous_broker_epoch=-1))
    new = image.apply(decision.records)
    other = 3 - alone
    assert partition(new)[:3] == (partition(image).replicas, (other,), other)
    assert partition(new).elr == ()
    state = new.topics.partition("alone", 0)
    assert (state.leader, state.isr, state.leader_recovery_state) == (alone, (alone,), 0)
    assert state.leader_epoch == 1


def test_joining_after_a_crash_as_last_leader_waits_for_who_is_eligible():
    image = with_topic(cluster(1, 2, elr=True), "t", 1, 2)
    first = partition(image).leader
    other = 3 - first
    image = image.apply(
        [ConfigRecord(resource_type=2, resource_name="t", name="min.insync.replicas", value="2")]
    )
    image = image.apply(fence_broker(image, other, other * 10).records)
    assert (partition(image).isr, partition(image).elr) == ((first,), (other,))
    clean = image.apply(join_broker(image, node(first, previous_broker_epoch=first * 10)).records)
    assert (partition(clean).leader, partition(clean).isr, partition(clean).elr) == (
        first,
        (first,),
        (other,),
    )
    crashed = image.apply(join_broker(image, node(first, previous_broker_epoch=-1)).records)
    assert (partition(crashed).leader, partition(crashed).isr, partition(crashed).elr) == (-1, (), (other,))
    back = crashed.apply(unfence_broker(crashed, other, other * 10).records)
    assert (partition(back).leader, partition(back).isr) == (other, (other,))


def test_who_was_eligible_still_leads_after_the_feature_was_given_up():
    image = with_topic(cluster(1, 2, elr=True), "t", 1, 2)
    topic_id = image.topics.get("t").id
    change = {"isr": [], "leader": -1, "eligible_leader_replicas": [2], "last_known_elr": [1]}
    image = image.apply([PartitionChangeRecord(partition_id=0, topic_id=topic_id, **change)])
    brokers = {node: broker._replace(fenced=True) for node, broker in image.brokers.items()}
    image = replace(image, brokers=brokers, features={"metadata.version": 33})
    assert broker_back(image, RULES, 1) == []
    state = partition(image.apply(broker_back(image, RULES, 2)))
    assert (state.leader, state.isr, state.elr) == (2, (2,), ())
