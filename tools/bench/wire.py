"""Pre-built frames, and the few exchanges that set the stage for a load: create, produce, list offsets."""

from __future__ import annotations

import socket
import struct
import time
from typing import Any

from kbroker.protocol.api_keys import ApiKey, response_class
from kbroker.protocol.generated.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kbroker.protocol.generated.delete_topics_request import DeleteTopicsRequest
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kbroker.protocol.generated.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.record_batch import Record, build_batch
from tools.frame_headers import parse_response_header, request_header_bytes

# Versions by topic name, which both brokers speak.
VERSIONS = {
    ApiKey.PRODUCE: 9,
    ApiKey.FETCH: 12,
    ApiKey.LIST_OFFSETS: 7,
    ApiKey.CREATE_TOPICS: 7,
    ApiKey.DELETE_TOPICS: 5,
    ApiKey.FIND_COORDINATOR: 3,
    ApiKey.JOIN_GROUP: 7,
    ApiKey.SYNC_GROUP: 5,
    ApiKey.HEARTBEAT: 4,
    ApiKey.OFFSET_COMMIT: 8,
    ApiKey.OFFSET_FETCH: 8,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: 1,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: 1,
    ApiKey.SHARE_GROUP_HEARTBEAT: 1,
    ApiKey.SHARE_FETCH: 1,
}
_ALREADY_EXISTS = 36


def frame(request: Any) -> bytes:
    """Length, header and body of a request."""
    key = ApiKey(request.API_KEY)
    version = VERSIONS[key]
    payload = request_header_bytes(key, version, 1, "bench") + request.encode(version)
    return struct.pack(">i", len(payload)) + payload


def produce_frame(
    topic: str, value_bytes: int, records: int = 1, acks: int = -1, partition: int = 0
) -> bytes:
    """One Produce request with one batch."""
    now_ms = int(time.time() * 1000)
    batch = build_batch([Record(-1, now_ms, None, b"x" * value_bytes) for _ in range(records)])
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=partition, records=batch)])
    return frame(ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=[data]))


def fetch_frame(topic: str, offset: int, max_bytes: int) -> bytes:
    """One Fetch request outside any session; with `max_bytes` 1 it gets exactly the batch at `offset`."""
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    topics = [FetchTopic(topic=topic, partitions=[partition])]
    return frame(
        FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=max_bytes, session_epoch=-1, topics=topics)
    )


def connect(address: tuple[str, int]) -> socket.socket:
    """A blocking connection without Nagle's delay."""
    sock = socket.create_connection(address, timeout=30)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def ask(sock: socket.socket, framed: bytes) -> tuple[Any, int]:
    """Send one frame; the decoded answer and how many bytes it took, length prefix included."""
    sock.sendall(framed)
    (size,) = struct.unpack(">i", exactly(sock, 4))
    body = exactly(sock, size)
    key, version = struct.unpack_from(">hh", framed, 4)
    _, start = parse_response_header(body, key, version)
    return response_class(ApiKey(key)).decode(body, version, start), size + 4


def answer(sock: socket.socket, key: ApiKey) -> Any:
    """The next answer, to a request of that kind sent before."""
    body = exactly(sock, struct.unpack(">i", exactly(sock, 4))[0])
    _, start = parse_response_header(body, key, VERSIONS[key])
    return response_class(key).decode(body, VERSIONS[key], start)


def exactly(sock: socket.socket, count: int) -> bytes:
    """The next `count` bytes."""
    parts = bytearray()
    while len(parts) < count:
        got = sock.recv(min(count - len(parts), 1 << 20))
        if not got:
            raise ConnectionError("the broker closed the connection")
        parts += got
    return bytes(parts)


def create_topics(sock: socket.socket, *names: str, partitions: int = 1, **configs: str) -> None:
    """Topics of one partition, or as many as asked for; those that exist are left alone."""
    settings = [
        CreatableTopicConfig(name=name.replace("_", "."), value=value) for name, value in configs.items()
    ]
    topics = [
        CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, configs=settings)
        for name in names
    ]
    answer, _ = ask(sock, frame(CreateTopicsRequest(topics=topics, timeout_ms=30_000)))
    for topic in answer.topics:
        if topic.error_code not in (0, _ALREADY_EXISTS):
            raise RuntimeError(f"creating {topic.name}: error {topic.error_code} {topic.error_message}")


def delete_topic(sock: socket.socket, name: str) -> None:
    """Delete, so that the files of one load do not weigh on the next."""
    ask(sock, frame(DeleteTopicsRequest(topic_names=[name], timeout_ms=30_000)))


def end_offset(sock: socket.socket, topic: str) -> int:
    """The offset after the last record of partition 0."""
    partition = ListOffsetsPartition(partition_index=0, timestamp=-1)
    topics = [ListOffsetsTopic(name=topic, partitions=[partition])]
    answer, _ = ask(sock, frame(ListOffsetsRequest(replica_id=-1, topics=topics)))
    return int(answer.topics[0].partitions[0].offset)


def produced(answer: Any) -> int:
    """The error code of a Produce answer."""
    return int(answer.responses[0].partition_responses[0].error_code)


def produce_until_accepted(sock: socket.socket, framed: bytes) -> int:
    """Repeat a Produce while the topic is not ready yet; the size of the answer."""
    deadline = time.monotonic() + 30
    while True:
        answer, size = ask(sock, framed)
        if produced(answer) == 0:
            return size
        if time.monotonic() > deadline:
            raise RuntimeError(f"produce is refused with error {produced(answer)}")
        time.sleep(0.002)
