"""Members of a streams group in a chaos run, by our own wire client: which tasks they were told to be theirs,
and what they committed as their owners.
"""

from __future__ import annotations

import random
import time
import uuid

from kbroker.client.cluster import Cluster as WireClient
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.errors import ClientError, check
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated import streams_group_heartbeat_request as api
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.protocol.generated.offset_commit_response import OffsetCommitResponse
from kbroker.protocol.generated.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kbroker.protocol.generated.offset_fetch_response import OffsetFetchResponse
from kbroker.protocol.generated.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from tests.chaos.cluster.history import Commit, Committed, Held, History, Told
from tests.chaos.cluster.workload import Client

STREAMS_GROUP = "streamers"
#: For the brokers: members that are missed soon, and assignments without a pause.
SETTINGS = {
    f"group.streams.{name}.ms": value
    for name, value in {
        "session.timeout": 6000,
        "min.session.timeout": 6000,
        "heartbeat.interval": 500,
        "min.heartbeat.interval": 500,
        "assignment.interval": 0,
        "min.assignment.interval": 0,
        "initial.rebalance.delay": 0,
    }.items()
}
_TURN_S = 0.4
_LIVES_S = (4.0, 20.0)
#: Lives that end without a word.
_SILENT = 0.3
#: Commits that a broker answers with one of these were not written.
_REFUSED = {
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.STALE_MEMBER_EPOCH,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
}


def with_copies(bootstrap: str) -> None:
    """Each task has a standby, in another process."""
    with WireClient(bootstrap) as client:
        alter_configs(client, ResourceType.GROUP, STREAMS_GROUP, set_={"streams.num.standby.replicas": "1"})


class Streamer(Client):
    """Commits a next offset for each task of its own; leaves after a while, or is silent, and comes anew."""

    def __init__(self, history: History, bootstrap: str, number: int, topic: str) -> None:
        super().__init__(history, bootstrap, f"streamer-{number}")
        self._topic = topic
        self._random = random.Random(number)
        self._client = WireClient(bootstrap, timeout_s=5)
        self._topology = api.Topology(
            epoch=0,
            subtopologies=[
                api.Subtopology(
                    subtopology_id="0",
                    source_topics=[topic],
                    state_changelog_topics=[api.TopicInfo(name=f"{STREAMS_GROUP}-state-changelog")],
                )
            ],
        )
        #: Whether it is to live on: whoever fell silent keeps its tasks until its session ends.
        self.stays = False
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._member_id = str(uuid.uuid4())
        self._epoch = 0
        #: Active tasks -> since when; the offset that is committed.
        self.tasks: dict[int, float] = {}
        self._positions: dict[int, int] = {}
        self._standby: list[int] = []
        #: What it owns has to be told: nobody knows whether the last word was heard.
        self._unsaid = True
        self._until = time.monotonic() + self._random.uniform(*_LIVES_S)

    def work(self) -> None:
        while not self.stopping.wait(_TURN_S):
            try:
                self._turn()
            except (ApiError, ClientError, OSError):
                self._client.close()
                self._unsaid = True
        self._client.close()

    def _turn(self) -> None:
        if time.monotonic() > self._until and not self.stays:
            leaves = self._epoch > 0 and self._random.random() > _SILENT
            request = api.StreamsGroupHeartbeatRequest(
                group_id=STREAMS_GROUP, member_id=self._member_id, member_epoch=-1
            )
            self._begin_anew()
            if leaves:
                self._ask(request, StreamsGroupHeartbeatResponse, 1)
            return
        self._beat()
        for index in list(self.tasks):
            self._commit(index)

    def _ask(self, request: object, response: type, version: int) -> object:
        return self._client._ask_at(self._client.coordinator(STREAMS_GROUP), request, response, version)

    def _beat(self) -> None:
        request = api.StreamsGroupHeartbeatRequest(
            group_id=STREAMS_GROUP, member_id=self._member_id, member_epoch=self._epoch
        )
        if self._epoch == 0:
            request.rebalance_timeout_ms = 10_000
            request.process_id = self.name
            request.client_tags = []
            request.topology = self._topology
        if self._unsaid:
            request.active_tasks = _said(list(self.tasks))
            request.standby_tasks = _said(self._standby)
            request.warmup_tasks = []
        answer = self._ask(request, StreamsGroupHeartbeatResponse, 1)
        if answer.error_code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH):
            self._begin_anew()
        check(answer.error_code, answer.error_message, "a heartbeat")
        self._epoch, self._unsaid = answer.member_epoch, False
        if answer.active_tasks is not None:
            self._take(_heard(answer.active_tasks), _heard(answer.standby_tasks))
        for index in self.tasks:
            self.history.told.append(Told(self._member_id, (self._topic, index), self._epoch))

    def _take(self, active: list[int], standby: list[int]) -> None:
        now = time.monotonic()
        self._unsaid = (set(active), standby) != (set(self.tasks), self._standby)
        self._positions = {index: each for index, each in self._positions.items() if index in active}
        self.tasks = {index: self.tasks.get(index, now) for index in active}
        self._standby = standby

    def _commit(self, index: int) -> None:
        if index not in self._positions:
            self._positions[index] = self._committed(index)
        offset = self._positions[index] + 1
        part = OffsetCommitRequestPartition(
            partition_index=index, committed_offset=offset, committed_metadata=""
        )
        request = OffsetCommitRequest(
            group_id=STREAMS_GROUP,
            generation_id_or_member_epoch=self._epoch,
            member_id=self._member_id,
            topics=[OffsetCommitRequestTopic(name=self._topic, partitions=[part])],
        )
        since, member, began = self.tasks[index], self._member_id, time.monotonic()
        try:
            answer = self._ask(request, OffsetCommitResponse, 9)
            code = ErrorCode(answer.topics[0].partitions[0].error_code)
        except (ApiError, ClientError, OSError):
            # It may come late, but only as long as this member is one: nobody commits there before.
            self._begin_anew()
            raise
        ended = time.monotonic()
        if code is ErrorCode.NONE:
            key = self._topic, index
            self._positions[index] = offset
            self.history.commits.append(Commit(STREAMS_GROUP, key, offset, began, ended))
            self.history.held.append(Held(STREAMS_GROUP, member, key, since, began, ended))
        elif code not in _REFUSED:
            self._begin_anew()

    def _committed(self, index: int) -> int:
        """The offset that whoever had the task before left; -1: none."""
        topic = OffsetFetchRequestTopics(name=self._topic, partition_indexes=[index])
        group = OffsetFetchRequestGroup(
            group_id=STREAMS_GROUP, member_id=self._member_id, member_epoch=self._epoch, topics=[topic]
        )
        began = time.monotonic()
        answer = self._ask(OffsetFetchRequest(groups=[group]), OffsetFetchResponse, 9)
        [found] = answer.groups
        check(found.error_code, None, "committed offsets")
        [part] = found.topics[0].partitions
        check(part.error_code, None, "a committed offset")
        look = Committed(STREAMS_GROUP, (self._topic, index), part.committed_offset, began, time.monotonic())
        self.history.committed.append(look)
        return part.committed_offset


def _said(indexes: list[int]) -> list[api.TaskIds]:
    return [api.TaskIds(subtopology_id="0", partitions=indexes)] if indexes else []


def _heard(tasks: list) -> list[int]:
    return [index for each in tasks or () for index in each.partitions]
