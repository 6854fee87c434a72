"""What makes a scrape of very many partitions cheap: text that is kept, and counts made in steps."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from kbroker.broker.metric_partitions import _Hosted
from kbroker.broker.partition_counts import _STEP, PartitionCounts
from kbroker.metrics import column_text
from kbroker.metrics.column_text import ColumnTexts
from kbroker.metrics.jolokia import Jolokia
from kbroker.metrics.prometheus import pieces
from kbroker.metrics.registry import COLUMN_PART, GAUGE, Column, Registry
from kbroker.server.metrics_server import _encoded, _finite
from tests.metrics.scrape import parse

_ROWS = COLUMN_PART * 2 + 7


class World:
    """A registry with one column."""

    def __init__(self):
        self.registry = Registry()
        self.labels = [("t", str(index)) for index in range(_ROWS)]
        self.values = list(range(_ROWS))
        family = self.registry.rows("kafka.log", "Log", "Size", GAUGE, ("topic", "partition"), lambda: ())
        family.column = lambda: Column(self.labels, lambda start, stop: self.values[start:stop])
        self.texts = ColumnTexts()

    def scrape(self):
        found = [piece for piece in pieces(self.registry, self.texts) if piece]
        parsed = parse(b"".join(found).decode())
        sizes = {int(dict(labels)["partition"]): value for (_, labels), value in parsed.items()}
        assert sizes == dict(enumerate(self.values))
        return found


@pytest.fixture
def world():
    return World()


def test_what_did_not_change_is_not_written_again(world):
    before = world.scrape()
    world.values[COLUMN_PART + 3] += 1
    after = world.scrape()
    assert after[2] is before[2]
    assert after[1] is not before[1]
    assert world.scrape()[1] is after[1]
    assert world.texts.kept_bytes == sum(map(len, world.texts._columns["kafka_log_log_size"].parts.values()))


def test_other_partitions_have_other_labels(world):
    world.scrape()
    world.labels, world.values = world.labels[:-9], world.values[:-9]
    world.scrape()
    assert len(world.texts._labels) == 1
    world.labels = [("other", index) for _, index in world.labels]
    assert b'topic="other"' in world.scrape()[1]
    assert len(world.texts._labels) == 1
    world.texts.clear()
    assert world.texts.kept_bytes == 0
    world.scrape()


def test_what_is_kept_is_bounded(world, monkeypatch):
    monkeypatch.setattr(column_text, "KEPT_BYTES_MAX", 30_000)
    for _ in range(3):
        world.scrape()
        world.values = [each + 1 for each in world.values]
        assert 0 < world.texts.kept_bytes <= 30_000


def test_the_list_of_labels_stays_while_partitions_do():
    registry, partitions = Registry(), {}
    partitions["t", 0] = SimpleNamespace(log=object())
    partitions["t", 1] = SimpleNamespace(log=None)
    hosted = _Hosted(SimpleNamespace(replicas=SimpleNamespace(partitions=partitions)), registry)
    registry.families()
    labels, online = hosted.look().labels, hosted.online
    assert (labels, online) == ([("t", "0"), ("t", "1")], [("t", "0")])
    registry.families()
    assert hosted.look().labels is labels
    assert hosted.online is online
    partitions["t", 1].log = object()
    registry.families()
    assert hosted.look().labels is labels
    assert hosted.online == labels
    assert len(hosted.logs) == 2


def test_counts_are_made_in_steps_for_a_scrape():
    registry = Registry()
    partitions = {("t", index): SimpleNamespace(waiting=1) for index in range(_STEP * 3)}
    counts = PartitionCounts(partitions, registry)
    asked = []

    def waiting(partition):
        asked.append(partition)
        return partition.waiting

    ask = counts.add(waiting)
    assert ask() == _STEP * 3
    asked.clear()
    registry.families()
    steps = registry.prepare()
    next(steps)
    assert len(asked) == _STEP
    del partitions["t", 0]
    assert sum(1 for _ in steps) == 2
    assert (ask(), len(asked)) == (_STEP * 3, _STEP * 3)
    registry.families()
    assert ask() == _STEP * 3 - 1


def test_jolokia_looks_at_some_rows_at_a_time(world):
    family = world.registry._families["kafka.log", "Log", "Size", ("topic", "partition")]
    family._rows = lambda: family.column().rows()
    jolokia = Jolokia(world.registry, "1")
    for request in (
        {"type": "read", "mbean": "kafka.log:*"},
        {"type": "read", "mbean": "kafka.log:type=Log,name=Size,topic=t,partition=1003"},
        {"type": "search", "mbean": "*:*"},
        {"type": "list"},
    ):
        found = []

        def whole(request=request, found=found):
            found.append((yield from jolokia.steps(request, 0)))

        assert sum(1 for _ in whole()) == 1 + _ROWS // 200
        assert [answer["status"] for answer in found] == [200]


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        [
            {"value": {"a:b=c": {"Value": 1.5, "x": None}, "": {}}, "status": 200},
            {"value": [], 'é"': [1, {}]},
        ],
        {"value": {f"bean-{number}": {"Value": number} for number in range(5_000)}},
        {"nan": float("inf"), "deep": {"a": {"b": {"c": {"d": {"e": float("nan")}}}}}},
    ],
)
def test_json_in_pieces_is_json(value):
    pieces = list(_encoded(value))
    assert json.loads("".join(pieces)) == _finite(value)
    assert all(len(piece) < 20_000 for piece in pieces)
