"""Quorums of several KRaft nodes: elections, replication of the metadata, standbys, snapshots."""

from __future__ import annotations

from kbroker.controller.decision import Decision
from kbroker.errors import ApiError
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.raft.snapshot import SnapshotPolicy
from kbroker.storage.file_names import ROOM
from tests.broker.quorum_world import FOLDER, QuorumWorld


def set_config(world, name, value):
    record = ConfigRecord(resource_type=2, resource_name="t", name=name, value=value)
    return world.leader.controller.append_records(lambda image: Decision(None, [record]))


def knows(node, name):
    return name in node.metadata.image.config(2, "t")


def test_three_nodes_elect_one_and_agree():
    world = QuorumWorld(1, 2, 3).start(1, 2, 3)
    world.elect()
    world.finish(set_config(world, "a", "1"))
    world.until(lambda: all(knows(node, "a") for node in world.nodes.values()))
    world.run(3000)
    images = [node.metadata.image for node in world.nodes.values()]
    assert len({(image.offset, image.epoch, image.controller_id) for image in images}) == 1
    assert world.failures == []


def test_published_images_follow_on_every_node():
    world = QuorumWorld(1, 2, 3).start(1, 2, 3)
    world.elect()
    set_config(world, "a", "1")
    world.run(2000)
    assert all("a" in cache.image.config(2, "t") for cache in world.caches.values())
    leader = world.leader.leader().node_id
    assert all(cache.image.controller_id == leader for cache in world.caches.values())


def test_a_killed_leader_is_replaced_and_nothing_is_lost():
    world = QuorumWorld(1, 2, 3).start(1, 2, 3)
    first = world.elect()
    world.finish(set_config(world, "a", "1"))
    began = world.clock.now
    world.kill(first.raft.node.node_id)
    second = world.elect()
    assert world.clock.now - began < 1000
    assert second is not first
    assert knows(second, "a")
    world.finish(set_config(world, "b", "1"))


def test_a_leader_that_stops_hands_over():
    world = QuorumWorld(1, 2, 3).start(1, 2, 3)
    first = world.elect()
    world.run(1000)
    began = world.clock.now
    world.stop(first.raft.node.node_id)
    world.elect()
    assert world.clock.now - began < 100


def test_a_leader_cut_off_loses_what_it_could_not_commit():
    world = QuorumWorld(1, 2, 3).start(1, 2, 3)
    first = world.elect()
    world.run(500)
    me = first.raft.node.node_id
    others = [n for n in (1, 2, 3) if n != me]
    world.cut = {(me, n) for n in others} | {(n, me) for n in others}
    lost = set_config(world, "lost", "1")
    world.until(lambda: lost.done)
    assert lost._error is not None
    world.until(lambda: world.leader is not None and world.leader is not first)
    kept = set_config(world, "kept", "1")
    world.until(lambda: kept.done)
    world.cut = set()
    world.until(lambda: knows(first, "kept"))
    assert not knows(first, "lost")
    world.run(3000)
    assert first.raft.log.log_end_offset == world.leader.raft.log.log_end_offset


def test_a_broker_that_only_observes_follows():
    world = QuorumWorld(1, 2, 3).start(1, 2, 3).start(7, is_controller=False)
    world.elect()
    set_config(world, "a", "1")
    world.until(lambda: knows(world.nodes[7], "a"))
    assert not world.nodes[7].controller.active


def test_who_was_away_too_long_gets_a_snapshot():
    policy = SnapshotPolicy(max_bytes=1500, max_interval_ms=0, retention_bytes=0, retention_ms=-1)
    world = QuorumWorld(1, 2, 3).start(1, 2, 3, policy=policy)
    leader = world.elect()
    world.run(500)
    away = next(n for n in (1, 2, 3) if n != leader.raft.node.node_id)
    world.stop(away)
    for number in range(60):
        world.finish(set_config(world, f"c{number}", "x" * 50))
    assert world.leader.raft.log.log_start_offset > 0
    world.start(away, policy=policy)
    world.until(lambda: knows(world.nodes[away], "c59"))
    assert world.nodes[away].raft.log.log_start_offset > 0
    assert knows(world.nodes[away], "c0")
    world.kill(away)
    world.start(away, policy=policy)
    world.until(lambda: knows(world.nodes[away], "c59"))
    assert world.failures == []


def test_all_stop_and_come_back():
    world = QuorumWorld(1, 2, 3).start(1, 2, 3)
    world.elect()
    world.finish(set_config(world, "a", "1"))
    for node_id in (1, 2, 3):
        world.kill(node_id)
    world.start(1, 2, 3)
    world.elect()
    assert knows(world.leader, "a")


def test_metadata_change_on_a_full_disk_as_long_as_there_is_the_room_that_was_kept():
    """Who deletes a topic to make room must be able to."""
    world = QuorumWorld(1, 2, 3).start(1, 2, 3)
    first = world.elect()
    world.run(4000)
    kept = f"{FOLDER}/{ROOM}"
    room = {disk: disk.free_bytes("/") for disk in world.disks.values()}
    for disk in room:
        assert disk.exists(kept)
        disk.capacity_bytes -= room[disk]
    for number in range(100):
        world.finish(set_config(world, f"c{number}", "1"))
    assert world.leader is first
    assert not any(disk.exists(kept) for disk in room)
    assert not world.failures
    for disk in room:
        disk.capacity_bytes += room[disk]
    world.run(4000)
    assert all(disk.exists(kept) for disk in room)


def test_a_controller_whose_disk_is_full_leaves_it_to_another_and_comes_back():
    world = QuorumWorld(1, 2, 3).start(1, 2, 3)
    first = world.elect()
    me = first.raft.node.node_id
    world.run(1000)
    disk = world.disks[me]
    room = disk.free_bytes("/")
    disk.capacity_bytes -= room
    refused = set_config(world, "a", "1")
    world.until(lambda: refused.done)
    assert isinstance(refused._error, ApiError)
    world.until(lambda: world.leader is not None and world.leader is not first)
    world.finish(set_config(world, "b", "1"))
    world.run(3000)
    assert not first.raft.failed
    disk.capacity_bytes += room
    world.until(lambda: knows(first, "b"))
