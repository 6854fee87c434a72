"""Brokers that are requests only: registered at a controller, heartbeating, leading as they are told.

The same calls were made to Apache Kafka 4.4's controller; what it answered is what the tests expect.
"""

from __future__ import annotations

from importlib import import_module

from kbroker.handlers.context import CONTROLLER, ConnectionContext
from kbroker.server.connection import ConnectionCore
from kbroker.server.dispatch import Dispatcher
from tests.handlers.admin_node import AdminNode
from tests.handlers.node import Client

#: A metadata offset that is beyond everything.
FAR = 10**9

FEATURES = {
    "metadata.version": (7, 33),
    "eligible.leader.replicas.version": (0, 1),
    "kraft.version": (0, 1),
    "transaction.version": (0, 2),
    "group.version": (0, 1),
    "share.version": (0, 2),
    "streams.version": (0, 1),
}


def generated(message):
    return import_module(f"kbroker.protocol.generated.{message}")


def directory(number):
    return bytes([number]) * 16


class FakeBrokers:
    """Requests of brokers that do not exist, to a controller that `ask` asks; `up(10, 11)` makes two."""

    def __init__(self):
        self.epochs = {}

    def ask(self, name, version, **fields):
        """The decoded answer to a request."""
        raise NotImplementedError

    def cluster_id(self):
        raise NotImplementedError

    def topic_id(self, name):
        raise NotImplementedError

    def register(self, broker, incarnation=None, previous=None, dirs=None, **changes):
        """The error code of a registration; its epoch is kept."""
        module = generated("broker_registration_request")
        features = changes.pop("features", FEATURES)
        request = {
            "broker_id": broker,
            "cluster_id": self.cluster_id(),
            "incarnation_id": directory(incarnation or broker),
            "listeners": [module.Listener(name="PLAINTEXT", host="h", port=9, security_protocol=0)],
            "features": [
                module.Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in features.items()
            ],
            "log_dirs": [directory(100 + broker)] if dirs is None else dirs,
            "previous_broker_epoch": self.epochs.get(broker, -1) if previous is None else previous,
        }
        answer = self.ask("BrokerRegistration", 4, **{**request, **changes})
        if answer.error_code == 0:
            self.epochs[broker] = answer.broker_epoch
        return answer.error_code

    def beat(self, broker, offset=FAR, fence=False, down=False, epoch=None, **fields):
        """A heartbeat's answer: error code, and the words that hold of `caught fenced down`."""
        answer = self.ask(
            "BrokerHeartbeat",
            2,
            broker_id=broker,
            broker_epoch=self.epochs[broker] if epoch is None else epoch,
            current_metadata_offset=offset,
            want_fence=fence,
            want_shut_down=down,
            **fields,
        )
        words = {
            "caught": answer.is_caught_up,
            "fenced": answer.is_fenced,
            "down": answer.should_shut_down,
        }
        return answer.error_code, " ".join(word for word, holds in words.items() if holds)

    def up(self, *brokers):
        """Register and unfence."""
        for broker in brokers:
            assert self.register(broker) == 0
            assert self.beat(broker) == (0, "caught")
        return self

    def topic(self, name, *assignments, **configs):
        """CreateTopics with replica lists; error code and message."""
        module = generated("create_topics_request")
        topic = module.CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                module.CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
                for index, brokers in enumerate(assignments)
            ],
            configs=[
                module.CreatableTopicConfig(name=key.replace("_", "."), value=value)
                for key, value in configs.items()
            ],
        )
        (result,) = self.ask("CreateTopics", 7, topics=[topic], timeout_ms=1000).topics
        return result.error_code, result.error_message

    def alter(self, name, isr, leader, leader_epoch, partition_epoch, index=0, version=3, **known):
        """AlterPartition: its code if refused, else (code, leader, epoch, isr, partition epoch)."""
        module = generated("alter_partition_request")
        epochs = known.get("epochs", self.epochs)
        if version >= 3:
            members = [module.BrokerState(broker_id=b, broker_epoch=epochs.get(b, -1)) for b in isr]
            proposed = {"new_isr_with_epochs": members}
        else:
            proposed = {"new_isr": isr}
        data = module.PartitionData(
            partition_index=index,
            leader_epoch=leader_epoch,
            partition_epoch=partition_epoch,
            leader_recovery_state=known.get("recovery", 0),
            **proposed,
        )
        topic_id = self.topic_id(name) if isinstance(name, str) else name
        answer = self.ask(
            "AlterPartition",
            version,
            broker_id=leader,
            broker_epoch=known.get("broker_epoch", self.epochs[leader]),
            topics=[module.TopicData(topic_id=topic_id, partitions=[data])],
        )
        if answer.error_code:
            return answer.error_code
        p = answer.topics[0].partitions[0]
        return (
            (p.error_code, p.leader_id, p.leader_epoch, p.isr, p.partition_epoch)
            if not p.error_code
            else p.error_code
        )

    def reassign(self, name, replicas, index=0, allow=True):
        """AlterPartitionReassignments of one partition: code and message."""
        module = generated("alter_partition_reassignments_request")
        partition = module.ReassignablePartition(partition_index=index, replicas=replicas)
        answer = self.ask(
            "AlterPartitionReassignments",
            1,
            topics=[module.ReassignableTopic(name=name, partitions=[partition])],
            timeout_ms=1000,
            allow_replication_factor_change=allow,
        )
        p = answer.responses[0].partitions[0]
        return p.error_code, p.error_message

    def ongoing(self, timeout_ms=1000):
        """All reassignments: {(topic, index): (replicas, adding, removing)}."""
        answer = self.ask("ListPartitionReassignments", 0, topics=None, timeout_ms=timeout_ms)
        assert answer.error_code == 0
        return {
            (topic.name, p.partition_index): (p.replicas, p.adding_replicas, p.removing_replicas)
            for topic in answer.topics
            for p in topic.partitions
        }

    def elect(self, name, kind, index=0):
        """ElectLeaders of one partition: its code."""
        module = generated("elect_leaders_request")
        answer = self.ask(
            "ElectLeaders",
            2,
            topic_partitions=[module.TopicPartitions(topic=name, partitions=[index])],
            timeout_ms=1000,
            election_type=kind,
        )
        return answer.replica_election_results[0].partition_result[0].error_code

    def configure(self, resource_type, name, **settings):
        """IncrementalAlterConfigs SET; the error code."""
        module = generated("incremental_alter_configs_request")
        configs = [
            module.AlterableConfig(name=key.replace("_", "."), config_operation=0, value=value)
            for key, value in settings.items()
        ]
        resource = module.AlterConfigsResource(
            resource_type=resource_type, resource_name=name, configs=configs
        )
        return self.ask("IncrementalAlterConfigs", 1, resources=[resource]).responses[0].error_code

    def assign(self, broker, directories, epoch=None):
        """AssignReplicasToDirs of {directory: {topic id: indexes}}: its code, and those of the partitions."""
        module = generated("assign_replicas_to_dirs_request")
        answer = self.ask(
            "AssignReplicasToDirs",
            0,
            broker_id=broker,
            broker_epoch=self.epochs[broker] if epoch is None else epoch,
            directories=[
                module.DirectoryData(
                    id=which,
                    topics=[
                        module.TopicData(
                            topic_id=topic_id,
                            partitions=[module.PartitionData(partition_index=i) for i in indexes],
                        )
                        for topic_id, indexes in topics.items()
                    ],
                )
                for which, topics in directories.items()
            ],
        )
        return answer.error_code, [
            p.error_code for d in answer.directories for topic in d.topics for p in topic.partitions
        ]


class Controller(FakeBrokers):
    """The controller of a node by itself (broker 1), and other brokers that exist in its metadata only."""

    def __init__(self, **settings):
        super().__init__()
        node = AdminNode(**settings)
        self.world, self.services = node.world, node.services
        self.dispatcher = Dispatcher(node.services, CONTROLLER)
        self.client = Client(self)
        context = ConnectionContext("c", "127.0.0.1", role=CONTROLLER)
        self.client.core = ConnectionCore(context, self.dispatcher, 100 * 1024 * 1024)
        self.client.core.on_output = lambda: None

    def ask(self, name, version, **fields):
        return self.client.ask(name, version, **fields)

    def cluster_id(self):
        return self.services.cluster_id

    def topic_id(self, name):
        return self.image.topics.get(name).id

    @property
    def image(self):
        return self.world.cache.image

    def state(self, name, index=0):
        """(leader, leader epoch, replicas, isr, elr, last known elr)"""
        p = self.image.topics.partition(name, index)
        return p.leader, p.leader_epoch, p.replicas, p.isr, p.elr, p.last_known_elr
