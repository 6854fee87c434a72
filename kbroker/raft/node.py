"""One node of a KRaft quorum as a pure state machine: `step(now, event) -> effects`.

The law: an epoch is stored before anything of it is written; a leader's epoch opens with a leader-change
record; the high watermark rises only over durable records, and only once the epoch's own first record is
below it (a record of an older epoch is never committed by counting copies).

So far the quorum is this node alone: it elects itself at once and nothing is ever taken from it. Votes,
followers and time-outs of larger quorums find their places in `step`, `deadline` and the messages.
"""

from __future__ import annotations

from enum import Enum

from kbroker.errors import ConfigError
from kbroker.raft.election_state import ElectionState
from kbroker.raft.messages import (
    Appended,
    AppendLeaderChange,
    BecomeLeader,
    Commit,
    Effect,
    ElectionStored,
    Event,
    Flushed,
    FlushLog,
    Resign,
    ShutDown,
    Started,
    StoreElection,
)
from kbroker.raft.voter_set import VoterSet


class Role(Enum):
    """What a node is in its epoch."""

    UNATTACHED = "unattached"
    CANDIDATE = "candidate"
    LEADER = "leader"
    RESIGNED = "resigned"


class RaftNode:
    """The node's view of the quorum.

    Args:
        node_id: this node.
        voters: the voter set in force.
        election: what the quorum-state file says.

    Raises:
        ConfigError: a quorum that this release cannot be part of.
    """

    def __init__(self, node_id: int, voters: VoterSet, election: ElectionState) -> None:
        if not voters.is_only(node_id):
            names = ", ".join(str(voter.id) for voter in voters) or "nobody"
            raise ConfigError(
                f"the metadata quorum is {names}, and node {node_id} can only be a quorum of its own yet"
            )
        self.node_id = node_id
        self.voters = voters
        self.role = Role.UNATTACHED
        self.election = election
        self.high_watermark = -1
        self._end_offset = 0
        self._epoch_start = 0
        self._flushed = 0
        self._flushing = False

    @property
    def epoch(self) -> int:
        """The newest epoch this node knows."""
        return self.election.epoch

    @property
    def leader_id(self) -> int:
        """The leader of the epoch, -1 if there is none."""
        return self.election.leader_id

    @property
    def end_offset(self) -> int:
        """Where the log ends, as far as the driver has told."""
        return self._end_offset

    def deadline(self) -> int | None:
        """When `step` wants to be called again if nothing happens; never, for a quorum of one."""
        return None

    def step(self, now_ms: int, event: Event) -> list[Effect]:
        """What to do about `event`, in order. `now_ms` is monotonic."""
        match event:
            case Started(log_end_offset=end):
                return self._start(end)
            case ElectionStored(epoch=epoch):
                return self._lead(epoch)
            case Appended(end_offset=end):
                return self._appended(end)
            case Flushed(end_offset=end):
                return self._flushed_to(end)
            case ShutDown():
                return self._shut_down()
            case _:
                return []  # of larger quorums

    def _start(self, end_offset: int) -> list[Effect]:
        self._end_offset = self._epoch_start = end_offset
        # A quorum of one needs no candidate state of its own: its vote is the majority.
        self.role = Role.CANDIDATE
        self.election = ElectionState(self.election.epoch + 1, self.node_id)
        return [StoreElection(self.election)]

    def _lead(self, epoch: int) -> list[Effect]:
        if self.role is not Role.CANDIDATE or epoch != self.epoch:
            return []
        self.role = Role.LEADER
        return [AppendLeaderChange(epoch)]

    def _appended(self, end_offset: int) -> list[Effect]:
        self._end_offset = max(self._end_offset, end_offset)
        return self._flush()

    def _flush(self) -> list[Effect]:
        if self._flushing or self._flushed >= self._end_offset:
            return []
        self._flushing = True
        return [FlushLog(self._end_offset)]

    def _flushed_to(self, end_offset: int) -> list[Effect]:
        self._flushing = False
        self._flushed = max(self._flushed, end_offset)
        effects: list[Effect] = []
        if self.role is Role.LEADER and self._flushed > self._epoch_start:
            first = self.high_watermark < 0
            self.high_watermark = self._flushed
            effects.append(Commit(self.high_watermark))
            if first:
                effects.append(BecomeLeader(self.epoch))
        return effects + self._flush()

    def _shut_down(self) -> list[Effect]:
        if self.role is not Role.LEADER:
            return []
        self.role = Role.RESIGNED
        return [Resign(self.epoch)]
