"""What the quorum's leader and followers write into the metadata log, and which of it changes the quorum."""

from __future__ import annotations

from collections.abc import Sequence

from kbroker.broker.raft_log import RaftLog, Written
from kbroker.clock import Clock
from kbroker.metadata.records import encode_record
from kbroker.protocol.generated.no_op_record import NoOpRecord
from kbroker.raft.batches import QuorumRules, leader_change_batch, rules_batch, values_batch
from kbroker.raft.messages import AppendFetched, AppendLeaderChange, AppendNoOp, AppendRules, RulesAt
from kbroker.raft.node import RaftNode
from kbroker.types import OffsetAndEpoch


class RaftWriter:
    """Builds the batches and appends them; every call may raise ApiError or OSError for a failing disk.

    Attributes:
        rules: control records of the quorum in snapshot and log, oldest first.
    """

    __slots__ = ("_clock", "_log", "_node", "rules")

    def __init__(self, node: RaftNode, log: RaftLog, clock: Clock, rules: Sequence[RulesAt]) -> None:
        self._node = node
        self._log = log
        self._clock = clock
        self.rules = tuple(rules)

    def leader_change(self, effect: AppendLeaderChange) -> Written:
        """A leader's first batch; the first of all tells the rules, too."""
        voters = [voter.id for voter in self._node.voters]
        rules = None if self.rules else QuorumRules(self._node.rules.kraft_version, self._node.voters)
        batch = leader_change_batch(
            self._node.node_id,
            voters,
            effect.granting,
            rules,
            base_offset=self._log.end_offset,
            epoch=effect.epoch,
            now_ms=self._clock.now_ms(),
        )
        return self._append(batch, effect.epoch, None if rules is None or not rules.kraft_version else rules)

    def changed_rules(self, effect: AppendRules) -> Written:
        """Other voters, or kraft.version."""
        batch = rules_batch(
            effect.rules,
            with_version=effect.with_version,
            base_offset=self._log.end_offset,
            epoch=effect.epoch,
            now_ms=self._clock.now_ms(),
        )
        return self._append(batch, effect.epoch, effect.rules)

    def no_op(self, effect: AppendNoOp) -> Written:
        """A record that moves the high watermark, and nothing else."""
        return self.values([encode_record(NoOpRecord(), 0)], effect.epoch)

    def values(self, values: Sequence[bytes], epoch: int) -> Written:
        """Records of the controller, one batch."""
        base, now_ms = self._log.end_offset, self._clock.now_ms()
        return self._append(values_batch(values, base_offset=base, epoch=epoch, now_ms=now_ms), epoch)

    def fetched(self, effect: AppendFetched) -> Written:
        """What the leader answered."""
        records = effect.response.records
        assert isinstance(records, bytes | memoryview)
        written = self._log.append_fetched(records, effect.epoch, self._clock.now_ms())
        self.rules += written.rules
        return written

    def truncate(self, end_offset: int) -> None:
        """Cut what the leader does not have."""
        self._log.truncate(end_offset)
        self.rules = tuple(rule for rule in self.rules if rule.offset < end_offset)

    def start_at(self, snapshot_id: OffsetAndEpoch, rules: Sequence[RulesAt]) -> None:
        """A snapshot takes the place of the log; `rules` are in it."""
        self._log.start_at(snapshot_id.offset, self._clock.now_ms())
        self.rules = tuple(rules)

    def _append(self, batch: bytes, epoch: int, rules: QuorumRules | None = None) -> Written:
        written = self._log.append(batch, epoch, self._clock.now_ms())
        if rules is not None:
            written = written._replace(rules=(RulesAt(written.end_offset - 1, rules),))
            self.rules += written.rules
        return written
