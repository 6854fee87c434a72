"""What brokers of a cluster in ZooKeeper ask of their controller, over the wire: errors as of Kafka 3.9.2."""

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.controller.election_rules import ElectionRules
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.alter_partition_request import BrokerState, PartitionData, TopicData
from kbroker.server.dispatch import Dispatcher
from tests.controller.clusters import cluster, with_topic
from tests.handlers.node import Node


class Controller:
    """Decides on an image, and takes it for committed."""

    active = True

    def __init__(self, image):
        self.image = image
        self.by_leader = []

    def append_records(self, decide, timeout_ms=None, *, by_leader=False):
        answer = Deferred()
        try:
            decision = decide(self.image)
        except ApiError as error:
            answer.fail(error)
            return answer
        self.by_leader.append(by_leader)
        self.image = self.image.apply(decision.records)
        answer.resolve(decision.response)
        return answer


@pytest.fixture
def node(tmp_path):
    node = Node(tmp_path)
    services = node.services
    services.controller = Controller(with_topic(cluster(1, 2, 3, level=16), "t", factor=3))
    services.chores = SimpleNamespace(rules=ElectionRules())
    services.extras["zookeeper"] = object()
    node.dispatcher = Dispatcher(services)
    node.client = node.connect()
    return node


def alter(node, version, isr, epoch=None, name="t", broker_epoch=None):
    """The answer to its leader's proposal for the one partition: (error of all, of the partition, ISR)."""
    topic = node.services.controller.image.topics.get("t")
    (partition,) = topic.partitions
    leader = partition.leader
    told = PartitionData(
        leader_epoch=partition.leader_epoch if epoch is None else epoch,
        partition_epoch=partition.partition_epoch,
        **(
            {"new_isr_with_epochs": [BrokerState(broker_id=each, broker_epoch=-1) for each in isr]}
            if version >= 3
            else {"new_isr": isr}
        ),
    )
    which = {"topic_name": name} if version < 2 else {"topic_id": topic.id if name == "t" else b"\7" * 16}
    answer = node.client.ask(
        "AlterPartition",
        version,
        broker_id=leader,
        broker_epoch=leader * 10 if broker_epoch is None else broker_epoch,
        topics=[TopicData(partitions=[told], **which)],
    )
    if answer.error_code:
        return (answer.error_code,)
    (found,) = answer.topics
    assert found.topic_name == (name if version < 2 else "")
    (outcome,) = found.partitions
    return 0, outcome.error_code, outcome.isr


@pytest.mark.parametrize("version", range(4))
def test_a_leader_alters_its_isr(node, version):
    leader = node.services.controller.image.topics.partition("t", 0).leader
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if version < 2 else ErrorCode.UNKNOWN_TOPIC_ID
    assert alter(node, version, [leader], name="nix") == (0, unknown, [])
    assert alter(node, version, [leader], broker_epoch=0) == (ErrorCode.STALE_BROKER_EPOCH,)
    assert alter(node, version, [leader]) == (0, 0, [leader])
    assert node.services.controller.image.topics.partition("t", 0).isr == (leader,)
    assert all(node.services.controller.by_leader)


@pytest.mark.parametrize("version", range(4))
def test_a_broker_that_wants_to_stop(node, version):
    def ask(broker, epoch):
        said = {"broker_epoch": epoch} if version >= 2 else {}
        answer = node.client.ask("ControlledShutdown", version, broker_id=broker, **said)
        assert answer.remaining_partitions == []
        return answer.error_code

    assert ask(77, -1) == ErrorCode.BROKER_NOT_AVAILABLE
    if version >= 2:
        assert ask(1, 0) == ErrorCode.STALE_BROKER_EPOCH
    leader = node.services.controller.image.topics.partition("t", 0).leader
    assert ask(leader, leader * 10) == 0
    after = node.services.controller.image
    assert after.topics.partition("t", 0).leader not in (leader, -1)
    assert after.brokers[leader].in_controlled_shutdown
    node.services.controller.active = False
    assert ask(2, 20) == ErrorCode.STALE_CONTROLLER_EPOCH
