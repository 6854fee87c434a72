"""kbroker and Apache Kafka side by side: `python -m tools.bench`, or `make bench ARGS=--quick`.

Each broker in turn gets one core, the load another. Linux only (/proc, epoll); Kafka needs Java 17 and, once,
Maven. Takes about three minutes, with --quick two. Compare the numbers of one run with each other.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from tools.bench.brokers import LOAD_CORE, BrokerProcess, Kafka, Kbroker, use_core
from tools.bench.lines import Measured, Options, Results, measure

_CACHE = Path.home() / ".cache" / "kbroker-tests"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="shorter loads, rougher numbers")
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT", help="lines whose name contains it"
    )
    parser.add_argument("--without-kafka", action="store_true", help="kbroker alone")
    parser.add_argument("--without-kbroker", action="store_true", help="Apache Kafka alone")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file as well")
    arguments = parser.parse_args()
    options = Options(quick=arguments.quick, only=arguments.only)
    cache = Path(os.environ.get("KBROKER_TEST_CACHE") or _CACHE)
    brokers: list[BrokerProcess] = []
    if not arguments.without_kbroker:
        brokers.append(Kbroker())
    if not arguments.without_kafka:
        brokers.append(Kafka(cache))
    use_core(LOAD_CORE)
    results: dict[str, Results] = {}
    for broker in brokers:
        try:
            results[broker.label] = measure(
                broker, options, lambda text: print(text, file=sys.stderr, flush=True)
            )
        finally:
            broker.remove()
    print(table(results))
    if arguments.json:
        figures = {label: {name: asdict(m) for name, m in lines.items()} for label, lines in results.items()}
        Path(arguments.json).write_text(json.dumps(figures, indent=1) + "\n")
    return 0


def table(results: dict[str, Results]) -> str:
    """Rows of value and CPU for each broker; with two of them, how many times better the first is."""
    labels = list(results)
    names = list(dict.fromkeys(name for lines in results.values() for name in lines))
    head = ["", *labels, *(["times better"] if len(labels) > 1 else [])]
    head += [f"CPU, {label}" for label in labels] + (["times less"] if len(labels) > 1 else [])
    rows = [head]
    for name in names:
        measured = [results[label].get(name) for label in labels]
        rows.append(
            [
                name,
                *(_shown(m.value, m.unit) if m else "" for m in measured),
                *_ratio(measured, cpu=False),
                *(_shown(m.cpu, m.cpu_unit) if m and m.cpu is not None else "" for m in measured),
                *_ratio(measured, cpu=True),
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))]
        ).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _shown(value: float, unit: str) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f} {unit}"


def _ratio(measured: list[Measured | None], *, cpu: bool) -> list[str]:
    if len(measured) < 2:
        return []
    ours, theirs = measured[0], measured[1]
    if ours is None or theirs is None:
        return [""]
    if cpu:
        pair = (theirs.cpu, ours.cpu)
    else:
        pair = (theirs.value, ours.value) if ours.less_is_better else (ours.value, theirs.value)
    if pair[0] is None or not pair[1]:
        return [""]
    return [f"{pair[0] / pair[1]:.1f}"]


if __name__ == "__main__":
    sys.exit(main())
