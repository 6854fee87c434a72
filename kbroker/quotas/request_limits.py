"""Limits of requests a second, by API, user, client id and address; ours, Kafka has none.

A rule as people write it: `api=Metadata client-id=* rate=10 action=refuse`. What a rule does not name holds
for all together; `*` means each by itself. A request counts for every rule that it meets.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from kbroker.quotas.token_bucket import TokenBucket

DELAY, REFUSE = "delay", "refuse"
EACH = "*"
#: Seconds' worth that may come at once.
BURST_S = 2
#: Buckets of one rule; who came longest ago begins anew.
BUCKETS_MAX = 10_000
_FIELDS = ("api", "user", "client-id", "ip")


class Asked(NamedTuple):
    """Who asks what."""

    api: int
    user: str
    client_id: str
    address: str


class RequestRule:
    """One rule with its buckets.

    Args:
        apis: keys; None: all.
        rate: requests a second.
        wanted: user, client id and address (or network); None: all together, `*`: each by itself.
        refuses: rather than delays.
        text: as it was written.
    """

    __slots__ = ("_buckets", "_networks", "apis", "rate", "refuses", "text", "wanted")

    def __init__(
        self,
        apis: frozenset[int] | None,
        rate: float,
        wanted: tuple[str | None, str | None, str | None],
        refuses: bool,
        text: str,
    ) -> None:
        self.apis = apis
        self.rate = rate
        self.wanted = wanted
        self.refuses = refuses
        self.text = text
        self._buckets: OrderedDict[tuple[str, ...], TokenBucket] = OrderedDict()
        address = wanted[2]
        self._networks = None if address in (None, EACH) else ip_network(address, strict=False)

    def meets(self, asked: Asked) -> bool:
        """Whether the request counts here."""
        if self.apis is not None and asked.api not in self.apis:
            return False
        user, client_id, _ = self.wanted
        if user not in (None, EACH, asked.user) or client_id not in (None, EACH, asked.client_id):
            return False
        if self._networks is None:
            return True
        try:
            return ip_address(asked.address) in self._networks
        except ValueError:
            return False

    def wait_ms(self, asked: Asked, now_ms: float) -> int:
        """Count the request; the ms until its turn. One that is refused does not count."""
        values = (asked.user, asked.client_id, asked.address)
        key = tuple(value for value, wanted in zip(values, self.wanted) if wanted == EACH)
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= BUCKETS_MAX:
                self._buckets.popitem(last=False)
            bucket = self._buckets[key] = TokenBucket(self.rate, max(BURST_S, 1 / self.rate), now_ms)
        else:
            self._buckets.move_to_end(key)
        if not self.refuses:
            return bucket.take(1, now_ms)
        if bucket.refill(now_ms) < 1:
            return max(round((1 - bucket.tokens) / self.rate * 1000), 1)
        bucket.tokens -= 1
        return 0


def parse_rules(texts: list[str], api_key: Callable[[str], int | None]) -> list[RequestRule]:
    """Rules as the setting has them.

    Args:
        api_key: by name; None: no such API.

    Raises:
        ValueError: what is wrong with the first bad one.
    """
    return [_parse(text, api_key) for text in texts if text.strip()]


def _parse(text: str, api_key: Callable[[str], int | None]) -> RequestRule:
    values: dict[str, str] = {}
    for part in text.split():
        name, equals, value = part.partition("=")
        if not equals or not value or name not in (*_FIELDS, "rate", "action") or name in values:
            raise ValueError(f"{part!r} in the limit {text!r}")
        values[name] = value
    try:
        rate = float(values.get("rate", ""))
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise ValueError(f"no rate above 0 in the limit {text!r}")
    action = values.get("action", DELAY)
    if action not in (DELAY, REFUSE):
        raise ValueError(f"the action is {DELAY} or {REFUSE} in the limit {text!r}")
    apis: frozenset[int] | None = None
    if values.get("api", EACH) != EACH:
        keys = {name: api_key(name) for name in values["api"].split("+")}
        unknown = [name for name, key in keys.items() if key is None]
        if unknown:
            raise ValueError(f"there is no API {unknown[0]}")
        apis = frozenset(key for key in keys.values() if key is not None)
    wanted = (values.get("user"), values.get("client-id"), values.get("ip"))
    return RequestRule(apis, rate, wanted, action == REFUSE, text)


class RequestLimits:
    """All rules.

    Args:
        rules: in order.
    """

    __slots__ = ("_delaying", "_refusing", "rules")

    def __init__(self, rules: list[RequestRule]) -> None:
        self.rules = rules
        self._delaying = [rule for rule in rules if not rule.refuses]
        self._refusing = [rule for rule in rules if rule.refuses]

    def refused_by(self, asked: Asked, now_ms: float) -> tuple[RequestRule, int] | None:
        """The first rule that refuses the request, and for how many ms it would."""
        for rule in self._refusing:
            if rule.meets(asked):
                wait_ms = rule.wait_ms(asked, now_ms)
                if wait_ms:
                    return rule, wait_ms
        return None

    def delay_ms(self, asked: Asked, now_ms: float) -> int:
        """How long its client has to wait after the request."""
        return max([rule.wait_ms(asked, now_ms) for rule in self._delaying if rule.meets(asked)], default=0)
