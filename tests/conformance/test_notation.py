"""The runner itself: paths, variables, comparisons, record sets. That Kafka passes it was checked by hand."""

from __future__ import annotations

import pytest

from tests.conformance.comparison import compare
from tests.conformance.conversation import Outcome
from tests.conformance.expectations import surprises
from tests.conformance.normal import Normaliser
from tests.conformance.paths import get, parts, shaped
from tests.conformance.record_sets import record_set, shown_record_set
from tests.conformance.transcript import FOLDER, load
from tests.conformance.variables import Unbound, Variables

ANSWER = {
    "topics": [{"name": "b", "partitions": [{"index": 1}, {"index": 0}]}, {"name": "a.x", "partitions": []}]
}


def same(value, _leaf):
    return value


def test_paths():
    assert parts("topics.name='a.x'.partitions.0") == ["topics", "name=a.x", "partitions", "0"]
    assert get(ANSWER, "topics.0.partitions.1.index") == 0
    assert get(ANSWER, "topics.name='a.x'.name") == "a.x"
    assert get(ANSWER, "topics.*.name") is None
    assert get(ANSWER, "topics.7.name") is None


@pytest.mark.parametrize(
    ("step", "result"),
    [
        ({"only": ["topics.*.name"]}, {"topics": [{"name": "b"}, {"name": "a.x"}]}),
        ({"only": ["topics.1.name"]}, {"topics": [None, {"name": "a.x"}]}),
        (
            {"only": ["topics.name=b.partitions.1.index"]},
            {"topics": [{"name": "b", "partitions": [None, {"index": 0}]}]},
        ),
        ({"keep": {"topics.name": "a"}}, {"topics": [{"name": "a.x", "partitions": []}]}),
        ({"ignore": ["topics.*.partitions", "topics.0"]}, {"topics": [{"name": "a.x"}]}),
        (
            {"sort": ["topics", "topics.*.partitions"]},
            {
                "topics": [
                    {"name": "a.x", "partitions": []},
                    {"name": "b", "partitions": [{"index": 0}, {"index": 1}]},
                ]
            },
        ),
    ],
)
def test_shaping(step, result):
    assert shaped(ANSWER, step, same) == result


def test_variables():
    variables = Variables({"port": 9092, "cluster": None})
    variables.bind("id", "0123456789", "topicId")
    variables.bind("pid", 7, "producerId")
    request = {"a": "$id", "b": ["$pid+1", "x-${id}", "$$id", "$port"]}
    assert variables.resolve(request, request=True) == {
        "a": "0123456789",
        "b": [8, "x-0123456789", "$id", 9092],
    }
    assert variables.resolve(["$uuid", "$none"], request=False) == ["$uuid", "$none"]
    with pytest.raises(Unbound):
        variables.resolve("$none", request=True)
    shown = variables.show({"producerId": 7, "other": 7, "text": "x 0123456789"}, "")
    assert shown == {"producerId": "$pid", "other": 7, "text": "x ${id}"}


def test_differences():
    assert compare({"a": 1, "b": [True]}, {"a": 1, "b": [True]}) == []
    assert [d.path for d in compare({"a": 1, "b": [0]}, {"a": "1", "b": [False], "c": None})] == [
        "a",
        "b.0",
        "c",
    ]
    named = compare([{"name": "a"}, {"name": "b"}], [{"name": "b"}])
    assert [(d.path, d.found) for d in named] == [("[a]", "nothing")]
    assert compare("$uuid", "AAAAAAAAAAAAAAAAAAAAZA") == []


def test_normalising():
    normal = Normaliser(Variables({}), "0123456789abcdefghijkl")
    answer = {
        "throttleTimeMs": 5,
        "brokers": [{"nodeId": 1, "host": "h", "port": 5, "rack": None}],
        "clusterId": "0123456789abcdefghijkl",
        "topics": [{"name": "t", "topicId": "AAAAAAAAAAAAAAAAAAAAAQ"}, {"topicId": "AAAAAAAAAAAAAAAAAAAAZA"}],
    }
    assert normal.answer("Metadata", answer) == {
        "brokers": [{"nodeId": 1, "host": "$host", "port": "$port", "rack": None}],
        "clusterId": "$cluster",
        "topics": [{"name": "t", "topicId": "AAAAAAAAAAAAAAAAAAAAAQ"}, {"topicId": "$uuid"}],
    }
    assert normal.answer("Metadata", "closed") == "closed"


def test_record_sets_are_read_as_they_were_written():
    records = [{"k": "a", "v": None, "ts": 5}, {"k": None, "v": {"hex": "ff"}, "ts": 6, "h": [["n", "x"]]}]
    batch = {"codec": "gzip", "pid": 3, "epoch": 1, "seq": 9, "base": 4, "records": records}
    (shown,) = shown_record_set(record_set({"batches": [batch]}))["batches"]
    assert shown["records"] == [
        {"o": 4, "ts": 5, "k": "a", "v": None},
        {"o": 5, "ts": 6, "k": None, "v": {"hex": "ff"}, "h": [["n", "x"]]},
    ]
    assert {name: shown[name] for name in ("codec", "pid", "epoch", "seq", "base", "last_delta")} == {
        "codec": "gzip", "pid": 3, "epoch": 1, "seq": 9, "base": 4, "last_delta": 1
    }  # fmt: skip
    old = {"magic": 1, "base": 2, "codec": "lz4", "records": [{"v": "x"}, {"v": "y"}]}
    (shown,) = shown_record_set(record_set({"batches": [old]}))["batches"]
    assert (shown["magic"], shown["base"], shown["last_delta"], shown["codec"]) == (1, 2, 1, "lz4")


@pytest.mark.parametrize(
    ("damage", "shown"),
    [
        ("crc", "Record is corrupt"),
        ("count:2", "premature EOF"),
        ("attributes:0x10,crc", "Record is corrupt"),
    ],
)
def test_damage(damage, shown):
    data = record_set({"batches": [{"records": [{"v": "x"}], "damage": damage}]})
    assert shown in str(shown_record_set(data))
    whole = record_set({"batches": [{"records": [{"v": "x"}]}]})
    assert len(record_set({"batches": [{"records": [{"v": "x"}], "damage": "cut:3"}]})) == len(whole) - 3


def test_what_is_listed_must_differ_and_nothing_else():
    outcomes = [Outcome(1, "a", []), Outcome(2, "b", ["x"]), Outcome(3, "c", ["y"]), Outcome(4, "d", [])]
    told = surprises("t", outcomes, {3, 4, 9})
    assert [text.split(": ")[0] for text in told] == ["t:2", "t:4", "t:9"]


def test_every_transcript_can_be_read():
    for path in FOLDER.rglob("*.jsonl"):
        assert load(path).steps
