"""Whether the broker that has this one's id in ZooKeeper lives: it is asked where it says that it listens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import PeerAddress, PeerError
from kbroker.protocol.generated.metadata_request import MetadataRequest

if TYPE_CHECKING:
    from kbroker.broker.peer import Peers
    from kbroker.broker.zk_node import ZkSetup
    from kbroker.broker.zk_registration import ZkRegistration
    from kbroker.controller.zookeeper.node_znodes import BrokerZnode

_TIMEOUT_MS = 3000.0
_CHANNEL = "zk-namesake"


class ZkNamesake:
    """See the module.

    Args:
        setup: of this broker, whose own endpoints are no proof of another one.
        registration: knows the id and the cluster.
    """

    def __init__(self, setup: ZkSetup, registration: ZkRegistration, peers: Peers) -> None:
        self._own = {(each.host, each.port) for each in setup.endpoints}
        self._listener = setup.listener
        self._registration = registration
        self._peers = peers

    def lives(self, registered: BrokerZnode) -> Deferred[bool]:
        """Whether a broker of that id and of this cluster answers there, elsewhere than here."""
        endpoints = registered.endpoints
        by_name = [each for each in endpoints if each.name == self._listener]
        endpoint = next(iter(by_name or endpoints), None)
        lives: Deferred[bool] = Deferred()
        if endpoint is None or any((each.host, each.port) in self._own for each in endpoints):
            lives.resolve(False)
            return lives
        address = PeerAddress(
            self._registration.broker_id, endpoint.host, endpoint.port, endpoint.security_protocol
        )
        # It knows itself by its own registration, which a broker that came to its port later would not be in.
        request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        answer = self._peers.send(address, request, timeout_ms=_TIMEOUT_MS, channel=_CHANNEL)
        answer.then(lambda done: self._heard(address, lives, done))
        return lives

    def _heard(self, address: PeerAddress, lives: Deferred[bool], done: Deferred[Any]) -> None:
        self._peers.close_channel(address, _CHANNEL)
        try:
            response = done.result()
        except PeerError:
            lives.resolve(False)
            return
        places = {(each.node_id, each.host, each.port) for each in response.brokers}
        is_it = (address.node_id, address.host, address.port) in places
        lives.resolve(is_it and response.cluster_id in (None, self._registration.cluster_id))
