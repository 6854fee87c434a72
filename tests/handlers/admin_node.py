"""A node with its own controller, without sockets: metadata in memory, requests through the dispatcher."""

from __future__ import annotations

from kbroker.broker.controller_chores import ControllerChores
from kbroker.broker.raft_peers import QuorumService, wire_of
from kbroker.broker.replica_manager import ReplicaManager
from kbroker.broker.services import Services
from kbroker.broker.topic_settings import TopicSettings
from kbroker.config.broker_config import BrokerConfig
from kbroker.server.dispatch import Dispatcher
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.storage.memory_disk import MemoryDisk
from tests.broker.kraft_world import FOLDER, World
from tests.handlers.node import Client


class AdminNode:
    """Node 1 of a cluster of one; `ask` sends one request and gives its answer."""

    def __init__(self, **settings):
        self.world = World().format()
        self.world.open()
        logs = LogManager(MemoryDisk(), [FOLDER])
        logs.lock()
        logs.load(self.world.clock.now)
        self.replicas = ReplicaManager(
            1, logs, self.world.clock, self.world, lambda name, overrides: TopicSettings(LogConfig(), 1)
        )
        self.world.cache.subscribe(self.replicas.apply_metadata)
        self.world.node.start()
        self.services = Services(
            broker_id=1,
            cluster_id="cluster",
            config=BrokerConfig({"node.id": "1", **{k.replace("_", "."): v for k, v in settings.items()}}),
            clock=self.world.clock,
            timer=self.world,
            new_uuid=self.world.uuid,
            metadata=self.world.cache,
            replicas=self.replicas,
            controller=self.world.node.controller,
            quorum=QuorumService(self.world.node.raft, wire_of("cluster", "CONTROLLER")),
            groups=None,
            fetch_sessions=None,
        )
        self.services.chores = ControllerChores(
            self.services.controller,
            self.services.config,
            self.world.clock,
            self.world,
            self.world.node._setup.incarnation_id,
        )
        self.dispatcher = Dispatcher(self.services)
        self.client = Client(self)

    def ask(self, name, version, **fields):
        return self.client.ask(name, version, **fields)

    @property
    def image(self):
        return self.world.cache.image
