"""Every message and version against the bytes and the JSON of Kafka's own classes, both ways."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from kbroker.cli.wire import decode_line, encode_line
from kbroker.protocol.api_keys import FACTS, message_class, request_header_version, response_header_version
from kbroker.protocol.schemas.parser import load_all
from tests.protocol import golden_wire as golden


@pytest.mark.parametrize("kind", golden.KINDS)
def test_bytes_decode_to_kafkas_json(kind):
    for line in golden.lines(kind):
        given = {k: v for k, v in line.items() if k not in ("json", "framed", "unknown_tags")}
        assert decode_line(given) == line


@pytest.mark.parametrize("kind", golden.KINDS)
def test_kafkas_json_encodes_to_the_same_bytes(kind):
    for line in golden.lines(kind):
        given = {k: v for k, v in line.items() if k not in ("hex", "framed")}
        assert encode_line(given) == line


@pytest.mark.parametrize("kind", golden.KINDS)
def test_decoding_and_encoding_again_changes_nothing(kind):
    for line in golden.lines(kind):
        cls, data = message_class(line["name"]), bytes.fromhex(line["hex"])
        for buffer in (data, memoryview(b"\x00\x00" + data + b"\xff")[2:]):
            message, end = cls.decode_from(buffer, line["version"], 0)
            assert end == len(data)
            assert message.encode(line["version"]) == data
            assert message == cls.decode(data, line["version"])


def test_frames_of_the_log_are_read_and_written():
    framed = [line for line in golden.lines("records") if "framed" in line]
    assert len(framed) > 700
    for line in framed:
        assert decode_line({k: line[k] for k in ("name", "version", "framed")})["hex"] == line["hex"]


def test_the_golden_files_cover_every_message_and_version():
    covered = {(line["name"], line["version"]) for line in golden.all_lines()}
    ours = {
        (name, version)
        for name, schema in load_all().items()
        if not name.startswith("Kbroker")
        for version in range(schema.versions.first, schema.versions.last + 1)
    }
    assert ours == covered


def test_keys_are_kafkas():
    for line in golden.lines("requests") + golden.lines("responses"):
        key = message_class(line["name"]).API_KEY
        assert key == line["key"]


def test_header_versions_are_kafkas():
    rows = golden.header_versions()
    for row in rows:
        key, version = int(row["api_key"]), int(row["version"])
        assert FACTS[key].name == row["name"]
        assert request_header_version(key, version) == int(row["request_header"])
        assert response_header_version(key, version) == int(row["response_header"])
    kafkas = [facts for facts in FACTS.values() if not facts.name.startswith("Kbroker")]
    assert len(rows) == sum(facts.max_version - facts.min_version + 1 for facts in kafkas)


@pytest.mark.parametrize("command", ["decode", "encode"])
def test_the_command_converts_the_whole_set(command, tmp_path):
    lines = golden.all_lines()
    dropped = ("json", "framed", "unknown_tags") if command == "decode" else ("hex", "framed")
    file = tmp_path / "messages.jsonl"
    inputs = [{k: v for k, v in line.items() if k not in dropped} for line in lines]
    file.write_text("".join(json.dumps(line) + "\n" for line in inputs))
    script = "from kbroker.cli.wire import wire; wire()"
    run = subprocess.run(
        [sys.executable, "-c", script, command, str(file)], capture_output=True, text=True, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    assert [json.loads(line) for line in run.stdout.splitlines()] == lines
