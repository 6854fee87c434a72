from __future__ import annotations

import pytest

from kbroker.raft.snapshot import (
    PART_SUFFIX,
    SnapshotFile,
    SnapshotPolicy,
    expired_snapshots,
    parse_snapshot_file_name,
    snapshot_file_name,
)
from kbroker.types import OffsetAndEpoch


def test_names_as_kafka_writes_them():
    name = "00000000000000000207-0000000001.checkpoint"
    assert snapshot_file_name(OffsetAndEpoch(207, 1)) == name
    assert parse_snapshot_file_name(name) == OffsetAndEpoch(207, 1)
    assert snapshot_file_name(OffsetAndEpoch(207, 1), PART_SUFFIX) == name + ".part"


@pytest.mark.parametrize(
    "name",
    [
        "00000000000000000207-0000000001.checkpoint.part",
        "00000000000000000207-0000000001.checkpoint.deleted",
        "leader-epoch-checkpoint",
        "bootstrap.checkpoint",
        "207-1.checkpoint",
    ],
)
def test_other_files_are_no_snapshots(name):
    assert parse_snapshot_file_name(name) is None


@pytest.mark.parametrize(
    ("new_bytes", "age_ms", "due"),
    [(100, 0, True), (99, 0, False), (0, 1000, True), (0, 999, False)],
)
def test_a_snapshot_is_due_by_size_or_age(new_bytes, age_ms, due):
    policy = SnapshotPolicy(max_bytes=100, max_interval_ms=1000)
    assert policy.due(new_bytes, 5000, 5000 + age_ms) is due


def test_an_interval_of_zero_is_none():
    assert not SnapshotPolicy(100, 0).due(0, 0, 10**12)


def snapshots(*times, size=10):
    return [SnapshotFile(OffsetAndEpoch(n * 100, 1), size, time) for n, time in enumerate(times)]


def test_snapshots_go_when_the_next_one_is_old_enough():
    policy = SnapshotPolicy(retention_bytes=-1, retention_ms=1000)
    found = snapshots(0, 1000, 2000)
    assert expired_snapshots(found, 0, policy, 2000) == []
    assert expired_snapshots(found, 0, policy, 2001) == found[:1]
    assert expired_snapshots(found, 0, policy, 10**9) == found[:2]


def test_snapshots_go_when_all_is_too_large_and_the_newest_always_stays():
    policy = SnapshotPolicy(retention_bytes=25, retention_ms=-1)
    found = snapshots(0, 1, 2)
    assert expired_snapshots(found, 0, policy, 5) == found[:1]
    assert expired_snapshots(found, 10, policy, 5) == found[:2]
    assert expired_snapshots(found, 10**9, policy, 5) == found[:2]
    assert expired_snapshots([], 10**9, policy, 5) == []
