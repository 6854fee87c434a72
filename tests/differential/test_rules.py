"""docs/differences.md and the rules of the differential tester name the same differences."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

from kbroker.protocol.generated.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from tests.conformance.comparison import compare
from tests.conformance.mutation import mutated
from tools.differential.history import history, versions
from tools.differential.known import RULES, reason
from tools.differential.recompression import Recompressed
from tools.differential.session import Exchange

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "differences.md"


def test_every_rule_is_explained():
    named = re.findall(r"^\| `([^`]+)`", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(RULES)


def test_a_deleted_record_with_the_largest_timestamp():
    def answer(offset):
        parts = [{"partitionIndex": 2, "errorCode": 0, "timestamp": 9, "offset": offset, "leaderEpoch": 0}]
        return {"topics": [{"name": "t", "partitions": parts}]}

    def known(timestamp):
        topic = {"name": "t", "partitions": [{"partitionIndex": 2, "timestamp": timestamp}]}
        step = {"send": "ListOffsets", "v": 9, "req": {"topics": [topic]}}
        return reason(Exchange(step, answer(0), answer(-1), compare(answer(0), answer(-1))))

    assert [known(-3), known(-1)] == ["largest-timestamp-deleted", None]


def test_an_empty_name_of_which_kafka_makes_an_internal_error_of_all_topics():
    def answer(*topics):
        return {"topics": [{"name": name, "errorCode": code} for name, code in topics]}

    def known(*theirs):
        theirs, ours = answer(*theirs), answer(("", 17), ("t", 0))
        return reason(Exchange({"send": "DescribeTopicPartitions"}, theirs, ours, compare(theirs, ours)))

    assert known(("t", -1), ("u", -1), ("", -1)) == "kafka-internal-error"
    assert known(("t", 0), ("u", -1), ("", -1)) is None


def test_sizes_of_what_the_broker_has_compressed():
    def answer(*sizes):
        parts = [{"partitionIndex": index, "partitionSize": size} for index, size in enumerate(sizes)]
        inner = [{"partitionIndex": 0, "partitionSize": 9 * sizes[0]}]
        topics = [{"name": "__consumer_offsets", "partitions": inner}, {"name": "t", "partitions": parts}]
        return {"results": [{"topics": topics}]}

    def known(*pairs, codec="snappy"):
        theirs, ours = (answer(*sizes) for sizes in zip(*pairs))
        recompressed = Recompressed()
        config = CreatableTopicConfig(name="compression.type", value=codec)
        topic = CreatableTopic(name="t", num_partitions=2, replication_factor=1, configs=[config])
        recompressed.note("CreateTopics", 7, CreateTopicsRequest(topics=[topic]).encode(7))
        step = {"send": "DescribeLogDirs"}
        return reason(Exchange(step, theirs, ours, compare(theirs, ours), recompressed=recompressed))

    assert known((287, 281), (91, 88)) == "recompressed-size"
    assert known((287, 281), (150, 0)) is None
    assert known((287, 260)) is None
    assert known((287, 281), (91, 88), codec="gzip") is None


def first_steps(seed, count=60):
    """A history needs answers; without any it goes on with what it knows."""
    generator = history(seed, count)
    return [generator.send(None if index == 0 else "closed") for index in range(count)]


def test_a_seed_is_a_history():
    assert first_steps(7) == first_steps(7)
    assert first_steps(7) != first_steps(8)


def test_where_logs_are_no_longer_alike_all_begins_anew():
    asked = iter((False, True, *(False,) * 60))
    generator = history(7, 20, ["Produce"], lambda: next(asked))
    steps = [generator.send(None)]
    with suppress(StopIteration):
        while True:
            steps.append(generator.send("closed"))
    episodes = [found[0] for step in steps if (found := re.findall(r"s007e(\d{3})", json.dumps(step)))]
    assert sorted(set(episodes)) == ["000", "001"]
    assert episodes == sorted(episodes)


def test_only_versions_that_both_serve():
    assert versions()["Fetch"] == (4, 18)
    assert versions()["Metadata"] == (0, 13)


def test_damage():
    body = bytes(range(10))
    assert mutated(body, [{"cut": 13}]) == body[:3]
    assert mutated(body, [{"flip": 255, "at": 1}]) == b"\0\xfe" + body[2:]
    assert mutated(body, [{"put": "7fffffff", "at": 8}]) == body[:8] + b"\x7f\xff"
    assert mutated(body, [{"insert": "0101", "at": 0}, {"remove": 1, "at": 2}]) == b"\1\1" + body[1:]
    assert mutated(b"", [{"flip": 1, "at": 5}]) == b""
