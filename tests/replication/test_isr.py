from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kbroker.errors import ErrorCode
from kbroker.replication.isr import InSyncSet, Verdict
from kbroker.replication.leader import LeaderState


def test_a_proposed_member_counts_until_the_controller_has_decided():
    in_sync = InSyncSet((1, 2), 5)
    proposal = in_sync.propose_join(3, leader_epoch=7)
    assert proposal == ((1, 2, 3), 7, 5, 3)
    assert (in_sync.committed, in_sync.maximal) == ((1, 2), (1, 2, 3))
    assert in_sync.accepted(proposal, 7, 6, (1, 2, 3))
    assert (in_sync.committed, in_sync.maximal, in_sync.partition_epoch) == ((1, 2, 3), (1, 2, 3), 6)
    assert in_sync.proposal is None


def test_who_is_proposed_to_leave_counts_until_it_is_true():
    in_sync = InSyncSet((1, 2, 3), 5)
    proposal = in_sync.propose_leave((3,), 7)
    assert proposal.isr == (1, 2)
    assert in_sync.maximal == (1, 2, 3)


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (ErrorCode.INELIGIBLE_REPLICA, Verdict.REVERTED),
        (ErrorCode.OPERATION_NOT_ATTEMPTED, Verdict.REVERTED),
        (ErrorCode.INVALID_UPDATE_VERSION, Verdict.WAITS),
        (ErrorCode.FENCED_LEADER_EPOCH, Verdict.WAITS),
        (ErrorCode.UNKNOWN_TOPIC_ID, Verdict.WAITS),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, Verdict.WAITS),
        (ErrorCode.INVALID_REQUEST, Verdict.WAITS),
        (ErrorCode.NEW_LEADER_ELECTED, Verdict.WAITS),
        (ErrorCode.NOT_CONTROLLER, Verdict.RETRY),
        (ErrorCode.STALE_BROKER_EPOCH, Verdict.RETRY),
        (ErrorCode.REQUEST_TIMED_OUT, Verdict.RETRY),
        (ErrorCode.UNKNOWN_SERVER_ERROR, Verdict.RETRY),
    ],
)
def test_a_proposal_is_taken_back_only_when_it_certainly_was_not_applied(code, verdict):
    in_sync = InSyncSet((1, 2), 5)
    proposal = in_sync.propose_join(3, 7)
    assert in_sync.refused(proposal, code) is verdict
    assert (in_sync.proposal is None) == (verdict is Verdict.REVERTED)
    assert in_sync.maximal == ((1, 2) if verdict is Verdict.REVERTED else (1, 2, 3))
    assert in_sync.waits == (verdict is Verdict.WAITS)


def test_later_metadata_ends_a_proposal_and_its_answer_is_no_news_then():
    in_sync = InSyncSet((1, 2), 5)
    proposal = in_sync.propose_join(3, 7)
    assert in_sync.take((1,), 6)
    assert (in_sync.committed, in_sync.proposal) == ((1,), None)
    assert not in_sync.accepted(proposal, 7, 6, (1, 2, 3))
    assert in_sync.refused(proposal, ErrorCode.INELIGIBLE_REPLICA) is Verdict.STALE


def test_metadata_of_the_epoch_that_is_known_leaves_a_later_proposal_alone():
    in_sync = InSyncSet((1,), 5)
    in_sync.accepted(in_sync.propose_join(2, 7), 7, 6, (1, 2))
    proposal = in_sync.propose_join(3, 7)
    assert in_sync.take((1, 2), 6)
    assert in_sync.proposal is proposal
    assert in_sync.maximal == (1, 2, 3)
    assert not in_sync.take((1,), 5)


def leader(isr=(1, 2), **fields):
    return LeaderState(
        local_id=1,
        leader_epoch=4,
        epoch_start_offset=10,
        replicas=(1, 2, 3),
        isr=isr,
        high_watermark=8,
        lag_time_max_ms=100,
        began_ms=1000,
        **fields,
    )


def test_scenario_20_only_who_reaches_watermark_and_epoch_start_is_proposed():
    state = leader()
    for offset in (7, 9):
        state.follower_fetched(3, offset, 12, 1000)
        assert state.propose_join(3) is None
    state.follower_fetched(3, 10, 12, 1001)
    assert state.propose_join(3).isr == (1, 2, 3)
    assert state.propose_join(3) is None  # one at a time


def test_who_may_not_join_is_neither_proposed_nor_waited_for():
    state = leader(may_join=lambda replica, epoch: epoch == 77)
    state.follower_fetched(3, 12, 12, 1000, broker_epoch=76)
    assert state.propose_join(3) is None
    state.follower_fetched(2, 15, 15, 1000)
    assert state.advance(15, 1000)
    assert state.high_watermark == 15
    state.follower_fetched(3, 15, 15, 1000, broker_epoch=77)
    assert state.propose_join(3) is not None


def test_scenario_23_the_watermark_counts_who_is_proposed():
    state = leader()
    state.follower_fetched(3, 12, 12, 1000)
    assert state.propose_join(3)
    state.follower_fetched(2, 20, 20, 9000)
    state.advance(20, 9000)  # 3 has not been caught up for long
    assert state.high_watermark == 12


def test_laggards_are_proposed_to_leave_after_the_lag_time():
    state = leader(isr=(1, 2, 3))
    assert state.propose_leave(12, 1100) is None
    state.follower_fetched(2, 12, 12, 1100)
    proposal = state.propose_leave(12, 1101)
    assert proposal.isr == (1, 2)
    assert state.propose_leave(12, 9999) is None  # one at a time
    state.follower_fetched(2, 20, 20, 9000)
    state.advance(20, 9000)
    assert state.high_watermark == 8  # 3 counts until it has left
    assert state.accepted(proposal, 4, 1, (1, 2))
    assert state.advance(20, 9000)
    assert state.high_watermark == 20


def test_a_follower_at_the_end_never_lags_however_long_nothing_comes():
    state = leader()
    state.follower_fetched(2, 12, 12, 1000)
    assert state.propose_leave(12, 1_000_000) is None


def test_the_low_watermark_waits_for_those_alive():
    state = leader()
    state.follower_fetched(2, 12, 12, 0, log_start=5)
    assert state.low_watermark(9, (1, 2)) == 5
    assert state.low_watermark(9, (1,)) == 9
    assert state.low_watermark(9, (1, 2, 3)) == -1


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("fetch"), st.integers(2, 3), st.integers(0, 4)),
            st.tuples(st.just("join"), st.integers(2, 3)),
            st.tuples(st.just("leave"), st.just(0)),
            st.tuples(st.just("answer"), st.booleans()),
            st.tuples(st.just("append"), st.integers(1, 3)),
            st.tuples(st.just("time"), st.integers(1, 200)),
        ),
        max_size=60,
    )
)
def test_whatever_the_controller_says_the_watermark_is_within_every_possible_set(steps):
    state = leader()
    true_isr, end, now, ends = (1, 2), 12, 1000, {2: 8, 3: 0}
    pending = None
    for step, *rest in steps:
        if step == "fetch":
            replica, more = rest
            ends[replica] = min(ends[replica] + more, end)
            state.follower_fetched(replica, ends[replica], end, now)
        elif step == "append":
            end += rest[0]
        elif step == "time":
            now += rest[0]
        elif step == "answer" and pending:
            if rest[0]:
                true_isr = pending.isr
                state.accepted(pending, 4, state.partition_epoch + 1, true_isr)
            else:
                state.in_sync.refused(pending, ErrorCode.INELIGIBLE_REPLICA)
            pending = None
        elif step in ("join", "leave"):
            proposal = state.propose_join(rest[0]) if step == "join" else state.propose_leave(end, now)
            pending = proposal or pending
        before = state.high_watermark
        if state.advance(end, now):
            possible = set(true_isr) | set(pending.isr if pending else ())
            assert state.high_watermark <= min(ends[r] if r != 1 else end for r in possible)
        assert state.high_watermark >= before
