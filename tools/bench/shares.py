"""The line of share groups: deliveries a second that are acknowledged (KIP-932).

Some members, a partition and a connection each. A member fetches up to 500 records and accepts them with its
next ShareFetch, for a time and over a log that was filled before. What is counted was given to a member; the
records are not looked at.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kbroker.protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.generated.share_fetch_request import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ShareFetchRequest,
)
from kbroker.protocol.generated.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kbroker.protocol.record_batch import Record, build_batch
from tools.bench import wire
from tools.bench.groups import find_coordinator

if TYPE_CHECKING:
    from tools.bench.brokers import BrokerProcess

#: Records that a ShareFetch may get; as many are in a batch of the log.
RECORDS = 500
_ACCEPT = 1
_GROUP_RESOURCE, _SET = 32, 0
_PATIENCE_S = 30.0


def fill(broker: BrokerProcess, topic: str, partitions: int, batches: int, size: int) -> None:
    """Write so many batches to each partition."""
    batch = build_batch([Record(-1, int(time.time() * 1000), None, b"x" * size) for _ in range(RECORDS)])
    data = [PartitionProduceData(index=index, records=batch) for index in range(partitions)]
    topic_data = [TopicProduceData(name=topic, partition_data=data)]
    framed = wire.frame(ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=topic_data))
    sock = wire.connect(broker.address)
    wire.create_topics(sock, topic, partitions=partitions)
    wire.produce_until_accepted(sock, framed)
    for _ in range(batches - 1):
        answer, _ = wire.ask(sock, framed)
        if wire.produced(answer):
            raise RuntimeError(f"produce is refused with error {wire.produced(answer)}")
    sock.close()


class ShareMember:
    """A member of a share group on a connection of its own."""

    def __init__(self, broker: BrokerProcess, group: str, topic: str, number: int) -> None:
        self._sock = wire.connect(broker.address)
        self._group, self._topic = group, topic
        self._member_id = f"member-{number:022}"
        self._member_epoch = self._session_epoch = 0
        self._places: list[tuple[bytes, int]] = []
        self._topics: list[FetchTopic] = []

    def heartbeat(self) -> list[tuple[bytes, int]]:
        """Join, or stay; the partitions that it is to fetch."""
        request = ShareGroupHeartbeatRequest(
            group_id=self._group,
            member_id=self._member_id,
            member_epoch=self._member_epoch,
            subscribed_topic_names=None if self._member_epoch else [self._topic],
        )
        answer, _ = wire.ask(self._sock, wire.frame(request))
        if answer.error_code:
            raise RuntimeError(f"a share heartbeat is refused: {answer.error_message}")
        self._member_epoch = answer.member_epoch
        if answer.assignment is not None:
            self._places = [
                (topic.topic_id, index)
                for topic in answer.assignment.topic_partitions
                for index in topic.partitions
            ]
        return self._places

    def ask(self) -> None:
        """Ask for records, and accept those of the last answer."""
        if self._session_epoch == 0:
            self._topics = [
                FetchTopic(topic_id=topic_id, partitions=[FetchPartition(partition_index=index)])
                for topic_id, index in self._places
            ]
        request = ShareFetchRequest(
            group_id=self._group,
            member_id=self._member_id,
            share_session_epoch=self._session_epoch,
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=1 << 20,
            max_records=RECORDS,
            batch_size=RECORDS,
            topics=self._topics,
        )
        self._session_epoch += 1
        self._sock.sendall(wire.frame(request))

    def take(self) -> int:
        """Read the answer; how many records were given."""
        answer: Any = wire.answer(self._sock, wire.ApiKey.SHARE_FETCH)
        if answer.error_code:
            raise RuntimeError(f"a ShareFetch is refused with error {answer.error_code}")
        count, self._topics = 0, []
        for topic in answer.responses:
            partitions = []
            for part in topic.partitions:
                if part.error_code or part.acknowledge_error_code:
                    codes = part.error_code, part.acknowledge_error_code
                    raise RuntimeError(f"a share partition answers with errors {codes}")
                batches = [
                    AcknowledgementBatch(
                        first_offset=each.first_offset,
                        last_offset=each.last_offset,
                        acknowledge_types=[_ACCEPT],
                    )
                    for each in part.acquired_records
                ]
                count += sum(each.last_offset - each.first_offset + 1 for each in batches)
                partitions.append(
                    FetchPartition(partition_index=part.partition_index, acknowledgement_batches=batches)
                )
            self._topics.append(FetchTopic(topic_id=topic.topic_id, partitions=partitions))
        return count

    def close(self) -> None:
        """Leave without a word."""
        self._sock.close()


def join(broker: BrokerProcess, group: str, topic: str, count: int) -> list[ShareMember]:
    """Members of a new group, all with partitions, that begins with the first record."""
    find_coordinator(broker, group)
    config = AlterableConfig(name="share.auto.offset.reset", config_operation=_SET, value="earliest")
    resource = AlterConfigsResource(resource_type=_GROUP_RESOURCE, resource_name=group, configs=[config])
    sock = wire.connect(broker.address)
    wire.ask(sock, wire.frame(IncrementalAlterConfigsRequest(resources=[resource])))
    sock.close()
    members = [ShareMember(broker, group, topic, number) for number in range(count)]
    deadline = time.monotonic() + _PATIENCE_S
    # Each of them, every time.
    while not all(list(map(ShareMember.heartbeat, members))):
        if time.monotonic() > deadline:
            raise RuntimeError(f"not all members of {group} have partitions")
        time.sleep(0.1)
    return members


def deliver(members: list[ShareMember], seconds: float, most: int) -> tuple[int, float]:
    """How many records were given out, and in how many seconds, until the time is over or all are."""
    began = time.monotonic()
    count = 0
    for member in members:
        member.ask()
    waiting = list(members)
    while waiting:
        for member in list(waiting):
            count += member.take()
            if time.monotonic() - began < seconds and count + RECORDS * len(members) <= most:
                member.ask()
            else:
                waiting.remove(member)
    return count, time.monotonic() - began
