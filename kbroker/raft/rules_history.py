"""kraft.version and voters as the log says: the newest count, committed or not, until they are cut off."""

from __future__ import annotations

from collections.abc import Iterable

from kbroker.raft.batches import QuorumRules
from kbroker.raft.messages import RulesAt
from kbroker.raft.voter_set import VoterSet


class RulesHistory:
    """The rules in force at every offset from the last snapshot on.

    Args:
        base: what holds before anything in the log: static voters, or those of the bootstrap snapshot.
    """

    __slots__ = ("_base", "_entries", "current", "voters")

    def __init__(self, base: QuorumRules) -> None:
        self._base = base
        self._entries: list[RulesAt] = []
        self.current = base
        self.voters = base.voters or VoterSet(())

    @property
    def offset(self) -> int:
        """Where the rules in force are written, -1: before the log."""
        return self._entries[-1].offset if self._entries else -1

    def uncommitted_from(self, high_watermark: int) -> VoterSet | None:
        """The voters before those in force, if the latter are not committed and may yet be cut off."""
        if not self._entries or self._entries[-1].offset < high_watermark:
            return None
        before = self._entries[-2].rules if len(self._entries) > 1 else self._base
        return before.voters

    def add(self, entries: Iterable[RulesAt]) -> bool:
        """Control records were appended; whether they change the rules in force."""
        before = self.current
        for entry in entries:
            last = self.current
            voters = entry.rules.voters if entry.rules.voters is not None else last.voters
            self._entries.append(RulesAt(entry.offset, QuorumRules(entry.rules.kraft_version, voters)))
            self._refresh()
        return self.current != before

    def truncate(self, end_offset: int) -> bool:
        """The log was cut; whether the rules in force are others now."""
        before = self.current
        while self._entries and self._entries[-1].offset >= end_offset:
            self._entries.pop()
        self._refresh()
        return self.current != before

    def start_at(self, offset: int, entries: Iterable[RulesAt]) -> bool:
        """A snapshot replaced the log."""
        before = self.current
        if self._entries or self._base.kraft_version:
            self._base = self.current
        self._entries = []
        self.add(entries)
        return self.current != before

    def compact(self, committed: int) -> None:
        """Nothing before `committed` is ever cut off: forget what is not in force at it."""
        while len(self._entries) > 1 and self._entries[1].offset < committed:
            del self._entries[0]

    def _refresh(self) -> None:
        self.current = self._entries[-1].rules if self._entries else self._base
        if self.current.voters is not None:
            self.voters = self.current.voters
