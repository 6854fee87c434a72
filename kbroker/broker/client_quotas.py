"""The node's quotas of clients: kept as the metadata says, and given to connections as meters.

While nobody has a quota no connection has a meter, and requests cost nothing more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol

from kbroker.broker.connection_meter import KINDS, ConnectionMeter
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.api_keys import response_class, response_header_version
from kbroker.quotas.callback import CallbackTable, changes
from kbroker.quotas.client_quotas import ClientLimits, ClientQuotas
from kbroker.quotas.windows import Windows

if TYPE_CHECKING:
    from kbroker.broker.connection_meter import Muted
    from kbroker.broker.restrictions import Restrictions
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage
    from kbroker.quotas.callback import QuotaCallback
    from kbroker.quotas.token_bucket import TokenBucket

_log = logging.getLogger(__name__)
_PRODUCE = 0


class Metered(Protocol):
    """A connection, as far as it has a meter."""

    principal: str
    client_address: str
    meter: ConnectionMeter | None


class Asker(Protocol):
    """Who wants to change something."""

    client_id: str | None

    @property
    def principal(self) -> str:
        """As `User:name`."""


def user_of(principal: str) -> str:
    """The user that quotas know: the name without its kind."""
    return principal.partition(":")[2]


class QuotaKeeper:
    """All quotas of clients on one node (`services.quotas`).

    Args:
        config: for the windows.
        clock: the time.
        timer: for the end of delays.
        now_s: a fine clock, for the time that requests take.
        connections: all that are open.
    """

    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock,
        timer: Timer,
        now_s: Callable[[], float],
        connections: Callable[[], Iterable[Metered]],
    ) -> None:
        setting = config.get_int
        self.quotas = ClientQuotas(
            Windows(setting("quota.window.num"), setting("quota.window.size.seconds")),
            Windows(setting("controller.quota.window.num"), setting("controller.quota.window.size.seconds")),
        )
        self.timer = timer
        self.now_ms = clock.monotonic_ms
        self.now_s = now_s
        #: Whether connections need meters.
        self.active = False
        #: Whether any request may be refused, so that all have to be looked at.
        self.is_slow = False
        #: What else holds clients up, while it does.
        self.restrictions: Restrictions | None = None
        #: Connections that nothing is read from, by the kind of quota that they wait for.
        self.waiting = dict.fromkeys(KINDS, 0)
        #: Told of every answer that throttles its client: API key, ms.
        self.on_throttled: Callable[[int, int], None] = lambda key, delay_ms: None
        self._connections = connections
        self._callback: QuotaCallback | None = None

    def ask(self, callback: QuotaCallback) -> None:
        """Let it decide from now on."""
        self._callback = callback
        self.quotas.table_of = partial(CallbackTable, callback)
        self.quotas.apply({})
        self._switch()

    def on_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        """The metadata has changed."""
        if self._callback is not None:
            self._tell(self._callback, old, new, delta)
        if delta.quotas_changed:
            self.quotas.apply(new.quotas)
            self._switch()
            self._look_anew()

    def _tell(
        self, callback: QuotaCallback, old: ClusterImage, new: ClusterImage, delta: ClusterDelta
    ) -> None:
        def leaders(topic: str) -> list[int]:
            found = new.topics.get(topic)
            return [] if found is None else [each.leader for each in found.partitions]

        for change in changes(old.quotas, new.quotas) if delta.quotas_changed else ():
            try:
                callback.quota_changed(*change)
            except Exception:
                _log.exception("kbroker.quota.callback failed to hear of %s", change)
        try:
            if (delta.topics or delta.deleted_topics) and callback.cluster_changed(leaders):
                self.quotas.apply(new.quotas)
                self._look_anew()
        except Exception:
            _log.exception("kbroker.quota.callback failed")

    def attach(self, connection: Metered, core: Muted | None = None) -> None:
        """A connection that has logged in, and what is to be muted if it is at work."""
        if connection.meter is None:
            connection.meter = ConnectionMeter(self, connection)
            connection.meter.core = core

    def limits_of(self, principal: str, client_id: str) -> ClientLimits:
        """What holds for a client."""
        return self.quotas.of(user_of(principal), client_id, self.now_ms())

    def throttled(self, key: int, delay_ms: int) -> None:
        """An answer throttled its client."""
        self.on_throttled(key, delay_ms)

    def mutations(self, asker: Asker, *, strict: bool) -> Mutations:
        """What a request to the controller takes of its client's quota."""
        bucket = self.quotas.mutations(user_of(asker.principal), asker.client_id or "", self.now_ms())
        return Mutations(bucket, self.now_ms, strict=strict)

    @staticmethod
    def throttle_place(key: int, version: int) -> int | None:
        """Where a whole answer has its throttle time; None: nowhere, or not always at one place."""
        return _throttle_place(key, version)

    def restrict(self, restrictions: Restrictions) -> None:
        """The restrictions have changed."""
        self.restrictions = restrictions if restrictions.needs_meters else None
        self.is_slow = restrictions.slows_produce
        self._switch()
        self._look_anew()

    def _look_anew(self) -> None:
        for connection in self._connections():
            if connection.meter is not None:
                connection.meter.forget()

    def _switch(self) -> None:
        active = self.quotas.has_any or self.restrictions is not None
        if active == self.active:
            return
        self.active = active
        for connection in self._connections():
            if active:
                self.attach(connection)
            elif connection.meter is not None:
                connection.meter = None


class Mutations:
    """Topics and partitions that one request creates or deletes (KIP-599).

    Args:
        bucket: of the client; None: unlimited.
        strict: refuse what comes after the bucket is empty; else take all, and only tell of the delay.
    """

    __slots__ = ("_bucket", "_now_ms", "_strict", "throttle_ms")

    def __init__(self, bucket: TokenBucket | None, now_ms: Callable[[], float], *, strict: bool) -> None:
        self._bucket = bucket
        self._now_ms = now_ms
        self._strict = strict
        #: For the answer.
        self.throttle_ms = 0

    def charge(self, partitions: int) -> None:
        """So many partitions are about to be changed.

        Raises:
            ApiError: THROTTLING_QUOTA_EXCEEDED.
        """
        bucket = self._bucket
        if bucket is None:
            return
        if not self._strict:
            self.throttle_ms = bucket.take(partitions, self._now_ms())
            return
        wait_ms = bucket.take_if_solvent(partitions, self._now_ms())
        if wait_ms:
            self.throttle_ms = wait_ms
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)


@lru_cache(maxsize=1024)
def _throttle_place(key: int, version: int) -> int | None:
    response: Any = response_class(key)()
    if not hasattr(response, "throttle_time_ms"):
        return None
    plain, marked = bytearray(), bytearray()
    response.encode_into(plain, version)
    response.throttle_time_ms = -1
    try:
        response.encode_into(marked, version)
    except ValueError:
        return None
    if plain[:4] == marked[:4] or marked[:4] != b"\xff\xff\xff\xff":
        return None  # this version has none, or something of any length stands before it
    return 9 if response_header_version(key, version) >= 1 else 8
