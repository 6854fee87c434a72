"""The group APIs over real logs without sockets, after conversations recorded from Apache Kafka 4.4."""

import pytest

from kbroker.broker.coordinator_driver import GroupCoordinatorDriver
from kbroker.config.broker_config import BrokerConfig
from kbroker.errors import ErrorCode as E
from kbroker.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kbroker.protocol.generated.leave_group_request import MemberIdentity
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.protocol.generated.offset_delete_request import (
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kbroker.protocol.generated.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kbroker.protocol.generated.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kbroker.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kbroker.server.dispatch import Dispatcher
from tests.handlers.node import Node

UNKNOWN_ID = bytes(15) + b"o"


def coordinated(node):
    """Give the node a group coordinator."""
    config = BrokerConfig(
        {
            "process.roles": "broker,controller",
            "node.id": "1",
            "group.initial.rebalance.delay.ms": "0",
            "group.min.session.timeout.ms": "100",
        }
    )
    groups = GroupCoordinatorDriver(
        config, node.clock, node.timer, node.services.new_uuid, node.cache, node.replicas
    )
    node.replicas.on_leadership(groups.on_leadership)
    node.cache.subscribe(groups.on_metadata)
    node.services.groups = groups
    node.services.config = config
    return node


@pytest.fixture
def node(tmp_path):
    node = coordinated(Node(tmp_path / "data"))
    node.publish(
        RegisterBrokerRecord(
            broker_id=1,
            fenced=False,
            end_points=[BrokerEndpoint(name="PLAINTEXT", host="here", port=9092, security_protocol=0)],
        )
    )
    node.topic("__consumer_offsets", partitions=4, cleanup_policy="compact")
    node.t = node.topic("t", partitions=2)
    return node


@pytest.fixture
def client(node):
    return node.connect()


def join_frame(client, version=3, member="", group="g", **fields):
    known = {"rebalance_timeout_ms": 20_000} if version else {}
    return client.frame(
        "JoinGroup",
        version,
        client_id="app",
        group_id=group,
        member_id=member,
        session_timeout_ms=fields.pop("session", 30_000),
        protocol_type=fields.pop("protocol_type", "consumer"),
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"r")],
        **known,
        **fields,
    )


def join(node, client, **kwargs):
    client.send(join_frame(client, **kwargs))
    node.advance(1)
    (answer,) = client.answers()
    return answer


def stable(node, client, group="g"):
    member = join(node, client, group=group).member_id
    given = [SyncGroupRequestAssignment(member_id=member, assignment=b"all")]
    answer = client.ask("SyncGroup", 3, group_id=group, member_id=member, generation_id=1, assignments=given)
    assert (answer.error_code, answer.assignment) == (0, b"all")
    return member


def commit(client, version=8, topics=(("t", 0, 5),), group="g", **fields):
    made = []
    for topic, partition, offset in topics:
        named = {"topic_id": topic} if isinstance(topic, bytes) else {"name": topic}
        partitions = [OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)]
        made.append(OffsetCommitRequestTopic(partitions=partitions, **named))
    answer = client.ask("OffsetCommit", version, group_id=group, topics=made, **fields)
    return [each.error_code for topic in answer.topics for each in topic.partitions]


def fetch_all(client, group="g"):
    answer = client.ask("OffsetFetch", 7, group_id=group, topics=None)
    assert answer.error_code == 0
    return {
        (topic.name, each.partition_index): each.committed_offset
        for topic in answer.topics
        for each in topic.partitions
    }


# -- members ---------------------------------------------------------------------------------------------


def test_a_member_joins_syncs_beats_and_leaves(node, client):
    first = join(node, client, version=9)
    assert (first.error_code, first.protocol_name, first.protocol_type) == (E.MEMBER_ID_REQUIRED, None, None)
    assert first.member_id.startswith("app-")
    assert len(first.member_id) == len("app-") + 36
    answer = join(node, client, version=9, member=first.member_id)
    assert (answer.error_code, answer.generation_id, answer.leader) == (0, 1, first.member_id)
    beat = {"group_id": "g", "member_id": first.member_id, "generation_id": 1}
    assert client.ask("Heartbeat", 4, **beat).error_code == 0
    answer = client.ask("LeaveGroup", 5, group_id="g", members=[MemberIdentity(member_id=first.member_id)])
    assert [(m.member_id, m.error_code) for m in answer.members] == [(first.member_id, 0)]
    assert client.ask("Heartbeat", 4, **beat).error_code == E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", range(10))
def test_every_version_of_join_names_no_protocol_in_an_error(node, client, version):
    answer = join(node, client, version=version, group="")
    assert answer.error_code == E.INVALID_GROUP_ID
    assert answer.protocol_name == (None if version >= 7 else "")
    answer = join(node, client, version=version, session=99)
    assert answer.error_code == E.INVALID_SESSION_TIMEOUT


def test_a_follower_waits_for_the_leader_on_its_own_connection(node, client):
    a = stable(node, client)
    other = node.connect()
    other.send(join_frame(other))
    assert other.answers() == []
    assert client.ask("Heartbeat", 0, group_id="g", member_id=a, generation_id=1).error_code == 27
    assert join(node, client, member=a).generation_id == 2
    (joined,) = other.answers()
    assert (joined.generation_id, joined.leader, joined.members) == (2, a, [])


def test_before_version_3_leaving_is_answered_with_the_members_own_code(node, client):
    assert client.ask("LeaveGroup", 2, group_id="g", member_id="ghost").error_code == E.UNKNOWN_MEMBER_ID
    answer = client.ask("LeaveGroup", 3, group_id="", members=[MemberIdentity(member_id="ghost")])
    assert (answer.error_code, answer.members) == (E.INVALID_GROUP_ID, [])


def test_sync_5_needs_type_and_name_of_the_protocol_before_anything_else(node, client):
    answer = client.ask("SyncGroup", 5, group_id="g", member_id="ghost", generation_id=9)
    assert answer.error_code == E.INCONSISTENT_GROUP_PROTOCOL


def test_sessions_end_by_the_clock(node, client):
    member = join(node, client, session=700).member_id
    beat = {"group_id": "g", "member_id": member, "generation_id": 1}
    node.advance(600)
    assert client.ask("Heartbeat", 3, **beat).error_code == 0
    node.advance(699)
    assert client.ask("Heartbeat", 3, **beat).error_code == 0
    for _ in range(3):
        node.advance(400)
    assert client.ask("Heartbeat", 3, **beat).error_code == E.UNKNOWN_MEMBER_ID


# -- offsets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(1, 11))
def test_commit_in_every_version(node, client, version):
    topic = node.t if version >= 10 else "t"
    assert commit(client, version, [(topic, 1, 40 + version)]) == [0]
    assert fetch_all(client) == {("t", 1): 40 + version}


def test_topics_are_checked_before_the_group(node, client):
    assert commit(client, 8, [("none", 0, 1), ("t", 7, 1), ("", 0, 1)]) == [3, 3, 3]
    assert commit(client, 8, [("none", 0, 1), ("t", 0, 1)], generation_id_or_member_epoch=3) == [3, 22]
    assert commit(client, 9, [("t", 0, 1)], generation_id_or_member_epoch=3) == [E.GROUP_ID_NOT_FOUND]
    assert commit(client, 10, [(UNKNOWN_ID, 0, 1), (node.t, 1, 21)]) == [E.UNKNOWN_TOPIC_ID, 0]
    assert client.ask("OffsetCommit", 8, group_id="g").topics == []
    assert commit(client, 0) == [E.UNSUPPORTED_VERSION]


def test_refused_partitions_are_joined_by_topic_and_come_first(node, client):
    def answered(*topics):
        topics = [
            OffsetCommitRequestTopic(
                name=name,
                partitions=[OffsetCommitRequestPartition(partition_index=each) for each in partitions],
            )
            for name, partitions in topics
        ]
        answer = client.ask("OffsetCommit", 8, group_id="g", topics=topics)
        return [(t.name, [(p.partition_index, p.error_code) for p in t.partitions]) for t in answer.topics]

    assert answered(("none", []), ("t", [])) == [("none", [])]
    assert answered(("none", [0]), ("none", [1])) == [("none", [(0, 3), (1, 3)])]
    assert answered(("t", [0]), ("t", [1])) == [("t", [(0, 0)]), ("t", [(1, 0)])]
    assert answered(("t", [0]), ("none", [0]), ("t", [99])) == [("none", [(0, 3)]), ("t", [(99, 3), (0, 0)])]


@pytest.mark.parametrize("version", range(1, 8))
def test_fetch_of_one_group_in_every_version(node, client, version):
    commit(client, 8, [("t", 0, 100)])
    asked = [
        OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1]),
        OffsetFetchRequestTopic(name="no", partition_indexes=[0]),
    ]
    answer = client.ask("OffsetFetch", version, group_id="g", topics=asked)
    assert [(p.partition_index, p.committed_offset, p.metadata) for p in answer.topics[0].partitions] == [
        (0, 100, ""),
        (1, -1, ""),
    ]
    assert answer.topics[1].partitions[0].error_code == 0


def test_fetch_of_many_groups(node, client):
    commit(client, 8, [("t", 0, 100)])
    some = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    groups = [
        OffsetFetchRequestGroup(group_id="g", topics=some, member_id="x", member_epoch=4),
        OffsetFetchRequestGroup(group_id="none", topics=None),
    ]
    answer = client.ask("OffsetFetch", 9, groups=groups)
    assert [each.group_id for each in answer.groups] == ["g", "none"]
    assert answer.groups[0].topics[0].partitions[0].committed_offset == 100
    assert answer.groups[1].topics == []
    assert client.ask("OffsetFetch", 8, groups=[]).groups == []


def test_fetch_by_topic_id(node, client):
    commit(client, 8, [("t", 0, 100)])
    asked = [
        OffsetFetchRequestTopics(topic_id=UNKNOWN_ID, partition_indexes=[0, 1]),
        OffsetFetchRequestTopics(topic_id=node.t, partition_indexes=[0]),
    ]
    groups = [OffsetFetchRequestGroup(group_id="g", topics=each) for each in (asked, None)]
    some, everything = client.ask("OffsetFetch", 10, groups=groups).groups
    assert [(t.topic_id, [p.error_code for p in t.partitions]) for t in some.topics] == [
        (node.t, [0]),
        (UNKNOWN_ID, [100, 100]),
    ]
    assert [(t.topic_id, t.partitions[0].committed_offset) for t in everything.topics] == [(node.t, 100)]


def test_offset_delete(node, client):
    commit(client, 8, [("t", 0, 100), ("t", 1, 101)])
    asked = [
        OffsetDeleteRequestTopic(name=name, partitions=[OffsetDeleteRequestPartition(partition_index=i)])
        for name, i in (("t", 0), ("t", 9), ("none", 0))
    ]
    answer = client.ask("OffsetDelete", 0, group_id="g", topics=asked)
    assert [p.error_code for t in answer.topics for p in t.partitions] == [0, 3, 3]
    assert fetch_all(client) == {("t", 1): 101}
    answer = client.ask("OffsetDelete", 0, group_id="none", topics=asked[:1])
    assert (answer.error_code, answer.topics) == (E.GROUP_ID_NOT_FOUND, [])
    assert client.ask("OffsetDelete", 0, group_id="", topics=asked).error_code == E.INVALID_GROUP_ID
    assert client.ask("OffsetDelete", 0, group_id="none", topics=[]).error_code == E.GROUP_ID_NOT_FOUND
    assert client.ask("OffsetDelete", 0, group_id="none", topics=asked[2:]).topics == []
    empty = [OffsetDeleteRequestTopic(name="t"), OffsetDeleteRequestTopic(name="none")]
    answer = client.ask("OffsetDelete", 0, group_id="g", topics=empty)
    assert [(topic.name, topic.partitions) for topic in answer.topics] == [("none", [])]


# -- groups ----------------------------------------------------------------------------------------------


def test_describe_in_every_version(node, client):
    member = stable(node, client)
    for version in range(7):
        there, absent = client.ask("DescribeGroups", version, groups=["g", "none"]).groups
        assert (there.group_state, there.protocol_type, there.protocol_data) == (
            "Stable",
            "consumer",
            "range",
        )
        (described,) = there.members
        assert (described.member_id, described.client_id, described.client_host) == (
            member,
            "app",
            "/127.0.0.1",
        )
        assert (described.member_metadata, described.member_assignment) == (b"r", b"all")
        assert (absent.group_state, absent.members) == ("Dead", [])
        assert absent.error_code == (E.GROUP_ID_NOT_FOUND if version == 6 else 0)
        assert absent.error_message == ("Group none not found." if version == 6 else None)
    asked = {"groups": ["g", "none"], "include_authorized_operations": True}
    operations = [group.authorized_operations for group in client.ask("DescribeGroups", 5, **asked).groups]
    assert operations == [3400, 3400]
    operations = [group.authorized_operations for group in client.ask("DescribeGroups", 6, **asked).groups]
    assert operations == [3400, -(2**31)]


def test_list_filters(node, client):
    stable(node, client)
    commit(client, group="simple")

    def listed(version=5, **fields):
        found = client.ask("ListGroups", version, **fields).groups
        return sorted((g.group_id, g.group_state) for g in found)

    assert listed() == [("g", "Stable"), ("simple", "Empty")]
    assert listed(0) == [("g", ""), ("simple", "")]
    assert listed(states_filter=["empty", "nonsense"]) == [("simple", "Empty")]
    assert listed(types_filter=["Classic"], states_filter=["STABLE"]) == [("g", "Stable")]
    assert listed(types_filter=["share"]) == listed(states_filter=["nonsense"]) == []


def test_delete_groups(node, client):
    member = stable(node, client)
    commit(client, group="simple")
    for version in range(4):
        answer = client.ask("DeleteGroups", version, groups_names=["g", "none", "none"])
        assert [(r.group_id, r.error_code) for r in answer.results] == [("g", 68), ("none", 69)]
    client.ask("LeaveGroup", 1, group_id="g", member_id=member)
    answer = client.ask("DeleteGroups", 2, groups_names=["simple", "g", ""])
    assert [r.error_code for r in answer.results] == [0, 0, E.GROUP_ID_NOT_FOUND]
    assert client.ask("ListGroups", 5).groups == []


# -- where -----------------------------------------------------------------------------------------------


def test_find_coordinator_of_groups(node, client):
    for version in range(4):
        answer = client.ask("FindCoordinator", version, key="g")
        assert (answer.error_code, answer.node_id, answer.host, answer.port) == (0, 1, "here", 9092)
        assert version == 0 or answer.error_message == "NONE"
    answer = client.ask("FindCoordinator", 4, coordinator_keys=["b", "a", "b"])
    assert [(c.key, c.error_code, c.error_message) for c in answer.coordinators] == [
        ("b", 0, ""),
        ("a", 0, ""),
        ("b", 0, ""),
    ]


def test_key_types_without_meaning(node, client):
    answer = client.ask("FindCoordinator", 1, key="g", key_type=7)
    assert (answer.error_code, answer.node_id, answer.port) == (E.INVALID_REQUEST, -1, -1)
    assert answer.error_message.startswith("This most likely occurs because of a request being malformed")
    good = "group:AAAAAAAAAAAAAAAAAAAAbw:0"
    keys = [good, "group", good[:-1] + "x", "group:notauuid:0"]
    answer = client.ask("FindCoordinator", 6, key_type=2, coordinator_keys=keys)
    # As Kafka answers where share.version is 0.
    assert [(c.error_code, c.error_message, c.node_id) for c in answer.coordinators] == [
        (code, "", -1) for code in (15, 42, 42, 42)
    ]
    answer = client.ask("FindCoordinator", 5, key_type=2, coordinator_keys=keys)
    assert {(c.error_code, c.error_message) for c in answer.coordinators} == {(42, "")}


def test_without_the_topic_nobody_is_the_coordinator(tmp_path):
    client = coordinated(Node(tmp_path / "data")).connect()
    assert client.ask("Heartbeat", 4, group_id="g").error_code == E.NOT_COORDINATOR
    assert client.ask("ListGroups", 5).groups == []
    assert client.ask("DescribeGroups", 5, groups=["g"]).groups[0].error_code == E.NOT_COORDINATOR
    answer = client.ask("OffsetFetch", 8, groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])
    assert answer.groups[0].error_code == E.NOT_COORDINATOR
    assert client.ask("OffsetFetch", 5, group_id="g", topics=None).error_code == E.NOT_COORDINATOR
    assert client.ask("DeleteGroups", 2, groups_names=["g"]).results[0].error_code == E.NOT_COORDINATOR


# -- what lasts ------------------------------------------------------------------------------------------


def test_groups_and_offsets_outlive_the_broker(node, client, tmp_path):
    member = stable(node, client)
    commit(client, 8, [("t", 0, 7)], member_id=member, generation_id_or_member_epoch=1)
    node.services.groups.close()
    image = node.cache.image
    node.logs.close(0)
    again = coordinated(Node(tmp_path / "data"))
    again.cache.subscribe(lambda *_: None)
    from kbroker.metadata.delta import full_delta

    again.cache.publish(image, full_delta(image))
    client = again.connect()
    assert fetch_all(client) == {("t", 0): 7}
    described = client.ask("DescribeGroups", 5, groups=["g"]).groups[0]
    assert (described.group_state, described.members[0].member_assignment) == ("Stable", b"all")
    assert client.ask("Heartbeat", 3, group_id="g", member_id=member, generation_id=1).error_code == 0


def test_offsets_of_a_deleted_topic_are_forgotten(node, client):
    commit(client, 8, [("t", 0, 7)])
    node.delete(node.t)
    assert fetch_all(client) == {}


def test_losing_the_partition_answers_those_who_wait(node, client):
    topic = node.cache.image.topics.get("__consumer_offsets")
    client.send(join_frame(client))
    for index in range(4):
        node.move_leader(topic.id, index, 2)
    (answer,) = client.answers()
    assert answer.error_code == E.NOT_COORDINATOR
    assert commit(client) == [E.NOT_COORDINATOR]


def test_all_offsets_of_one_group_are_not_given_again_and_again(client):
    everything = OffsetFetchRequestGroup(group_id="g", topics=None)
    assert len(client.ask("OffsetFetch", 8, groups=[everything] * 100).groups) == 100
    client.send(client.frame("OffsetFetch", 8, groups=[everything] * 101))
    assert client.closed


@pytest.mark.parametrize("version", [1, 7, 8, 9])
def test_a_broker_that_may_have_been_replaced_tells_no_committed_offsets(node, version):
    """Woken from a pause, it would tell those of before; they were committed elsewhere since.

    Nor does it send the consumer away at once: librdkafka's would not ask it again.
    """
    node.services.is_heard = lambda: False
    client = node.connect()
    client.send(_offset_fetch(client, version))
    for _ in range(88):
        node.advance(50)
    assert client.answers() == []
    node.advance(50)
    node.advance(50)
    [answer] = client.answers()
    assert _fetched_code(answer, version) == E.NOT_COORDINATOR


@pytest.mark.parametrize("version", [1, 7, 8, 9])
def test_it_tells_them_when_it_has_heard_that_it_still_coordinates(node, version):
    node.services.is_heard = lambda: False
    client = node.connect()
    client.send(_offset_fetch(client, version))
    node.advance(50)
    assert client.answers() == []
    node.services.is_heard = lambda: True
    node.advance(50)
    [answer] = client.answers()
    assert _fetched_code(answer, version) == E.NONE


def _offset_fetch(client, version):
    topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
    groups = [OffsetFetchRequestGroup(group_id="g", topics=[])]
    fields = {"groups": groups} if version >= 8 else {"group_id": "g", "topics": topics}
    return client.frame("OffsetFetch", version, **fields)


def _fetched_code(answer, version):
    if version >= 8:
        [code] = [group.error_code for group in answer.groups]
        return code
    return answer.error_code if version > 1 else answer.topics[0].partitions[0].error_code


def as_2_8(node):
    node.services.compatibility = "2.8"
    node.dispatcher = Dispatcher(node.services)
    return node.connect()


def test_as_2_8_offsets_of_version_0_are_kept_apart_whatever_members_there_are(node):
    client = as_2_8(node)
    partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=7)]
    asked = [OffsetCommitRequestTopic(name="t", partitions=partitions)]
    answer = client.ask("OffsetCommit", 0, group_id="g", topics=asked)
    assert answer.topics[0].partitions[0].error_code == 0
    wanted = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
    found = [
        client.ask("OffsetFetch", version, group_id="g", topics=wanted)
        .topics[0]
        .partitions[0]
        .committed_offset
        for version in (0, 1)
    ]
    assert found == [7, -1]
    assert client.ask("ListGroups", 0).groups == []
    node.services.compatibility = "all"
    node.dispatcher = Dispatcher(node.services)
    (group,) = node.connect().ask("ListGroups", 0).groups
    assert group.group_id == "/consumers/g/offsets"


def test_as_2_8_an_instance_that_a_group_does_not_have_says_nothing(node):
    client = as_2_8(node)
    partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=7)]
    asked = [OffsetCommitRequestTopic(name="t", partitions=partitions)]
    fields = {"group_id": "g", "generation_id_or_member_epoch": -1, "group_instance_id": "i", "topics": asked}
    assert client.ask("OffsetCommit", 7, **fields).topics[0].partitions[0].error_code == 0
    lost = client.ask("Heartbeat", 3, group_id="g", generation_id=1, member_id="m", group_instance_id="i")
    assert lost.error_code == E.UNKNOWN_MEMBER_ID
