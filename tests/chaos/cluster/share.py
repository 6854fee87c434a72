"""Members of a share group in a chaos run, by our own wire client: what they were given, and said of it."""

from __future__ import annotations

import random
import re
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable

from kbroker.client.cluster import Cluster as WireClient
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.errors import ClientError, check
from kbroker.client.records import fetch
from kbroker.coordinator.share.acknowledgement import ACCEPT, REJECT, RELEASE
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kbroker.protocol.generated.share_acknowledge_response import ShareAcknowledgeResponse
from kbroker.protocol.generated.share_fetch_request import FetchPartition, FetchTopic, ShareFetchRequest
from kbroker.protocol.generated.share_fetch_response import PartitionData, ShareFetchResponse
from kbroker.protocol.generated.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kbroker.protocol.generated.share_group_heartbeat_response import ShareGroupHeartbeatResponse
from kbroker.protocol.record_batch import Record, decode_records, iter_batches
from kbroker.types import TopicPartition
from tests.chaos.cluster.checker import without_letters
from tests.chaos.cluster.history import Given, History, Key, Letter, Read, Said, decode
from tests.chaos.cluster.workload import Client

SHARE_GROUP = "workers"
DEAD_LETTERS = "dlq.workers"
#: So often a record is given out before it is given up (the most that Kafka allows by default).
DELIVERIES_MAX = 10
#: For the brokers: members and locks that end soon enough to be seen.
SETTINGS = {
    "group.share.record.lock.duration.ms": 2000,
    "group.share.min.record.lock.duration.ms": 1000,
    "group.share.session.timeout.ms": 6000,
    "group.share.min.session.timeout.ms": 6000,
    "group.share.heartbeat.interval.ms": 500,
    "group.share.min.heartbeat.interval.ms": 500,
    "share.coordinator.state.topic.num.partitions": 3,
}
#: Nothing came of an acknowledgement that was answered with one of these.
_REFUSED = {
    ErrorCode.INVALID_RECORD_STATE,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.SHARE_SESSION_NOT_FOUND,
    ErrorCode.INVALID_SHARE_SESSION_EPOCH,
}
_HEARTBEAT_S = 0.5
_FORGOTTEN, _GIVEN_BACK, _REJECTED = 0.04, 0.08, 0.04
_UNWRITTEN = re.compile(r"no dead letters of share group \S+ for records (\d+) to (\d+) of (\S+)-(\d+): (.*)")


def begin_at_the_start(bootstrap: str) -> None:
    """The group reads from the first record on, and gives none up early."""
    with WireClient(bootstrap) as client:
        wish = {
            "share.auto.offset.reset": "earliest",
            "share.delivery.count.limit": str(DELIVERIES_MAX),
            "errors.deadletterqueue.topic.name": DEAD_LETTERS,
        }
        alter_configs(client, ResourceType.GROUP, SHARE_GROUP, set_=wish)


def look_for_letters(history: History, bootstrap: str, partitions: int, logs: Iterable[str]) -> bool:
    """Note all dead letters, and those that brokers could not write, by their logs; whether that is all."""
    history.letters, history.unwritten = [], []
    with WireClient(bootstrap, timeout_s=20) as client:
        for index in range(partitions):
            place, offset = TopicPartition(DEAD_LETTERS, index), 0
            while True:
                found = fetch(client, {place: offset}, max_wait_ms=0)[place]
                history.letters += map(_letter, found.records)
                if found.next_offset == offset:
                    break
                offset = found.next_offset
    for log in logs:
        for first, last, topic, index, cause in _UNWRITTEN.findall(log):
            history.unwritten += [
                Letter((topic, int(index)), each, cause) for each in range(int(first), int(last) + 1)
            ]
    return not without_letters(history)


def _letter(record: Record) -> Letter:
    headers = {name.removeprefix("__dlq.errors."): (value or b"").decode() for name, value in record.headers}
    return Letter((headers["topic"], int(headers["partition"])), int(headers["offset"]), headers["message"])


class Worker(Client):
    """Accepts most of what it gets; gives some back, rejects some, and of some nothing is heard again."""

    def __init__(self, history: History, bootstrap: str, number: int, topic: str) -> None:
        super().__init__(history, bootstrap, f"worker-{number}")
        self._topic = topic
        self._random = random.Random(number)
        self._client = WireClient(bootstrap, timeout_s=5)
        self._member_id = str(uuid.uuid4())
        self._epoch = 0
        #: An answer may have been lost, and with it an assignment, which is told once.
        self._tells_all = True
        self._next_beat = 0.0
        self._places: list[tuple[bytes, int]] = []
        #: By leader: the epoch of the share session.
        self._sessions: dict[int, int] = {}
        self._leaders: dict[int, list[int]] = {}
        self._reads = 0

    def work(self) -> None:
        while not self.stopping.is_set():
            try:
                self._turn()
            except (ApiError, ClientError, OSError):
                self._begin_anew()
                self.stopping.wait(0.1)
        self._client.close()

    def _begin_anew(self) -> None:
        """Everything that is held goes back with the connections."""
        self._client.close()
        self._sessions.clear()
        self._leaders.clear()
        self._tells_all = True
        self._next_beat = 0.0

    def _turn(self) -> None:
        now = time.monotonic()
        if now >= self._next_beat:
            self._beat()
            self._next_beat = now + _HEARTBEAT_S
            self._look_for_leaders()
        if not self._leaders:
            self.stopping.wait(0.1)
        for leader, indexes in list(self._leaders.items()):
            self._fetch(leader, indexes)

    def _beat(self) -> None:
        request = ShareGroupHeartbeatRequest(
            group_id=SHARE_GROUP, member_id=self._member_id, member_epoch=self._epoch
        )
        if self._epoch == 0 or self._tells_all:
            request.subscribed_topic_names = [self._topic]
        answer = self._client._ask_at(
            self._client.coordinator(SHARE_GROUP), request, ShareGroupHeartbeatResponse, 1
        )
        if answer.error_code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH):
            self._epoch = 0
        check(answer.error_code, answer.error_message, "a heartbeat")
        self._epoch, self._tells_all = answer.member_epoch, False
        if answer.assignment is not None:
            self._places = [
                (each.topic_id, index)
                for each in answer.assignment.topic_partitions
                for index in each.partitions
            ]

    def _look_for_leaders(self) -> None:
        found: dict[int, list[int]] = defaultdict(list)
        for _, index in self._places:
            [leader] = self._client.leaders([TopicPartition(self._topic, index)])
            found[leader].append(index)
        if found != self._leaders:
            # Sessions begin anew, which gives back what is held in them.
            self._sessions.clear()
            self._leaders = dict(found)

    def _fetch(self, leader: int, indexes: list[int]) -> None:
        epoch = self._sessions.get(leader, 0)
        [topic_id] = {each for each, _ in self._places}
        topics = (
            [FetchTopic(topic_id=topic_id, partitions=[FetchPartition(partition_index=i) for i in indexes])]
            if epoch == 0
            else []
        )
        request = ShareFetchRequest(
            group_id=SHARE_GROUP,
            member_id=self._member_id,
            share_session_epoch=epoch,
            max_wait_ms=100,
            min_bytes=1,
            max_records=self._random.choice([10, 50, 500]),
            batch_size=self._random.choice([1, 20, 500]),
            share_acquire_mode=self._random.choice([0, 1]),
            topics=topics,
        )
        began = time.monotonic()
        answer = self._client._ask_at(self._client.node(leader), request, ShareFetchResponse, 2)
        ended = time.monotonic()
        check(answer.error_code, answer.error_message, "a share fetch")
        self._sessions[leader] = epoch + 1
        given = []
        for topic in answer.responses:
            for part in topic.partitions:
                if part.error_code:
                    raise ApiError(ErrorCode(part.error_code))
                given += self._taken((self._topic, part.partition_index), part, began, ended)
        chance = self._random.random()
        if given and chance >= _FORGOTTEN:
            chance -= _FORGOTTEN + _GIVEN_BACK
            kind = RELEASE if chance < 0 else REJECT if chance < _REJECTED else ACCEPT
            self._acknowledge(leader, topic_id, given, kind)

    def _taken(self, key: Key, part: PartitionData, began: float, ended: float) -> list[Given]:
        values = {
            record.offset: record.value
            for header in iter_batches(bytes(part.records or b""))
            for record in decode_records(bytes(part.records or b""), header)
        }
        found = []
        for each in part.acquired_records:
            given = Given(
                self.name, key, each.first_offset, each.last_offset, each.delivery_count, began, ended
            )
            found.append(given)
            self.history.given.append(given)
            self._reads += 1
            for offset in range(each.first_offset, each.last_offset + 1):
                read = Read(self.name, self._reads, key, offset, decode(values[offset] or b"", key))
                self.history.read.append(read)
        return found

    def _acknowledge(self, leader: int, topic_id: bytes, given: list[Given], kind: int) -> None:
        by_index: dict[int, list[AcknowledgementBatch]] = defaultdict(list)
        for each in given:
            by_index[each.key[1]].append(
                AcknowledgementBatch(first_offset=each.first, last_offset=each.last, acknowledge_types=[kind])
            )
        partitions = [
            AcknowledgePartition(partition_index=index, acknowledgement_batches=batches)
            for index, batches in by_index.items()
        ]
        epoch = self._sessions[leader]
        request = ShareAcknowledgeRequest(
            group_id=SHARE_GROUP,
            member_id=self._member_id,
            share_session_epoch=epoch,
            topics=[AcknowledgeTopic(topic_id=topic_id, partitions=partitions)],
        )
        began = time.monotonic()
        codes = dict.fromkeys(by_index, -1)
        try:
            answer = self._client._ask_at(self._client.node(leader), request, ShareAcknowledgeResponse, 2)
            codes = dict.fromkeys(by_index, answer.error_code)
            codes |= {
                part.partition_index: part.error_code
                for topic in answer.responses
                for part in topic.partitions
            }
            check(answer.error_code, answer.error_message, "an acknowledgement")
            self._sessions[leader] = epoch + 1
        finally:
            ended = time.monotonic()
            for each in given:
                code = codes[each.key[1]]
                outcome = "ok" if code == 0 else "fail" if code in _REFUSED else "info"
                self.history.said.append(
                    Said(each, kind != RELEASE, outcome, began, ended, rejected=kind == REJECT)
                )
