"""`kbroker-admin logs verify` on folders that Apache Kafka wrote, whole and damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kbroker.cli.admin import main
from kbroker.server.os_disk import OsDisk
from tests.cli.kafka_folder import SINGLE, segment
from tests.compat.data_folders import unpack


def run(capsys, *args: object) -> tuple[int, dict]:
    code = main(["logs", "verify", "--json", *map(str, args)])
    return code, json.loads(capsys.readouterr().out)


def bad(capsys, data: Path, *args: object) -> list[tuple[str, str, str, int | None]]:
    """(level, path in the folder, text, position) of what is more than a note; the exit code fits it."""
    code, found = run(capsys, data, *args)
    findings = [f for f in found["findings"] if f["level"] != "note"]
    assert code == bool(findings)
    return [(f["level"], str(Path(f["path"]).relative_to(data)), f["text"], f["position"]) for f in findings]


@pytest.mark.parametrize(
    ("name", "below"),
    [
        (SINGLE, "data"),
        ("kafka-4.4.0-cluster", "data"),
        ("kafka-3.9.2-kraft", "data"),
        ("kafka-3.9.2-zookeeper", "data/d1"),
        ("kafka-3.9.2-zookeeper", "data/d2"),
        ("kafka-4.4.0-crashed", "data"),
    ],
)
def test_what_kafka_left_is_good(name, below, tmp_path, capsys) -> None:
    unpack(name, tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert bad(capsys, tmp_path / below) == []
    assert sorted(tmp_path.rglob("*")) == before


def test_what_a_crash_left_is_told_but_nothing_bad(tmp_path, capsys) -> None:
    data = unpack("kafka-4.4.0-crashed", tmp_path, "torn")
    code, found = run(capsys, data)
    texts = [f["text"] for f in found["findings"] if f["position"] is not None]
    assert code == 0
    assert len(texts) == 4
    assert all("the next start cuts them off" in text for text in texts)
    assert not found["clean_stop"]


def test_indexes_below_the_recovery_point(tmp_path, capsys) -> None:
    data = unpack("kafka-4.4.0-crashed", tmp_path, "zeroed-index")
    assert [path for _, path, _, _ in bad(capsys, data)] == [
        "crash-compact-0/00000000000000000000.index",
        "crash-idem-0/00000000000000000000.index",
        "crash-plain-0/00000000000000000000.index",
        "crash-plain-0/00000000000000000652.timeindex",
        "crash-plain-0/00000000000000000652.index",
        "crash-txn-1/00000000000000000007.txnindex",
    ]


def test_a_flipped_bit(data, capsys) -> None:
    log = segment(data, 1)
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    level, path, text, position = bad(capsys, data)[0]
    assert (level, path) == ("damage", f"plain-0/{log.name}")
    assert "checksum is wrong" in text
    assert position <= len(content) // 2


def test_a_hole(data, capsys) -> None:
    log = segment(data, 1)
    content = log.read_bytes()
    log.write_bytes(content[:1000] + bytes(2000) + content[3000:])
    level, path, _, position = bad(capsys, data)[0]
    assert (level, path) == ("damage", f"plain-0/{log.name}")
    assert position <= 3000


def test_a_segment_that_is_gone(data, capsys) -> None:
    gone, following = segment(data, 1), segment(data, 2)
    gone.unlink()
    findings = bad(capsys, data)
    assert (findings[0][0], findings[0][1]) == ("damage", f"plain-0/{following.name}")
    assert f"offsets {int(gone.stem)} to {int(following.stem) - 1} before it are missing" in findings[0][2]
    assert {text for _, path, text, _ in findings if gone.stem in path} == {"its segment does not exist"}


def test_segments_that_overlap(data, capsys) -> None:
    second = segment(data, 1)
    copy = second.with_name(f"{int(second.stem) + 1:020d}.log")
    shutil.copy(second, copy)
    assert any(
        path == f"plain-0/{copy.name}" and "overlaps the segment before it" in text
        for _, path, text, _ in bad(capsys, data)
    )


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("damage", ["gone", "zeroed", "cut", "other"])
def test_indexes(suffix, damage, data, capsys) -> None:
    index, other = segment(data, 0, suffix), segment(data, 1, suffix)
    if damage == "gone":
        index.unlink()
    elif damage == "zeroed":
        index.write_bytes(bytes(index.stat().st_size))
    elif damage == "cut":
        index.write_bytes(index.read_bytes()[:-1])
    else:
        shutil.copy(other, index)
    assert [(level, path) for level, path, _, _ in bad(capsys, data)] == [("wrong", f"plain-0/{index.name}")]


def test_a_transaction_index_that_is_gone(data, capsys) -> None:
    index = segment(data, 0, ".txnindex", "txn-0")
    index.unlink()
    assert [path for _, path, _, _ in bad(capsys, data)] == [f"txn-0/{index.name}"]


@pytest.mark.parametrize(
    ("file", "content", "level"),
    [
        ("recovery-point-offset-checkpoint", "garbage", "wrong"),
        ("recovery-point-offset-checkpoint", "1\n0\n", "wrong"),
        ("replication-offset-checkpoint", "0\n1\nplain 0 99999\n", "wrong"),
        ("meta.properties", "version=7\n", "damage"),
        (".kafka_cleanshutdown", "{", "wrong"),
        ("plain-0/leader-epoch-checkpoint", "0\n2\n3 5\n1 7\n", "wrong"),
        ("plain-0/leader-epoch-checkpoint", "0\n1\n9 0\n", "wrong"),
        ("plain-0/partition.metadata", "version: 3\n", "wrong"),
        ("__cluster_metadata-0/quorum-state", "{}", "damage"),
    ],
)
def test_small_files(file, content, level, data, capsys) -> None:
    (data / file).write_text(content)
    assert [(found, path) for found, path, _, _ in bad(capsys, data)] == [(level, file)]


def test_a_producer_snapshot(data, capsys) -> None:
    snapshot = sorted((data / "idempotent-0").glob("*.snapshot"))[1]
    content = bytearray(snapshot.read_bytes())
    content[-1] ^= 1
    snapshot.write_bytes(content)
    assert [(level, path) for level, path, _, _ in bad(capsys, data)] == [
        ("wrong", f"idempotent-0/{snapshot.name}")
    ]


def test_what_is_not_kafkas_is_named_and_no_problem(data, capsys) -> None:
    (data / "lost+found").mkdir()
    (data / "no-topic-x").mkdir()
    (data / "notes.txt").touch()
    (data / "plain-0" / "copy.log").touch()
    code, found = run(capsys, data)
    assert code == 0
    named = {Path(f["path"]).name for f in found["findings"]}
    assert named >= {"lost+found", "no-topic-x", "notes.txt", "copy.log"}


def test_one_partition(data, capsys) -> None:
    segment(data, 0, ".index").unlink()
    assert run(capsys, data / "txn-0")[0] == 0
    code, found = run(capsys, data / "plain-0")
    assert (code, found["partitions"]) == (1, 1)


def test_a_running_broker_is_noticed(data, capsys) -> None:
    lock = OsDisk().lock(str(data / ".lock"))
    try:
        assert run(capsys, data)[1]["broker_running"] is True
    finally:
        lock.release()
    assert run(capsys, data)[1]["broker_running"] is False


def test_for_a_person(data, capsys) -> None:
    segment(data, 0, ".index").unlink()
    assert main(["logs", "verify", "--no-notes", str(data)]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[0].endswith(".index: is missing")
    assert out.splitlines()[-1].endswith("stopped cleanly: 1 problem")
    assert len(out.splitlines()) == 2
    assert err == ""  # no bar where nobody looks


def test_what_is_no_log_folder(tmp_path, capsys) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        assert main(["logs", "verify", str(path)]) == 1
        assert str(path) in capsys.readouterr().err
