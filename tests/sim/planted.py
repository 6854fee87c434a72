"""Bugs planted into the raft core, to see whether the simulator finds them.

Each is a way in which people get Raft wrong. A mutation is a subclass of RaftNode that spoils events, effects
or state around `step`; `PLANTED` names them all.
"""

from __future__ import annotations

from kbroker.plain import replace
from kbroker.raft import rpc
from kbroker.raft.election_state import ElectionState
from kbroker.raft.messages import (
    Appended,
    BarrierPassed,
    Commit,
    Flushed,
    ReadBarrier,
    Received,
    StoreElection,
    Truncate,
)
from kbroker.raft.node import RaftNode
from kbroker.raft.state import Role


class ForgetsVote(RaftNode):
    """Gives votes without storing them."""

    def step(self, now_ms, event):
        effects = super().step(now_ms, event)
        return [e for e in effects if not (isinstance(e, StoreElection) and e.state.voted_id >= 0)]


class VotesTwice(RaftNode):
    """Does not look at whom it voted for in this epoch."""

    def step(self, now_ms, event):
        if isinstance(event, Received) and isinstance(event.message, rpc.VoteRequest):
            s = self._state
            if s.role in (Role.UNATTACHED, Role.CANDIDATE) and event.message.epoch == s.epoch:
                s.election = ElectionState(s.epoch)
        return super().step(now_ms, event)


class VotesForShorterLogs(RaftNode):
    """Votes for whoever asks first, whatever is in its log."""

    def step(self, now_ms, event):
        if isinstance(event, Received) and isinstance(event.message, rpc.VoteRequest):
            event = replace(event, message=replace(event.message, last_offset=1 << 40))
        return super().step(now_ms, event)


class NeverTruncates(RaftNode):
    """A follower keeps what the leader does not have, and asks for what comes behind."""

    def step(self, now_ms, event):
        effects = []
        for effect in super().step(now_ms, event):
            if isinstance(effect, Truncate):
                continue
            effects.append(effect)
        return effects


class ServesDivergedLogs(RaftNode):
    """A leader does not look at the epoch that a follower's log ends with."""

    def step(self, now_ms, event):
        if isinstance(event, Received) and isinstance(event.message, rpc.FetchRequest):
            log, fetch = self._state.log, event.message
            if 0 < fetch.offset <= log.end and fetch.offset > log.start and fetch.epoch == self.epoch:
                index = max(i for i, e in enumerate(log.epochs) if e.start_offset < fetch.offset)
                event = replace(event, message=replace(fetch, last_epoch=log.epochs[index].epoch))
        return super().step(now_ms, event)


class AcknowledgesBeforeFlush(RaftNode):
    """A follower tells that it has what is only written."""

    def step(self, now_ms, event):
        effects = super().step(now_ms, event)
        s = self._state
        if isinstance(event, Appended) and s.leading is None:
            s.log.flushed = s.log.end
            effects += super().step(now_ms, Flushed(s.log.end))
        return effects


class CountsItsOwnUnflushed(RaftNode):
    """A leader counts itself before its records are on stable storage."""

    def step(self, now_ms, event):
        if isinstance(event, Appended) and self._state.leading is not None:
            effects = super().step(now_ms, event)
            self._state.log.flushed = self._state.log.end
            return effects
        return super().step(now_ms, event)


class CommitsWithoutMajority(RaftNode):
    """Takes the furthest replica for the majority."""

    def step(self, now_ms, event):
        effects = super().step(now_ms, event)
        s = self._state
        if s.leading is not None and s.leading.established and s.log.flushed > s.high_watermark:
            s.high_watermark = s.log.flushed
            effects.append(Commit(s.high_watermark))
        return effects


class AcceptsStaleVotes(RaftNode):
    """Counts an answer to an election of before for the one of now."""

    def step(self, now_ms, event):
        votes = self._state.votes
        if getattr(event, "response", None).__class__ is rpc.VoteResponse and votes is not None:
            response = replace(event.response, leader=rpc.LeaderView(-1, self.epoch))
            request = votes.round.requests.get(event.peer)
            if request is not None and event.response.granted:
                event = replace(event, request=request, response=response)
        return super().step(now_ms, event)


class StartsWithOldEpoch(RaftNode):
    """Forgets the stored election state when it is started."""

    def __init__(self, node_id, voters, election, **options):
        super().__init__(node_id, voters, ElectionState(), **options)


class ChangesVotersAtOnce(RaftNode):
    """Changes voters again before the last change is committed."""

    def step(self, now_ms, event):
        s = self._state
        message = getattr(event, "message", None)
        if s.leading is None or not isinstance(message, rpc.RemoveVoterRequest | rpc.AddVoterRequest):
            return super().step(now_ms, event)
        s.leading.change = None
        s.leading.established = True
        saved, s.high_watermark = s.high_watermark, 1 << 40
        effects = super().step(now_ms, event)
        s.high_watermark = saved
        return effects


class ReadsWithoutAsking(RaftNode):
    """A leader answers linearizable reads from what it knows, without finding out whether it still leads."""

    def step(self, now_ms, event):
        leading = self._state.leading
        if isinstance(event, ReadBarrier) and leading is not None and leading.established:
            return [BarrierPassed(event.token, self.high_watermark)]
        return super().step(now_ms, event)


class CountsObservers(RaftNode):
    """Counts copies wherever they are, against the majority of the voters."""

    def step(self, now_ms, event):
        effects = super().step(now_ms, event)
        s = self._state
        if s.leading is None or not s.leading.established:
            return effects
        ends = [s.log.flushed, *(r.end for r in s.leading.observers.values())]
        ends += [r.end for r in s.leading.voters.values() if r.key.id != self.node_id]
        end = sorted(ends, reverse=True)[s.voters.majority - 1]
        if s.high_watermark < end <= s.log.end:
            s.high_watermark = end
            effects.append(Commit(end))
        return effects


PLANTED = [
    ForgetsVote,
    VotesTwice,
    VotesForShorterLogs,
    NeverTruncates,
    ServesDivergedLogs,
    AcknowledgesBeforeFlush,
    CountsItsOwnUnflushed,
    CommitsWithoutMajority,
    StartsWithOldEpoch,
    ReadsWithoutAsking,
    ChangesVotersAtOnce,
    CountsObservers,
    AcceptsStaleVotes,
]
