from __future__ import annotations

import pytest

from kbroker.raft.snapshot import SnapshotPolicy
from kbroker.storage.memory_disk import Tail
from tests.broker.kraft_world import PARTITION, World

SMALL = SnapshotPolicy(max_bytes=2000, max_interval_ms=0, retention_bytes=-1, retention_ms=-1)


def snapshots(world):
    return [name for name in world.files() if name.endswith(".checkpoint")]


@pytest.fixture
def world():
    return World().format().start(policy=SMALL)


def fill(world, count, start=0):
    for number in range(start, start + count):
        world.create(f"t{number}").result()


def test_a_snapshot_is_written_when_enough_log_has_come(world):
    fill(world, 30)
    found = snapshots(world)
    assert 2 <= len(found) <= 6
    assert not any(name.endswith(".part") for name in world.files())


def test_a_node_starts_from_its_newest_snapshot(world):
    fill(world, 30)
    newest = snapshots(world)[-1]
    world.node.stop()
    # With the log below the snapshot overwritten: it is not needed any more.
    before = world.image
    world.start(policy=SMALL)
    assert set(world.image.topics.names()) == set(before.topics.names())
    assert newest in snapshots(world)


def test_nothing_new_writes_no_snapshot():
    world = World().format().start(policy=SnapshotPolicy(10**9, 1000, -1, -1))
    world.create("a").result()
    world.advance(5000)
    found = snapshots(world)
    assert len(found) == 2
    world.advance(5000)
    assert snapshots(world) == found
    assert world.alarms == []


def test_time_alone_brings_one_when_there_is_news():
    world = World().format().start(policy=SnapshotPolicy(10**9, 60_000, -1, -1))
    world.create("a").result()
    assert len(snapshots(world)) == 1
    world.advance(60_001)
    assert len(snapshots(world)) == 2
    world.node.stop()
    world.start()
    assert "a" in world.image.topics


def test_old_snapshots_and_the_log_below_them_go():
    policy = SMALL._replace(retention_bytes=6000)
    world = World().format().start(policy=policy, segment_bytes=1500)
    fill(world, 80)
    logs = [name for name in world.files() if name.endswith(".log")]
    assert "0" * 20 + ".log" not in logs
    size = sum(e.size for e in world.disk.list_dir(PARTITION) if e.name.endswith((".log", ".checkpoint")))
    assert size < 20_000
    world.node.stop()
    world.start(policy=policy)
    assert len(world.image.topics) == 80


def test_the_log_may_be_lost_below_the_newest_snapshot(world):
    fill(world, 30)
    world.node.stop()
    newest = int(snapshots(world)[-1][:20])
    for name in world.files():
        if name.endswith((".log", ".index", ".timeindex")):
            world.disk.remove(f"{PARTITION}/{name}")
    after = World(world.disk, world.ids).start(policy=SMALL)
    assert len(after.image.topics) >= 20
    assert after.image.offset > newest
    fill(after, 1, start=100)
    again = World(after.disk, after.ids).start(policy=SMALL)
    assert "t100" in again.image.topics


@pytest.mark.parametrize("tail", list(Tail))
def test_a_crash_while_a_snapshot_is_written_leaves_no_half_one(tail):
    world = World().format().start(policy=SMALL)
    world.waiting = []
    for number in range(40):
        world.create(f"t{number}")
        world.finish_blocking()
        if any(name.endswith(".part") for name in world.files()):
            break
    after = World(world.disk.crash(tail)).start(policy=SMALL)
    assert not any(name.endswith((".part", ".deleted")) for name in after.files())
    assert len(after.image.topics) >= 1


def test_a_snapshot_that_cannot_be_written_is_tried_again(world, caplog):
    original = world.disk.rename
    calls = []

    def rename(source, target):
        if target.endswith(".checkpoint") and not calls:
            calls.append(target)
            raise OSError("no space")
        original(source, target)

    world.disk.rename = rename
    fill(world, 40)
    assert calls
    assert "no snapshot" in caplog.text
    assert len(snapshots(world)) == 1
    world.advance(60_001)
    assert len(snapshots(world)) == 2
    assert world.failures == []
