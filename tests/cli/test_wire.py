"""`kbroker wire` as a person uses it; the golden tests run everything through the same functions."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from kbroker.cli.wire import wire
from tests.protocol import golden_batches


def run(arguments, lines, code=0):
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    result = CliRunner().invoke(wire, arguments, input=text)
    assert result.exit_code == code, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_encode_and_decode():
    heartbeat = {"groupId": "gruppe-ü", "generationId": 3, "memberId": "m"}
    (line,) = run(["encode"], [{"name": "HeartbeatRequest", "version": 0, "json": heartbeat, "id": 7}, ""])
    assert line["hex"] == "0009677275 7070652dc3bc 00000003 00016d".replace(" ", "")
    assert line["id"] == 7
    (back,) = run(["decode"], [{"name": "HeartbeatRequest", "version": 0, "hex": line["hex"]}])
    assert back["json"] == heartbeat


def test_missing_fields_can_take_defaults():
    line = {"name": "FetchRequest", "version": 4, "json": {"topics": [{"topic": "t"}]}}
    (strict,) = run(["encode"], [line], code=1)
    assert strict["error"] == "FetchRequest.replicaId is missing"
    (filled,) = run(["encode", "--defaults"], [line])
    (back,) = run(["decode"], [{"name": "FetchRequest", "version": 4, "hex": filled["hex"]}])
    assert (back["json"]["replicaId"], back["json"]["maxBytes"]) == (-1, 2147483647)
    assert back["json"]["topics"] == [{"topic": "t", "partitions": []}]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("no json", "Expecting value"),
        ("[]", "must be a JSON object"),
        ({"version": 0}, "'name' is missing"),
        ({"name": "Nothing", "version": 0, "hex": ""}, "no message 'Nothing'"),
        ({"name": "HeartbeatRequest", "version": 9, "hex": ""}, "versions 0 to 4, not 9"),
        ({"name": "HeartbeatRequest", "version": 0, "hex": "0x"}, "non-hexadecimal"),
        ({"name": "HeartbeatRequest", "version": 0, "hex": "00"}, "malformed HeartbeatRequest v0"),
        ({"name": "ResponseHeader", "version": 0, "hex": "0000000000"}, "1 bytes follow the message"),
        ({"name": "ResponseHeader", "version": 0, "framed": "00"}, "has no frame"),
        ({"name": "TopicRecord", "version": 0, "framed": "010300"}, "is 010200, not 010300"),
    ],
)
def test_a_bad_line_is_reported_and_the_others_go_on(line, error):
    good = {"name": "ResponseHeader", "version": 0, "hex": "00000005"}
    first, second = run(["decode"], [line, good], code=1)
    assert error in first["error"]
    assert second["json"] == {"correlationId": 5}


def test_tags_need_a_message_that_has_them():
    line = {"name": "SaslHandshakeRequest", "version": 0, "json": {"mechanism": "PLAIN"}, "unknown_tags": []}
    (result,) = run(["encode"], [line], code=1)
    assert "no tagged fields" in result["error"]


def test_batches_decode_to_what_kafka_reads():
    for name in golden_batches.names(valid=True):
        line = golden_batches.lines()[name]
        (result,) = run(["decode", "--batch"], [{k: v for k, v in line.items() if k != "batches"}])
        assert result == line


def test_batches_encode_to_batches_of_the_same_meaning():
    for name in golden_batches.names(valid=True):
        batches = golden_batches.lines()[name]["batches"]
        (encoded,) = run(["encode", "--batch"], [{"batches": batches}])
        (decoded,) = run(["decode", "--batch"], [{"hex": encoded["hex"]}])
        assert [meaning(batch) for batch in decoded["batches"]] == [meaning(batch) for batch in batches]
        if all(batch["compression"] == "none" for batch in batches) and "cut" not in name:
            stamped = any(batch["timestamp_type"] == "LogAppendTime" for batch in batches)
            assert stamped or encoded["hex"] == golden_batches.lines()[name]["hex"]


def meaning(batch):
    """A batch without its packing. Under LogAppendTime the records' first timestamps are lost, too."""
    packing = {"size", "length", "crc"}
    if batch["timestamp_type"] == "LogAppendTime":
        packing.add("base_timestamp")
    return {key: value for key, value in batch.items() if key not in packing}


def test_damaged_batches_are_reported_with_their_error():
    line = golden_batches.lines()["v0-bad-crc"]
    (result,) = run(["decode", "--batch"], [{"hex": line["hex"]}], code=1)
    assert result["error"].startswith("CORRUPT_MESSAGE: Record is corrupt (stored crc")
    for bad in ({}, {"batches": [{}]}, {"batches": [5]}, {"batches": 5}):
        (result,) = run(["encode", "--batch"], [bad], code=1)
        assert "error" in result
