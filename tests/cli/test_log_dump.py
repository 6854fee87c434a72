"""`kbroker-admin logs dump`, mostly on a folder that Apache Kafka wrote (tests/data/disk)."""

import gzip
import json
import tarfile
from pathlib import Path

import pytest

from kbroker.cli.admin import main
from kbroker.cli.log_dump import DamagedFile, dump
from kbroker.protocol.compression import Codec
from kbroker.protocol.record_batch import Record, build_batch

DISK = Path(__file__).parents[1] / "data" / "disk"


@pytest.fixture(scope="module")
def kafka_data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kafka")
    with tarfile.open(DISK / "kafka-4.4.0-single.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "data"


@pytest.fixture(scope="module")
def kafka_said():
    with gzip.open(DISK / "kafka-4.4.0-single.expected.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)["client.json"]


def entries(path, **options):
    return [entry.data for entry in dump(path, **options)]


def test_batches_are_those_that_kafka_served(kafka_data, kafka_said):
    for partition, said in kafka_said.items():
        found = [
            [entry["base_offset"], entry["last_offset"], entry["crc"], entry["size"]]
            for log in sorted((kafka_data / partition).glob("*.log"))
            for entry in entries(log)
            if entry["last_offset"] >= said["earliest"]
        ]
        assert found == said["batches"], partition


def test_every_file_of_the_folder_can_be_shown(kafka_data, capsys):
    files = [str(path) for path in sorted(kafka_data.rglob("*")) if path.is_file()]
    assert main(["logs", "dump", "--records", "--json", *files]) == 0
    out, err = capsys.readouterr()
    lines = [json.loads(line) for line in out.splitlines()]
    kinds = {line["kind"] for line in lines}
    assert kinds == {
        "batch",
        "record",
        "index",
        "timeindex",
        "aborted",
        "producer",
        "checkpoint",
        "epoch",
        "partition",
        "property",
        "json",
    }
    assert not [line for line in lines if line.get("error") or line.get("valid") is False]
    assert err == ""


def test_records_of_the_brokers_own_topics_are_decoded(kafka_data):
    log = kafka_data / "__consumer_offsets-0" / "00000000000000000000.log"
    first = next(entry for entry in entries(log, records=True) if entry["kind"] == "record")
    assert first["key"] == {
        "type": "OffsetCommit",
        "data": {"group": "classic-group", "topic": "plain", "partition": 0},
    }
    assert first["value"]["version"] == 4
    assert first["value"]["data"]["offset"] == 89
    (log,) = (kafka_data / "__transaction_state-0").glob("*0.log")
    values = [entry["value"] for entry in entries(log, records=True) if entry["kind"] == "record"]
    assert all("producerId" in value["data"] for value in values)
    log = kafka_data / "txn-0" / "00000000000000000006.log"
    controls = [
        entry["control"] for entry in entries(log, records=True) if "control" in entry and "offset" in entry
    ]
    assert controls[0] == {"type": "commit", "coordinator_epoch": 0}


def test_lines_for_a_person(kafka_data, capsys):
    assert main(["logs", "dump", "--records", str(kafka_data / "txn-0")]) == 0
    out = capsys.readouterr().out
    assert "00000000000000000006.txnindex:\nproducer 3  offsets 7-10  stable 11\n" in out
    assert "transactional  control" in out
    assert "epoch 0  from offset 0" in out


@pytest.fixture
def log(tmp_path):
    folder = tmp_path / "orders-0"
    folder.mkdir()
    path = folder / "00000000000000000000.log"
    path.write_bytes(
        build_batch([Record(0, 1000, b"k\x1b[2J", "größe".encode(), [("h", None)])], codec=Codec.GZIP)
        + build_batch([Record(1, -1, None, b"\xff")], base_offset=1)
    )
    return path


def test_control_characters_do_not_reach_the_terminal(log, capsys):
    assert main(["logs", "dump", "--records", str(log)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "k\\x1b[2J = größe  h=None" in out
    assert "null = \\xff" in out


def test_an_empty_log_has_no_entries(tmp_path):
    path = tmp_path / "00000000000000000000.log"
    path.touch()
    assert entries(path) == []


def test_a_torn_tail_is_told_behind_what_is_whole(log, capsys):
    log.write_bytes(log.read_bytes()[:-3])
    assert main(["logs", "dump", str(log)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("offsets 0-0  1 record  at 0")
    assert err.count("\n") == 1
    assert "the last 66 bytes are no whole batch" in err


def test_damage_is_told_with_its_place(log, capsys):
    data = bytearray(log.read_bytes())
    data[-1] ^= 1  # the headers' count: checksum and record are wrong
    log.write_bytes(data)
    assert main(["logs", "dump", "--records", str(log)]) == 1
    out, err = capsys.readouterr()
    assert "WRONG CHECKSUM" in out
    assert err.count("\n") == 1
    log.write_bytes(bytes(100))
    with pytest.raises(DamagedFile, match=r"at byte 0: Record size 0 is less than"):
        entries(log)


def test_records_that_cannot_be_decoded_are_shown_raw(log):
    records = [
        entry for entry in entries(log, records=True, topic="__cluster_metadata") if "timestamp" in entry
    ]
    assert records[0]["value"] == "größe"
    assert "error" in records[0]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.index", b""),
        ("00000000000000000000.index", b"1234567"),
        ("00000000000000000000.timeindex", b"1234567"),
        ("00000000000000000000.txnindex", b"1234567"),
        ("00000000000000000000.snapshot", b"1234567"),
        ("leader-epoch-checkpoint", b"0\n1\nx y\n"),
        ("replication-offset-checkpoint", b"0\n2\na 0 1\n"),
        ("quorum-state", b"{"),
        ("meta.properties", b"\xff\xfe"),
        ("what-is-this", b""),
    ],
)
def test_damaged_and_unknown_files_are_one_line(tmp_path, capsys, name, content):
    (tmp_path / name).write_bytes(content)
    assert main(["logs", "dump", str(tmp_path / name)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert name in err


def test_a_missing_file_is_one_line(tmp_path, capsys):
    assert main(["logs", "dump", str(tmp_path / "none.log")]) == 1
    assert "No such file" in capsys.readouterr().err
