"""LeaderAndIsr, UpdateMetadata and StopReplica at one node, over the wire.

The same calls were made to a broker of Apache Kafka 3.9.2 with ZooKeeper; what it answered is expected here.
"""

from pathlib import Path

import pytest

from kbroker.broker.zk_follower import ZkFollower
from kbroker.broker.zk_memory import ZkMetadata
from kbroker.handlers.api_table import NOT_IN_ZOOKEEPER
from kbroker.metadata.image import DIRECTORY_LOST, ClusterImage
from kbroker.protocol.generated.leader_and_isr_request import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrTopicState,
)
from kbroker.protocol.generated.stop_replica_request import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from kbroker.protocol.generated.update_metadata_request import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataTopicState,
)
from kbroker.server.dispatch import Dispatcher
from kbroker.types import TopicPartition
from tests.handlers.node import Node

OWN_EPOCH = 50
ID, OTHER_ID, NO_ID = b"\7" * 16, b"\x08" * 16, bytes(16)


class ZkNode(Node):
    """Broker 1 of a cluster in ZooKeeper, which the test controls."""

    def __init__(self, folder):
        super().__init__(folder)
        self.deposed, self.epoch = 0, OWN_EPOCH
        self.metadata = ZkMetadata(self.cache, ClusterImage("cluster-id"))
        self.metadata.publish_from_now()
        self.folder = folder
        self.follower = self.services.extras["zookeeper"] = ZkFollower(
            1, self.metadata, self.replicas, lambda: self.epoch, self._depose
        )
        self.dispatcher = Dispatcher(self.services)
        self.client = self.connect()

    def _depose(self):
        self.deposed += 1

    def lead(self, version=7, epoch=5, replicas=(1,), topic_id=ID, name="x", index=0, **more):
        """LeaderAndIsr of one partition: the errors of request and partition."""
        by_id, by_topic = version >= 5, version >= 2
        state = LeaderAndIsrPartitionState(
            topic_name="" if by_topic else name,
            partition_index=index,
            controller_epoch=more.get("controller_epoch", 1),
            leader=more.pop("leader", replicas[0]),
            leader_epoch=epoch,
            isr=list(replicas),
            partition_epoch=more.pop("partition_epoch", 0),
            replicas=list(replicas),
        )
        if by_topic:
            topic_id = topic_id if by_id else NO_ID
            states = {
                "topic_states": [
                    LeaderAndIsrTopicState(topic_name=name, topic_id=topic_id, partition_states=[state])
                ]
            }
        else:
            states = {"ungrouped_partition_states": [state]}
        answer = self.client.ask("LeaderAndIsr", version, **_controller(more), **states)
        if by_id:
            assert not answer.partition_errors
            (topic,) = answer.topics
            assert topic.topic_id == topic_id
            (partition,) = topic.partition_errors
        else:
            assert not answer.topics
            (partition,) = answer.partition_errors
            assert partition.topic_name == name
        assert partition.partition_index == index
        return answer.error_code, partition.error_code

    def tell(self, *topics, version=8, brokers=(1, 2, 3), **more):
        """UpdateMetadata; the error. Topics are (name, id, {index: state})."""
        states = {}
        if version >= 5:
            states["topic_states"] = [
                UpdateMetadataTopicState(
                    topic_name=name,
                    topic_id=topic_id if version >= 7 else NO_ID,
                    partition_states=list(partitions),
                )
                for name, topic_id, partitions in topics
            ]
        else:
            for name, _, partitions in topics:
                for each in partitions:
                    each.topic_name = name
                states["ungrouped_partition_states"] = list(partitions)
        live = [_live(each, version) for each in brokers]
        return self.client.ask(
            "UpdateMetadata", version, **_controller(more), **states, live_brokers=live
        ).error_code

    def stop(self, version=4, epoch=5, delete=False, name="x", **more):
        """StopReplica of one partition: the errors of request and partition."""
        if version == 0:
            what = {"ungrouped_partitions": [StopReplicaPartitionV0(topic_name=name)]}
        elif version < 3:
            what = {"topics": [StopReplicaTopicV1(name=name, partition_indexes=[0])]}
        else:
            state = StopReplicaPartitionState(leader_epoch=epoch, delete_partition=delete)
            what = {"topic_states": [StopReplicaTopicState(topic_name=name, partition_states=[state])]}
        if version < 3:
            what["delete_partitions"] = delete
        answer = self.client.ask("StopReplica", version, **_controller(more), **what)
        return answer.error_code, *(each.error_code for each in answer.partition_errors)


def _controller(more):
    return {"controller_id": 2, "controller_epoch": 1, **more}


def _live(broker, version):
    if version == 0:
        return UpdateMetadataBroker(id=broker, v0_host="h", v0_port=9000 + broker)
    endpoint = UpdateMetadataEndpoint(port=9000 + broker, host="h", listener="IN" if version >= 3 else "")
    return UpdateMetadataBroker(
        id=broker, endpoints=[endpoint], **({"rack": f"r{broker}"} if version >= 2 else {})
    )


def state(index=0, leader=1, epoch=5, version=0, replicas=(1,), offline=()):
    return UpdateMetadataPartitionState(
        partition_index=index,
        controller_epoch=1,
        leader=leader,
        leader_epoch=epoch,
        isr=list(replicas),
        zk_version=version,
        replicas=list(replicas),
        offline_replicas=list(offline),
    )


@pytest.fixture
def node(tmp_path):
    return ZkNode(tmp_path)


# -- who is obeyed --


@pytest.mark.parametrize("version", range(8))
def test_leader_and_isr_of_an_older_controller(node, version):
    node.tell()
    assert node.lead(version, controller_epoch=0) == (11, 11)
    assert not node.replicas.partitions


def test_requests_that_mean_an_earlier_life(node):
    assert [node.lead(version, broker_epoch=OWN_EPOCH - 1) for version in (2, 4, 7)] == [(77, 77)] * 3
    assert [node.stop(version, broker_epoch=OWN_EPOCH - 1) for version in (1, 4)] == [(77,)] * 2
    assert node.tell(broker_epoch=OWN_EPOCH - 1) == 77
    # The broker's own registration may be answered later than the controller hears of it.
    assert node.tell(broker_epoch=OWN_EPOCH + 1) == 0


def test_a_kraft_controller_means_the_registration_with_the_quorum(node):
    node.follower.quorum_epoch = lambda: 30
    assert node.tell(broker_epoch=29, is_kraft_controller=True) == 77
    assert not node.follower.is_kraft
    assert node.tell(broker_epoch=30, is_kraft_controller=True) == 0
    assert node.follower.is_kraft
    assert node.cache.image.brokers[1].epoch == 30
    # A broker is the controller again: the migration was called off.
    assert node.tell(broker_epoch=OWN_EPOCH, controller_epoch=2) == 0
    assert not node.follower.is_kraft
    assert node.cache.image.brokers[1].epoch == OWN_EPOCH


def test_a_kraft_controller_is_obeyed_without_a_session_with_zookeeper(node):
    node.follower.quorum_epoch = lambda: 30
    assert node.tell(("x", ID, [state()]), broker_epoch=30, is_kraft_controller=True) == 0
    node.epoch = -1
    assert node.tell(("x", ID, [state(epoch=6)]), broker_epoch=30, is_kraft_controller=True) == 0
    assert node.lead(epoch=6, broker_epoch=30, is_kraft_controller=True) == (0, 0)


def test_a_quorum_that_is_heard_first_does_not_have_topics_looked_for_in_zookeeper(node):
    looked = []
    node.follower.on_new_controller = lambda: looked.append(True)
    assert node.tell(controller_epoch=2, is_kraft_controller=True) == 0
    assert not looked
    assert node.tell(controller_epoch=3) == 0
    assert looked


def test_a_broker_that_is_not_registered_yet_answers_when_it_is(node):
    """It cannot know which life is meant."""
    node.epoch = -1
    fields = {"controller_id": 2, "controller_epoch": 1, "broker_epoch": OWN_EPOCH - 1}
    node.client.send(node.client.frame("StopReplica", 4, **fields))
    assert node.client.answers() == []
    node.epoch = OWN_EPOCH
    node.services.extras["zookeeper"].registered()
    (answer,) = node.client.answers()
    assert answer.error_code == 77


@pytest.mark.parametrize("version", range(5))
def test_stop_replica_of_an_older_controller(node, version):
    node.tell()
    assert node.stop(version, controller_epoch=0) == (11,)


@pytest.mark.parametrize("version", range(9))
def test_update_metadata_of_an_older_controller(node, version):
    node.tell()
    assert node.tell(version=version, controller_epoch=0) == 11


def test_a_controller_that_was_followed_hears_of_it(node):
    node.metadata.controller_is(1)
    assert node.tell(controller_epoch=3) == 0
    assert node.deposed == 1
    assert (node.cache.image.controller_id, node.cache.image.epoch) == (2, 3)
    assert node.tell(controller_epoch=4) == 0
    assert node.deposed == 1


# -- leading and following --


def test_only_a_higher_leader_epoch_is_obeyed(node):
    node.tell(("x", ID, [state(epoch=4)]))
    assert node.lead(replicas=(2,)) == (0, 3)
    assert node.lead() == (0, 0)
    assert node.lead() == (0, 11)
    assert node.lead(epoch=4) == (0, 11)
    assert node.lead(epoch=6, topic_id=OTHER_ID) == (0, 103)
    assert node.lead(epoch=2, topic_id=OTHER_ID) == (0, 103)
    assert node.lead(epoch=1, replicas=(2,)) == (0, 11)
    assert node.lead(4, epoch=7) == (0, 0)
    assert node.lead(4, epoch=7) == (0, 11)
    assert node.lead(epoch=9, replicas=(2,)) == (0, 3)
    assert node.lead(epoch=8, replicas=(1, 9), leader=9) == (0, 0)
    partition = node.replicas.get("x", 0)
    assert (partition.is_leader, partition.leader_id, partition.leader_epoch) == (False, 9, 8)


@pytest.mark.parametrize("version", range(8))
def test_it_leads_in_each_version(node, version):
    node.tell(("x", ID, [state(epoch=4, leader=2, replicas=(2, 1))]))
    assert node.lead(version, replicas=(2, 1), leader=1, partition_epoch=3) == (0, 0)
    partition = node.replicas.get("x", 0)
    assert (partition.is_leader, partition.leader_epoch, partition.topic_id) == (True, 5, ID)
    assert partition.leader_state.isr == (2, 1)


def test_clients_hear_of_a_topic_when_all_of_it_is_known(node):
    """Of three partitions this broker has but one: nobody may take that for all there are."""
    assert node.lead(index=1, partition_epoch=2) == (0, 0)
    assert "x" not in node.cache.image.topics
    others = [state(0, leader=2, epoch=0, replicas=(2,)), state(2, leader=3, epoch=0, replicas=(3,))]
    assert node.tell(("x", ID, [*others, state(1, epoch=4)])) == 0
    assert [each.leader for each in node.cache.image.topics.get("x").partitions] == [2, 1, 3]
    # What LeaderAndIsr said was newer.
    assert node.cache.image.topics.partition("x", 1).leader_epoch == 5
    assert node.replicas.get("x", 1).is_leader
    assert len(node.replicas.partitions) == 1


# -- what there is --


@pytest.mark.parametrize("version", range(9))
def test_brokers_and_partitions_in_each_version(node, version):
    offline = (3,) if version >= 4 else ()
    told = state(leader=2, replicas=(2, 3, 4), offline=(*offline, 4) if offline else ())
    assert node.tell(("x", ID, [told]), version=version) == 0
    image = node.cache.image
    assert (image.controller_id, image.epoch) == (2, 1)
    topic = image.topics.get("x")
    assert topic.id == ID or version < 7
    (partition,) = topic.partitions
    assert (partition.leader, partition.leader_epoch, partition.replicas) == (2, 5, (2, 3, 4))
    assert [each == DIRECTORY_LOST for each in partition.directories] == (
        [False, True, False] if offline else []
    )
    name = "IN" if version >= 3 else "PLAINTEXT"
    assert {each.id: each.endpoints for each in image.brokers.values()} == {
        each: ((name, "h", 9000 + each, 0),) for each in (1, 2, 3)
    }
    assert image.brokers[2].rack == ("r2" if version >= 2 else None)
    assert image.brokers[1].epoch == OWN_EPOCH


def test_an_older_state_changes_nothing(node):
    node.tell(("x", ID, [state(leader=2, epoch=5, version=7, replicas=(2, 3))]))
    node.tell(("x", ID, [state(leader=3, epoch=4, version=9, replicas=(2, 3))]))
    node.tell(("x", ID, [state(leader=3, epoch=5, version=6, replicas=(2, 3))]))
    assert node.cache.image.topics.partition("x", 0).leader == 2
    node.tell(("x", ID, [state(leader=2, epoch=5, version=8, replicas=(2,))]))
    assert node.cache.image.topics.partition("x", 0).isr == (2,)


def test_a_deleted_topic_goes_with_its_log(node):
    node.tell(("x", ID, [state()]), ("y", OTHER_ID, [state()]))
    node.lead()
    assert node.tell(("x", ID, [state(leader=-2, epoch=-2)])) == 0
    assert node.cache.image.topics.names() == ["y"]
    assert [key[0] for key in node.replicas.partitions] == ["y"]
    # As with Kafka's brokers the log is StopReplica's to delete.
    tp = TopicPartition("x", 0)
    assert node.logs.get(tp) is not None
    assert node.stop(epoch=-2, delete=True) == (0, 0)
    assert node.logs.get(tp) is None
    # It may be made anew, with another id and from the first epoch on.
    assert node.lead(epoch=0, topic_id=b"\x09" * 16) == (0, 0)


def test_a_topic_with_another_id_is_another_one(node):
    node.tell(("x", ID, [state(), state(1)]))
    assert node.tell(("x", OTHER_ID, [state(epoch=0)])) == 0
    assert len(node.cache.image.topics.get("x").partitions) == 1
    assert node.replicas.get("x", 0).topic_id == OTHER_ID
    assert node.replicas.get("x", 1) is None


def kept_aside(node):
    return sorted(
        each.name.rpartition(".")[0] for each in Path(node.folder).iterdir() if "-stray" in each.name
    )


def test_all_there_is_by_a_kraft_controller(node):
    """What it does not name is gone, unheard by this broker; its logs are not lost."""
    node.tell(("x", ID, [state()]), ("y", OTHER_ID, [state()]))
    assert node.lead() == (0, 0)
    assert node.tell(("y", OTHER_ID, [state(epoch=6)]), is_kraft_controller=True, type=1) == 0
    assert node.cache.image.topics.names() == ["x", "y"]
    # A broker's controller never tells all.
    assert node.tell(("y", OTHER_ID, [state(epoch=6)]), type=2) == 0
    assert node.cache.image.topics.names() == ["x", "y"]
    assert node.tell(("y", OTHER_ID, [state(epoch=6)]), is_kraft_controller=True, type=2) == 0
    assert node.cache.image.topics.names() == ["y"]
    assert kept_aside(node) == ["x-0"]
    assert node.tell(("x", ID, [state()]), is_kraft_controller=True, type=1) == 0
    assert node.cache.image.topics.names() == ["x", "y"]
    assert node.lead(epoch=9) == (0, 0)


def test_all_that_this_broker_has_by_a_kraft_controller(node):
    node.tell(("x", ID, [state()]), ("y", OTHER_ID, [state()]))
    assert node.lead() == (0, 0)
    assert node.lead(name="y", topic_id=OTHER_ID) == (0, 0)
    assert node.lead(epoch=6, is_kraft_controller=True, type=1) == (0, 0)
    assert kept_aside(node) == []
    assert node.lead(epoch=7, is_kraft_controller=True, type=2) == (0, 0)
    assert kept_aside(node) == ["y-0"]
    assert node.replicas.get("y", 0) is None
    assert node.replicas.get("x", 0).is_leader


# -- stopping --


def test_a_stopped_replica_is_led_again_when_leader_and_isr_says_so(node):
    node.tell(("x", ID, [state()]))
    node.lead()
    assert node.stop(epoch=3) == (0, 74)
    assert node.replicas.get("x", 0).is_leader
    assert node.stop() == (0, 0)
    partition = node.replicas.get("x", 0)
    assert not partition.is_leader
    assert partition.log is not None
    assert node.cache.image.topics.partition("x", 0).leader == 1
    assert node.lead() == (0, 0)
    assert node.replicas.get("x", 0).is_leader
    assert node.stop() == (0, 0)
    assert node.stop(name="nix") == (0, 0)


@pytest.mark.parametrize("version", range(5))
def test_a_replica_is_given_up_in_each_version(node, version):
    node.tell(("x", ID, [state(replicas=(1, 2))]))
    node.lead(replicas=(1, 2))
    assert node.stop(version, delete=True) == (0, 0)
    assert node.replicas.get("x", 0) is None
    assert node.logs.get(("x", 0)) is None
    partition = node.cache.image.topics.partition("x", 0)
    assert (partition.replicas, partition.isr, partition.leader) == ((2,), (2,), -1)
    assert node.stop(version, delete=True) == (0, 0)


def test_a_log_of_an_earlier_life_is_deleted(node):
    node.tell(("x", ID, [state()]))
    tp = node.replicas.get("x", 0).topic_partition
    del node.replicas.partitions[("x", 0)]
    node.metadata.loaded(ClusterImage("cluster-id", epoch=1))
    assert node.logs.get(tp) is not None
    assert node.stop(epoch=-2, delete=True) == (0, 0)
    assert node.logs.get(tp) is None


def test_a_failed_log_directory_is_told(node):
    node.tell(("x", ID, [state()]))
    node.replicas.get("x", 0).log = None
    assert node.lead() == (0, 56)
    assert node.stop() == (0, 56)


# -- versions --


def test_only_a_cluster_in_zookeeper_has_them(node, tmp_path):
    def versions(node):
        answer = node.connect().ask("ApiVersions", 2)
        return {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}

    # As Apache Kafka 3.9.2 names them in either mode.
    ours, plain = versions(node), versions(Node(tmp_path / "other"))
    found = {key: ours[key] for key in ours.keys() - plain.keys()}
    assert found == {4: (0, 7), 5: (0, 4), 6: (0, 8), 7: (0, 3), 56: (0, 3), 58: (0, 0), 67: (0, 0)}
    assert plain.keys() - ours.keys() <= NOT_IN_ZOOKEEPER


def test_clients_hear_of_no_features(node):
    named = {"client_software_name": "x", "client_software_version": "1"}
    answer = node.connect().ask("ApiVersions", 4, **named)
    assert (answer.supported_features, answer.finalized_features) == ([], [])
    assert answer.finalized_features_epoch == -1
