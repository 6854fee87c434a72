"""Produce and fetch records: enough for a person at a terminal and for tests, not for throughput."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check
from kbroker.errors import ErrorCode
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.compression import Codec
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kbroker.protocol.generated.fetch_response import FetchResponse
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.generated.produce_response import ProduceResponse
from kbroker.protocol.record_batch import Record, build_batch, decode_records, iter_batches
from kbroker.types import TopicPartition

#: The newest versions that name topics; later ones have ids.
_PRODUCE_BY_NAME = _FETCH_BY_NAME = 12


class Fetched(NamedTuple):
    """What came of one partition: records from the offset asked for, and where to go on."""

    records: list[Record]
    next_offset: int
    high_watermark: int


def produce(
    cluster: Cluster,
    partition: TopicPartition,
    records: Sequence[Record],
    *,
    codec: int = Codec.NONE,
    acks: int = -1,
) -> int:
    """Append one batch and return its first offset.

    Args:
        acks: -1 (all in-sync replicas) or 1.

    Raises:
        ApiError: refused.
    """
    ((leader, _),) = cluster.leaders([partition]).items()
    batch = build_batch([record._replace(offset=-1) for record in records], codec=codec)
    data = PartitionProduceData(index=partition.partition, records=batch)
    request = ProduceRequest(
        acks=acks,
        timeout_ms=int(cluster.timeout_s * 1000),
        topic_data=[TopicProduceData(name=partition.topic, partition_data=[data])],
    )
    connection = cluster.node(leader)
    version = connection.version(ApiKey.PRODUCE, _PRODUCE_BY_NAME)
    answer = connection.ask(request, ProduceResponse, version=version)
    (result,) = answer.responses[0].partition_responses
    check(result.error_code, result.error_message, str(partition))
    return result.base_offset


def fetch(
    cluster: Cluster,
    offsets: Mapping[TopicPartition, int],
    *,
    max_wait_ms: int = 500,
    max_bytes: int = 1 << 20,
    read_committed: bool = False,
) -> dict[TopicPartition, Fetched]:
    """Records from these offsets on; the leaders are asked one after the other.

    Raises:
        ApiError: OFFSET_OUT_OF_RANGE, or refused.
    """
    found: dict[TopicPartition, Fetched] = {}
    for leader, partitions in cluster.leaders(offsets).items():
        topics: dict[str, list[FetchPartition]] = {}
        for tp in partitions:
            entry = FetchPartition(
                partition=tp.partition, fetch_offset=offsets[tp], partition_max_bytes=max_bytes
            )
            topics.setdefault(tp.topic, []).append(entry)
        request = FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=max_bytes,
            isolation_level=int(read_committed),
            topics=[FetchTopic(topic=name, partitions=entries) for name, entries in topics.items()],
        )
        connection = cluster.node(leader)
        version = connection.version(ApiKey.FETCH, _FETCH_BY_NAME)
        answer = connection.ask(request, FetchResponse, version=version)
        check(answer.error_code)
        for topic in answer.responses:
            for part in topic.partitions:
                tp = TopicPartition(topic.topic, part.partition_index)
                if part.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                    check(part.error_code, f"offset {offsets[tp]} is out of range", str(tp))
                check(part.error_code, what=str(tp))
                aborted = [(a.producer_id, a.first_offset) for a in part.aborted_transactions or []]
                records, next_offset = read_batches(part.records or b"", offsets[tp], aborted)
                found[tp] = Fetched(records, next_offset, part.high_watermark)
    return found


def read_batches(
    data: bytes | bytearray | memoryview, offset: int, aborted: Sequence[tuple[int, int]] = ()
) -> tuple[list[Record], int]:
    """What a consumer sees of fetched bytes: from `offset` on, no control records, nothing aborted.

    Args:
        aborted: (producer id, first offset) of aborted transactions, as a read-committed fetch tells them.

    Returns:
        records, and the offset to fetch next.

    Raises:
        ApiError: the batches are damaged.
    """
    records: list[Record] = []
    next_offset = offset
    waiting = sorted(aborted, key=lambda entry: entry[1])
    aborting: set[int] = set()
    for header in iter_batches(data):
        while waiting and waiting[0][1] <= header.last_offset:
            aborting.add(waiting.pop(0)[0])
        next_offset = max(next_offset, header.next_offset)
        if header.is_control:
            aborting.discard(header.producer_id)  # the marker ends it
        elif not (header.is_transactional and header.producer_id in aborting):
            records += [record for record in decode_records(data, header) if record.offset >= offset]
    return records, next_offset


def partition_for_key(key: bytes, partitions: int) -> int:
    """The partition where Java's and most other producers put records of this key (murmur2)."""
    return (murmur2(key) & 0x7FFF_FFFF) % partitions


def murmur2(data: bytes) -> int:
    """MurmurHash2 of 32 bits with the seed of Kafka's producers."""
    mask, mix = 0xFFFF_FFFF, 0x5BD1_E995
    value = 0x9747_B28C ^ len(data)
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        word = int.from_bytes(data[start : start + 4], "little") * mix & mask
        word = (word ^ word >> 24) * mix & mask
        value = value * mix & mask ^ word
    if rest := data[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * mix & mask
    value = (value ^ value >> 13) * mix & mask
    return value ^ value >> 15
