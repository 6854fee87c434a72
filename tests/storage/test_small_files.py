"""Checkpoints, partition.metadata, meta.properties, clean-shutdown marker, file names."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kbroker.errors import ConfigError
from kbroker.storage import checkpoints, file_names
from kbroker.storage.memory_disk import MemoryDisk
from kbroker.storage.meta_properties import (
    MetaProperties,
    check_same_node,
    format_meta_properties,
    parse_meta_properties,
    read_meta_properties,
    write_meta_properties,
)
from kbroker.types import TopicPartition, uuid_from_string

KAFKAS = """#
#Sun Nov 29 17:24:32 UTC 2026
node.id=1
directory.id=Q8gttISIR9OXYJbZ8aViEw
version=1
cluster.id=goldenDiskSingleAAAAAA
"""

topics = st.from_regex(r"[a-zA-Z0-9._-]{1,40}", fullmatch=True)


@given(
    st.dictionaries(st.builds(TopicPartition, topics, st.integers(0, 2**31 - 1)), st.integers(0, 2**63 - 1))
)
def test_offset_checkpoints_round_trip(offsets: dict) -> None:
    assert checkpoints.parse_offsets(checkpoints.format_offsets(offsets)) == offsets


def test_epoch_checkpoint() -> None:
    text = "0\n3\n0 0\n2 64\n4 82\n"
    assert checkpoints.parse_epochs(text) == [(0, 0), (2, 64), (4, 82)]
    assert checkpoints.format_epochs([(0, 0), (2, 64), (4, 82)]) == text
    assert checkpoints.parse_epochs("") == []


@pytest.mark.parametrize(
    "text", ["0\n", "1\n0\n", "0\n1\n", "0\n2\n1 5\n1 6\n", "0\n2\n1 5\n2 5\n", "0\n1\n-1 5\n", "x\n0\n"]
)
def test_bad_epoch_checkpoints(text: str) -> None:
    with pytest.raises(ValueError):
        checkpoints.parse_epochs(text)


def test_partition_metadata_and_clean_shutdown() -> None:
    topic_id = uuid_from_string("GWiDGMVnTgmK1BhN9Tbb0g")
    text = "version: 0\ntopic_id: GWiDGMVnTgmK1BhN9Tbb0g"
    assert checkpoints.format_partition_metadata(topic_id) == text
    assert checkpoints.parse_partition_metadata(text) == topic_id
    for bad in ("", "version: 1\ntopic_id: GWiDGMVnTgmK1BhN9Tbb0g", "version: 0", "version: 0\ntopic_id: AA"):
        with pytest.raises(ValueError):
            checkpoints.parse_partition_metadata(bad)
    assert checkpoints.parse_clean_shutdown('{"version":0,"brokerEpoch":271}') == 271
    assert checkpoints.format_clean_shutdown(271) == '{"version":0,"brokerEpoch":271}'
    for old in ("", "{", "[]", '{"version":0}'):
        assert checkpoints.parse_clean_shutdown(old) == -1


def test_meta_properties() -> None:
    meta = parse_meta_properties(KAFKAS)
    assert meta == MetaProperties(
        cluster_id="goldenDiskSingleAAAAAA",
        node_id=1,
        directory_id=uuid_from_string("Q8gttISIR9OXYJbZ8aViEw"),
    )
    assert parse_meta_properties(format_meta_properties(meta)) == meta
    old = parse_meta_properties("version=0\nbroker.id=3\ncluster.id=abc\n")
    assert (old.version, old.node_id, old.cluster_id, old.directory_id) == (0, 3, "abc", None)
    assert parse_meta_properties(format_meta_properties(old)) == old


def test_meta_properties_on_disk() -> None:
    disk = MemoryDisk()
    disk.make_dir("/data")
    assert read_meta_properties(disk, "/data") is None
    meta = MetaProperties(cluster_id="c", node_id=1, directory_id=bytes(range(16)))
    write_meta_properties(disk, "/data", meta)
    assert read_meta_properties(disk, "/data") == meta
    for bad in (b"version=2\n", b"node.id=1\n", b"version=x\n", b"version=1\ndirectory.id=zz\n"):
        disk.write_file("/data/meta.properties", bad)
        with pytest.raises(ConfigError, match=r"/data/meta\.properties"):
            read_meta_properties(disk, "/data")


def test_directories_of_one_node_belong_together() -> None:
    a = MetaProperties(cluster_id="c", node_id=1, directory_id=b"a" * 16)
    b = MetaProperties(cluster_id="c", node_id=1, directory_id=b"b" * 16)
    check_same_node([("/a", a), ("/b", b)], 1, "c")
    check_same_node([("/a", a), ("/b", b)], 1, None)
    for node, cluster, found in (
        (2, "c", [("/a", a)]),
        (1, "other", [("/a", a)]),
        (1, None, [("/a", a), ("/b", MetaProperties(cluster_id="d", node_id=1))]),
        (1, "c", [("/a", a), ("/b", a)]),
    ):
        with pytest.raises(ConfigError):
            check_same_node(found, node, cluster)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("topic-0", TopicPartition("topic", 0)),
        ("a-b-c-12", TopicPartition("a-b-c", 12)),
        ("topic", None),
        ("topic-", None),
        ("topic--1", TopicPartition("topic-", 1)),
        ("topic-01", None),
        ("-1", None),
        ("..-1", None),
        ("to pic-1", None),
        ("topic-99999999999", None),
        ("topic-٣", None),
        (f"topic-0.{'a' * 32}-delete", None),
        ("lost+found", None),
    ],
)
def test_partition_directories(name: str, expected: TopicPartition | None) -> None:
    assert file_names.parse_partition_dir(name) == expected


def test_marked_directories_fit_the_file_system() -> None:
    name = file_names.marked_dir_name(TopicPartition("t" * 249, 12345), "ab" * 16, "-delete")
    assert len(name) == 255
    assert name.endswith(f"-12345.{'ab' * 16}-delete")
    assert file_names.parse_marked_dir(name) == (name.partition(".")[0], "-delete")
    assert file_names.parse_offset_name("00000000000000000042.timeindex") == (42, ".timeindex")
    assert file_names.parse_offset_name("42.log") is None
    assert file_names.offset_name(42, ".log") == "00000000000000000042.log"
