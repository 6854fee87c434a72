"""Data folders of Apache Kafka on the real disk, and what a broker serves of a folder."""

from __future__ import annotations

import gzip
import json
import tarfile
from pathlib import Path

from kbroker.client.cluster import Cluster
from kbroker.client.group_offsets import committed_offsets
from kbroker.client.groups import list_groups
from kbroker.client.offsets import EARLIEST, LATEST, list_offsets
from kbroker.client.records import read_batches
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kbroker.protocol.generated.fetch_response import FetchResponse
from kbroker.protocol.record_batch import check_crc, iter_batches
from kbroker.server.os_disk import OsDisk
from kbroker.types import TopicPartition
from tests.storage.kafka_dirs import DATA, changes, damage

#: As the brokers ran that wrote the folders: nothing expires, nothing is cleaned while we look.
SETTINGS = {
    "log.retention.ms": "-1",
    "producer.id.expiration.ms": "2147483647",
    "offsets.retention.minutes": "20000000",
    "log.cleaner.enable": "false",
}


def unpack(name: str, target: Path, variant: str = "base") -> Path:
    """The archive's files below `target`; its data folder."""
    for archive in (DATA / f"{name}.tar.gz", DATA / f"{name}.metadata.tar.gz"):
        if archive.exists():
            with tarfile.open(archive) as tar:
                tar.extractall(target, filter="data")
    for change in changes(name) if variant != "base" else ():
        if change["variant"] == variant:
            damage(OsDisk(), str(target / "data" / change["file"]), change)
    return target / "data"


def kafka_told(name: str) -> dict:
    """Groups and settings, as Kafka's own client listed them."""
    with gzip.open(DATA / f"{name}.admin.json.gz") as file:
        return json.load(file)


def raw_fetch(cluster: Cluster, tp: TopicPartition, offset: int, committed: bool = False):
    """One partition of one Fetch answer."""
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        isolation_level=int(committed),
        topics=[
            FetchTopic(
                topic=tp.topic,
                partitions=[
                    FetchPartition(partition=tp.partition, fetch_offset=offset, partition_max_bytes=1 << 20)
                ],
            )
        ],
    )
    (node_id,) = cluster.leaders([tp])
    answer = cluster.node(node_id).ask(request, FetchResponse, version=12)
    part = answer.responses[0].partitions[0]
    assert part.error_code == 0, f"{tp} at {offset}: error {part.error_code}"
    return part


def batches(cluster: Cluster, tp: TopicPartition, offset: int, end: int) -> list[list[int]]:
    """[base offset, last offset, crc, size] of every batch."""
    found = []
    while offset < end:
        data = raw_fetch(cluster, tp, offset).records
        before = offset
        for header in iter_batches(data):
            assert check_crc(data, header)
            found.append([header.base_offset, header.last_offset, header.crc, header.size])
            offset = header.next_offset
        assert offset > before, f"{tp} ends at {offset}, not at {end}"
    return found


def committed_records(cluster: Cluster, tp: TopicPartition) -> list[tuple[int, bytes | None, bytes | None]]:
    """What a read_committed consumer sees: (offset, key, value)."""
    offset = list_offsets(cluster, [tp], EARLIEST)[tp].offset
    end = list_offsets(cluster, [tp], LATEST, read_committed=True)[tp].offset
    found = []
    while offset < end:
        part = raw_fetch(cluster, tp, offset, committed=True)
        aborted = [(each.producer_id, each.first_offset) for each in part.aborted_transactions or ()]
        records, next_offset = read_batches(part.records, offset, aborted)
        found += [(record.offset, record.key, record.value) for record in records]
        assert next_offset > offset
        offset = next_offset
    return found


def served(bootstrap: str, topics: list[str]) -> dict:
    """Everything that consumers and groups could ask: to compare two brokers on one folder."""
    with Cluster(bootstrap) as cluster:
        found: dict = {}
        partitions = [
            TopicPartition(topic.name, part.partition_index)
            for topic in cluster.metadata(topics).topics
            for part in topic.partitions
        ]
        starts, ends = list_offsets(cluster, partitions, EARLIEST), list_offsets(cluster, partitions, LATEST)
        for tp in partitions:
            found[str(tp)] = (
                starts[tp].offset,
                ends[tp].offset,
                batches(cluster, tp, starts[tp].offset, ends[tp].offset),
                committed_records(cluster, tp),
            )
        for group in list_groups(cluster):
            offsets = {str(tp): each.offset for tp, each in committed_offsets(cluster, group.id).items()}
            found[f"group {group.id}"] = (group.type, group.state, offsets)
        return found
