"""What the driver of raft must not do."""

from __future__ import annotations

from kbroker.broker.deferred import Deferred
from kbroker.broker.raft_driver import RaftDriver
from kbroker.errors import ErrorCode
from kbroker.raft.election_state import ElectionState
from kbroker.raft.messages import Reply, StoreElection
from kbroker.raft.rpc import DescribeQuorumRequest, LeaderView, VoteResponse
from tests.doubles import StandingClock


class GivesItsVote:
    """A core that answers everything with a vote."""

    rules = None
    voters = ()

    def step(self, now_ms, event):
        vote = VoteResponse(ErrorCode.NONE, LeaderView(), True)
        return [StoreElection(ElectionState(5, -1, 2)), Reply(event.token, vote)]

    def deadline(self):
        return None


class FullDisk:
    def write_election(self, state, voters):
        raise OSError(28, "No space left on device")


def test_a_vote_that_could_not_be_stored_is_not_given() -> None:
    class Node(GivesItsVote):
        class rules:
            kraft_version = 1

    class Log:
        class log:
            class directory:
                own_refusal = "full"
                offline = False

        end_offset = 0

    failures: list[BaseException] = []
    driver = RaftDriver(
        Node(),
        Log(),
        FullDisk(),
        (),
        clock=StandingClock(),
        timer=None,
        run_blocking=lambda work, done: done(None),
        on_failure=failures.append,
    )
    answer: Deferred[object] = driver.ask(DescribeQuorumRequest())
    assert not answer.done
    assert driver.failed
    assert len(failures) == 1
