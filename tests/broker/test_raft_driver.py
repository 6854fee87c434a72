"""What the driver of raft must not do."""

from __future__ import annotations

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.raft_driver import RaftDriver
from kbroker.errors import ApiError, ErrorCode
from kbroker.raft.election_state import ElectionState
from kbroker.raft.messages import Received, Reply, StoreElection
from kbroker.raft.rpc import DescribeQuorumRequest, LeaderView, VoteResponse
from tests.doubles import HandThread, StandingClock


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


class Others:
    """Nodes that are asked nothing."""

    def watch(self, to, endpoints, on_gone):
        pass


class Voters:
    def is_only(self, node_id):
        return False

    def __iter__(self):
        return iter(())


def driver_of_three(disk, thread, timer=None):
    """One whose election state is stored by a thread."""
    node = Node()
    node.voters, node.node_id = Voters(), 1
    failures: list[BaseException] = []
    driver = RaftDriver(
        node,
        Log(),
        disk,
        (),
        clock=StandingClock(),
        timer=timer or Later(),
        run_blocking=thread.run_blocking,
        on_failure=failures.append,
        transport=Others(),
    )
    return driver, failures


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


def test_112_no_vote_leaves_before_it_is_durable_and_who_asks_meanwhile_waits() -> None:
    """Scenario 112; the disk of a node that has other work must not hold that up."""
    disk, thread = Disk(error=0), HandThread()
    driver, failures = driver_of_three(disk, thread)
    first: Deferred[object] = driver.ask(DescribeQuorumRequest())
    second: Deferred[object] = driver.ask(DescribeQuorumRequest())
    assert not first.done
    assert not disk.stored
    thread.finish()
    assert first.result().granted
    assert not second.done
    assert len(disk.stored) == 1
    thread.finish()
    assert second.result().granted
    assert not failures


def test_112_a_vote_that_a_thread_could_not_store_is_not_given() -> None:
    thread = HandThread()
    driver, failures = driver_of_three(Disk(error=5), thread)
    answer: Deferred[object] = driver.ask(DescribeQuorumRequest())
    thread.finish()
    assert not answer.done
    assert driver.failed
    assert len(failures) == 1


def test_a_thread_that_finds_no_room_for_a_vote_keeps_it_waiting() -> None:
    disk, timer, thread = Disk(), Later(), HandThread()
    driver, failures = driver_of_three(disk, thread, timer)
    answer: Deferred[object] = driver.ask(DescribeQuorumRequest())
    thread.finish()
    assert not answer.done
    refused: Deferred[object] = driver.ask(DescribeQuorumRequest())
    with pytest.raises(ApiError):
        refused.result()
    timer.run()
    assert not answer.done
    disk.error = 0
    timer.run()
    assert len(disk.stored) == 1
    assert answer.result().granted
    assert not failures


def test_a_vote_that_is_being_stored_when_the_node_stops_is_told_nobody() -> None:
    thread = HandThread()
    driver, failures = driver_of_three(Disk(error=0), thread)
    answer: Deferred[object] = driver.ask(DescribeQuorumRequest())
    driver.stop()
    thread.finish()
    assert not answer.done
    assert not failures
