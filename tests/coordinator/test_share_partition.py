"""Records in flight of a share group, against a model that knows each record by itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from kbroker.coordinator.share.acknowledgement import ACCEPT, GAP, REJECT, RELEASE, RENEW, AckBatch
from kbroker.coordinator.share.acquisition import Wish
from kbroker.coordinator.share.in_flight import ShareLimits
from kbroker.coordinator.share.share_partition import SharePartition
from kbroker.coordinator.share.spans import RecordState, StateBatch
from kbroker.errors import ApiError, ErrorCode

MEMBERS = ("a", "b", "c")
LIMITS = ShareLimits(lock_ms=100, max_deliveries=3, max_in_flight=12)
#: A log of batches with 1 to 4 records.
LOG = [(0, 0), (1, 4), (5, 6), (7, 9), (10, 10), (11, 14), (15, 18), (19, 19), (20, 23)]


class Model:
    """Each record: state, deliveries, member, end of lock."""

    def __init__(self):
        self.records = {}

    def check(self, core):
        position = core.start_offset
        for span in core.spans:
            assert position <= span.first <= span.last
            position = span.last + 1
            for offset in range(span.first, span.last + 1):
                state, count, member, _ = self.records[offset]
                assert (span.state, span.count, span.member) == (state, count, member), offset
        for offset, (state, *_) in self.records.items():
            if offset < core.start_offset:
                assert state in (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED), offset
        assert core.end_offset == max(self.records, default=core.start_offset - 1)

    def acquire(self, acquired, member, now):
        for first, last, deliveries in acquired:
            for offset in range(first, last + 1):
                state, count, _, _ = self.records.get(offset, (RecordState.AVAILABLE, 0, "", 0))
                assert state is RecordState.AVAILABLE, "held by two at once"
                assert deliveries == count + 1 <= LIMITS.max_deliveries
                self.records[offset] = (RecordState.ACQUIRED, count + 1, member, now + LIMITS.lock_ms)

    def free(self, offset):
        _, count, _, _ = self.records[offset]
        state = RecordState.AVAILABLE if count < LIMITS.max_deliveries else RecordState.ARCHIVED
        self.records[offset] = (state, count, "", 0)

    def expire(self, now):
        for offset, (state, _, _, deadline) in self.records.items():
            if state is RecordState.ACQUIRED and deadline <= now:
                self.free(offset)

    def acknowledge(self, member, batch, now, written):
        first, last, kinds = batch
        for at, offset in enumerate(range(first, last + 1)):
            kind = kinds[at] if len(kinds) > 1 else kinds[0]
            state, count, owner, _ = self.records[offset]
            assert (state, owner) == (RecordState.ACQUIRED, member)
            if kind == RENEW:
                self.records[offset] = (state, count, owner, now + LIMITS.lock_ms)
            elif not written:
                continue
            elif kind == RELEASE:
                self.free(offset)
            else:
                end = RecordState.ACKNOWLEDGED if kind == ACCEPT else RecordState.ARCHIVED
                self.records[offset] = (end, count, "", 0)

    def release(self, member):
        for offset, (state, _, owner, _) in self.records.items():
            if state is RecordState.ACQUIRED and owner == member:
                self.free(offset)


ACTIONS = st.one_of(
    st.tuples(st.just("fetch"), st.sampled_from(MEMBERS), st.integers(1, 9), st.booleans()),
    st.tuples(
        st.just("ack"),
        st.sampled_from(MEMBERS),
        st.integers(0, 24),
        st.lists(st.sampled_from((GAP, ACCEPT, RELEASE, REJECT, RENEW)), min_size=1, max_size=5),
        st.booleans(),
    ),
    st.tuples(st.just("time"), st.integers(1, 120)),
    st.tuples(st.just("gone"), st.sampled_from(MEMBERS)),
    st.tuples(st.just("restart")),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(ACTIONS, max_size=60))
def test_no_record_is_held_twice_and_none_is_lost(actions):
    core, model, now = SharePartition(0, (), LIMITS), Model(), 0
    for action in actions:
        if action[0] == "fetch":
            fetch(core, model, action, now)
        elif action[0] == "ack":
            acknowledge(core, model, action, now)
        elif action[0] == "time":
            now += action[1]
            core.expire(now)
            model.expire(now)
        elif action[0] == "gone":
            core.settle(core.release(action[1]), True)
            model.release(action[1])
        else:
            core = restart(core, model)
        model.check(core)
    finish(core, model, now)


def fetch(core, model, action, now):
    _, member, records, strict = action
    start = core.next_fetch_offset()
    read = [batch for batch in LOG if batch[1] >= start]
    before = core.end_offset
    acquired = core.acquire(member, start, read, Wish(records, 4, strict), now)
    model.acquire(acquired, member, now)
    if strict:
        assert sum(last - first + 1 for first, last, _ in acquired) <= records
    if core.end_offset > before:
        assert core.in_flight <= LIMITS.max_in_flight + 3, "whole batches only may go beyond"


def acknowledge(core, model, action, now):
    _, member, first, kinds, written = action
    batch = AckBatch(first, first + len(kinds) - 1, kinds)
    held = [model.records.get(each, (None, 0, "", 0)) for each in range(first, batch.last + 1)]
    may = all(state is RecordState.ACQUIRED and owner == member for state, _, owner, _ in held)
    change = try_to_acknowledge(core, member, batch, now)
    if change is None:
        assert not may
        return
    if not may:
        # Before the start nobody minds; what is said of records behind it holds.
        assert first < core.start_offset
        keep = [at for at in range(len(kinds)) if first + at >= core.start_offset]
        if not keep:
            assert not change.batches
            return
        kinds = kinds[keep[0] :]
        batch = AckBatch(first + keep[0], batch.last, kinds)
    core.settle(change, written)
    model.acknowledge(member, batch, now, written)


def try_to_acknowledge(core, member, batch, now):
    try:
        return core.acknowledge(member, [batch], now)
    except ApiError:
        return None


def restart(core, model):
    """What the coordinator keeps; who held something has lost it, and the delivery does not count."""
    kept = []
    for span in core.spans:
        if span.state is not RecordState.ACQUIRED:
            kept.append(span.kept())
    for offset in [each for each in model.records if each >= core.start_offset]:
        state, *_ = model.records[offset]
        if state is RecordState.ACQUIRED:
            del model.records[offset]
    return SharePartition(core.start_offset, kept, LIMITS)


def finish(core, model, now):
    """Every record is delivered to the end: nothing is stuck."""
    for _ in range(400):
        now += LIMITS.lock_ms
        core.expire(now)
        model.expire(now)
        read = [batch for batch in LOG if batch[1] >= core.next_fetch_offset()]
        acquired = core.acquire("z", core.next_fetch_offset(), read, Wish(100), now)
        model.acquire(acquired, "z", now)
        for first, last, _ in acquired:
            core.settle(core.acknowledge("z", [AckBatch(first, last, [ACCEPT])], now), True)
            model.acknowledge("z", AckBatch(first, last, [ACCEPT]), now, True)
        if core.start_offset == LOG[-1][1] + 1:
            break
    assert core.start_offset == LOG[-1][1] + 1
    assert core.in_flight == 0


def taken(core, member="a", records=100, **more):
    return [
        tuple(each) for each in core.acquire(member, core.next_fetch_offset(), LOG, Wish(records, **more), 0)
    ]


def test_new_records_come_in_whole_batches_unless_the_limit_is_strict():
    assert taken(SharePartition(0), records=2) == [(0, 4, 1)]
    assert taken(SharePartition(0), records=2, strict=True) == [(0, 1, 1)]


def test_what_is_told_is_cut_between_batches():
    assert taken(SharePartition(0), batch_size=4) == [
        (0, 4, 1),
        (5, 9, 1),
        (10, 14, 1),
        (15, 18, 1),
        (19, 23, 1),
    ]


def test_released_one_by_one_records_come_again_as_one_piece_within_the_limit():
    core = SharePartition(0)
    taken(core)
    core.settle(core.acknowledge("a", [AckBatch(0, 4, [ACCEPT, RELEASE, ACCEPT, RELEASE, RELEASE])], 0), True)
    assert core.start_offset == 1
    assert core.next_fetch_offset() == 1
    assert taken(core, "b", 2) == [(1, 1, 2), (3, 3, 2)]


def test_what_is_being_written_is_nobodys_and_comes_back_if_it_could_not_be():
    core = SharePartition(0)
    taken(core, records=1)
    change = core.acknowledge("a", [AckBatch(0, 0, [RELEASE])], 0)
    assert change.batches == [StateBatch(0, 0, 0, 1)]
    assert core.acquire("b", 0, LOG[:1], Wish(1), 0) == []
    with pytest.raises(ApiError, match="could not be completed"):
        core.acknowledge("a", [AckBatch(0, 0, [ACCEPT])], 0)
    core.settle(change, False)
    core.acknowledge("a", [AckBatch(0, 0, [ACCEPT])], 0)


def test_several_batches_are_all_or_nothing():
    core = SharePartition(0)
    taken(core, records=5)
    with pytest.raises(ApiError) as caught:
        core.acknowledge("a", [AckBatch(0, 1, [ACCEPT]), AckBatch(40, 41, [ACCEPT])], 0)
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert (core.start_offset, core.complete_count) == (0, 0)


def test_the_start_follows_the_log():
    core = SharePartition(0)
    taken(core)
    core.log_start_moved(3)
    assert core.start_offset == 3
    core.settle(core.acknowledge("a", [AckBatch(0, 23, [ACCEPT])], 0), True)
    assert core.start_offset == 24


def test_gaps_of_what_was_kept_are_given_out():
    core = SharePartition(2, [StateBatch(4, 5, 0, 2), StateBatch(7, 8, 2, 1)])
    assert core.next_fetch_offset() == 2
    assert core.end_offset == 8
    assert taken(core) == [(2, 3, 1), (4, 5, 3), (6, 6, 1), (9, 23, 1)]


def test_offsets_that_the_log_does_not_have_are_passed_over():
    core = SharePartition(0)
    assert core.acquire("a", 0, [(5, 6)], Wish(9), 0) == [(5, 6, 1)]
    assert core.start_offset == 5
    assert core.acquire("a", 7, [(12, 12)], Wish(9), 0) == [(12, 12, 1)]
    core.settle(core.acknowledge("a", [AckBatch(5, 6, [ACCEPT])], 0), True)
    assert core.start_offset == 12


def test_records_of_aborted_transactions_are_done_with_at_once():
    core = SharePartition(0)
    taken(core, records=5)
    core.archive(0, 1)
    assert core.start_offset == 2


def test_what_was_given_in_vain_comes_in_smaller_pieces_at_last_one_by_one():
    core = SharePartition(0, limits=ShareLimits(max_deliveries=5))
    assert core.acquire("a", 0, [(0, 7)], Wish(100), 0) == [(0, 7, 1)]
    core.settle(core.acknowledge("a", [AckBatch(0, 7, [RELEASE])], 0), True)
    given = []
    while pieces := core.acquire("a", core.next_fetch_offset(), [(0, 7)], Wish(100), 0):
        given.append(pieces)
        for first, last, _ in pieces:
            core.settle(core.acknowledge("a", [AckBatch(first, last, [RELEASE])], 0), True)
    assert given[:2] == [[(0, 7, 2)], [(0, 7, 3)]]
    # Half of them, then one at its last delivery; what is free is given in its order.
    assert given[2] == [(0, 3, 4)]
    assert given[3:7] == [[(each, each, 5)] for each in range(4)]
    assert given[7] == [(4, 7, 4)]
    assert given[8:] == [[(each, each, 5)] for each in range(4, 8)]
    assert core.start_offset == 8


def test_new_records_do_not_come_with_suspect_ones():
    core = SharePartition(0, [StateBatch(0, 3, 0, 3)], ShareLimits(max_deliveries=5))
    assert core.acquire("a", 0, [(0, 9)], Wish(100), 0) == [(0, 1, 4)]
    assert core.acquire("b", 2, [(0, 9)], Wish(100), 0) == [(2, 3, 4)]
    assert core.acquire("b", 4, [(0, 9)], Wish(100), 0) == [(4, 9, 1)]
