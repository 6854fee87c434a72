"""Ask Apache Kafka the wrong requests of tests/data/wrong_requests and write down what it answers.

    python -m tools.wrong_requests [--table NAME...]            of Apache Kafka 4.4, started fresh
    python -m tools.wrong_requests --release 3.9 --bootstrap HOST:PORT      of that release, which runs there
    python -m tools.wrong_requests --beside     kbroker, too: where whole answers differ
    python -m tools.wrong_requests --ours       of kbroker: where it differs, as a `why` of the row tells or,
                                                of older releases, as is left
    python -m tools.wrong_requests --pages      write docs/wrong-requests only

Of a release other than the newest only what it answers otherwise is kept. A broker is fresh for all tables
with the same settings; one given must have those of tests/conformance/transcript.py and the tables.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from pathlib import Path

from tests.conformance.comparison import compare
from tests.wrong_requests.asking import Addresses, asked
from tests.wrong_requests.brokers import fresh_broker
from tests.wrong_requests.pages import write_pages
from tests.wrong_requests.table import RELEASES, Refusals, Table, by_settings, tables
from tools.differential.brokers import running_kafka

_CACHE = Path(os.environ.get("KBROKER_TEST_CACHE", Path.home() / ".cache" / "kbroker-tests"))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tools.wrong_requests", description=__doc__)
    parser.add_argument("--table", nargs="+", metavar="NAME")
    parser.add_argument("--release", default=RELEASES[0], choices=RELEASES)
    parser.add_argument("--bootstrap", metavar="HOST:PORT")
    parser.add_argument("--port", type=int, default=40310, help="for Kafka; the next one is its controller's")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--pages", action="store_true")
    arguments = parser.parse_args()
    chosen = [
        table
        for table in tables()
        if arguments.release in table.releases and (not arguments.table or table.name in arguments.table)
    ]
    if not arguments.ours:
        chosen = [table for table in chosen if not table.loading]  # their answers came by a special road
    for group in by_settings(chosen) if not arguments.pages else ():
        with contextlib.ExitStack() as stack:
            props = group[0].props
            if arguments.ours:
                node = stack.enter_context(fresh_broker(group[0], arguments.release))
                for table in group:
                    _record_ours(table, node, arguments.release)
                continue
            bootstrap = arguments.bootstrap or stack.enter_context(
                running_kafka(_CACHE, arguments.port, props)
            )
            host, _, port = bootstrap.rpartition(":")
            kafka = Addresses(bootstrap, f"{host}:{int(port) + 1}")
            ours = None
            if arguments.beside:
                ours = stack.enter_context(fresh_broker(group[0], arguments.release))
            for table in group:
                _record(table, kafka, arguments.release, ours)
    write_pages()


def _record(table: Table, kafka: Addresses, release: str, ours: Addresses | None) -> None:
    """Keep what Kafka answers; with `ours` tell where kbroker's whole answers are others."""
    told: dict[int, dict[int, Refusals]] = {id(row): {} for row in table.rows}
    beside = asked(table, ours, release) if ours is not None else None
    for row, version, refused, answer in asked(table, kafka, release):
        told[id(row)][version] = refused
        if beside is not None:
            _, _, _, other = next(beside)
            for path, theirs, mine in compare(answer, other)[:4]:
                print(f"{table.name}: {row.api} v{version}: {row.wrong}: {path}: Kafka {theirs}, here {mine}")
    for row in table.rows:
        kept = told[id(row)]
        if release != RELEASES[0]:
            newest = row.answers.get(RELEASES[0], {})
            kept = {version: refused for version, refused in kept.items() if newest.get(version) != refused}
        row.answers[release] = kept
    table.write()
    print(f"{table.name}: {len(table.rows)} rows, {sum(map(len, told.values()))} requests", flush=True)


def _record_ours(table: Table, node: Addresses, release: str) -> None:
    """What kbroker answers otherwise; of the newest release only in rows that say why."""
    for row in table.rows:
        row.ours[release] = {}
    for row, version, refused, _ in asked(table, node, release):
        if row.expected(release, of_kafka=True).get(version) == refused:
            continue
        if row.why or release != RELEASES[0]:
            row.ours[release][version] = refused
        else:
            print(f"{table.name}: {row.api} v{version}: {row.wrong}: here {refused}")
    table.write()


if __name__ == "__main__":
    main()
