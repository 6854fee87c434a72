"""Offset commits of many connections become one batch of each offsets partition.

What arrives in one turn of the event loop is written at its end, with one append a partition, and answered
then (`group.coordinator.append.linger.ms` -1, as Kafka calls it adaptive: under load more comes together by
itself). Nobody was answered before, so nobody can tell the difference.

The law that makes this safe: a commit is gathered only after the group has agreed to it, and before
anything else is decided for that shard, what was gathered is written (`ShardDriver.settle`). So the order of
the log is the order of the decisions, as everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kbroker.broker.deferred import Deferred
from kbroker.coordinator.group.offset_requests import commit_error
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.record_batch import batch_of

if TYPE_CHECKING:
    from kbroker.broker.shard_driver import ShardDriver
    from kbroker.broker.timer import Timer
    from kbroker.coordinator.group.group_shard import GroupShard
    from kbroker.coordinator.group.offset_place import OffsetPlace

#: Commits of a batch; a request that is recognised has at most a kilobyte, and so has what it leaves.
_COMMITS_MAX = 500
_AT_ONCE, _BY_TURNS = 0, -1


class OneCommit(NamedTuple):
    """What one request commits: places, and for each its offset and leader epoch in turn."""

    places: Sequence[OffsetPlace]
    numbers: Sequence[int]
    #: What who answers it knows of it.
    known: Any = None


class HeldCommits(Deferred[bytes]):
    """The answers of one connection to commits that came together, packed as if all went well.

    Args:
        answers: one for each commit.
        commits: what they are for.
        refuse: (commit, answer, code) -> the answer if it is refused.
        shards: how many of them have to write.
    """

    __slots__ = ("_answers", "_open", "_refuse", "commits")

    def __init__(
        self,
        answers: list[bytes],
        commits: Sequence[OneCommit],
        refuse: Callable[[OneCommit, bytes, ErrorCode], bytes],
        shards: int,
    ) -> None:
        super().__init__()
        self._answers = answers
        self.commits = commits
        self._refuse = refuse
        self._open = shards

    def refused(self, position: int, code: ErrorCode) -> None:
        """That commit is not in the log, or not for sure."""
        answers = self._answers
        answers[position] = self._refuse(self.commits[position], answers[position], code)

    def written(self) -> None:
        """One of the shards has done its part."""
        self._open -= 1
        if not self._open:
            answers = self._answers
            self.resolve(b"".join(answers) if len(answers) > 1 else answers[0])


#: What one shard has to do for a connection: its commits, and which of the answers are theirs.
_Part: TypeAlias = tuple[HeldCommits, "Sequence[OneCommit]", "Sequence[int]"]


class GatheredCommits:
    """What one shard has agreed to and not written yet."""

    __slots__ = ("_driver", "_parts", "count")

    def __init__(self, driver: ShardDriver[GroupShard]) -> None:
        self._driver = driver
        self._parts: list[_Part] = []
        self.count = 0

    def add(self, held: HeldCommits, commits: Sequence[OneCommit], positions: Sequence[int]) -> None:
        """Take over a connection's commits."""
        self._parts.append((held, commits, positions))
        self.count += len(commits)

    def write(self) -> None:
        """Write all of it, if that was not done yet; the answers come when it is committed."""
        driver, parts = self._driver, self._parts
        if not parts:
            return
        self._parts = []
        driver.unwritten = None
        try:
            if len(parts) == 1:
                self._append(parts[0][1])
            else:
                self._append([commit for _, commits, _ in parts for commit in commits])
        except ApiError as error:
            if self.count > 1:
                self._write_one_by_one(parts)
            else:
                self._end(parts, commit_error(error.code))
            return
        if driver.is_committed:
            self._end(parts, ErrorCode.NONE)
        else:
            driver.after_commit(lambda code: self._end(parts, code))

    def fail(self, code: ErrorCode) -> None:
        """The shard is gone."""
        parts, self._parts = self._parts, []
        self._driver.unwritten = None
        self._end(parts, code)

    def _write_one_by_one(self, parts: list[_Part]) -> None:
        """Too large together, perhaps."""
        for held, commits, positions in parts:
            for position, commit in zip(positions, commits):
                try:
                    self._append([commit])
                except ApiError as error:
                    held.refused(position, commit_error(error.code))
        self._driver.after_commit(lambda code: self._end(parts, code))

    def _append(self, commits: Sequence[OneCommit]) -> None:
        driver = self._driver
        now = driver.now_ms()
        if len(commits) == 1 and len(commits[0].places) == 1:
            (place,), (number, leader_epoch), _ = commits[0]
            offset = driver.take_own(place.batch(number, leader_epoch, now), 1, now)
            committed = place.committed(number, leader_epoch, now, offset)
            driver.shard.offsets.put(place.group, place.topic, place.partition, committed)
            return
        pieces: list[bytes] = []
        count = 0
        for places, numbers, _ in commits:
            at = 0
            for place in places:
                pieces += place.record(count, numbers[at], numbers[at + 1], now)
                count += 1
                at += 2
        offset = driver.take_own(batch_of(now, b"".join(pieces), count), count, now)
        put = driver.shard.offsets.put
        for places, numbers, _ in commits:
            at = 0
            for place in places:
                committed = place.committed(numbers[at], numbers[at + 1], now, offset)
                put(place.group, place.topic, place.partition, committed)
                offset += 1
                at += 2

    @staticmethod
    def _end(parts: Sequence[_Part], code: ErrorCode) -> None:
        for held, _, positions in parts:
            if code:
                for position in positions:
                    held.refused(position, code)
            held.written()


class CommitGatherer:
    """All that is gathered on this node, and when it is written.

    Args:
        linger_ms: `group.coordinator.append.linger.ms`.
        call_soon: the event loop's: runs a function when what has arrived was looked at. None: there is no
            such time, what is gathered is written at once.
    """

    __slots__ = ("_asked", "_call_soon", "_linger_ms", "_open", "_timer")

    def __init__(
        self, linger_ms: int, timer: Timer, call_soon: Callable[[Callable[[], None]], Any] | None
    ) -> None:
        self._linger_ms = linger_ms if call_soon is not None or linger_ms > 0 else _AT_ONCE
        self._timer = timer
        self._call_soon = call_soon
        self._open: list[GatheredCommits] = []
        self._asked = False

    def add(
        self,
        driver: ShardDriver[GroupShard],
        held: HeldCommits,
        commits: Sequence[OneCommit],
        positions: Sequence[int],
    ) -> None:
        """Gather a connection's commits, to which the groups have agreed."""
        gathered = driver.unwritten
        if not isinstance(gathered, GatheredCommits):
            gathered = driver.unwritten = GatheredCommits(driver)
            if self._linger_ms != _AT_ONCE:
                self._open.append(gathered)
        gathered.add(held, commits, positions)
        if self._linger_ms == _AT_ONCE or gathered.count >= _COMMITS_MAX:
            gathered.write()
        elif not self._asked:
            self._asked = True
            if self._linger_ms == _BY_TURNS and self._call_soon is not None:
                self._call_soon(self.write)
            else:
                self._timer.call_later(self._linger_ms, self.write)

    def write(self) -> None:
        """Write what is gathered."""
        self._asked = False
        gathered, self._open = self._open, []
        for each in gathered:
            each.write()
