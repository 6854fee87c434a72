"""The epoch cache: assignments, look-ups, cuts at both ends."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from kbroker.storage.leader_epochs import LeaderEpochs


def test_an_epoch_that_wrote_nothing_is_replaced() -> None:
    epochs = LeaderEpochs([(0, 0), (2, 64)])
    assert not epochs.dirty
    assert epochs.assign(4, 64)
    assert epochs.entries() == [(0, 0), (4, 64)]
    assert epochs.dirty
    assert not epochs.assign(4, 70)
    assert epochs.latest == 4


def test_ends_of_epochs() -> None:
    """As OffsetForLeaderEpoch answers (KIP-279)."""
    epochs = LeaderEpochs([(2, 10), (4, 20), (7, 30)])
    assert [epochs.end_offset_for(epoch, 35) for epoch in (-1, 0, 2, 3, 4, 6, 7, 8)] == [
        (-1, -1),
        (0, 10),
        (2, 20),
        (2, 20),
        (4, 30),
        (4, 30),
        (7, 35),
        (-1, -1),
    ]
    assert [epochs.epoch_at(offset) for offset in (9, 10, 19, 20, 99)] == [-1, 2, 2, 4, 7]
    assert [epochs.previous(4), epochs.previous(2)] == [2, -1]


def test_cuts() -> None:
    epochs = LeaderEpochs([(0, 0), (2, 64), (4, 82)])
    epochs.truncate_from_start(64)
    assert epochs.entries() == [(2, 64), (4, 82)]
    epochs.truncate_from_start(70)
    assert epochs.entries() == [(2, 70), (4, 82)]
    epochs.truncate_from_start(200)
    assert epochs.entries() == [(4, 200)]
    epochs.truncate_from_end(200)
    assert (epochs.entries(), epochs.latest) == ([], -1)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20)), max_size=12), st.integers(0, 20), st.booleans()
)
def test_both_always_ascend(assigned: list[tuple[int, int]], cut: int, at_end: bool) -> None:
    epochs = LeaderEpochs()
    for epoch, start in assigned:
        epochs.assign(epoch, start)
    if at_end:
        epochs.truncate_from_end(cut)
    else:
        epochs.truncate_from_start(cut)
    entries = epochs.entries()
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(entries))
    assert epochs.latest == (entries[-1][0] if entries else -1)
