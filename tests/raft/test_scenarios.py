"""Quorums in trouble, each by name. Numbers: the list of scenarios in docs/raft.md.

What the simulator found while this was built is at the end, under the name of what went wrong.
"""

from __future__ import annotations

import pytest

from kbroker.errors import ErrorCode
from kbroker.raft.election_state import ElectionState
from kbroker.raft.leader import lead
from kbroker.raft.messages import (
    Answered,
    BarrierPassed,
    Dropped,
    PeerGone,
    ReadBarrier,
    Received,
    Reply,
    ResignRequested,
    SendFailed,
    Tick,
    Truncate,
    Warn,
)
from kbroker.raft.node import Role
from kbroker.raft.rpc import (
    AddVoterRequest,
    BeginQuorumEpochRequest,
    DescribeQuorumRequest,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    LeaderView,
    RemoveVoterRequest,
    UpgradeKraftVersion,
    VoteRequest,
    VoteResponse,
)
from kbroker.raft.voter_set import ReplicaKey, VoterSet
from kbroker.types import OffsetAndEpoch
from tests.sim.quorum import Quorum, directory, voter


def key(node_id):
    return ReplicaKey(node_id, directory(node_id))


# -- elections -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_three_nodes_that_start_together_have_a_leader_at_once(seed):
    quorum = Quorum(3, seed=seed).start()
    assert quorum.now_ms < 250
    assert max(quorum.checks.leaders) <= 2


@pytest.mark.parametrize("seed", range(20))
def test_a_killed_leader_is_replaced_as_soon_as_its_port_refuses(seed):
    quorum = Quorum(3, seed=seed).start()
    quorum.leader.kill()
    assert quorum.until(lambda: quorum.leader is not None, 2000) < 400


def test_without_a_sign_of_its_death_a_leader_is_replaced_after_the_fetch_time_out():
    quorum = Quorum(3, detect=False, seed=3).start()
    dead = quorum.leader
    quorum.cut({dead.id})
    dead.kill()
    assert 1500 < quorum.until(lambda: quorum.leader is not None, 5000) < 3500


@pytest.mark.parametrize("seed", range(20))
def test_a_leader_that_stops_hands_over_at_once(seed):
    quorum = Quorum(3, seed=seed).start()
    stopped = quorum.leader
    stopped.stop()
    assert quorum.until(lambda: quorum.leader not in (None, stopped), 1000) < 30


@pytest.mark.parametrize("seed", range(10))
def test_a_leader_that_is_restarted_at_once_keeps_nobody_waiting(seed):
    quorum = Quorum(3, detect=False, seed=seed).start()
    restarted = quorum.leader
    restarted.kill()
    restarted.start()
    assert quorum.until(lambda: quorum.leader is not None, 3000) < 700


def test_a_false_alarm_deposes_nobody():
    quorum = Quorum(3).start()
    leader, epoch = quorum.leader, quorum.leader.leads
    quorum.follower.feed(PeerGone(leader.id))
    quorum.run(5000)
    assert (quorum.leader, leader.leads) == (leader, epoch)


def test_111_a_minority_that_comes_back_does_not_depose_the_leader():
    quorum = Quorum(5, detect=False).start()
    leader, epoch = quorum.leader, quorum.leader.leads
    away = [node_id for node_id in quorum.nodes if node_id != leader.id][:2]
    quorum.cut(set(away))
    quorum.append(1)
    quorum.run(20_000)
    assert quorum[away[0]].node.epoch == epoch
    quorum.heal()
    quorum.settle()
    assert (quorum.leader, leader.leads) == (leader, epoch)
    assert quorum.values(quorum[away[0]]) == [1]


def test_110_an_isolated_leader_resigns_when_no_majority_listens():
    quorum = Quorum(3, detect=False).start()
    leader = quorum.leader
    quorum.cut({leader.id})
    quorum.run(2400)
    assert leader.node.role is Role.LEADER
    quorum.run(1200)
    assert leader.node.role is not Role.LEADER
    quorum.heal()
    quorum.settle()


def test_112_a_vote_outlives_the_crash_of_who_gave_it():
    quorum = Quorum(3).start()
    follower = quorum.follower
    epoch = follower.node.epoch + 5
    follower.ask(VoteRequest(epoch, key(8), ReplicaKey(follower.id), epoch - 1, 1000))
    assert follower.told.pop().granted
    follower.kill(power=True)
    follower.start()
    follower.ask(VoteRequest(epoch, key(9), ReplicaKey(follower.id), epoch - 1, 1000))
    assert not follower.told.pop().granted
    follower.ask(VoteRequest(epoch, key(8), ReplicaKey(follower.id), epoch - 1, 1000))
    assert follower.told.pop().granted


def test_a_leader_that_was_started_anew_votes_for_nobody_in_its_epoch():
    quorum = Quorum(3).start()
    leader = quorum.leader
    epoch = leader.leads
    leader.kill()
    leader.start()
    leader.ask(VoteRequest(epoch, key(9), ReplicaKey(leader.id), epoch - 1, 1000))
    assert not leader.told.pop().granted


def test_a_node_of_before_pre_votes_is_taken_for_willing():
    quorum = Quorum(3)
    quorum[1].start()
    node, now = quorum[1].node, quorum[1].now_ms() + 300
    asked = [effect for effect in node.step(now, Tick()) if isinstance(effect.request, VoteRequest)]
    assert [effect.request.pre_vote for effect in asked] == [True, True]
    unsupported = VoteResponse(ErrorCode.UNSUPPORTED_VERSION, LeaderView())
    node.step(now, Answered(asked[0].to, asked[0].request, unsupported))
    assert node.role is Role.CANDIDATE


def test_a_resigned_node_goes_on_as_a_voter():
    quorum = Quorum(3).start()
    leader = quorum.leader
    leader.feed(ResignRequested(leader.leads))
    assert quorum.settle() < 100
    assert quorum.leader is not leader


def test_another_leader_of_the_epoch_is_named_and_not_believed():
    """Apache Kafka 4.4 ends its process over this."""
    quorum = Quorum(3).start()
    quorum.checks.warnings_allowed = True
    leader = quorum.leader
    for node in quorum.nodes.values():
        other = next(n for n in quorum.nodes if n not in (node.id, leader.id))
        node.ask(BeginQuorumEpochRequest(other, leader.leads, ReplicaKey(node.id)))
    quorum.settle()
    assert quorum.leader is leader
    assert "two leaders of epoch" in quorum.checks.warnings[0][1]


@pytest.mark.parametrize("message", ["vote", "pre-vote", "begin"])
def test_a_voter_that_lies_about_its_epoch_does_not_use_epochs_up(message):
    """The last int32 as the epoch was stored by all, and no leader was elected ever again."""
    quorum = Quorum(3).start()
    quorum.checks.warnings_allowed = True
    leader = quorum.leader
    epoch = leader.leads
    liar, last = next(n for n in quorum.nodes if n != leader.id), 2**31 - 1
    for node in quorum.nodes.values():
        if message == "begin":
            node.ask(BeginQuorumEpochRequest(liar, last, ReplicaKey(node.id)))
        else:
            lie = VoteRequest(last, key(liar), ReplicaKey(node.id), last - 1, 10**9, message == "pre-vote")
            node.ask(lie)
    quorum.settle()
    assert quorum.leader is leader
    assert leader.leads == epoch
    assert "not believed" in quorum.checks.warnings[0][1]


# -- replication ---------------------------------------------------------------------------------------------


def test_records_are_committed_when_a_majority_has_them_durably():
    quorum = Quorum(3, fsync=(50_000, 50_000)).start()
    quorum.append(1)
    end = quorum.leader.log.end
    took = quorum.until(lambda: quorum.leader.high_watermark == end, 1000)
    assert 50 < took < 160


def test_a_follower_is_told_of_a_new_high_watermark_at_once():
    quorum = Quorum(3).start()
    quorum.append(1)
    assert quorum.settle() < 15


def test_a_slow_follower_holds_up_nobody():
    quorum = Quorum(3).start()
    slow = quorum.follower
    slow.fsync = (10**6, 10**6)
    quorum.append(1)
    end = quorum.leader.log.end
    assert quorum.until(lambda: quorum.leader.high_watermark == end, 1000) < 15


def test_2_a_log_that_parted_is_cut_where_the_leaders_ends():
    quorum = Quorum(3, detect=False).start()
    old = quorum.leader
    quorum.append(1)
    quorum.settle()
    quorum.cut({old.id})
    quorum.append(2, 3, 4)
    quorum.until(lambda: quorum.leader is not old and quorum.leader is not None, 10_000)
    quorum.append(5)
    quorum.heal()
    quorum.settle()
    assert [quorum.values(node) for node in quorum.nodes.values()] == [[1, 5]] * 3


def test_nothing_committed_is_cut_off_whatever_a_leader_says():
    quorum = Quorum(3).start()
    quorum.append(1, 2, 3)
    quorum.settle()
    node = quorum.follower.node
    request = node._state.following.fetch
    lie = FetchResponse(
        ErrorCode.NONE, LeaderView(quorum.leader.id, node.epoch), diverging=OffsetAndEpoch(1, 1)
    )
    effects = node.step(10**6, Answered(quorum.leader.id, request, lie))
    assert not any(isinstance(effect, Truncate) for effect in effects)
    assert any(isinstance(effect, Warn) for effect in effects)


def test_a_record_of_an_old_epoch_is_not_committed_by_counting_copies():
    """Figure 8 of the Raft paper: the copy counts only with a record of the new epoch behind it."""
    quorum = Quorum(3).start()
    leader = quorum.leader
    node, epoch, start = leader.node, leader.leads, leader.log.end
    quorum.cut({leader.id})
    leader.kill()
    leader.log.append([(epoch, 7)])
    leader.start()
    quorum.heal()
    for other in quorum.nodes.values():
        if other is not leader:
            other.kill()
    state = leader.node._state
    state.role, state.election_at = Role.CANDIDATE, None
    state.out = []
    leader.stored_election = state.election = ElectionState(epoch + 1, leader.id)
    lead(state, leader.now_ms(), (leader.id,))
    for effect in state.out:
        leader._PERFORM[effect.__class__](leader, effect)
    quorum.run(50)
    before = leader.high_watermark
    peer = next(iter(state.leading.voters.keys() - {leader.id}))
    fetch = FetchRequest(epoch + 1, key(peer), start + 1, epoch, 0)
    leader.ask(fetch)
    assert leader.high_watermark == before
    fetch = FetchRequest(epoch + 1, key(peer), start + 2, epoch + 1, 0)
    leader.ask(fetch)
    assert leader.high_watermark == start + 2
    assert node is not leader.node


def test_an_answer_for_nobody_is_kept_for_nobody():
    quorum = Quorum(3, 1).start()
    leader = quorum.leader
    token = object()
    fetch = FetchRequest(leader.leads, key(9), leader.log.end, leader.leads, 500)
    assert leader.node.step(leader.now_ms(), Received(token, fetch)) == []
    leader.node.step(leader.now_ms(), Dropped(token))
    effects = leader.node.step(leader.now_ms() + 600, Tick())
    assert not any(getattr(effect, "token", None) is token for effect in effects)


def test_a_second_fetch_of_a_replica_ends_its_first():
    quorum = Quorum(3).start()
    leader = quorum.leader
    fetch = FetchRequest(leader.leads, key(9), leader.log.end, leader.leads, 500)
    assert leader.node.step(leader.now_ms(), Received(1, fetch)) == []
    (reply,) = leader.node.step(leader.now_ms(), Received(2, fetch))
    assert (reply.token, reply.response.error) == (1, ErrorCode.NONE)


@pytest.mark.parametrize(
    ("fetch", "error"),
    [
        (FetchRequest(9, key(2), 0, 0), ErrorCode.UNKNOWN_LEADER_EPOCH),
        (FetchRequest(0, key(2), 0, 0), ErrorCode.FENCED_LEADER_EPOCH),
        (FetchRequest(9, key(2), -1, 0), ErrorCode.INVALID_REQUEST),
        (FetchRequest(1, key(2), 0, 2), ErrorCode.INVALID_REQUEST),
        (FetchRequest(1, key(2), 0, 0, -1), ErrorCode.INVALID_REQUEST),
    ],
)
def test_5_fetches_that_are_refused(fetch, error):
    quorum = Quorum(1).start()
    (reply,) = quorum[1].node.step(0, Received(1, fetch))
    assert isinstance(reply, Reply)
    assert (reply.response.error, reply.response.leader.epoch) == (error, 1)


# -- snapshots -----------------------------------------------------------------------------------------------


def test_113_a_follower_behind_the_log_fetches_a_snapshot_that_is_replaced_meanwhile():
    quorum = Quorum(3, snapshot_every=30).start()
    behind = quorum.follower
    behind.kill()
    for value in range(200):
        quorum.append(value)
        quorum.run(5)
    assert quorum.leader.log.start > behind.log.end
    behind.start()
    quorum.run(3)
    # The one that it was offered is gone before it has all of it.
    quorum.leader.snapshots = quorum.leader.snapshots[-1:]
    for value in range(200, 260):
        quorum.append(value)
        quorum.run(2)
        quorum.leader.snapshots = quorum.leader.snapshots[-1:]
    quorum.settle()
    assert quorum.values(behind) == list(range(260))


def test_113_a_leader_of_kafka_cannot_say_that_its_snapshot_is_gone():
    """Apache Kafka 4.4 answers UNKNOWN_SERVER_ERROR instead of SNAPSHOT_NOT_FOUND."""
    quorum = Quorum(3).start()
    follower = quorum.follower
    node, leader, now = follower.node, quorum.leader, follower.now_ms()
    view = LeaderView(leader.id, leader.leads)
    offer = FetchResponse(ErrorCode.NONE, view, snapshot_id=OffsetAndEpoch(1000, leader.leads))
    effects = node.step(now, Answered(leader.id, node._state.following.fetch, offer))
    request = effects[0].request
    assert isinstance(request, FetchSnapshotRequest)
    gone = FetchSnapshotResponse(ErrorCode.UNKNOWN_SERVER_ERROR, LeaderView(), OffsetAndEpoch(-1, -1))
    assert [type(e) for e in node.step(now, Answered(leader.id, request, gone))] == [Warn]
    (again,) = node.step(now + 200, Tick())
    assert isinstance(again.request, FetchRequest)


# -- voters --------------------------------------------------------------------------------------------------


def test_114_a_voter_is_added_and_counts():
    quorum = Quorum(1, 1, dynamic=True).start()
    quorum.run(10)
    quorum[1].ask(AddVoterRequest(voter(2), 1000))
    quorum.until(lambda: quorum[1].told, 1000)
    assert quorum[1].told[0].error is ErrorCode.NONE
    quorum.settle()
    assert [v.id for v in quorum[2].node.voters] == [1, 2]
    quorum[2].kill()
    quorum.append(5)
    quorum.run(1000)
    assert quorum[1].high_watermark < quorum[1].log.end


def test_114_one_change_at_a_time():
    quorum = Quorum(3, 2, dynamic=True).start()
    quorum.run(10)
    leader = quorum.leader
    leader.ask(AddVoterRequest(voter(4), 1000))
    leader.ask(AddVoterRequest(voter(5), 1000))
    assert leader.told[0].error is ErrorCode.REQUEST_TIMED_OUT
    quorum.until(lambda: len(leader.told) == 2, 1000)
    assert leader.told[1].error is ErrorCode.NONE


def test_114_a_leader_that_is_removed_leads_until_that_is_committed():
    quorum = Quorum(3, dynamic=True).start()
    leader = quorum.leader
    leader.ask(RemoveVoterRequest(key(leader.id)))
    quorum.until(lambda: leader.told, 1000)
    assert leader.told[0].error is ErrorCode.NONE
    assert leader.node.role is Role.RESIGNED
    quorum.settle()
    assert quorum.leader is not leader
    assert leader.id not in quorum.leader.node.voters


def test_114_a_voter_with_a_new_disk_is_another_one():
    quorum = Quorum(3, dynamic=True).start()
    leader = quorum.leader
    leader.ask(RemoveVoterRequest(ReplicaKey(quorum.follower.id, b"x" * 16)))
    assert leader.told.pop().error is ErrorCode.VOTER_NOT_FOUND
    stranger = ReplicaKey(quorum.follower.id, b"x" * 16)
    end = leader.log.end
    leader.append(1)
    quorum.cut({leader.id})
    fetch = FetchRequest(leader.leads, stranger, end + 1, leader.leads, 0)
    leader.ask(fetch)
    quorum.run(100)
    assert leader.high_watermark == end


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (AddVoterRequest(voter(1), 1000), ErrorCode.DUPLICATE_VOTER),
        (AddVoterRequest(voter(9), 1000), ErrorCode.REQUEST_TIMED_OUT),
        (AddVoterRequest(voter(9)._replace(endpoints=()), 1000), ErrorCode.INVALID_REQUEST),
        (AddVoterRequest(voter(9)._replace(directory_id=bytes(16)), 1000), ErrorCode.INVALID_REQUEST),
        (RemoveVoterRequest(ReplicaKey(1)), ErrorCode.INVALID_REQUEST),
        (RemoveVoterRequest(ReplicaKey(9, b"9" * 16)), ErrorCode.VOTER_NOT_FOUND),
    ],
)
def test_changes_that_are_refused(request_, error):
    quorum = Quorum(3, dynamic=True).start()
    leader = quorum.leader
    leader.ask(request_)
    quorum.until(lambda: leader.told, 1000)
    assert leader.told[0].error is error


def test_static_voters_do_not_change_before_kraft_version_1():
    quorum = Quorum(3, 1).start()
    leader = quorum.leader
    leader.ask(AddVoterRequest(voter(4), 1000))
    assert leader.told.pop().error is ErrorCode.UNSUPPORTED_VERSION
    quorum.run(5000)  # Voters tell what they support.
    leader.ask(UpgradeKraftVersion(1, validate_only=True))
    assert leader.told.pop().error is ErrorCode.NONE
    assert leader.node.rules.kraft_version == 0
    leader.ask(UpgradeKraftVersion(1))
    quorum.settle()
    assert leader.told.pop().error is ErrorCode.NONE
    rules = quorum.follower.node.rules
    assert (rules.kraft_version, [v.directory_id for v in rules.voters]) == (
        1,
        [directory(i) for i in (1, 2, 3)],
    )
    leader.ask(AddVoterRequest(voter(4), 1000))
    quorum.until(lambda: leader.told, 1000)
    assert leader.told.pop().error is ErrorCode.NONE


def test_an_observer_joins_by_itself_if_it_is_told_to():
    quorum = Quorum(3, 1, dynamic=True, auto_join=True).start()
    quorum.until(lambda: quorum[4].node.is_voter, 10_000)


def test_a_voter_that_moved_tells_its_new_endpoints():
    quorum = Quorum(3, dynamic=True).start()
    moved = quorum.follower
    moved.kill()
    new = voter(9).endpoints
    moved.options["endpoints"] = new
    moved.start()
    quorum.until(lambda: quorum.leader.node.voters.get(moved.id).endpoints == new, 10_000)


def test_the_leader_describes_the_quorum():
    quorum = Quorum(3, 1).start()
    leader = quorum.leader
    quorum.append(1)
    quorum.settle()
    quorum.run(10)
    leader.ask(DescribeQuorumRequest())
    told = leader.told.pop()
    assert (told.leader.leader_id, told.high_watermark) == (leader.id, leader.log.end)
    assert [state.replica.id for state in told.voters] == [1, 2, 3]
    assert {state.log_end_offset for state in (*told.voters, *told.observers)} == {leader.log.end}
    assert [state.replica.id for state in told.observers] == [4]
    quorum.follower.ask(DescribeQuorumRequest())
    assert quorum.follower.told.pop().error is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_an_observer_finds_the_leader_through_a_bootstrap_server():
    quorum = Quorum(3, 1).start()
    quorum[4].kill()
    quorum[4].base_voters = VoterSet(())
    quorum[4].options["bootstrap_servers"] = 1
    quorum[4].bootstrap = (quorum.follower.id,)
    quorum[4].start()
    quorum.settle()


# -- linearizable reads --------------------------------------------------------------------------------------


def test_a_read_is_answered_when_the_leader_has_proof_that_it_leads():
    quorum = Quorum(3).start()
    quorum.append(1)
    quorum.leader.read()
    quorum.run(50)
    assert quorum.leader.node._state.leading.barriers == []


def test_a_leader_that_is_cut_off_answers_no_read():
    quorum = Quorum(3, detect=False).start()
    old = quorum.leader
    quorum.cut({old.id})
    seen = []
    old._PERFORM = {**old._PERFORM, BarrierPassed: lambda _, effect: seen.append(effect.high_watermark)}
    old.read()
    old.read()
    quorum.run(10_000)
    assert seen == [None, None]


def test_a_quorum_of_one_reads_at_once():
    quorum = Quorum(1).start()
    (passed,) = quorum[1].node.step(0, ReadBarrier(7))
    assert passed == BarrierPassed(7, quorum[1].high_watermark)


def test_who_does_not_lead_reads_nothing():
    quorum = Quorum(3).start()
    (passed,) = quorum.follower.node.step(0, ReadBarrier(7))[:1]
    assert passed == BarrierPassed(7, None)


# -- what the simulator found --------------------------------------------------------------------------------


def test_a_leader_that_dies_after_its_own_removal_was_written_still_stands_for_election():
    """Seeds 4 and 7 of 2026-11-29: only it had the newest records, and it took itself for an observer."""
    quorum = Quorum(2, dynamic=True).start()
    leader = quorum.leader
    quorum.cut({leader.id})
    leader.ask(RemoveVoterRequest(key(leader.id)))
    leader.append(1)
    quorum.run(100)
    leader.kill()
    quorum.heal()
    leader.start()
    quorum.settle()
    assert leader.id not in quorum.leader.node.voters
    assert quorum.values(quorum.leader) == [1]


def test_a_leader_that_was_removed_looks_for_the_next_one():
    """Seeds 3 and 14: it stayed resigned for ever, since nobody tells a node that is no voter."""
    quorum = Quorum(3, dynamic=True).start()
    removed = quorum.leader
    removed.ask(RemoveVoterRequest(key(removed.id)))
    quorum.settle()
    assert removed.node.role is Role.FOLLOWER


def test_an_answer_that_comes_after_the_election_was_given_up_is_only_late():
    """Seed 83: a candidate that a majority had refused failed on the next answer."""
    quorum = Quorum(5)
    quorum[1].start()
    quorum.run(200)
    node = quorum[1].node
    now = quorum[1].now_ms()
    while not node._state.votes or len(node._state.votes.round.requests) < 4:
        now += 50
        node.step(now, Tick())
        for peer, request in [*(node._state.votes.round.requests.items() if node._state.votes else ())]:
            if node.role is Role.PROSPECTIVE:
                view = LeaderView(-1, node.epoch)
                node.step(now, Answered(peer, request, VoteResponse(ErrorCode.NONE, view, True)))
        if node.role is Role.CANDIDATE:
            break
    assert node.role is Role.CANDIDATE
    refusal = VoteResponse(ErrorCode.NONE, LeaderView(-1, node.epoch))
    for peer, request in [*node._state.votes.round.requests.items()]:
        node.step(now, Answered(peer, request, refusal))
    assert node.role is Role.CANDIDATE
    assert node.deadline() is not None


def test_a_request_that_failed_is_repeated_and_no_sooner_than_allowed():
    quorum = Quorum(3).start()
    follower = quorum.follower
    node, now = follower.node, follower.now_ms()
    node.step(now, SendFailed(quorum.leader.id, node._state.following.fetch))
    assert node.step(now + 19, Tick()) == []
    (again,) = node.step(now + 20, Tick())
    assert isinstance(again.request, FetchRequest)
