"""How a broker gets into its cluster: it asks the controllers to register it, until one has or never will."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.controller.brokers import NodeRegistration
from kbroker.errors import ApiError, ConfigError, ErrorCode, error_code
from kbroker.protocol.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)

if TYPE_CHECKING:
    from kbroker.broker.broker_lifecycle import LifecycleTimes
    from kbroker.broker.controller_channel import ControllerChannel
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.clock import Clock
    from kbroker.protocol.generated.broker_registration_response import BrokerRegistrationResponse

_log = logging.getLogger(__name__)

#: Errors of a registration that no second attempt changes.
_HOPELESS = {
    ErrorCode.INCONSISTENT_CLUSTER_ID: "the controllers belong to another cluster than {cluster}",
    ErrorCode.UNSUPPORTED_VERSION: "this release cannot serve the cluster: the controller says {text}",
    ErrorCode.INVALID_REGISTRATION: "the controller refuses the registration of this node: {text}",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "the controller does not allow this node to register",
}
#: What else hinders one for long.
_NOT_YET = {
    ErrorCode.BROKER_ID_NOT_REGISTERED: (
        "the quorum has not taken the cluster over from ZooKeeper yet, and until then it takes only brokers "
        "with zookeeper.connect and zookeeper.metadata.migration.enable=true"
    ),
}


class Pauses:
    """Between attempts while something is under way: joining, leaving, a refused registration."""

    _MIN_MS, _MAX_MS = 10.0, 250.0

    def __init__(self) -> None:
        self._next_ms = self._MIN_MS

    def begin_anew(self) -> None:
        """The next one is short."""
        self._next_ms = self._MIN_MS

    def next_ms(self) -> float:
        """Twice as long each time."""
        pause = self._next_ms
        self._next_ms = min(pause * 2, self._MAX_MS)
        return pause


class BrokerRegistration:
    """See the module.

    Args:
        cluster_id: the cluster this node belongs to.
        node: what it says of itself.
        migrating: see `BrokerLifecycle`; then it asks for ever.
    """

    def __init__(
        self,
        cluster_id: str,
        node: NodeRegistration,
        channel: ControllerChannel,
        clock: Clock,
        timer: Timer,
        times: LifecycleTimes,
        *,
        migrating: bool = False,
    ) -> None:
        self._cluster_id = cluster_id
        self._node = node
        self._channel = channel
        self._clock = clock
        self._timer = timer
        self._times = times
        self._migrating = migrating
        #: Why the quorum does not take a migrating broker, as it was told last.
        self.refusal = ""
        #: Whether it waits until the quorum has taken the cluster over, however long: it is of the quorum.
        self.outwaits_migration = False
        self._answer: Deferred[int] = Deferred()
        self._pauses = Pauses()
        self._alarm: TimerHandle | None = None
        self._began_ms = self._asked_ms = 0.0
        #: Why the registration was refused last.
        self._hindrance = ""
        #: Since when the controllers say that another broker has our id.
        self._duplicate_ms: float | None = None

    def ask(self) -> Deferred[int]:
        """The broker epoch that a controller has given to this broker.

        It fails with ConfigError: the controllers refuse this node, or there are none.
        """
        self._answer = Deferred()
        self._began_ms = self._clock.monotonic_ms()
        self._pauses.begin_anew()
        self._ask()
        return self._answer

    def stop(self) -> None:
        """Ask no more."""
        self._answer.cancel()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _ask_later(self) -> None:
        self._alarm = self._timer.call_later(self._pauses.next_ms(), self._ask)

    def _ask(self) -> None:
        self._alarm = None
        self._asked_ms = self._clock.monotonic_ms()
        node = self._node
        request = BrokerRegistrationRequest(
            broker_id=node.id,
            cluster_id=self._cluster_id,
            incarnation_id=node.incarnation_id,
            is_migrating_zk_broker=self._migrating,
            listeners=[
                Listener(name=e.name, host=e.host, port=e.port, security_protocol=e.security_protocol)
                for e in node.endpoints
            ],
            features=[
                Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in node.features.items()
            ],
            rack=node.rack,
            log_dirs=list(node.log_dirs),
            previous_broker_epoch=-1 if node.previous_broker_epoch is None else node.previous_broker_epoch,
        )
        left = self._times.registration_ms
        if not self._migrating:
            left -= self._clock.monotonic_ms() - self._began_ms
        self._channel.send(request, max(left, 1), channel="heartbeat").then(self._answered)

    def _answered(self, done: Deferred[BrokerRegistrationResponse]) -> None:
        if self._answer.done:
            return
        waited_ms = self._clock.monotonic_ms() - self._began_ms
        try:
            response = done.result()
            code, text = error_code(response.error_code), ""
        except ApiError as error:
            code, text = error.code, error.text
        if code is ErrorCode.NONE:
            self._duplicate_ms = None
            self.refusal = ""
            self._answer.resolve(response.broker_epoch)
            return
        self._hindrance = _NOT_YET.get(code, "")
        if self._hindrance and self.outwaits_migration:
            self._began_ms, waited_ms = self._clock.monotonic_ms(), 0
        if self._migrating:
            self._tell_refusal(code, text)
        elif code in _HOPELESS:
            self._fail(_HOPELESS[code].format(cluster=self._cluster_id, text=text or code.name))
        elif code is ErrorCode.DUPLICATE_BROKER_REGISTRATION and self.is_duplicate(self._asked_ms):
            self._fail(f"another broker with node.id {self._node.id} is running")
        elif waited_ms >= self._times.registration_ms:
            why = self._hindrance or "see controller.quorum.voters and controller.quorum.bootstrap.servers"
            self._fail(
                f"no controller has taken the registration of this node within {waited_ms / 1000:.0f} s "
                f"({code.name}); {why}"
            )
        else:
            self._ask_later()

    def _tell_refusal(self, code: ErrorCode, text: str) -> None:
        """The quorum may not be there yet, or not be set up for the migration."""
        told = _HOPELESS.get(code, "the controllers do not take this broker: {text}")
        why = told.format(cluster=self._cluster_id, text=text or code.name)
        if why != self.refusal:
            self.refusal = why
            _log.warning("the migration to KRaft waits: %s", why)
        self._ask_later()

    def _fail(self, text: str) -> None:
        self._answer.fail(ConfigError(text))

    def is_duplicate(self, asked_ms: float) -> bool:
        """Whether the one that has our id is no earlier life of this node: that would have lost its session.

        It is given a whole one by a controller that has just taken over.

        Args:
            asked_ms: when the controller was asked; its answer may have been on the way for longer than that.
        """
        if self._duplicate_ms is None:
            self._duplicate_ms = self._clock.monotonic_ms()
        return asked_ms - self._duplicate_ms > self._times.session_ms * 1.5

    def tell_waiting(self, troubles: Sequence[str]) -> None:
        """It takes long: log what it waits for."""
        if self._hindrance:
            _log.warning("waiting: %s", self._hindrance)
        elif self._duplicate_ms is None:
            why = f": {'; '.join(troubles)}" if troubles else ""
            _log.info("waiting for a controller to register with%s", why)
        else:
            _log.warning("waiting, as the controller knows a broker with id %d already", self._node.id)
