from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kbroker.errors import ErrorCode
from kbroker.replication.follower import Remedy, out_of_range, pause_ms, remedy, truncation
from kbroker.storage.leader_epochs import LeaderEpochs


def cut(leader_epoch, leader_end, own_end=100, mark=50, entries=((0, 0), (2, 40), (5, 80))):
    epochs = LeaderEpochs(list(entries))
    return truncation(leader_epoch, leader_end, own_end, mark, lambda e: epochs.end_offset_for(e, own_end))


@pytest.mark.parametrize(
    ("leader", "expected"),
    [
        ((2, 60), (60, True)),  # both have epoch 2, the leader's ends first
        ((2, 90), (80, True)),  # ours ends first
        ((5, 95), (95, True)),
        ((3, 70), (80, False)),  # we lack epoch 3: back to the end of 2, and ask again
        ((-1, 30), (30, True)),  # a leader without epochs
        ((-1, -1), (50, True)),  # a leader that knows nothing: what is committed stays
        ((0, 500), (40, True)),
    ],
)
def test_where_to_cut(leader, expected):
    assert cut(*leader) == expected


def test_who_has_no_epoch_takes_the_leaders_end():
    assert cut(3, 70, entries=()) == (70, True)
    assert cut(3, 170, entries=()) == (100, True)


histories = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=8)


@given(histories, histories, histories)
def test_scenario_3_step_by_step_both_logs_meet_where_they_part(common, ours, theirs):
    """Logs as lists of epochs; epochs of the two ends are never the same in both (one leader an epoch)."""

    def grow(log, steps, parity):
        epoch = log[-1] if log else 0
        for step, count in steps:
            epoch = (epoch + step) // 2 * 2 + 2 + parity
            log += [epoch] * count
        return log

    base = grow([], common, 0)
    mine, other = grow(list(base), ours, 0), grow(list(base), theirs, 1)
    other.append(other[-1] + 50)  # the leader has begun an epoch
    follower, leader = epochs_of(mine), epochs_of(other)
    for _ in range(50):
        if not mine:
            break
        last = mine[-1]
        epoch, end = leader.end_offset_for(last, len(other))
        if epoch == last and end >= len(mine):
            break
        found = truncation(epoch, end, len(mine), 0, lambda e: follower.end_offset_for(e, len(mine)))
        del mine[found.offset :]
        follower.truncate_from_end(found.offset)
    assert mine == other[: len(mine)]
    assert len(mine) >= len(base)


def epochs_of(log):
    epochs = LeaderEpochs()
    for offset, epoch in enumerate(log):
        epochs.assign(epoch, offset)
    return epochs


def test_scenario_14_beyond_the_leaders_end_or_below_its_start():
    assert out_of_range(own_end=10, leader_start=0, leader_end=7) == (7, False)
    assert out_of_range(own_end=10, leader_start=20, leader_end=30) == (20, True)
    assert out_of_range(own_end=10, leader_start=5, leader_end=30) == (10, False)


def test_errors_pass_by_themselves_but_one():
    assert remedy(ErrorCode.OFFSET_OUT_OF_RANGE) is Remedy.RESTART
    assert remedy(ErrorCode.NOT_LEADER_OR_FOLLOWER) is Remedy.LATER
    assert [pause_ms(n, 10, 1000) for n in (1, 2, 3, 8, 99)] == [10, 20, 40, 1000, 1000]
