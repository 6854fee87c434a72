"""Commits, reads, deletions and expiry of offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kbroker.coordinator.group.group import Group
from kbroker.coordinator.group.limits import GroupLimits
from kbroker.coordinator.group.offsets import NO_EXPIRY, CommittedOffset, OffsetStore
from kbroker.coordinator.group.records import offset_record, offset_tombstone
from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Ticket, write_error
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import ZERO_UUID, Uuid

NO_PRODUCER = (-1, -1)
#: Version of OffsetCommit from which an unknown group is told from a wrong generation.
GROUP_NOT_FOUND_SINCE = 9


class Commit(NamedTuple):
    """An offset to commit; `timestamp_ms` None: now."""

    topic: str
    topic_id: Uuid
    partition: int
    offset: int
    leader_epoch: int
    metadata: str | None
    timestamp_ms: int | None = None


class Committing(NamedTuple):
    """An OffsetCommit of one group. `retention_ms` -1: the group's rules (OffsetCommit 2 to 4 may say
    otherwise).
    """

    group_id: str
    member_id: str
    instance_id: str | None
    generation: int
    version: int
    commits: Sequence[Commit]
    retention_ms: int = -1
    #: Id and epoch of the producer whose transaction this is part of (TxnOffsetCommit).
    producer: tuple[int, int] = NO_PRODUCER


class FetchedOffset(NamedTuple):
    """The answer for one partition; `committed` None: nothing (or not now, as `code` says)."""

    partition: int
    committed: CommittedOffset | None
    code: ErrorCode = ErrorCode.NONE


class DeletedOffsets(NamedTuple):
    """The answer to OffsetDelete: for the whole, or for each partition in the order asked."""

    code: ErrorCode
    codes: list[ErrorCode]


class OffsetRequests:
    """Decides on what concerns offsets.

    Args:
        groups: of the shard, to read.
        offsets: of the shard, to read.
    """

    __slots__ = ("_groups", "_limits", "_offsets")

    def __init__(self, groups: Mapping[str, Group], offsets: OffsetStore, limits: GroupLimits) -> None:
        self._groups = groups
        self._offsets = offsets
        self._limits = limits

    # -- OffsetCommit ----------------------------------------------------------------------------------------

    def commit(self, ticket: Ticket, request: Committing, now_ms: int) -> Outcome:
        """Answers with one code for each commit, in order.

        A group that nobody heard of comes into being if no generation is claimed: a consumer that assigns
        partitions to itself, or a tool.
        """
        try:
            check = self._check_commit(request)
        except ApiError as error:
            return Outcome.answer(ticket, [error.code] * len(request.commits))
        codes: list[ErrorCode] = []
        records: list[CoordinatorRecord] = []
        expires = NO_EXPIRY if request.retention_ms == -1 else _long(now_ms + request.retention_ms)
        for each in request.commits:
            metadata = each.metadata or ""
            if _length(metadata) > self._limits.offset_metadata_bytes_max:
                codes.append(ErrorCode.OFFSET_METADATA_TOO_LARGE)
                continue
            if check is not None and (code := check(each.topic, each.topic_id, each.partition)):
                codes.append(code)
                continue
            codes.append(ErrorCode.NONE)
            timestamp = now_ms if each.timestamp_ms is None else each.timestamp_ms
            offset = CommittedOffset(
                each.offset, each.leader_epoch, metadata, timestamp, expires, each.topic_id
            )
            records.append(offset_record(request.group_id, each.topic, each.partition, offset))

        def refused(code: ErrorCode) -> Outcome:
            code = commit_error(code)
            return Outcome.answer(ticket, [each or code for each in codes])

        return Outcome(records, refused=refused, producer=request.producer).also(ticket, codes)

    def _check_commit(self, request: Committing) -> Callable[[str, Uuid, int], ErrorCode] | None:
        group = self._groups.get(request.group_id)
        transactional = request.producer != NO_PRODUCER
        if group is not None:
            return group.check_commit(
                request.member_id,
                request.instance_id,
                request.generation,
                request.version,
                transactional,
            )
        if request.generation >= 0:
            found_out = request.version >= GROUP_NOT_FOUND_SINCE and not transactional
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND if found_out else ErrorCode.ILLEGAL_GENERATION)
        return None

    # -- OffsetFetch -----------------------------------------------------------------------------------------

    def fetch(
        self,
        group_id: str,
        member_id: str | None,
        member_epoch: int,
        topics: Sequence[tuple[str, Uuid, Sequence[int]]] | None,
        require_stable: bool,
    ) -> list[tuple[str, list[FetchedOffset]]]:
        """By topic, in the order asked; `topics` None: everything. A group that does not exist has no
        offsets.

        A topic id that is not zero must be that of the topic the offset was committed for, if that is known.

        Raises:
            ApiError: this member may not read.
        """
        group = self._groups.get(group_id)
        if group is not None:
            group.check_fetch(member_id, member_epoch)
        if topics is None:
            return self._fetch_all(group_id, require_stable)
        found = []
        for topic, topic_id, partitions in topics:
            answers = []
            for partition in partitions:
                answer = self._fetch_one(group_id, topic, partition, require_stable)
                if answer.committed is not None and _other_topic(answer.committed.topic_id, topic_id):
                    answer = FetchedOffset(partition, None)
                answers.append(answer)
            found.append((topic, answers))
        return found

    def _fetch_one(self, group_id: str, topic: str, partition: int, require_stable: bool) -> FetchedOffset:
        committed, is_unstable = self._offsets.as_committed(group_id, topic, partition)
        if require_stable and is_unstable:
            return FetchedOffset(partition, None, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        return FetchedOffset(partition, committed)

    def _fetch_all(self, group_id: str, require_stable: bool) -> list[tuple[str, list[FetchedOffset]]]:
        found: dict[str, list[FetchedOffset]] = {}
        for topic, partition in self._offsets.committed_keys(group_id):
            answer = self._fetch_one(group_id, topic, partition, require_stable)
            if answer.committed is not None or answer.code:
                found.setdefault(topic, []).append(answer)
        return list(found.items())

    # -- OffsetDelete and DeleteGroups -----------------------------------------------------------------------

    def delete(self, ticket: Ticket, group_id: str, partitions: Sequence[tuple[str, int]]) -> Outcome:
        """Answers with `DeletedOffsets`. Offsets that do not exist count as deleted (KIP-496)."""
        group = self._groups.get(group_id)
        try:
            if group is None:
                raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND)
            group.check_offset_delete()
        except ApiError as error:
            return Outcome.answer(ticket, DeletedOffsets(error.code, []))
        subscribed = group.subscriptions()
        codes = []
        tombstones: dict[tuple[str, int], CoordinatorRecord] = {}
        for topic, partition in partitions:
            if subscribed(topic):
                codes.append(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
                continue
            codes.append(ErrorCode.NONE)
            if self._exists(group_id, topic, partition):
                tombstones[topic, partition] = offset_tombstone(group_id, topic, partition)
        return self._bury(
            list(tombstones.values()),
            Outcome().also(ticket, DeletedOffsets(ErrorCode.NONE, codes)),
            lambda code: Outcome.answer(ticket, DeletedOffsets(write_error(code), [])),
        )

    def delete_group(self, ticket: Ticket, group_id: str) -> Outcome:
        """Forget a group and all its offsets; answers with an error code."""
        group = self._groups.get(group_id)
        try:
            if group is None:
                raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND)
            group.check_delete()
        except ApiError as error:
            return Outcome.answer(ticket, error.code)
        return self._bury(
            [*self._tombstones(group_id), *group.tombstones()],
            Outcome().also(ticket, ErrorCode.NONE),
            lambda code: Outcome.answer(ticket, write_error(code)),
        )

    def _exists(self, group_id: str, topic: str, partition: int) -> bool:
        return self._offsets.get(group_id, topic, partition) is not None or self._offsets.is_unstable(
            group_id, topic, partition
        )

    def _tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        return [
            offset_tombstone(group_id, topic, partition) for topic, partition in self._offsets.keys(group_id)
        ]

    @staticmethod
    def _bury(
        records: list[CoordinatorRecord], out: Outcome, refused: Callable[[ErrorCode], Outcome] | None = None
    ) -> Outcome:
        """Tombstones are many and independent: they need not go into one batch."""
        out.records, out.atomic, out.refused = records, False, refused
        return out

    # -- what time and deleted topics do ---------------------------------------------------------------------

    def expire(self, now_ms: int) -> Iterator[Outcome]:
        """Forget offsets that nobody used for the retention time, and groups that nothing is left of
        (KIP-211).

        Perform each outcome before asking for the next.
        """
        for group_id in list(self._groups):
            group = self._groups.get(group_id)
            if group is None:
                continue
            records, all_gone = self._expired(group, now_ms)
            if all_gone and group.removable:
                records += group.tombstones()
            if records:
                yield self._bury(records, Outcome())

    def _expired(self, group: Group, now_ms: int) -> tuple[list[CoordinatorRecord], bool]:
        """Tombstones for what is old, and whether nothing else would be left."""
        group_id = group.group_id
        if not self._offsets.has_any(group_id):
            return [], True
        base = group.offset_age_base()
        if base is None:
            return [], False
        subscribed = group.subscriptions()
        records: list[CoordinatorRecord] = []
        left = 0
        for topic, partition in self._offsets.keys(group_id):
            offset = self._offsets.get(group_id, topic, partition)
            if (
                offset is None
                or subscribed(topic)
                or self._offsets.is_unstable(group_id, topic, partition)
                or not self._is_old(offset, base, now_ms)
            ):
                left += 1
            else:
                records.append(offset_tombstone(group_id, topic, partition))
        return records, left == 0

    def _is_old(self, offset: CommittedOffset, base: Callable[[CommittedOffset], int], now_ms: int) -> bool:
        if offset.expire_timestamp_ms != NO_EXPIRY:
            return now_ms >= offset.expire_timestamp_ms
        return now_ms - base(offset) >= self._limits.offsets_retention_ms

    def topics_deleted(self, topics: Sequence[str]) -> Iterator[Outcome]:
        """Forget the offsets of topics that no longer exist. Perform each outcome before asking for the
        next.
        """
        for topic in topics:
            for group_id in list(self._offsets.groups_with_topic(topic)):
                partitions = list(self._offsets.topics(group_id).get(topic, ()))
                yield self._bury([offset_tombstone(group_id, topic, each) for each in partitions], Outcome())


def _long(value: int) -> int:
    """As a sum of Java's longs comes out: what is too large wraps around."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _length(text: str) -> int:
    """Length as Kafka counts it: UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _other_topic(committed_for: Uuid, asked_for: Uuid) -> bool:
    return committed_for != ZERO_UUID and asked_for != ZERO_UUID and committed_for != asked_for


def commit_error(code: ErrorCode) -> ErrorCode:
    """What a commit is answered when the log refused its records."""
    if code in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_FETCH_SIZE):
        return ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    return write_error(code)
