"""Data folders that are not as a broker left them: a clear line, and nothing unknown is ever deleted."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.offsets import EARLIEST, LATEST, list_offsets
from kbroker.client.records import fetch, produce
from kbroker.client.topics import delete_topics
from kbroker.config.loading import load_config
from kbroker.errors import ApiError, ConfigError
from kbroker.main import Node
from kbroker.protocol.record_batch import Record
from kbroker.server.os_disk import OsDisk
from kbroker.testing import Broker
from kbroker.types import TopicPartition

TP = TopicPartition("t", 0)
FAR_FUTURE_S = 32_503_680_000  # the year 3000
RECORDS = 90


def broker_on(data: Path, **config: str) -> Broker:
    return Broker(data=str(data), config=config)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """A folder with 90 records in two segments of one topic, stopped cleanly."""
    data = tmp_path_factory.mktemp("written") / "data"
    with broker_on(data) as broker, Cluster(broker.bootstrap) as cluster:
        broker.create_topic("t", config={"segment.bytes": 1 << 20})
        broker.create_topic("other")
        for _ in range(RECORDS):
            produce(cluster, TP, [Record(-1, 1_700_000_000_000, b"k", b"v" * 20_000)])
    return data


@pytest.fixture
def data(written, tmp_path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "data"))


@pytest.fixture
def segments(data) -> list[Path]:
    return sorted((data / "t-0").glob("*.log"))


@pytest.mark.parametrize(
    "settings",
    [
        {"process.roles": "controller", "controller.quorum.voters": "1@h:9093,2@h:9094"},
        {"process.roles": "broker", "controller.quorum.voters": "2@h:9094"},
    ],
)
def test_no_node_of_several_thinks_of_an_id_for_the_cluster(tmp_path, settings):
    """Each would have another one, and none would ever let the others in."""
    data = tmp_path / "data"
    named = {"node.id": "1", "log.dirs": str(data), "controller.listener.names": "CONTROLLER"}
    config = load_config(assignments={**named, **settings}.items()).config
    with pytest.raises(ConfigError, match="is not formatted, and the quorum has other nodes"):
        asyncio.run(Node(config).start())
    assert not data.exists()


def unclean(data: Path, recovery_point: int = 0) -> None:
    (data / ".kafka_cleanshutdown").unlink()
    (data / "recovery-point-offset-checkpoint").write_text(f"0\n1\nt 0 {recovery_point}\n")


def served(data: Path, **config: str) -> list[int]:
    """Offsets of all records that the broker serves."""
    found: list[int] = []
    with broker_on(data, **config) as broker, Cluster(broker.bootstrap) as cluster:
        offset = list_offsets(cluster, [TP], EARLIEST)[TP].offset
        end = list_offsets(cluster, [TP], LATEST)[TP].offset
        while offset < end:
            part = fetch(cluster, {TP: offset})[TP]
            found += [record.offset for record in part.records]
            offset = part.next_offset
    return found


ALL = list(range(RECORDS))


# -- whose folder it is ------------------------------------------------------------------------------------


def refused(data: Path, match: str, **config: str) -> None:
    """The start fails with that line, and every file is as before."""
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    with pytest.raises(ConfigError, match=match) as caught:
        broker_on(data, **config).start()
    assert "\n" not in str(caught.value)
    assert {p: p.read_bytes() for p in data.rglob("*") if p.is_file() and p.name != ".lock"} == {
        p: content for p, content in before.items() if p.name != ".lock"
    }


def test_another_node(data) -> None:
    refused(data, r"belongs to node 1, but this is node 7", **{"node.id": "7"})


def test_another_cluster(data) -> None:
    refused(data, r"belongs to cluster \S+, but this one is mine", **{"kbroker.cluster.id": "mine"})


def test_a_newer_folder(data) -> None:
    meta = data / "meta.properties"
    meta.write_text(meta.read_text().replace("version=1", "version=2"))
    refused(data, r"version 2 is unknown; a newer broker may have written it")


def test_two_brokers_at_once(data) -> None:
    with broker_on(data), pytest.raises(ConfigError, match="is in use by another broker"):
        broker_on(data).start()


# -- names -------------------------------------------------------------------------------------------------


def test_unknown_names_are_named_and_stay(data, caplog) -> None:
    (data / "lost+found").mkdir()
    (data / "lost+found" / "file").write_text("precious")
    (data / "no topic-0").mkdir()
    (data / "t-x").mkdir()
    (data / "notes.txt").write_text("precious")
    (data / "t-0" / "notes.txt").write_text("precious")
    (data / "t-0" / "0.log").write_text("precious")
    with caplog.at_level(logging.WARNING):
        assert served(data) == ALL
    for name in ("lost+found", "no topic-0", "t-x"):
        assert f"{data}/{name} is no partition; leaving it alone" in caplog.messages
    for name in ("lost+found/file", "notes.txt", "t-0/notes.txt", "t-0/0.log"):
        assert (data / name).read_text() == "precious"


def test_a_partition_of_no_topic_is_put_aside(data, caplog) -> None:
    shutil.copytree(data / "t-0", data / "ghost-3")
    with caplog.at_level(logging.WARNING):
        assert served(data) == ALL
    (stray,) = data.glob("ghost-3.*-stray")
    assert sorted(p.name for p in stray.glob("*.log")) == sorted(p.name for p in (data / "t-0").glob("*.log"))
    assert any("belongs to no topic of the cluster; it is kept as" in text for text in caplog.messages)
    assert served(data) == ALL  # and it stays there
    assert stray.exists()


def test_a_nodes_folder_within_is_no_partition(data, caplog) -> None:
    (data / "node-1").mkdir()
    (data / "node-1" / "meta.properties").write_text("version=1\n")
    with caplog.at_level(logging.WARNING):
        assert served(data) == ALL
    assert f"{data}/node-1 is no partition; leaving it alone" in caplog.messages
    assert [p.name for p in data.glob("node-1*")] == ["node-1"]


def test_somebodys_folder_with_the_name_of_a_partition_stays(data, caplog) -> None:
    (data / "photos-2024").mkdir()
    (data / "photos-2024" / "sea.jpg").write_text("precious")
    with caplog.at_level(logging.WARNING):
        assert served(data) == ALL
    assert f"{data}/photos-2024 is no partition; leaving it alone" in caplog.messages
    assert (data / "photos-2024" / "sea.jpg").read_text() == "precious"


def test_the_folder_of_a_local_cluster_is_no_nodes_folder(tmp_path) -> None:
    (tmp_path / "node-1").mkdir()
    (tmp_path / "node-1" / "meta.properties").write_text("version=1\n")
    refused(tmp_path, "has the data of a cluster of nodes: go on with it by `kbroker start --cluster N`")
    assert [p.name for p in tmp_path.iterdir()] == ["node-1"]


# -- links and modes ---------------------------------------------------------------------------------------


def test_a_folder_behind_a_link(data, tmp_path) -> None:
    link = tmp_path / "link"
    link.symlink_to(data)
    assert served(link) == ALL


def test_a_partition_behind_a_link_is_unlinked_when_deleted(data, tmp_path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(data / "t-0", elsewhere)
    (data / "t-0").symlink_to(elsewhere)
    assert served(data) == ALL
    with (
        broker_on(data, **{"log.segment.delete.delay.ms": "0"}) as broker,
        Cluster(broker.bootstrap) as cluster,
    ):
        delete_topics(cluster, ["t"])
    with broker_on(data, **{"log.segment.delete.delay.ms": "0"}) as broker:
        broker.create_topic("works")
    assert len(list(elsewhere.glob("*.log"))) == 2


def test_a_segment_behind_a_link_that_leads_nowhere(data, segments, tmp_path) -> None:
    away = tmp_path / "away.log"
    shutil.move(segments[0], away)
    segments[0].symlink_to(away)
    away.rename(tmp_path / "gone.log")
    index = segments[0].with_suffix(".index")
    before = index.read_bytes()
    with pytest.raises((ConfigError, ApiError), match=rf"the link leads nowhere: '{segments[0]}'"):
        broker_on(data).start()
    assert index.read_bytes() == before
    (tmp_path / "gone.log").rename(away)
    assert served(data) == ALL


def test_a_file_that_may_only_be_read(tmp_path) -> None:
    """Root may write everything, so the system's answer is made up."""

    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(b"content")
    real = os.open

    def refuse(name, flags, *mode):
        if flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied", name)
        return real(name, flags, *mode)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", refuse)
        file = OsDisk().open(str(path))
    assert file.read(0, 100) == b"content"
    for change in (lambda: file.write(0, b"x"), lambda: file.write_many(0, [b"x"]), lambda: file.truncate(0)):
        with pytest.raises(PermissionError, match=r"the file may only be read: .*00\.log"):
            change()
    assert path.read_bytes() == b"content"


# -- segments ----------------------------------------------------------------------------------------------


def test_a_hole_in_an_old_segment(data, segments) -> None:
    content = bytearray(segments[0].read_bytes())
    content[200_000:240_000] = bytes(40_000)
    segments[0].write_bytes(content)
    with broker_on(data) as broker, Cluster(broker.bootstrap) as cluster:
        assert [r.offset for r in fetch(cluster, {TP: 0}, max_bytes=150_000)[TP].records][:3] == [0, 1, 2]
        with pytest.raises(ApiError):
            fetch(cluster, {TP: 10})
        # The other segment is as good as before.
        second = int(segments[1].stem)
        assert fetch(cluster, {TP: second})[TP].records[0].offset == second
    assert segments[0].read_bytes() == content


def test_damage_that_recovery_finds_is_kept_aside(data, segments, caplog) -> None:
    unclean(data)
    content = bytearray(segments[0].read_bytes())
    content[200_000] ^= 1
    segments[0].write_bytes(content)
    with caplog.at_level(logging.WARNING):
        found = served(data)
    assert found == list(range(len(found)))
    assert len(found) < int(segments[1].stem)
    (rest,) = (data / "t-0").glob("*.log.from-*.stray")
    assert content.endswith(rest.read_bytes())
    assert (data / "t-0" / (segments[1].name + ".stray")).exists()
    assert any("lies behind the damage and is kept as" in text for text in caplog.messages)
    assert served(data) == found
    assert rest.exists()


@pytest.mark.parametrize("compacted", [True, False])
def test_a_gap_between_segments_is_damage_unless_the_topic_is_compacted(compacted, tmp_path) -> None:
    """Kafka's cleaner leaves gaps, and a crash may leave a recovery point below them and no checkpoint."""
    data, value = tmp_path / "data", b"v" * 20_000
    with broker_on(data, **{"log.cleaner.enable": "false"}) as broker, Cluster(broker.bootstrap) as cluster:
        policy = "compact" if compacted else "delete"
        broker.create_topic("t", config={"segment.bytes": 1 << 20, "cleanup.policy": policy})
        for number in range(150):
            produce(cluster, TP, [Record(-1, 1_700_000_000_000, b"%d" % number, value)])
    first, second, third = sorted((data / "t-0").glob("*.log"))
    for name in (data / "t-0").glob(second.stem + ".*"):
        name.unlink()
    unclean(data)
    behind, last = int(second.stem), list(range(int(third.stem), 150))
    assert served(data) == list(range(behind)) + (last if compacted else [])
    assert list((data / "t-0").glob("*.log.stray")) == (
        [] if compacted else [data / "t-0" / f"{third.name}.stray"]
    )
    assert first.exists()


def test_overlapping_segments(data, segments) -> None:
    unclean(data)
    copy = segments[0].with_name(f"{int(segments[0].stem) + 3:020d}.log")
    shutil.copy(segments[0], copy)
    found = served(data)
    assert found == list(range(int(segments[1].stem)))
    assert (data / "t-0" / (copy.name + ".stray")).read_bytes() == segments[0].read_bytes()
    assert (data / "t-0" / (segments[1].name + ".stray")).exists()


# -- small files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"garbage", b"", b"\xff\xfe\x00", b"0\n99999999999\n", b"5\n0\n", b"0\n1\nt x y\n"]
)
@pytest.mark.parametrize(
    "name",
    [
        "recovery-point-offset-checkpoint",
        "log-start-offset-checkpoint",
        "replication-offset-checkpoint",
        "cleaner-offset-checkpoint",
        "t-0/leader-epoch-checkpoint",
        "t-0/partition.metadata",
        ".kafka_cleanshutdown",
    ],
)
def test_garbage_in_small_files(name, content, data) -> None:
    (data / name).write_bytes(content)
    assert served(data) == ALL


# -- the clock ---------------------------------------------------------------------------------------------

#: All records are from 2023; they are to be kept for ten years, or until nobody knows when.
TEN_YEARS = {"log.retention.ms": str(10 * 365 * 86_400_000), "log.retention.check.interval.ms": "20"}


@pytest.mark.parametrize("seconds", [0, FAR_FUTURE_S])
def test_wrong_times_of_files_delete_nothing(seconds, data) -> None:
    for path in data.rglob("*"):
        os.utime(path, (seconds, seconds))
    assert served(data, **TEN_YEARS) == ALL
    assert len(list((data / "t-0").glob("*.log"))) == 2


def test_records_of_the_future_delete_nothing(tmp_path) -> None:
    config = {**TEN_YEARS, "log.message.timestamp.after.max.ms": str(2**62)}
    with broker_on(tmp_path, **config) as broker, Cluster(broker.bootstrap) as cluster:
        broker.create_topic("t", config={"segment.bytes": 1 << 20})
        for number in range(RECORDS):
            stamp = FAR_FUTURE_S * 1000 if number == 0 else 1_700_000_000_000
            produce(cluster, TP, [Record(-1, stamp, b"k", b"v" * 20_000)])
    assert served(tmp_path, **config) == ALL


def test_a_time_index_that_lies_about_the_past_deletes_nothing(data, segments) -> None:
    """As old as 1970 by the index, of last year by its records."""
    for index in (data / "t-0").glob("*.timeindex"):
        index.write_bytes((5).to_bytes(8, "big") + (0).to_bytes(4, "big"))
    assert served(data, **TEN_YEARS) == ALL
