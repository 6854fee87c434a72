"""Produce and fetch records: enough for a person at a terminal and for tests, not for throughput."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check
from kbroker.errors import ErrorCode
from kbroker.protocol.compression import Codec
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kbroker.protocol.generated.fetch_response import FetchResponse, PartitionData
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.generated.produce_response import PartitionProduceResponse, ProduceResponse
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
    batch = build_batch([record._replace(offset=-1) for record in records], codec=codec)

    def request(partitions: dict[str, list[int]]) -> ProduceRequest:
        data = PartitionProduceData(index=partition.partition, records=batch)
        topic = TopicProduceData(name=partition.topic, partition_data=[data])
        return ProduceRequest(acks=acks, timeout_ms=int(cluster.timeout_s * 1000), topic_data=[topic])

    def results(
        answer: ProduceResponse,
    ) -> Iterator[tuple[TopicPartition, int, PartitionProduceResponse]]:
        for topic in answer.responses:
            for part in topic.partition_responses:
                yield partition, part.error_code, part

    found = cluster.ask_leaders(
        [partition], request, ProduceResponse, results, newest_version=_PRODUCE_BY_NAME
    )
    result = found[partition]
    check(result.error_code, result.error_message, str(partition), needs="WRITE", on=partition.topic)
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

    def request(partitions: dict[str, list[int]]) -> FetchRequest:
        topics = [
            FetchTopic(
                topic=name,
                partitions=[
                    FetchPartition(
                        partition=index,
                        fetch_offset=offsets[TopicPartition(name, index)],
                        partition_max_bytes=max_bytes,
                    )
                    for index in indexes
                ],
            )
            for name, indexes in partitions.items()
        ]
        return FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=max_bytes,
            isolation_level=int(read_committed),
            topics=topics,
        )

    def results(answer: FetchResponse) -> Iterator[tuple[TopicPartition, int, PartitionData]]:
        check(answer.error_code)
        for topic in answer.responses:
            for part in topic.partitions:
                yield TopicPartition(topic.topic, part.partition_index), part.error_code, part

    answers = cluster.ask_leaders(offsets, request, FetchResponse, results, newest_version=_FETCH_BY_NAME)
    found = {}
    for tp, part in answers.items():
        if part.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            check(part.error_code, f"offset {offsets[tp]} is out of range", str(tp))
        check(part.error_code, what=str(tp), needs="READ", on=tp.topic)
        aborted = [(entry.producer_id, entry.first_offset) for entry in part.aborted_transactions or []]
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
