"""A quorum that takes over a cluster in a ZooKeeper (KIP-866): both models on one clock."""

from types import SimpleNamespace

from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_channel import ZkChannel
from kbroker.broker.zk_migration import ZkMigration
from kbroker.broker.zk_session import ZkClient
from kbroker.controller.brokers import NodeRegistration, register_broker, register_controller, unfence_broker
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.features import METADATA_VERSION
from kbroker.controller.topics import TopicRef, create_topics, delete_topics
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.mirroring import comparable
from kbroker.controller.zookeeper.node_znodes import BrokerZnode, encode_cluster_id
from kbroker.controller.zookeeper.reading import read
from kbroker.controller.zookeeper.steps import claim, first_epoch, missing_roots, registration
from kbroker.controller.zookeeper.tree import Create, Node, Tree
from kbroker.controller.zookeeper.writing import operations
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import ClusterImage, Endpoint, FeatureRange
from kbroker.protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kbroker.protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.create_topics_request import CreatableReplicaAssignment, CreatableTopic
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.generated.producer_ids_record import ProducerIdsRecord
from kbroker.protocol.generated.topic_record import TopicRecord
from kbroker.protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kbroker.types import ZERO_UUID
from tests.broker.quorum_world import QuorumWorld
from tests.controller.clusters import rules as topic_rules
from tests.doubles import StandingClock
from tests.sim.zk_model import Host, ModelLink, ZkModel

SESSION_MS = 1000.0
CONTROLLERS = (101, 102, 103)
BROKERS = (1, 2, 3)


class WholeClock(StandingClock):
    def now_ms(self):
        return int(self.now)


class Clock:
    """The quorum's clock as ZooKeeper's model wants it."""

    def __init__(self, quorum):
        self._quorum = quorum
        self.random = quorum.random

    @property
    def now(self):
        return self._quorum.clock.now

    def at(self, time, callback):
        self._quorum.after(time - self.now, callback)

    def later(self, delay_ms, callback):
        self._quorum.after(delay_ms, callback)


class Brokers:
    """All brokers in ZooKeeper's mode: they obey, and remember what they were told."""

    def __init__(self, world):
        self.world = world
        self.told = []

    def send(self, address, request, *, timeout_ms, channel, version=None):
        answer = Deferred()

        def arrive():
            self.told.append((address.node_id, request))
            self.world.after(1, lambda: answer.resolve(SimpleNamespace(error_code=0)))

        self.world.after(1, arrive)
        return answer

    def of(self, kind):
        return [request for _, request in self.told if kind == request.NAME]


def old_cluster():
    """The records of a cluster, as ZooKeeper has it."""
    ids = {"a": b"a" * 16, "b": b"b" * 16}
    records = [TopicRecord(name=name, topic_id=each) for name, each in ids.items()]
    for name, index, replicas in (("a", 0, [1, 2]), ("a", 1, [2, 3]), ("b", 0, [3, 1])):
        records.append(
            PartitionRecord(
                partition_id=index,
                topic_id=ids[name],
                replicas=replicas,
                isr=replicas,
                leader=replicas[0],
                leader_epoch=0,
                partition_epoch=0,
            )
        )
    entity = [EntityData(entity_type="user", entity_name="alice")]
    return [
        *records,
        ConfigRecord(resource_type=2, resource_name="a", name="retention.ms", value="1000"),
        ConfigRecord(resource_type=4, resource_name="", name="log.retention.ms", value="5000"),
        ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=1000.0, remove=False),
        UserScramCredentialRecord(
            name="alice", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"v", iterations=4096
        ),
        AccessControlEntryRecord(
            id=b"x" * 16,
            resource_type=2,
            resource_name="a",
            pattern_type=3,
            principal="User:bob",
            host="*",
            operation=3,
            permission_type=3,
        ),
        ProducerIdsRecord(broker_id=1, broker_epoch=-1, next_producer_id=2000),
    ]


class MigrationWorld:
    def __init__(self, seed=1, controllers=CONTROLLERS):
        self.quorum = QuorumWorld(*controllers, seed=seed)
        self.quorum.metadata_version = 21
        self.quorum.clock = WholeClock()
        self.clock = Clock(self.quorum)
        self.zookeeper = ZkModel(self.clock)
        self.brokers = Brokers(self.quorum)
        self.hosts, self.migrations = {}, {}
        self.lives = 0
        self.rules = topic_rules()
        self.admin = ZkClient(*self._links("admin"), SESSION_MS)
        self.admin.start()
        self.quorum.until(lambda: self.admin.live)
        self.fill()
        for each in controllers:
            self.start(each)

    def _links(self, name):
        host = Host(self.clock, name)
        self.hosts[name] = host
        return (lambda: ModelLink(self.zookeeper, host, SESSION_MS)), host, host

    def run(self, ms=200.0):
        self.quorum.run(ms)
        assert self.quorum.failures == []

    def until(self, test, ms=60_000):
        self.quorum.until(test, ms)

    def finish(self, deferred):
        return self.quorum.finish(deferred)

    # -- ZooKeeper -------------------------------------------------------------------------------------------

    def fill(self):
        """A cluster whose controller is broker 1."""
        tree = Tree()
        self.write(tree, missing_roots(tree))
        self.write(tree, [Create("/cluster"), Create(paths.CLUSTER_ID, encode_cluster_id("cluster"))])
        self.write(tree, [first_epoch()])
        self.held, ops = claim(1, 0, 0, 0)
        self.write(tree, ops)
        for broker in BROKERS:
            znode = BrokerZnode((Endpoint("PLAINTEXT", "h", 9090 + broker),))
            self.write(tree, registration(broker, znode))
        self.write(tree, operations(old_cluster(), ClusterImage("cluster"), tree, self.held))
        self.write(tree, [Create(paths.topic_deletion("b"))])

    def write(self, tree, ops):
        self.finish(self.admin.multi(ops))
        tree.apply(ops)

    def tree(self):
        tree = Tree()
        for path, node in self.zookeeper.nodes.items():
            if path != "/":
                tree.put(path, Node(node.data, node.version, node.czxid, node.owner != 0))
        return tree

    # -- the quorum ------------------------------------------------------------------------------------------

    def start(self, node_id):
        self.quorum.start(node_id, migrates=True, is_broker=False)
        self.lives += 1
        links, clock, timer = self._links(f"{node_id}.{self.lives}")
        self.hosts[node_id] = clock
        node = self.quorum.nodes[node_id]
        client = ZkClient(links, clock, timer, SESSION_MS)
        self.migrations[node_id] = ZkMigration(
            client,
            node.controller,
            ZkChannel(node_id, self.brokers, timer, "PLAINTEXT", of_quorum=True),
            clock,
            timer,
            ElectionRules(),
            lambda: [voter.id for voter in node.raft.node.voters],
        )
        client.start()

    def kill(self, node_id):
        self.hosts[node_id].kill()
        self.migrations.pop(node_id)
        self.quorum.kill(node_id)

    @property
    def leader(self):
        return self.quorum.leader

    @property
    def leader_id(self):
        return self.leader.raft.node.node_id

    @property
    def migration(self):
        return self.migrations[self.leader_id]

    @property
    def phase(self):
        return self.migration.status()["phase"] if self.leader is not None else None

    @property
    def image(self):
        return self.leader.metadata.image

    def append(self, decide):
        """Try until it is done, as brokers do."""
        while True:
            self.quorum.elect()
            decided = self.leader.controller.append_records(decide, always=True)
            try:
                return self.finish(decided)
            except ApiError as error:
                if error.code not in (ErrorCode.NOT_CONTROLLER, ErrorCode.UNSUPPORTED_VERSION):
                    raise
                self.run(100)

    def register(self, *brokers, zk=True):
        """Brokers come to the quorum."""
        for broker in brokers:
            node = NodeRegistration(
                broker,
                b"%016d" % (broker + 10 * (not zk)),
                [Endpoint("PLAINTEXT", "h", 9090 + broker)],
                {METADATA_VERSION: FeatureRange(8, 21)},
                None,
                [b"dir%013d" % broker],
                is_migrating_zk_broker=zk,
            )
            epoch = self.append(lambda image, node=node: register_broker(image, node))
            self.append(lambda image, broker=broker, epoch=epoch: unfence_broker(image, broker, epoch))

    def register_controllers(self, *controllers, ready=True):
        for each in controllers:
            node = NodeRegistration(each, b"%016d" % each, [], {}, zk_migration_ready=ready)
            self.append(lambda image, node=node: register_controller(image, node))

    def prepare(self):
        self.quorum.elect()
        self.register_controllers(*CONTROLLERS)
        self.register(*BROKERS)

    def create(self, name, *replicas):
        topic = CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(partition_index=at, broker_ids=list(ids))
                for at, ids in enumerate(replicas)
            ],
        )
        return self.append(lambda image: create_topics(image, [topic], False, self.rules))

    def delete(self, name):
        return self.append(lambda image: delete_topics(image, [TopicRef(name, ZERO_UUID)]))

    # -- what has to be --------------------------------------------------------------------------------------

    def settled(self):
        self.until(lambda: self.phase == "DUAL_WRITE")
        self.until(lambda: self.leader and self.migration.status()["written_offset"] == self.image.offset)
        self.run(100)

    def check(self):
        """What is in ZooKeeper is what the log says."""
        found = read(self.tree())
        assert not found.problems
        assert not found.unborn
        assert not found.deletions
        stored, known = found.image(), comparable(self.image)
        assert {topic.name: topic for topic in stored.topics} == {t.name: t for t in known.topics}
        assert dict(stored.configs) == dict(known.configs)
        assert dict(stored.quotas) == dict(known.quotas)
        assert dict(stored.scram) == dict(known.scram)
        assert {each.principal for each in stored.acls.values()} == {
            each.principal for each in known.acls.values()
        }
        assert stored.next_producer_id == known.next_producer_id
        assert found.controller.broker_id == self.leader_id
        assert found.controller.kraft_epoch == self.leader.raft.node.epoch
