"""`kbroker-admin logs repair` and `tail`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kbroker.cli.admin import main
from kbroker.cli.log_tail import tail
from kbroker.client.cluster import Cluster
from kbroker.client.offsets import LATEST, list_offsets
from kbroker.client.records import produce
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.server.os_disk import OsDisk
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tests.cli.kafka_folder import SINGLE, segment
from tests.compat.data_folders import SETTINGS, batches
from tests.storage.kafka_dirs import kafka_says


def files(data: Path) -> dict[str, bytes]:
    return {
        str(f.relative_to(data)): f.read_bytes() for f in data.rglob("*") if f.is_file() and f.name != ".lock"
    }


def repair(data: Path, capsys, *options: str) -> tuple[int, list[dict]]:
    code = main(["logs", "repair", "--json", str(data), *options])
    return code, json.loads(capsys.readouterr().out)


def verified(data: Path, capsys) -> list[str]:
    main(["logs", "verify", "--json", str(data)])
    found = json.loads(capsys.readouterr().out)["findings"]
    return [f["text"] for f in found if f["level"] != "note"]


def flip(log: Path) -> None:
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)


def test_nothing_to_do(data, capsys) -> None:
    before = files(data)
    assert repair(data, capsys, "--apply") == (0, [])
    assert files(data) == before


def test_a_plan_changes_nothing(data, capsys) -> None:
    flip(segment(data, 1))
    segment(data, 0, ".index").unlink()
    before = files(data)
    code, steps = repair(data, capsys)
    assert code == 1
    assert len(steps) == 3
    assert files(data) == before


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_indexes_come_back_as_they_were(suffix, data, capsys) -> None:
    index = segment(data, 0, suffix, "txn-0")
    before = index.read_bytes()
    index.write_bytes(bytes(len(before)))
    assert repair(data, capsys, "--apply")[0] == 0
    assert verified(data, capsys) == []
    assert index.with_name(index.name + ".bak").read_bytes() == bytes(len(before))


def test_a_transaction_index_comes_back_as_it_was(data, capsys) -> None:
    index = segment(data, 0, ".txnindex", "txn-0")
    before = index.read_bytes()
    index.unlink()
    assert repair(data, capsys, "--apply")[0] == 0
    assert index.read_bytes() == before


def test_one_batch_is_lost_and_those_behind_it_stay(data, capsys) -> None:
    log = segment(data, 1)
    damaged = log.stat().st_size
    flip(log)
    code, steps = repair(data, capsys, "--apply")
    assert code == 0
    assert "take out" in steps[0]["text"]
    assert log.with_name(log.name + ".bak").stat().st_size == damaged
    # What is left: the gap, which nobody can fill.
    (text,) = verified(data, capsys)
    assert text.endswith("are missing")
    first, last = (int(word) for word in text.split() if word.isdigit())
    told = kafka_says(SINGLE)["client.json"]["plain-0"]["batches"]
    kept = [batch for batch in told if not first <= batch[0] <= last]
    assert len(kept) == len(told) - 1
    tp = TopicPartition("plain", 0)
    with (
        Broker(data=str(data), config={**SETTINGS, "node.id": 1}) as broker,
        Cluster(broker.bootstrap) as cluster,
    ):
        assert batches(cluster, tp, 0, list_offsets(cluster, [tp], LATEST)[tp].offset) == kept


def test_an_overlapping_segment_is_moved_aside(data, capsys) -> None:
    second = segment(data, 1)
    copy = second.with_name(f"{int(second.stem) + 1:020d}.log")
    shutil.copy(second, copy)
    assert repair(data, capsys, "--apply")[0] == 0
    assert not copy.exists()
    assert copy.with_name(copy.name + ".bak").exists()
    assert verified(data, capsys) == []


def test_small_files(data, capsys) -> None:
    (data / "recovery-point-offset-checkpoint").write_text("garbage")
    (data / "plain-0" / "leader-epoch-checkpoint").write_text("0\n1\n9 0\n")
    before = (data / "replication-offset-checkpoint").read_text()
    (data / "replication-offset-checkpoint").write_text(before.replace("plain 0 509", "plain 0 99999"))
    assert repair(data, capsys, "--apply")[0] == 0
    assert verified(data, capsys) == []
    assert (data / "recovery-point-offset-checkpoint.bak").read_text() == "garbage"


def test_what_no_program_can_mend_is_said(data, capsys) -> None:
    segment(data, 1).unlink()
    (data / "meta.properties").write_text("version=9\n")
    code, steps = repair(data, capsys, "--apply")
    assert code == 1
    assert sum(not step["possible"] for step in steps) == 2


def test_a_running_broker_is_not_disturbed(data, capsys) -> None:
    lock = OsDisk().lock(str(data / ".lock"))
    try:
        flip(segment(data, 1))
        before = files(data)
        assert main(["logs", "repair", "--apply", str(data)]) == 1
        assert "a broker is running on" in capsys.readouterr().err
        assert files(data) == before
    finally:
        lock.release()


# -- tail --------------------------------------------------------------------------------------------------


def offsets(entries) -> list[int]:
    return [entry.data["offset"] for entry in entries]


@pytest.mark.parametrize("last", [0, 1, 30, 300, 10_000])
def test_the_last_records(last, whole) -> None:
    assert offsets(tail(whole / "plain-0", last)) == list(range(max(509 - last, 0), 509))


def test_following_a_broker(tmp_path) -> None:
    with Broker(data=str(tmp_path)) as broker, Cluster(broker.bootstrap) as cluster:
        broker.create_topic("t", config={"segment.bytes": 1 << 20})
        tp = TopicPartition("t", 0)
        produce(cluster, tp, [Record(-1, 0, None, b"before", ())])
        waits = iter(range(4))

        def pause() -> None:
            if next(waits) < 3:
                for _ in range(30):
                    produce(cluster, tp, [Record(-1, 0, None, bytes(20_000), ())])
            else:
                shutil.rmtree(tmp_path / "t-0")

        entries = tail(tmp_path / "t-0", 1, follow=True, pause=pause)
        assert offsets(entries) == list(range(91))


def test_a_batch_that_is_still_being_written(tmp_path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    log = folder / "00000000000000000000.log"
    batch = bytes(build_batch([Record(-1, 0, None, b"v", ())]))
    log.write_bytes(batch[:30])
    steps = iter([lambda: log.write_bytes(batch), lambda: shutil.rmtree(folder)])
    assert offsets(tail(folder, 5, follow=True, pause=lambda: next(steps)())) == [0]


def test_tail_for_a_program(whole, capsys) -> None:
    assert main(["logs", "tail", "-n", "2", "--json", str(whole / "plain-0")]) == 0
    assert [json.loads(line)["offset"] for line in capsys.readouterr().out.splitlines()] == [507, 508]
    assert main(["logs", "tail", str(whole)]) == 1
    assert "there is no segment in it" in capsys.readouterr().err
