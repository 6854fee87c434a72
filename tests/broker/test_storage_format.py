from __future__ import annotations

import pytest

from kbroker.broker.metadata_files import MetadataFiles
from kbroker.broker.storage_format import StorageFormat, format_storage
from kbroker.metadata.records import decode_record
from kbroker.raft.snapshot import BOOTSTRAP_ID
from kbroker.raft.voter_set import QuorumEndpoint
from kbroker.storage.memory_disk import MemoryDisk, Tail
from kbroker.storage.meta_properties import read_meta_properties

A, B, META = (bytes(15) + bytes([n]) for n in (1, 2, 3))


def plan(**changes):
    fields = {
        "log_dirs": ["/a", "/b"],
        "metadata_dir": "/a",
        "cluster_id": "c",
        "node_id": 7,
        "directory_ids": [A, B],
    }
    return StorageFormat(**{**fields, **changes})


def test_every_directory_gets_its_properties_and_one_the_first_snapshot():
    disk = MemoryDisk()
    format_storage(disk, plan(controller_endpoints=[QuorumEndpoint("CONTROLLER", "h", 9093)]), 77)
    assert read_meta_properties(disk, "/a").directory_id == A
    assert read_meta_properties(disk, "/b").directory_id == B
    assert (read_meta_properties(disk, "/b").node_id, read_meta_properties(disk, "/b").cluster_id) == (7, "c")
    assert MetadataFiles(disk, "/b").snapshot_ids() == []
    items = MetadataFiles(disk, "/a").read_snapshot(BOOTSTRAP_ID)
    (voter,) = items[0].rules.voters
    assert (voter.id, voter.directory_id, voter.endpoints[0].port) == (7, A, 9093)
    records = [decode_record(value) for item in items for value in item.values]
    assert [(record.name, record.feature_level) for record in records] == [
        ("metadata.version", 33),
        ("eligible.leader.replicas.version", 1),
        ("group.version", 1),
        ("share.version", 2),
        ("streams.version", 1),
        ("transaction.version", 2),
    ]


def test_the_metadata_may_have_a_directory_of_its_own():
    disk = MemoryDisk()
    format_storage(disk, plan(metadata_dir="/m", directory_ids=[A, B, META]), 77)
    assert read_meta_properties(disk, "/m").directory_id == META
    items = MetadataFiles(disk, "/m").read_snapshot(BOOTSTRAP_ID)
    assert next(iter(items[0].rules.voters)).directory_id == META


def test_a_new_directory_beside_formatted_ones_is_added():
    disk = MemoryDisk()
    format_storage(disk, plan(log_dirs=["/a"], directory_ids=[A]), 1)
    before = MetadataFiles(disk, "/a").read_snapshot(BOOTSTRAP_ID)
    format_storage(disk, plan(directory_ids=[META, B]), 2)
    assert read_meta_properties(disk, "/a").directory_id == A
    assert read_meta_properties(disk, "/b").directory_id == B
    assert MetadataFiles(disk, "/a").read_snapshot(BOOTSTRAP_ID) == before


@pytest.mark.parametrize("tail", list(Tail))
def test_formatting_survives_a_power_cut(tail):
    disk = MemoryDisk()
    format_storage(disk, plan(), 1)
    after = disk.crash(tail)
    assert read_meta_properties(after, "/b").directory_id == B
    assert MetadataFiles(after, "/a").snapshot_ids() == [BOOTSTRAP_ID]
