"""The registry as Prometheus text, in the names that jmx_exporter's usual rules for Kafka make of JMX names.

So that dashboards and alerts made for Apache Kafka work as they are (docs/metrics.md has the rules). Written
piece by piece, a few hundred lines each, so that a large scrape can be done beside other work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from kbroker.metrics.column_text import ColumnTexts
from kbroker.metrics.histogram import QUANTILES
from kbroker.metrics.registry import (
    ATTRIBUTES,
    COUNTER,
    GAUGE,
    METER,
    Family,
    Labels,
    Registry,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Rows that are written in one piece.
ROWS_PER_PIECE = 256

_PER_SEC = re.compile(r"PerSec\w*$")
_PERCENT = re.compile(r"Percent\w*$")
_NO_NAME = re.compile(r"[^a-z0-9_]+")
_QUOTA_KEYS = {"user", "client-id"}


class Sample(NamedTuple):
    """One number of a row."""

    name: str
    #: `counter` or `gauge`.
    kind: str
    #: More labels, as `key="value",`.
    extra: str
    value: float


class _Texts:
    """Labels of one scrape as text, by keys and labels; columns of this and earlier ones."""

    def __init__(self, columns: ColumnTexts) -> None:
        self.rows: dict[tuple[str, ...], dict[Labels, str]] = {}
        self.columns = columns


def metric_name(*parts: str) -> str:
    """As `lowercaseOutputName` and the exporter's escaping make it."""
    return _NO_NAME.sub("_", "_".join(part for part in parts if part).lower())


def escape(text: str) -> str:
    """For between the quotes of a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def label_keys(family: Family) -> tuple[str, ...]:
    """What its keys are called."""
    if family.type_name == "FetcherStats":
        return ("clientId", "broker", "")
    return tuple("clientId" if key == "client-id" else key for key in family.keys)


def label_text(family: Family, keys: tuple[str, ...], labels: Labels) -> str:
    """The labels of a row as `key="value",`."""
    if family.type_name == "FetcherStats":
        client, host, port = labels
        labels = (client, f"{host}:{port}", "")
    return "".join(f'{key.replace("-", "_")}="{escape(value)}",' for key, value in zip(keys, labels) if value)


def is_quota(family: Family) -> bool:
    """Whether it tells of one user's or client's quota: these have a name in common."""
    return family.kind == ATTRIBUTES and bool(_QUOTA_KEYS.intersection(family.keys))


def names_of(family: Family) -> list[tuple[str, str]]:
    """(name, kind) of what a family that is no ATTRIBUTES gives."""
    base = (family.domain, family.type_name)
    if family.kind == METER:
        if _PER_SEC.search(family.name):
            return [(metric_name(*base, _PER_SEC.sub("", family.name)) + "_total", "counter")]
        return [(metric_name(*base, family.name) + "_count", "counter")]
    name = metric_name(*base, family.name)
    if family.kind == GAUGE:
        return [(name, "gauge")]
    if family.kind == COUNTER:
        return [(name if name.endswith("_total") else f"{name}_total", "counter")]
    return [(name, "gauge"), (f"{name}_count", "counter")]


def attribute_sample(family: Family, attribute: str, value: Any) -> Sample | None:
    """What an attribute of Kafka's own metrics becomes; None: it is text."""
    base = [family.domain, "quota"] if is_quota(family) else [family.domain, family.type_name]
    extra = f'resource="{escape(family.type_name)}",' if is_quota(family) else ""
    if isinstance(value, list):
        return None
    if isinstance(value, str):
        if attribute != "current-state":
            return None
        return Sample(metric_name(*base, attribute) + "_info", "gauge", f'state="{escape(value)}",', 1)
    name = metric_name(*base, attribute)
    return Sample(name, "counter" if attribute.endswith("-total") else "gauge", extra, value)


def number(value: Any) -> str:
    """As Prometheus reads it."""
    if type(value) is int:
        return str(value)
    if isinstance(value, bool):
        return "1" if value else "0"
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value))


def pieces(registry: Registry, columns: ColumnTexts | None = None) -> Iterator[bytes]:
    """The whole text, piece by piece; what changes between two pieces may or may not be in it.

    Args:
        columns: what the scrapes before this one have kept, and this one keeps.
    """
    groups: dict[str, list[Family]] = {}
    attributes: list[Family] = []
    for family in registry.families():
        if family.kind == ATTRIBUTES:
            attributes.append(family)
        else:
            groups.setdefault(names_of(family)[0][0], []).append(family)
    for _ in registry.prepare():
        yield b""
    texts = _Texts(columns or ColumnTexts())
    for families in groups.values():
        yield from _group(families, texts)
    yield _attributes(attributes).encode()


def _group(families: list[Family], texts: _Texts) -> Iterator[bytes]:
    """Families of one name: those of one metric have to be beside each other."""
    first = families[0]
    if first.kind in (COUNTER, GAUGE, METER):
        ((name, kind),) = names_of(first)
        names = [name]
        if first.kind == GAUGE and _PERCENT.search(first.name):
            # The generic rule for gauges comes first; but dashboards ask for the name of the other one.
            names.append(metric_name(first.domain, first.type_name, _PERCENT.sub("", first.name), "percent"))
        for each in names:
            head = _head(each, kind, first).encode()
            for family in families:
                for piece in _plain(each, family, texts):
                    yield head + piece if head else piece
                    head = b""
        return
    (name, _), (count_name, _) = names_of(first)
    quantiles, counts = [], []
    for family in families:
        keys = label_keys(family)
        for labels, histogram in family.rows():
            text = label_text(family, keys, labels)
            summary = histogram.summary()
            quantiles += [
                f'{name}{{{text}quantile="{_quantile(attribute)}"}} {number(summary[attribute])}\n'
                for _, attribute in QUANTILES
            ]
            counts.append(f"{_named(count_name, text)} {histogram.count}\n")
    if counts:
        yield (_head(name, "gauge", first) + "".join(quantiles)).encode()
        yield (_head(count_name, "counter", first) + "".join(counts)).encode()


def _plain(name: str, family: Family, texts: _Texts) -> Iterator[bytes]:
    keys = label_keys(family)
    if family.column is not None:
        yield from texts.columns.pieces(
            name, family.column(), lambda labels: label_text(family, keys, labels)
        )
        return
    known = texts.rows.setdefault(keys, {})
    rows = iter(family.rows())
    while found := list(islice(rows, ROWS_PER_PIECE)):
        lines = []
        for labels, value in found:
            text = known.get(labels)
            if text is None:
                inner = label_text(family, keys, labels)
                text = known[labels] = f"{{{inner}}} " if inner else " "
            if type(value) is int:
                lines.append(f"{name}{text}{value}\n")
            elif not isinstance(value, str):
                lines.append(f"{name}{text}{number(value)}\n")
        if lines:
            yield "".join(lines).encode()


def _attributes(families: list[Family]) -> str:
    """Kafka's own metrics are few; several families may share a name."""
    found: dict[str, tuple[str, list[str]]] = {}
    for family in families:
        keys = label_keys(family)
        for labels, values in family.rows():
            text = label_text(family, keys, labels)
            for attribute, value in values.items():
                sample = attribute_sample(family, attribute, value)
                if sample is not None:
                    lines = found.setdefault(sample.name, (sample.kind, []))[1]
                    lines.append(f"{_named(sample.name, sample.extra + text)} {number(sample.value)}\n")
    return "".join(f"# TYPE {name} {kind}\n{''.join(lines)}" for name, (kind, lines) in sorted(found.items()))


def _named(name: str, text: str) -> str:
    return f"{name}{{{text}}}" if text else name


def _quantile(attribute: str) -> str:
    return "0." + attribute.removesuffix("thPercentile")


def _head(name: str, kind: str, family: Family) -> str:
    help_text = family.help_text or f"{family.domain} {family.type_name} {family.name}".strip()
    return f"# HELP {name} {help_text}\n# TYPE {name} {kind}\n"
