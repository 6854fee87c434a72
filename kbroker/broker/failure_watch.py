"""Failure detection faster than a session: a killed broker's port refuses connections.

Every node watches every live broker, the active controller or not: who takes over knows already who is gone.
Fencing too early is safe, as every decision carries an epoch, and a broker that lives comes back with its
next heartbeat.
What clients are told meanwhile: absent_brokers.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from kbroker.broker.peer import PeerAddress, Peers, Watch

if TYPE_CHECKING:
    from kbroker.broker.absent_brokers import AbsentBrokers
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import BrokerImage, ClusterImage

_log = logging.getLogger(__name__)


class _Watched(NamedTuple):
    epoch: int
    address: PeerAddress
    watch: Watch


class FailureWatch:
    """See the module.

    Args:
        node_id: this node, which is not watched.
        listener_name: over which brokers reach each other.
        is_active: whether this node is the active controller.
        broker_lost: told `(broker id, broker epoch)` while it is.
        absent: told who is not there.
    """

    def __init__(
        self,
        node_id: int,
        peers: Peers,
        listener_name: str,
        is_active: Callable[[], bool],
        broker_lost: Callable[[int, int], object],
        absent: AbsentBrokers,
    ) -> None:
        self._node_id = node_id
        self._peers = peers
        self._listener_name = listener_name
        self._is_active = is_active
        self._broker_lost = broker_lost
        self._watched: dict[int, _Watched] = {}
        self._absent = absent
        #: Told of a broker that refuses connections while this node is not the active controller.
        self.on_gone: Callable[[int], object] = _not_asked

    def on_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        """Subscribed to the metadata cache."""
        self._absent.metadata_changed()
        if old.brokers is new.brokers:
            return
        for broker_id, watched in list(self._watched.items()):
            broker = new.brokers.get(broker_id)
            if broker is None or broker.fenced or self._address(broker) != watched.address:
                self._forget(broker_id)
                if broker is not None and broker.fenced and not broker.in_controlled_shutdown:
                    self._absent.fenced(broker_id)
            elif broker.epoch != watched.epoch:
                self._watched[broker_id] = watched._replace(epoch=broker.epoch)
        for broker in new.brokers.values():
            if broker.id not in self._watched and not broker.fenced and broker.id != self._node_id:
                self._begin(broker)

    def became_active(self) -> None:
        """This node decides from now on: brokers that are known to be gone are fenced."""
        for broker_id, watched in list(self._watched.items()):
            if watched.watch.gone:
                self._broker_lost(broker_id, watched.epoch)

    def stop(self) -> None:
        """Watch nobody any more."""
        for broker_id in list(self._watched):
            self._forget(broker_id)

    def _begin(self, broker: BrokerImage) -> None:
        address = self._address(broker)
        if address is not None:
            watch = self._peers.watch(
                address,
                lambda: self._gone(broker.id),
                lambda: self._absent.is_missing(broker.id, False),
                lambda: self._absent.is_missing(broker.id, True),
            )
            self._watched[broker.id] = _Watched(broker.epoch, address, watch)

    def _gone(self, broker_id: int) -> None:
        self._absent.is_missing(broker_id, True)
        watched = self._watched.get(broker_id)
        if watched is not None and self._is_active():
            _log.info("%s refuses connections: it is fenced", watched.address)
            self._broker_lost(broker_id, watched.epoch)
        elif watched is not None:
            self.on_gone(broker_id)

    def _forget(self, broker_id: int) -> None:
        self._watched.pop(broker_id).watch.cancel()
        self._absent.is_missing(broker_id, False)

    def _address(self, broker: BrokerImage) -> PeerAddress | None:
        endpoint = broker.endpoint(self._listener_name)
        if endpoint is None:
            return None
        return PeerAddress(broker.id, endpoint.host, endpoint.port, endpoint.security_protocol)


def _not_asked(broker_id: int) -> None:
    """Only the active controller does something about it."""
