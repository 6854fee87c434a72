"""A controller tells the active one its endpoints and features, until the metadata has them (KIP-919)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.controller.brokers import CONTROLLER_LEVEL, NodeRegistration
from kbroker.errors import ApiError
from kbroker.protocol.generated.controller_registration_request import (
    ControllerRegistrationRequest,
    Feature,
    Listener,
)

if TYPE_CHECKING:
    from kbroker.broker.controller_channel import ControllerChannel
    from kbroker.broker.kraft_node import KraftNode, KraftSetup
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.generated.controller_registration_response import ControllerRegistrationResponse

_log = logging.getLogger(__name__)
_TIMEOUT_MS = 30_000.0
_RETRY_MS = 1000.0


class ControllerRegistration:
    """Sends it, and again if it fails.

    Args:
        node: features of this node.
        setup: its controller listeners.
    """

    def __init__(
        self,
        node: NodeRegistration,
        setup: KraftSetup,
        channel: ControllerChannel,
        kraft: KraftNode,
        timer: Timer,
    ) -> None:
        self._channel = channel
        self._kraft = kraft
        self._timer = timer
        self._alarm: TimerHandle | None = None
        self._stopped = False
        self._node = node
        self._request = ControllerRegistrationRequest(
            controller_id=setup.node_id,
            incarnation_id=setup.incarnation_id,
            zk_migration_ready=node.zk_migration_ready,
            listeners=[
                Listener(name=e.name, host=e.host, port=e.port, security_protocol=e.security_protocol)
                for e in setup.controller_endpoints
            ],
            features=[
                Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in node.features.items()
            ],
        )

    def start(self) -> None:
        """Begin, once the cluster knows of such registrations."""
        self._kraft.when(lambda image: image.metadata_version >= CONTROLLER_LEVEL).then(
            lambda _: self._send()
        )

    def stop(self) -> None:
        """Send nothing any more."""
        self._stopped = True
        if self._alarm is not None:
            self._alarm.cancel()

    def _send(self) -> None:
        self._alarm = None
        if not self._stopped and not self._is_registered(self._kraft.metadata.image):
            self._channel.send(self._request, _TIMEOUT_MS).then(self._answered)

    def _is_registered(self, image: ClusterImage) -> bool:
        known = image.controllers.get(self._node.id)
        return known is not None and known.incarnation_id == self._node.incarnation_id

    def _answered(self, done: Deferred[ControllerRegistrationResponse]) -> None:
        try:
            problem = done.result().error_message if done.result().error_code else None
        except ApiError as error:
            problem = error.text
        if problem is not None:
            _log.info("the registration of this controller was refused: %s", problem)
        if not self._stopped:
            # Also to look whether it has arrived.
            self._alarm = self._timer.call_later(_RETRY_MS, self._send)
