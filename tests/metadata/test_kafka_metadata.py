"""The metadata log and snapshots that Apache Kafka 4.4.0 wrote itself."""

from __future__ import annotations

import pytest

from kbroker.broker.metadata_loader import MetadataLoader
from kbroker.metadata.delta import MetadataCorruption
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.records import decode_record, encode_record
from kbroker.metadata.snapshot import image_records
from kbroker.raft.batches import RaftLogCorruption, check_snapshot, read_items, snapshot_batches
from kbroker.raft.snapshot import parse_snapshot_file_name
from kbroker.types import OffsetAndEpoch
from tests.metadata.kafka_log import LOG, SNAPSHOTS


def loaded(snapshot=None):
    loader = MetadataLoader(ClusterImage("goldenDiskSingleAAAAAA"))
    if snapshot is not None:
        loader.load_snapshot(list(read_items(SNAPSHOTS[snapshot])), parse_snapshot_file_name(snapshot))
    loader.load(read_items(LOG))
    return loader


@pytest.fixture(scope="module")
def replayed():
    return loaded()


def test_the_whole_log_folds(replayed):
    image = replayed.image()
    assert image.offset == 332
    assert image.features["metadata.version"] == 33
    assert image.kraft_version == 1
    assert [voter.id for voter in replayed.rules.voters] == [1]
    assert image.topics.get("doomed") is None
    assert len(image.topics.get("three-partitions").partitions) == 3
    assert image.topic_config("overridden")["compression.type"] == "zstd"
    assert image.next_producer_id == 3000
    assert image.quotas[(("client-id", "app-1"), ("user", "alice"))] == {"producer_byte_rate": 5000.0}
    assert ("alice", 2) in image.scram
    assert ("passing", 1) not in image.scram
    assert len(image.acls) == 8
    assert image.brokers[1].rack == "rack-a"


@pytest.mark.parametrize("snapshot", sorted(SNAPSHOTS)[1:])
def test_a_snapshot_and_the_rest_come_to_the_same(replayed, snapshot):
    assert loaded(snapshot).image() == replayed.image()


def test_every_record_is_written_back_byte_by_byte():
    values = [
        value for data in [LOG, *SNAPSHOTS.values()] for item in read_items(data) for value in item.values
    ]
    assert len(values) > 500
    for value in values:
        assert encode_record(decode_record(value), 33) == value


def test_our_own_snapshot_of_the_image_gives_it_back(replayed):
    image = replayed.image()
    values = [encode_record(record, 33) for record in image_records(image)]
    data = b"".join(snapshot_batches(values, replayed.rules, epoch=3, last_log_timestamp_ms=5, now_ms=6))
    loader = MetadataLoader(ClusterImage(image.cluster_id))
    loader.load_snapshot(list(read_items(data)), OffsetAndEpoch(image.offset + 1, image.epoch))
    assert loader.image() == image
    assert loader.last_timestamp_ms == 5


@pytest.mark.parametrize("cut", [1, 74, 75, 76, 5000])
def test_a_snapshot_cut_short_is_refused(cut):
    name = sorted(SNAPSHOTS)[-1]
    with pytest.raises(RaftLogCorruption):
        check_snapshot(list(read_items(SNAPSHOTS[name][:-cut])), parse_snapshot_file_name(name))


@pytest.mark.parametrize("position", [30, 70, 400, 5000])
def test_a_flipped_bit_is_seen(position):
    name = sorted(SNAPSHOTS)[-1]
    data = bytearray(SNAPSHOTS[name])
    data[position] ^= 0x10
    with pytest.raises(RaftLogCorruption):
        list(read_items(bytes(data)))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"", "frame"),
        (b"\x02\x02\x00", "frame"),
        (b"\x01\x63\x00", "unknown metadata record type 99"),
        (b"\x01\x02\x09", "newer"),
        (b"\x01\x02\x00\x05ab", "malformed"),
    ],
)
def test_values_that_are_no_record(value, message):
    with pytest.raises(MetadataCorruption, match=message):
        decode_record(value)
