"""What this broker does not do for the time being: by an operator's switch, a limit, or to protect itself.

All of it is dynamic settings (`kbroker.…`). Where nothing is set, `services.restrictions` is still there, and
costs requests nothing: the hooks are empty.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.api_keys import FACTS
from kbroker.quotas.protection import Level, Protection, Threshold
from kbroker.quotas.request_limits import Asked, RequestLimits, parse_rules

if TYPE_CHECKING:
    from kbroker.broker.services import Services

_log = logging.getLogger(__name__)
_LIMITS = "kbroker.request.limits"
_READ_ONLY, _READ_ONLY_TOPICS = "kbroker.read.only", "kbroker.read.only.topics"
_NO_NEW_GROUPS = "kbroker.no.new.groups"
_PROTECT = {
    "cpu": ("kbroker.protect.cpu.percent", False),
    "memory": ("kbroker.protect.memory.bytes", False),
    "disk": ("kbroker.protect.disk.free.bytes", True),
    "loop": ("kbroker.protect.loop.delay.ms", False),
}
SETTINGS = (
    _LIMITS,
    _READ_ONLY,
    _READ_ONLY_TOPICS,
    _NO_NEW_GROUPS,
    *(name for name, _ in _PROTECT.values()),
)
#: How often the figures are looked at while there are thresholds.
LOOK_MS = 1000
#: How long a producer is held back after each request while the broker has too much to do.
PRODUCE_DELAY_MS = 250
_PRODUCE, _FETCH = 0, 1
#: JoinGroup, ConsumerGroupHeartbeat, ShareGroupHeartbeat, StreamsGroupHeartbeat.
_JOINS = frozenset({11, 68, 76, 88})


class Asking(Protocol):
    """A request's header."""

    api_key: int
    client_id: str | None

    @property
    def principal(self) -> str:
        """Who asks, as `User:name`."""

    @property
    def client_address(self) -> str:
        """From where."""


def _no_figures() -> Mapping[str, float]:
    return {}


class Restrictions:
    """The restrictions of one broker.

    Args:
        services: the node.
        figures: cpu (per cent of the loop), memory and free disk (bytes), loop delay (ms), by name.
    """

    def __init__(self, services: Services, figures: Callable[[], Mapping[str, float]] = _no_figures) -> None:
        self._services = services
        self._figures = figures
        self.limits = RequestLimits([])
        self.protection = Protection({})
        self.read_only = False
        self.read_only_topics: frozenset[str] = frozenset()
        self.no_new_groups = False
        #: Requests refused and producers delayed, since the start.
        self.refused = self.delayed = 0
        self._look_later: Any = None
        self.on_changed: Callable[[], None] = lambda: None

    @property
    def needs_meters(self) -> bool:
        """Whether every connection has to be looked at."""
        return bool(self.limits.rules) or self.slows_produce or self.protection.level is not Level.OPEN

    @property
    def slows_produce(self) -> bool:
        """Whether a Produce may be refused, so that it must not be taken for one seen before."""
        return (
            self.read_only
            or bool(self.read_only_topics)
            or self.protection.level is Level.REFUSED
            or any(
                rule.refuses and (rule.apis is None or _PRODUCE in rule.apis) for rule in self.limits.rules
            )
        )

    @property
    def may_refuse(self) -> bool:
        """Whether requests that are not Produce may be refused."""
        return self.no_new_groups or any(rule.refuses for rule in self.limits.rules)

    def follow_settings(self) -> None:
        """Obey the settings, now and whenever they change."""
        self._services.config.subscribe(lambda _: self.read_settings(), SETTINGS)
        self.read_settings()

    def read_settings(self) -> None:
        """Take the settings as they are. A rule that is none is told and leaves the old ones in force."""
        config = self._services.config
        self.read_only = config.get_bool(_READ_ONLY)
        self.read_only_topics = frozenset(config.get_list(_READ_ONLY_TOPICS))
        self.no_new_groups = config.get_bool(_NO_NEW_GROUPS)
        try:
            self.limits = RequestLimits(parse_rules(config.get_str(_LIMITS).split(";"), _api_key))
        except ValueError as error:
            _log.warning("%s is left as it was: %s", _LIMITS, error)
        thresholds = {}
        for name, (setting, is_low_bad) in _PROTECT.items():
            pair = [_number(text) for text in config.get_list(setting)]
            if pair:
                thresholds[name] = Threshold(pair[0], pair[1] if len(pair) > 1 else None, is_low_bad)
        level = self.protection.level
        self.protection.thresholds = thresholds
        if not thresholds:
            self.protection = Protection({})
        if level is not self.protection.level:
            _log.info("this broker does not protect itself any more")
        if thresholds and self._look_later is None:
            self._figures()  # they are measured from here on
            self._look_later = self._services.timer.call_later(LOOK_MS, self._look)
        self.on_changed()

    def produce_error(self, topic: str, context: Asking) -> ApiError | None:
        """Why records for a topic are not taken now; None: they are."""
        if self.read_only:
            return self._refuse(ErrorCode.POLICY_VIOLATION, "This broker is read-only.")
        if topic in self.read_only_topics:
            return self._refuse(ErrorCode.POLICY_VIOLATION, f"The topic {topic} is read-only.")
        if self.protection.level is Level.REFUSED:
            why = ", ".join(self.protection.reasons)
            # Every client takes this for an error that passes, and that nothing was written.
            return self._refuse(ErrorCode.NOT_ENOUGH_REPLICAS, f"This broker has too much to do ({why}).")
        return None

    def refusal(self, context: Asking, request: Any) -> ApiError | None:
        """Why a request is not answered as usual; None: it is. Fetch is only ever delayed."""
        if self.limits.rules and context.api_key != _FETCH:
            asked = _asked(context)
            found = self.limits.refused_by(asked, self._services.clock.monotonic_ms())
            if found is not None:
                return self._refuse(
                    ErrorCode.THROTTLING_QUOTA_EXCEEDED, f"More than the limit {found[0].text!r} allows."
                )
        if self.no_new_groups and context.api_key in _JOINS and self._is_new(request.group_id):
            return self._refuse(ErrorCode.POLICY_VIOLATION, "This broker takes no new groups.")
        return None

    def delay_ms(self, api_key: int, principal: str, client_id: str, address: str) -> int:
        """How long a client has to wait after a request."""
        delay_ms = 0
        if self.limits.rules:
            asked = Asked(api_key, principal.partition(":")[2], client_id, address)
            delay_ms = self.limits.delay_ms(asked, self._services.clock.monotonic_ms())
        if api_key == _PRODUCE and self.protection.level is not Level.OPEN:
            self.delayed += 1
            delay_ms = max(delay_ms, PRODUCE_DELAY_MS)
        return delay_ms

    def describe(self) -> dict[str, Any]:
        """For `kbroker-admin`."""
        return {
            "level": self.protection.level.name,
            "reasons": self.protection.reasons,
            "figures": self.protection.figures or self._figures_now(),
            "thresholds": {
                name: [each.delay, each.refuse] for name, each in self.protection.thresholds.items()
            },
            "read_only": self.read_only,
            "read_only_topics": sorted(self.read_only_topics),
            "no_new_groups": self.no_new_groups,
            "limits": [rule.text.strip() for rule in self.limits.rules],
            "refused": self.refused,
            "delayed": self.delayed,
        }

    def close(self) -> None:
        """Look at nothing any more."""
        if self._look_later is not None:
            self._look_later.cancel()
            self._look_later = None

    def _figures_now(self) -> dict[str, float]:
        """While nobody looks in turn; a look that was not planned is not late."""
        return {name: value for name, value in self._figures().items() if name != "loop"}

    def _refuse(self, code: ErrorCode, message: str) -> ApiError:
        self.refused += 1
        return ApiError(code, message)

    def _is_new(self, group_id: str) -> bool:
        try:
            return self._services.groups.group(group_id) is None
        except ApiError:
            return False  # its coordinator is elsewhere, or loading: the handler tells

    def _look(self) -> None:
        self._look_later = None
        protection = self.protection
        if not protection.thresholds:
            return
        if protection.look(self._figures(), self._services.clock.monotonic_ms()):
            why = ", ".join(protection.reasons) or "it has recovered"
            _log.warning("producers are %s now: %s", protection.level.name.lower(), why)
            self.on_changed()
        self._look_later = self._services.timer.call_later(LOOK_MS, self._look)


def check_limits(settings: Mapping[str, str]) -> None:
    """Settings that somebody wants to have.

    Raises:
        ApiError: INVALID_REQUEST.
    """
    try:
        parse_rules(settings.get(_LIMITS, "").split(";"), _api_key)
        for name, _ in _PROTECT.values():
            texts = settings.get(name, "").split(",")
            numbers = [] if texts == [""] else [_number(text) for text in texts]
            if len(numbers) > 2 or not all(number is not None and number >= 0 for number in numbers):
                raise ValueError(f"{settings[name]!r} is not one or two numbers")
    except ValueError as error:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Invalid value for a limit: {error}") from None


def _asked(context: Asking) -> Asked:
    return Asked(
        context.api_key, context.principal.partition(":")[2], context.client_id or "", context.client_address
    )


def _api_key(name: str) -> int | None:
    return next((int(key) for key, facts in FACTS.items() if facts.name.lower() == name.lower()), None)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
