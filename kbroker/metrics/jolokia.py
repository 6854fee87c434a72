"""The registry as JSON in Jolokia's shape, for tools that read JMX over HTTP: read, list, search, version.

Requests come as a path (`/jolokia/read/<mbean>/<attribute>`, slashes in names as `!/`) or as a JSON object,
or a list of them. MBean names may be patterns, as JMX has them. Nothing can be written or called.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from fnmatch import translate
from typing import Any, TypeAlias, TypeVar

from kbroker.metrics.registry import COUNTER, GAUGE, HISTOGRAM, METER, Family, Registry

#: The protocol that is spoken.
PROTOCOL = "7.2"
REQUESTS_MAX = 100
#: Rows that are looked at in one go.
_ROWS_PER_STEP = 200
_RATES = ("OneMinuteRate", "FiveMinuteRate", "FifteenMinuteRate")

T = TypeVar("T")
#: Work in steps, and what comes of it.
Steps: TypeAlias = "Generator[None, None, T]"


class JolokiaError(Exception):
    """What is told to who asked.

    Args:
        status: as in HTTP.
        kind: Java's name of the exception, which clients look at.
        text: for people.
    """

    def __init__(self, status: int, kind: str, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.kind = kind
        self.text = text


def canonical(domain: str, keys: Mapping[str, str]) -> str:
    """An object name with its keys in order."""
    return f"{domain}:{','.join(f'{key}={keys[key]}' for key in sorted(keys))}"


def keys_of(family: Family, labels: tuple[str, ...]) -> dict[str, str]:
    """The keys of a row's object name."""
    keys = {"type": family.type_name}
    if family.name:
        keys["name"] = family.name
    return keys | {key: value for key, value in zip(family.keys, labels) if value}


class Pattern:
    """An object name, or a pattern of names.

    Raises:
        JolokiaError: it is neither.
    """

    def __init__(self, text: str) -> None:
        domain, colon, rest = text.partition(":")
        if not colon or not rest:
            raise JolokiaError(
                400, "javax.management.MalformedObjectNameException", f"no object name: {text}"
            )
        self.is_pattern = "*" in text or "?" in text
        self._domain = _glob(domain)
        parts = rest.split(",")
        self._more = "*" in parts
        self._keys: dict[str, re.Pattern[str]] = {}
        for part in parts:
            if part == "*":
                continue
            key, equals, value = part.partition("=")
            if not equals:
                raise JolokiaError(
                    400, "javax.management.MalformedObjectNameException", f"no object name: {text}"
                )
            self._keys[key] = _glob(value)

    def may_match(self, family: Family) -> bool:
        """Whether rows of a family can be meant."""
        fixed = {"type": family.type_name} | ({"name": family.name} if family.name else {})
        names = {*fixed, *family.keys}
        return (
            self._domain.fullmatch(family.domain) is not None
            and names.issuperset(self._keys)
            and all(
                self._keys[key].fullmatch(value) if key in self._keys else self._more
                for key, value in fixed.items()
            )
        )

    def matches(self, keys: Mapping[str, str]) -> bool:
        """Whether a row of a family that may match is meant."""
        if len(keys) != len(self._keys) and not self._more:
            return False
        return all(key in keys and self._keys[key].fullmatch(keys[key]) for key in self._keys)


def _glob(text: str) -> re.Pattern[str]:
    # Its groups are atomic: many stars take no longer than one.
    return re.compile(translate(text.replace("[", "[[]")))


class Jolokia:
    """Answers for one registry.

    Args:
        registry: what is told.
        version: of kbroker.
    """

    def __init__(self, registry: Registry, version: str) -> None:
        self._registry = registry
        self._version = version

    def steps(self, request: Mapping[str, Any], now_ms: int) -> Steps[dict[str, Any]]:
        """One request as an object, in steps between which others may have their turn; the answer is what it
        returns. Errors are answers, too.
        """
        shown = {key: request[key] for key in ("type", "mbean", "attribute", "path") if key in request}
        try:
            value = yield from self._value(request, now_ms)
        except JolokiaError as error:
            return {
                "request": shown,
                "status": error.status,
                "error_type": error.kind,
                "error": f"{error.kind} : {error.text}",
                "timestamp": now_ms // 1000,
            }
        return {"request": shown, "value": value, "status": 200, "timestamp": now_ms // 1000}

    def _value(self, request: Mapping[str, Any], now_ms: int) -> Steps[Any]:
        kind = request.get("type")
        if kind == "version":
            return {
                "agent": self._version,
                "protocol": PROTOCOL,
                "info": {"product": "kbroker", "vendor": "kbroker", "version": self._version},
            }
        if kind == "list":
            return (yield from self._list(request.get("path")))
        if kind in ("read", "search"):
            mbean = request.get("mbean")
            if not isinstance(mbean, str):
                raise JolokiaError(400, "java.lang.IllegalArgumentException", "no mbean is named")
            if kind == "search":
                return (yield from self._search(mbean))
            return (yield from self._read(mbean, request.get("attribute"), now_ms))
        raise JolokiaError(400, "java.lang.UnsupportedOperationException", f"no requests of type {kind}")

    def _find(
        self, pattern: Pattern
    ) -> Iterator[tuple[Family, dict[str, str], tuple[tuple[str, ...], Any]] | None]:
        """What a pattern means; None now and then: others may have their turn."""
        for family in self._registry.families():
            if not pattern.may_match(family):
                continue
            yield None
            for number, row in enumerate(family.rows(), 1):
                keys = keys_of(family, row[0])
                if pattern.matches(keys):
                    yield family, keys, row
                if not number % _ROWS_PER_STEP:
                    yield None

    def _search(self, mbean: str) -> Steps[list[str]]:
        names = []
        for found in self._find(Pattern(mbean)):
            if found is None:
                yield
            else:
                names.append(canonical(found[0].domain, found[1]))
        return sorted(names)

    def beans(
        self, pattern: str, attributes: list[str] | None, now_ms: int
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """(object name, attributes) of all that a pattern means; only those of the attributes, if given.

        Raises:
            JolokiaError: it is no pattern.
        """
        for found in self._beans(Pattern(pattern), attributes, now_ms):
            if found is not None:
                yield found

    def _beans(
        self, pattern: Pattern, attributes: list[str] | None, now_ms: int
    ) -> Iterator[tuple[str, dict[str, Any]] | None]:
        for each in self._find(pattern):
            if each is None:
                yield None
                continue
            family, keys, (labels, value) = each
            found = self._attributes(family, labels, value, now_ms)
            if attributes:
                found = {name: found[name] for name in attributes if name in found}
            if found:
                yield canonical(family.domain, keys), found

    def _read(self, mbean: str, attribute: Any, now_ms: int) -> Steps[Any]:
        pattern = Pattern(mbean)
        wanted = [attribute] if isinstance(attribute, str) else attribute
        found: dict[str, dict[str, Any]] = {}
        for bean in self._beans(pattern, wanted, now_ms):
            if bean is None:
                yield
            else:
                found[bean[0]] = bean[1]
        if not found:
            if pattern.is_pattern or not any(each for each in self._find(pattern)):
                raise JolokiaError(404, "javax.management.InstanceNotFoundException", mbean)
            raise JolokiaError(404, "javax.management.AttributeNotFoundException", f"{mbean}: {attribute}")
        if pattern.is_pattern:
            return found
        (attributes,) = list(found.values())[:1]
        if isinstance(attribute, str):
            return attributes[attribute]
        return attributes

    def _attributes(self, family: Family, labels: tuple[str, ...], value: Any, now_ms: int) -> dict[str, Any]:
        if family.kind in (COUNTER, GAUGE):
            return {"Value": value} | (dict.fromkeys(("MeanRate", *_RATES), value) if family.event else {})
        if family.kind == METER:
            return {"Count": value} | self._rates(family, labels, value, now_ms)
        if family.kind == HISTOGRAM:
            found = dict(value.summary())
            if family.event:
                found |= self._rates(family, labels, value.count, now_ms) | {"LatencyUnit": "MILLISECONDS"}
            return found
        return dict(value)

    def _rates(self, family: Family, labels: tuple[str, ...], count: int, now_ms: int) -> dict[str, Any]:
        rates = self._registry.rates(family, labels, count, now_ms)
        return {
            "EventType": family.event or "events",
            "RateUnit": "SECONDS",
            "MeanRate": rates.mean,
            **dict(zip(_RATES, rates.averages)),
        }

    def _list(self, path: Any) -> Steps[Any]:
        """Domains, in them the keys of names, in these the attributes; or a part of that."""
        tree: dict[str, dict[str, Any]] = {}
        for family in self._registry.families():
            yield
            # Rows are alike: with 10,000 partitions there are a hundred thousand of them.
            beans: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}
            for number, (labels, value) in enumerate(family.rows(), 1):
                if not number % _ROWS_PER_STEP:
                    yield
                keys = keys_of(family, labels)
                name = canonical("", keys)[1:]
                attributes = self._attributes(family, labels, value, 0) if family.kind != METER else _METER
                types = tuple((each, _java(attributes[each])) for each in attributes)
                bean = beans.get(types)
                if bean is None:
                    described = {each: {"rw": False, "type": java} for each, java in types}
                    bean = beans[types] = {"desc": family.help_text, "attr": described}
                tree.setdefault(family.domain, {})[name] = bean
        found: Any = tree
        for step in _split(path) if isinstance(path, str) else ():
            if not isinstance(found, dict) or step not in found:
                raise JolokiaError(404, "java.lang.IllegalArgumentException", f"nothing at {path}")
            found = found[step]
        return found


_METER: dict[str, Any] = {"Count": 0, "EventType": "", "RateUnit": "", "MeanRate": 0.0} | dict.fromkeys(
    _RATES, 0.0
)


def _java(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "long"
    return "double" if isinstance(value, float) else "java.lang.String"


def _split(path: str) -> list[str]:
    """Steps of a path; `!/` is a slash in one of them, `!!` an exclamation mark."""
    steps = [""]
    escaped = False
    for letter in path:
        if escaped:
            steps[-1] += letter
            escaped = False
        elif letter == "!":
            escaped = True
        elif letter == "/":
            steps.append("")
        else:
            steps[-1] += letter
    return [step for step in steps if step]


def of_path(path: str) -> dict[str, Any]:
    """The request that a path behind `/jolokia/` means (already unquoted)."""
    kind, *steps = _split(path) or ["version"]
    request: dict[str, Any] = {"type": kind}
    if kind == "list":
        if steps:
            request["path"] = "/".join(step.replace("!", "!!").replace("/", "!/") for step in steps)
    elif steps:
        request["mbean"] = steps[0]
        if len(steps) > 1:
            names = steps[1].split(",")
            request["attribute"] = names[0] if len(names) == 1 else names
        if len(steps) > 2:
            request["path"] = "/".join(steps[2:])
    return request
