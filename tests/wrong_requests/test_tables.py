"""Wrong requests are refused as Apache Kafka refuses them, by default and as the older releases do."""

from __future__ import annotations

import pytest

from tests.wrong_requests.asking import asked
from tests.wrong_requests.brokers import fresh_broker
from tests.wrong_requests.pages import FOLDER, pages
from tests.wrong_requests.table import RELEASES, by_settings, joined, tables

CASES = [
    pytest.param(release, group, id=f"{release} {group[0].name}")
    for release in RELEASES
    for group in by_settings(table for table in tables() if release in table.releases)
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("release", "group"), CASES)
def test_refused_as_by_kafka(release, group):
    differing = []
    with fresh_broker(group[0], release) as node:
        for table in group:
            found = {id(row): {} for row in table.rows}
            for row, version, refused, _ in asked(table, node, release):
                found[id(row)][version] = refused
            for row in table.rows:
                expected, told = row.expected(release), found[id(row)]
                if told != expected:
                    differing.append((table.name, row.api, row.wrong, joined(expected), joined(told)))
    assert not differing


def test_the_pages_are_those_of_the_tables():
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert written == pages(), "python -m tools.wrong_requests --pages"
