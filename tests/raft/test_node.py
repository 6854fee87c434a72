from __future__ import annotations

import pytest

from kbroker.errors import ConfigError
from kbroker.raft.election_state import ElectionState
from kbroker.raft.messages import (
    Appended,
    AppendLeaderChange,
    BecomeLeader,
    Commit,
    ElectionStored,
    Flushed,
    FlushLog,
    Resign,
    ShutDown,
    Started,
    StoreElection,
)
from kbroker.raft.node import RaftNode, Role
from kbroker.raft.voter_set import QuorumVoter, VoterSet


def voters(*ids):
    return VoterSet(QuorumVoter(node) for node in ids)


def leader(end=0, epoch=4):
    """A node that leads, with its leader-change record at `end` durable."""
    node = RaftNode(1, voters(1), ElectionState(epoch, 1))
    node.step(0, Started(end))
    node.step(0, ElectionStored(node.epoch))
    node.step(0, Appended(end + 1))
    node.step(0, Flushed(end + 1))
    return node


def test_a_quorum_of_one_elects_itself_in_a_new_epoch_that_is_stored_first():
    node = RaftNode(1, voters(1), ElectionState(4, 1))
    assert node.step(0, Started(10)) == [StoreElection(ElectionState(5, 1))]
    assert node.role is Role.CANDIDATE
    assert node.step(0, ElectionStored(5)) == [AppendLeaderChange(5, (1,))]
    assert node.step(0, Appended(11)) == [FlushLog(11)]
    assert node.high_watermark == -1
    assert node.step(0, Flushed(11)) == [Commit(11), BecomeLeader(5)]
    assert (node.epoch, node.leader_id, node.high_watermark) == (5, 1, 11)


def test_an_old_answer_of_the_disk_elects_nobody():
    node = RaftNode(1, voters(1), ElectionState(4, 1))
    node.step(0, Started(0))
    assert node.step(0, ElectionStored(4)) == []
    assert node.role is Role.CANDIDATE


def test_nothing_is_committed_before_the_epochs_own_record_is_durable():
    node = RaftNode(1, voters(1), ElectionState(4, 1))
    node.step(0, Started(10))
    node.step(0, ElectionStored(5))
    node.step(0, Appended(11))
    # A flush that was under way when the leader change was appended covers the old records only.
    assert node.step(0, Flushed(10)) == [FlushLog(11)]
    assert node.high_watermark == -1


def test_one_flush_at_a_time_and_the_next_covers_all_that_came_meanwhile():
    node = leader()
    assert node.step(0, Appended(2)) == [FlushLog(2)]
    assert node.step(0, Appended(3)) == []
    assert node.step(0, Appended(5)) == []
    assert node.step(0, Flushed(2)) == [Commit(2), FlushLog(5)]
    assert node.step(0, Flushed(5)) == [Commit(5)]


def test_it_becomes_leader_once():
    node = leader()
    node.step(0, Appended(2))
    assert BecomeLeader(5) not in node.step(0, Flushed(2))


def test_shutting_down_resigns_and_commits_no_more():
    node = leader()
    node.step(0, Appended(2))
    assert node.step(0, ShutDown()) == [Resign(5)]
    assert node.step(0, ShutDown()) == []
    assert node.step(0, Flushed(2)) == []
    assert node.high_watermark == 1


def test_there_is_nothing_to_wait_for():
    assert leader().deadline() is None


def test_a_node_needs_somebody_to_vote_or_to_ask():
    with pytest.raises(ConfigError, match="metadata quorum"):
        RaftNode(1, voters(), ElectionState())
    RaftNode(1, voters(), ElectionState(), bootstrap_servers=1)


def test_a_voter_set_knows_its_majority():
    assert voters(1).majority == 1
    assert voters(1, 2).majority == 2
    assert voters(3, 1, 2).majority == 2
    assert [voter.id for voter in voters(3, 1, 2)] == [1, 2, 3]
    assert 2 in voters(3, 2)
    assert voters(3, 2).get(4) is None
