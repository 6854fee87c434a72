"""Which kind of node the settings ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.config.quorum import uses_zookeeper
from kbroker.main import Node

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig


def node_for(config: BrokerConfig) -> Node:
    """A node of KRaft, or one of a cluster that is kept in ZooKeeper; to be started."""
    if uses_zookeeper(config):
        from kbroker.zk_main import ZooKeeperNode

        return ZooKeeperNode(config)
    return Node(config)
