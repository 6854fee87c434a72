"""A node with several log directories that loses one, and gets it back."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.describe import describe_log_dirs
from kbroker.errors import ConfigError, ErrorCode
from kbroker.protocol.generated.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kbroker.protocol.generated.alter_replica_log_dirs_response import AlterReplicaLogDirsResponse
from kbroker.testing import Broker
from tests.chaos.test_disks import WAIT_SECONDS, create, produce_once

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def broker(tmp_path: Path) -> Broker:
    folders = f"{tmp_path}/a,{tmp_path}/b"
    with Broker(subprocess=True, data=f"{tmp_path}/a", config={"log.dirs": folders}) as broker:
        yield broker


def where(broker: Broker, topic: str) -> dict[int, str]:
    """partition -> name of its folder."""
    with Cluster(broker.bootstrap) as cluster:
        return {
            replica.partition: Path(log_dir.path).name
            for log_dir in describe_log_dirs(cluster)
            for replica in log_dir.replicas
            if replica.topic == topic and not replica.future
        }


def codes(broker: Broker, topic: str, count: int) -> list[ErrorCode]:
    return [produce_once(broker.bootstrap, topic, index)[0] for index in range(count)]


def move(broker: Broker, topic: str, index: int, path: Path) -> None:
    topics = [AlterReplicaLogDirTopic(name=topic, partitions=[index])]
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=str(path), topics=topics)])
    with Cluster(broker.bootstrap) as cluster:
        answer = cluster.any().ask(request, AlterReplicaLogDirsResponse)
    assert answer.results[0].partitions[0].error_code == 0
    deadline = time.monotonic() + WAIT_SECONDS
    while where(broker, topic)[index] != path.name:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_disk_that_is_not_mounted_is_not_replaced_by_empty_logs(broker: Broker, tmp_path: Path) -> None:
    create(broker.bootstrap, "t", partitions=4)
    assert codes(broker, "t", 4) == [ErrorCode.NONE] * 4
    before = where(broker, "t")
    away = next(index for index, name in before.items() if name == "a")
    move(broker, "t", away, tmp_path / "b")
    lost = [index for index, name in where(broker, "t").items() if name == "b"]
    assert len(lost) == 3
    broker.kill()
    (tmp_path / "b").rename(tmp_path / "elsewhere")
    (tmp_path / "b").mkdir()
    broker.start()
    expected = [ErrorCode.KAFKA_STORAGE_ERROR if index in lost else ErrorCode.NONE for index in range(4)]
    assert codes(broker, "t", 4) == expected
    create(broker.bootstrap, "new", partitions=2)
    assert codes(broker, "new", 2) == [ErrorCode.NONE] * 2
    broker.kill()
    for path in (tmp_path / "b").iterdir():
        if path.is_dir():
            path.rename(tmp_path / "elsewhere" / path.name)
    for path in (tmp_path / "b").iterdir():
        path.unlink()
    (tmp_path / "b").rmdir()
    (tmp_path / "elsewhere").rename(tmp_path / "b")
    broker.start()
    assert codes(broker, "t", 4) == [ErrorCode.NONE] * 4
    with Cluster(broker.bootstrap) as cluster:
        sizes = {
            replica.partition: replica.size
            for log_dir in describe_log_dirs(cluster)
            for replica in log_dir.replicas
            if replica.topic == "t"
        }
    # The partitions that were away have the record of the beginning and the last one.
    assert len({sizes[index] for index in lost}) == 1
    assert all(sizes[index] > 0 for index in range(4))


def test_an_unusable_directory_does_not_keep_the_node_from_starting(broker: Broker, tmp_path: Path) -> None:
    create(broker.bootstrap, "t", partitions=4)
    lost = [index for index, name in where(broker, "t").items() if name == "b"]
    broker.kill()
    (tmp_path / "b").rename(tmp_path / "elsewhere")
    (tmp_path / "b").write_text("a file where a folder should be")
    broker.start()
    expected = [ErrorCode.KAFKA_STORAGE_ERROR if index in lost else ErrorCode.NONE for index in range(4)]
    assert codes(broker, "t", 4) == expected
    with Cluster(broker.bootstrap) as cluster:
        errors = {Path(log_dir.path).name: log_dir.error for log_dir in describe_log_dirs(cluster)}
    assert (errors["a"], errors["b"] is None) == (None, False)
    broker.kill()
    (tmp_path / "b").unlink()
    (tmp_path / "elsewhere").rename(tmp_path / "b")
    broker.start()
    assert codes(broker, "t", 4) == [ErrorCode.NONE] * 4
    broker.kill()
    (tmp_path / "a").rename(tmp_path / "elsewhere")
    (tmp_path / "a").write_text("the folder of the metadata")
    with pytest.raises(ConfigError):
        broker.start()


def test_98_a_folder_that_is_deleted_under_the_broker_goes_offline_alone(
    broker: Broker, tmp_path: Path
) -> None:
    """Its files can still be written, by those who have them open: what they take nobody would find again."""
    create(broker.bootstrap, "t", partitions=4)
    assert codes(broker, "t", 4) == [ErrorCode.NONE] * 4
    lost = [partition for partition, folder in where(broker, "t").items() if folder == "b"]
    shutil.rmtree(tmp_path / "b")
    deadline = time.monotonic() + 20
    while [found for index, found in enumerate(codes(broker, "t", 4)) if index in lost] != [
        ErrorCode.KAFKA_STORAGE_ERROR
    ] * len(lost):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    found = codes(broker, "t", 4)
    assert [found[index] for index in range(4) if index not in lost] == [ErrorCode.NONE] * (4 - len(lost))
    broker.stop()
    # A start finds a folder that is not there: what lay in it is not replaced by empty logs.
    (tmp_path / "b").mkdir()
    broker.start()
    found = codes(broker, "t", 4)
    assert [found[index] for index in lost] == [ErrorCode.KAFKA_STORAGE_ERROR] * len(lost), found
