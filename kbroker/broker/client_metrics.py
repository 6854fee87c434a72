"""Metrics that clients push (KIP-714): who is asked for which, and whether a push may come now.

A subscription (config resource `client-metrics`) names metrics, an interval and the clients it means. An
instance is one running client; it comes into being when it first asks, and goes with its connection. When the
subscriptions change, instances begin anew: what they were told no longer holds, and their next push says so.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kbroker.broker.client_metrics_store import ClientMetricsStore, Push
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import CONFIG_CLIENT_METRICS
from kbroker.plain import plain
from kbroker.protocol.compression import Codec
from kbroker.protocol.crc import crc32c
from kbroker.types import ZERO_UUID, Uuid, uuid_to_string

if TYPE_CHECKING:
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage

DEFAULT_INTERVAL_MS = 300_000
INSTANCES_MAX = 16_384
#: In the order in which clients should like them.
COMPRESSION_TYPES = (Codec.ZSTD, Codec.LZ4, Codec.GZIP, Codec.SNAPPY)
#: Bytes that a push may always have once unpacked; if more are allowed packed, eight times as many.
_UNPACKED_BYTES_MIN = 1024 * 1024

_ALL = "*"
_ONE_UUID = b"\0" * 15 + b"\1"
_NEVER = -(1 << 62)
_HALVES = Struct(">QQ")
_FORGIVEN = (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


class Caller(NamedTuple):
    """Who asks; what subscriptions match."""

    connection_id: str
    client_id: str
    software: str
    software_version: str
    address: str
    port: int


class Subscription(NamedTuple):
    """Which metrics are asked of which clients."""

    metrics: tuple[str, ...]
    interval_ms: int
    match: tuple[tuple[str, re.Pattern[str]], ...]

    def means(self, instance_id: Uuid, caller: Caller) -> bool:
        """Every pattern matches all of its text; no pattern means everybody."""
        texts = {
            "client_instance_id": uuid_to_string(instance_id),
            "client_id": caller.client_id,
            "client_software_name": caller.software,
            "client_software_version": caller.software_version,
            "client_source_address": caller.address,
            "client_source_port": str(caller.port),
        }
        return all(pattern.fullmatch(texts[selector]) for selector, pattern in self.match)


@plain()
class Instance:
    """A client that was told what to push. Times are monotonic, in ms."""

    id: Uuid
    connection_id: str
    subscription_id: int
    subscriptions_seen: int
    metrics: tuple[str, ...]
    interval_ms: int
    asked_ms: int = _NEVER
    pushed_ms: int = _NEVER
    is_terminating: bool = False
    last_error: ErrorCode = ErrorCode.NONE

    def may_ask(self, now_ms: int) -> bool:
        """Not more often than once an interval, pushes included."""
        if now_ms - max(self.asked_ms, self.pushed_ms) < self.interval_ms:
            return False
        self.asked_ms = now_ms
        return True

    def may_push(self, now_ms: int) -> bool:
        """Once an interval; and once after asking, as clients vary the time of their first push."""
        if self.asked_ms <= self.pushed_ms and now_ms - self.pushed_ms < self.interval_ms:
            return False
        self.pushed_ms = now_ms
        return True


class ClientMetrics:
    """Subscriptions and instances of one node, and what was pushed.

    Args:
        push_bytes_max: `telemetry.max.bytes`, of a push as it comes.
        keeps: whether pushes are kept and clients told that they can push; Kafka without a receiver does
            neither, but answers.
    """

    def __init__(self, push_bytes_max: int = 1_048_576, *, keeps: bool = False) -> None:
        self.push_bytes_max = push_bytes_max
        self.keeps = keeps
        self.store = ClientMetricsStore()
        #: Gets each push that is kept, in a thread.
        self.export: Callable[[Push], None] | None = None
        self._subscriptions: dict[str, Subscription] = {}
        self._changes = 0
        #: Pushes by an older subscription, whose client then asks anew.
        self.unknown_subscriptions = 0
        self._instances: OrderedDict[Uuid, Instance] = OrderedDict()
        self._by_connection: dict[str, set[Uuid]] = {}

    @property
    def instance_count(self) -> int:
        """Clients that were told what to push."""
        return len(self._instances)

    @property
    def unpacked_bytes_max(self) -> int:
        """How large a push may become when it is unpacked."""
        return max(_UNPACKED_BYTES_MIN, 8 * self.push_bytes_max)

    def on_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        """Subscribes to the metadata."""
        changed = [name for kind, name in delta.configs if kind == CONFIG_CLIENT_METRICS]
        for name in changed:
            settings = new.config(CONFIG_CLIENT_METRICS, name)
            if settings:
                self._subscriptions[name] = parse_subscription(settings)
            else:
                self._subscriptions.pop(name, None)
        self._changes += bool(changed)

    def on_closed(self, connection_id: str) -> None:
        """A connection is over, and so are its instances."""
        for instance_id in self._by_connection.pop(connection_id, ()):
            self._instances.pop(instance_id, None)

    def ask(self, instance_id: Uuid, caller: Caller, now_ms: int) -> Instance:
        """What a client has to push.

        Raises:
            ApiError: THROTTLING_QUOTA_EXCEEDED, it asks too often.
        """
        instance = self._instance(instance_id, caller)
        if not instance.may_ask(now_ms) and instance.last_error not in _FORGIVEN:
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        instance.last_error = ErrorCode.NONE
        return instance

    def check_push(
        self,
        instance_id: Uuid,
        caller: Caller,
        now_ms: int,
        *,
        subscription_id: int,
        terminating: bool,
        compression: int,
        size: int,
    ) -> Instance:
        """Whether a push is welcome.

        Raises:
            ApiError: INVALID_REQUEST, THROTTLING_QUOTA_EXCEEDED, UNKNOWN_SUBSCRIPTION_ID,
                UNSUPPORTED_COMPRESSION_TYPE or TELEMETRY_TOO_LARGE.
        """
        if instance_id in (ZERO_UUID, _ONE_UUID):
            raise ApiError(ErrorCode.INVALID_REQUEST)
        instance = self._instance(instance_id, caller)
        error = ErrorCode.NONE
        if instance.is_terminating:
            error = ErrorCode.INVALID_REQUEST
        elif not instance.may_push(now_ms) and not terminating:
            error = ErrorCode.THROTTLING_QUOTA_EXCEEDED
        elif subscription_id != instance.subscription_id:
            error = ErrorCode.UNKNOWN_SUBSCRIPTION_ID
        elif compression not in (Codec.NONE, *COMPRESSION_TYPES):
            error = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        elif size > self.push_bytes_max:
            error = ErrorCode.TELEMETRY_TOO_LARGE
        instance.is_terminating = terminating
        instance.last_error = error
        self.unknown_subscriptions += error is ErrorCode.UNKNOWN_SUBSCRIPTION_ID
        if error:
            raise ApiError(error)
        return instance

    def not_forgiven(self, instance_id: Uuid) -> None:
        """What an instance was refused last does not let it ask before its time."""
        instance = self._instances.get(instance_id)
        if instance is not None:
            instance.last_error = ErrorCode.NONE

    def _instance(self, instance_id: Uuid, caller: Caller) -> Instance:
        instance = self._instances.get(instance_id)
        if instance is not None and instance.subscriptions_seen == self._changes:
            self._instances.move_to_end(instance_id)
            return instance
        if instance is not None:
            self._drop(instance)
        elif len(self._instances) >= INSTANCES_MAX:
            self._drop(next(iter(self._instances.values())))
        instance = self._new_instance(instance_id, caller)
        self._instances[instance_id] = instance
        self._by_connection.setdefault(caller.connection_id, set()).add(instance_id)
        return instance

    def _drop(self, instance: Instance) -> None:
        del self._instances[instance.id]
        others = self._by_connection[instance.connection_id]
        others.discard(instance.id)
        if not others:
            del self._by_connection[instance.connection_id]

    def _new_instance(self, instance_id: Uuid, caller: Caller) -> Instance:
        meant = [s for s in self._subscriptions.values() if s.means(instance_id, caller)]
        interval_ms = min((s.interval_ms for s in meant), default=DEFAULT_INTERVAL_MS)
        interval_ms = min(interval_ms, DEFAULT_INTERVAL_MS)
        metrics = tuple(sorted({metric for s in meant for metric in s.metrics}))
        if _ALL in metrics:
            metrics = (_ALL,)
        return Instance(
            instance_id,
            caller.connection_id,
            subscription_id(metrics, interval_ms, instance_id),
            self._changes,
            metrics,
            interval_ms,
        )


def parse_subscription(settings: Mapping[str, str]) -> Subscription:
    """A subscription from its settings, which the controller has checked."""
    match = []
    for text in _items(settings.get("match", "")):
        selector, _, expression = text.partition("=")
        match.append((selector.strip(), re.compile(expression.strip())))
    interval_ms = int(settings.get("interval.ms", DEFAULT_INTERVAL_MS))
    return Subscription(tuple(_items(settings.get("metrics", ""))), interval_ms, tuple(match))


def subscription_id(metrics: Iterable[str], interval_ms: int, instance_id: Uuid) -> int:
    """Changes with what is asked for; Kafka's own number where it is one metric at most (Java's order of more
    is not ours)."""
    text = f"[{', '.join(metrics)}]{interval_ms}"
    first, second = _HALVES.unpack(instance_id)
    folded = first ^ second
    number: int = crc32c(text.encode()) ^ (folded >> 32) ^ (folded & 0xFFFFFFFF)
    return number - (1 << 32) if number >> 31 else number


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
