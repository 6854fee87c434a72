"""What the driver of raft must not do."""

from __future__ import annotations

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.raft_driver import RaftDriver
from kbroker.errors import ApiError, ErrorCode
from kbroker.raft.election_state import ElectionState
from kbroker.raft.messages import Received, Reply, StoreElection
from kbroker.raft.rpc import DescribeQuorumRequest, LeaderView, VoteResponse
from tests.doubles import StandingClock


class GivesItsVote:
    """A core that answers everything with a vote."""

    rules = None
    voters = ()

    def step(self, now_ms, event):
        if not isinstance(event, Received):
            return []
        vote = VoteResponse(ErrorCode.NONE, LeaderView(), True)
        return [StoreElection(ElectionState(5, -1, 2)), Reply(event.token, vote)]

    def deadline(self):
        return None


class Disk:
    """Election states are stored while it has room."""

    def __init__(self, error=28):
        self.error = error
        self.stored = []

    def write_election(self, state, voters):
        if self.error:
            raise OSError(self.error, "no")
        self.stored.append(state)


class Node(GivesItsVote):
    class rules:
        kraft_version = 1


class Log:
    class log:
        class directory:
            own_refusal = None
            offline = False

    end_offset = 0


class Later:
    """A timer that waits to be told."""

    def __init__(self):
        self.work = []

    def call_later(self, delay_ms, work):
        self.work.append(work)

    def run(self):
        work, self.work = self.work, []
        for each in work:
            each()


def driver_on(disk, timer=None):
    failures: list[BaseException] = []
    driver = RaftDriver(
        Node(),
        Log(),
        disk,
        (),
        clock=StandingClock(),
        timer=timer or Later(),
        run_blocking=lambda work, done: done(None),
        on_failure=failures.append,
    )
    return driver, failures


def test_a_vote_that_could_not_be_stored_is_not_given() -> None:
    driver, failures = driver_on(Disk(error=5))
    answer: Deferred[object] = driver.ask(DescribeQuorumRequest())
    assert not answer.done
    assert driver.failed
    assert len(failures) == 1


def test_a_full_disk_keeps_a_vote_waiting_for_room() -> None:
    disk, timer = Disk(), Later()
    driver, failures = driver_on(disk, timer)
    answer: Deferred[object] = driver.ask(DescribeQuorumRequest())
    timer.run()
    assert not answer.done
    assert not failures
    refused: Deferred[object] = driver.ask(DescribeQuorumRequest())
    with pytest.raises(ApiError):
        refused.result()
    disk.error = 0
    timer.run()
    assert len(disk.stored) == 1
    assert answer.result().granted
    assert driver.ask(DescribeQuorumRequest()).done
