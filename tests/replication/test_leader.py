from __future__ import annotations

from hypothesis import given, strategies as st

from kbroker.errors import ErrorCode
from kbroker.replication.isr import NOBODY_JOINS_OR_LEAVES
from kbroker.replication.leader import FollowerProgress, LeaderState


def state(replicas=(1, 2, 3), isr=None, **fields):
    return LeaderState(
        local_id=1,
        leader_epoch=0,
        epoch_start_offset=0,
        replicas=replicas,
        isr=isr or replicas,
        high_watermark=0,
        **fields,
    )


def test_alone_the_log_end_is_the_high_watermark():
    leader = state((1,))
    assert leader.advance(7, 0)
    assert leader.high_watermark == 7
    assert not leader.advance(7, 0)


@given(st.lists(st.tuples(st.integers(2, 3), st.integers(0, 5)), max_size=40))
def test_the_high_watermark_is_the_lowest_end_of_the_in_sync_set_and_never_falls(fetches):
    leader = state()
    ends = {2: 0, 3: 0}
    for end in range(10):
        leader.advance(end, 0)
    for replica, step in fetches:
        ends[replica] = min(ends[replica] + step, 9)
        assert leader.follower_fetched(replica, ends[replica], 9, 1000)
        leader.advance(9, 1000)
        assert leader.high_watermark == min(ends.values())


def test_it_waits_while_too_few_are_in_sync():
    leader = state(isr=(1,), min_isr=2)
    leader.follower_fetched(2, 5, 5, 1)
    assert not leader.advance(5, 1)
    leader.change_replicas((1, 2, 3), (1, 2), 1)
    assert leader.advance(5, 100_000)
    assert leader.high_watermark == 5


def test_min_isr_counts_at_most_the_replicas():
    assert state((1,), min_isr=3).has_enough_in_sync
    assert not state((1, 2, 3), isr=(1, 2), min_isr=3).has_enough_in_sync


def test_a_caught_up_replica_that_has_not_joined_yet_is_waited_for():
    leader = state(isr=(1, 2))
    leader.follower_fetched(3, 5, 5, 1000)
    leader.follower_fetched(2, 9, 9, 1000)
    leader.advance(9, 1000)
    assert leader.high_watermark == 5
    leader.advance(9, 1000 + 30_001)
    assert leader.high_watermark == 9


def test_strangers_are_no_replicas():
    assert not state().follower_fetched(9, 0, 0, 0)


def test_caught_up_means_the_end_of_now_or_of_the_fetch_before():
    progress = FollowerProgress()
    progress.fetched(5, 5, 100)
    assert progress.last_caught_up_ms == 100
    progress.fetched(7, 10, 200)
    assert progress.last_caught_up_ms == 100
    progress.fetched(10, 20, 300)
    assert progress.last_caught_up_ms == 200
    progress.fetched(11, 30, 400)
    assert progress.last_caught_up_ms == 200


def test_an_unclean_leader_says_that_it_has_recovered_until_it_is_heard():
    leader = state((1,), recovering=True)
    proposal = leader.propose_recovered()
    assert proposal == ((1,), 0, 0, NOBODY_JOINS_OR_LEAVES)
    assert leader.propose_recovered() is None
    leader.in_sync.refused(proposal, ErrorCode.OPERATION_NOT_ATTEMPTED)
    again = leader.propose_recovered()
    assert leader.accepted(again, 0, 1, (1,))
    assert leader.propose_recovered() is None


def test_what_the_metadata_says_of_recovery_counts():
    leader = state((1, 2), isr=(1,), recovering=True)
    leader.change_replicas((1, 2), (1,), 1)
    assert leader.propose_recovered() is None
    leader.change_replicas((1, 2), (1,), 2, recovering=True)
    assert leader.propose_recovered().partition_epoch == 2


def test_a_proposal_to_join_says_it_too():
    leader = state((1, 2), isr=(1,), recovering=True)
    leader.follower_fetched(2, 0, 0, 0)
    assert leader.propose_join(2).isr == (1, 2)
    assert leader.propose_recovered() is None
