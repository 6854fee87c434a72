"""A controller of the quorum that takes over a cluster in ZooKeeper: the parts that do it (KIP-866)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from kbroker.broker.zk_channel import ZkChannel
from kbroker.broker.zk_migration import ZkMigration
from kbroker.broker.zk_session import ZkClient
from kbroker.config.listeners import inter_broker_listener
from kbroker.controller.election_rules import election_rules
from kbroker.server.zk_client import open_links
from kbroker.server.zk_settings import zk_node_settings

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.kraft_node import KraftNode
    from kbroker.broker.services import Services

_Undo = Callable[[], "Awaitable[None] | None"]


def open_migration(
    services: Services, kraft: KraftNode, wait_for: Callable[[Deferred[None]], Awaitable[None]]
) -> _Undo:
    """Begin a session with ZooKeeper, and what is to be done by it; the answer ends it.

    Raises:
        ConfigError: a setting of ZooKeeper's is malformed, or kazoo is not installed.
    """
    config, clock, timer = services.config, services.clock, services.timer
    # Its own id is none of ZooKeeper's.
    settings = zk_node_settings({**config.static, "broker.id": "0"})
    client = ZkClient(open_links(settings.link), clock, timer, settings.link.session_ms)
    client.at_once = settings.at_once
    assert services.peers is not None
    listener = inter_broker_listener(config)
    channel = ZkChannel(services.broker_id, services.peers, timer, listener, of_quorum=True)
    services.extras["migration"] = ZkMigration(
        client,
        kraft.controller,
        channel,
        clock,
        timer,
        election_rules(config),
        lambda: [voter.id for voter in kraft.raft.node.voters],
    )
    client.start()
    return lambda: wait_for(client.close())
