"""What is left between kbroker as an older release and that release is what docs/versions.md says."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.wrong_requests.table import RELEASES, tables

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "versions.md"
#: The reason as the page gives it, first words -> the rows: table, API, beginnings of what is wrong.
LEFT = {
    "Kafka's internal errors": {
        ("data", "Fetch", "negative maxBytes"),
        ("data", "Fetch", "negative partitionMaxBytes"),
        ("topics", "Metadata", "neither id nor name"),
    },
    "A quota of nothing": {
        ("accounts", "AlterClientQuotas", "no positive value"),
        ("accounts", "AlterClientQuotas", "no positive value, validateOnly"),
    },
    "More than 10,000 partitions": {
        ("topics", "CreateTopics", "10,001 partitions, validateOnly"),
        ("topics", "CreatePartitions", "10,000 more, validateOnly"),
    },
    "Replicas on brokers": {
        ("topics", "CreateTopics", "assigned to an unknown broker"),
        ("topics", "CreateTopics", "assigned to a negative broker"),
        ("topics", "CreateTopics", "assigned to nobody"),
        ("topics", "CreateTopics", "assignment with as many replicas as there are no brokers"),
    },
    "OffsetCommit 0 before": {("before-coordinators", "OffsetCommit", "no coordinator yet")},
}


@cache
def left(release):
    return {
        (table.name, row.api, row.wrong) for table in tables() for row in table.rows if row.ours.get(release)
    }


def test_nothing_else_is_left():
    every = set().union(*LEFT.values())
    assert left("3.9") | left("2.8") == every


def test_the_page_counts_what_is_left():
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \|", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    told = {why: (int(first), int(second)) for why, first, second in rows}
    assert len(told) == len(LEFT)
    for beginning, these in LEFT.items():
        (numbers,) = (told[why] for why in told if why.startswith(beginning))
        assert numbers == (len(these & left("3.9")), len(these & left("2.8"))), beginning
    asked = [sum(release in table.releases for table in tables()) for release in RELEASES[1:]]
    assert asked == [8, 8]
