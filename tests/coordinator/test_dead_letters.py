"""Dead letters of share groups: what is in them, and what becomes of records that are given up."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from kbroker.coordinator.share.acknowledgement import ACCEPT, REJECT, RELEASE, AckBatch
from kbroker.coordinator.share.acquisition import Wish
from kbroker.coordinator.share.dead_letters import Cause, DeadLetters, Envelope, Origin
from kbroker.coordinator.share.in_flight import ShareLimits
from kbroker.coordinator.share.share_partition import SharePartition
from kbroker.coordinator.share.spans import RecordState, StateBatch
from kbroker.protocol.record_batch import Record, decode_records, iter_batches
from tests.coordinator.test_share_partition import ACTIONS, LOG, try_to_acknowledge

ORIGIN = Origin("g", "t", 3)
LIMITS = ShareLimits(lock_ms=100, max_deliveries=3, max_in_flight=12)
KEEPING = LIMITS._replace(dead_letters=True)


def letters(envelope):
    data = envelope.batch()
    (header,) = iter_batches(data)
    return decode_records(data, header)


def headers(offset, count, message):
    values = {
        "topic": "t",
        "partition": "3",
        "offset": offset,
        "group": "g",
        "delivery.count": count,
        "message": message,
    }
    return [(f"__dlq.errors.{name}", str(value).encode()) for name, value in values.items()]


def test_a_letter_tells_where_the_record_was_and_why_it_was_given_up():
    envelope = Envelope(1_000, 1_000_000)
    assert envelope.fill(ORIGIN, DeadLetters(7, 8, 2, Cause.REJECTED), 7, {}, 9) == 9
    assert envelope.fill(ORIGIN, DeadLetters(20, 20, 5, Cause.EXCEEDED), 20, {}, 21) == 21
    found = letters(envelope)
    assert [(each.offset, each.timestamp, each.key, each.value) for each in found] == [
        (at, 1_000, None, None) for at in range(3)
    ]
    assert [list(each.headers) for each in found] == [
        headers(7, 2, "Offset rejected by client."),
        headers(8, 2, "Offset rejected by client."),
        headers(20, 5, "Offset delivery count exceeded the threshold."),
    ]


def test_key_and_value_are_copied_and_headers_are_not():
    originals = {7: Record(7, 5, b"k", b"v", [("h", b"x")]), 9: Record(9, 5, None, b"w")}
    envelope = Envelope(1_000, 1_000_000)
    envelope.fill(ORIGIN, DeadLetters(7, 9, 1, Cause.REJECTED), 7, originals, 10)
    found = letters(envelope)
    assert [(each.key, each.value) for each in found] == [(b"k", b"v"), (None, None), (None, b"w")]
    assert list(found[0].headers) == headers(7, 1, "Offset rejected by client.")


def test_a_batch_gets_no_larger_than_the_topic_takes():
    dead = DeadLetters(0, 99, 1, Cause.REJECTED)
    originals = {offset: Record(offset, 5, None, b"v" * 100) for offset in range(100)}
    offset, batches = 0, 0
    while offset < 100:
        envelope = Envelope(1_000, 2_000)
        began, offset = offset, envelope.fill(ORIGIN, dead, offset, originals, 100)
        assert offset > began
        assert len(envelope.batch()) <= 2_000
        batches += 1
    assert 10 < batches < 30


def test_a_record_that_is_too_large_comes_without_its_copy_and_alone():
    dead = DeadLetters(0, 2, 1, Cause.REJECTED)
    originals = {1: Record(1, 5, b"k", b"v" * 1_000)}
    first = Envelope(1_000, 1_000)
    assert first.fill(ORIGIN, dead, 0, originals, 3) == 1
    second = Envelope(1_000, 1_000)
    assert second.fill(ORIGIN, dead, 1, originals, 3) == 3
    assert [(each.key, each.value) for each in letters(second)] == [(None, None)] * 2


def test_a_limit_below_any_letter_is_for_the_topic_to_enforce():
    envelope = Envelope(1_000, 10)
    assert envelope.fill(ORIGIN, DeadLetters(0, 1, 1, Cause.REJECTED), 0, {}, 2) == 1
    assert envelope.is_full


def core_with(records, limits=KEEPING):
    core = SharePartition(0, (), limits)
    assert core.acquire("a", 0, [(0, records - 1)], Wish(records), 0) == [(0, records - 1, 1)]
    return core


def test_what_is_rejected_is_done_with_once_its_letter_is_written():
    core = core_with(4)
    change = core.acknowledge("a", [AckBatch(0, 3, [REJECT, ACCEPT, REJECT, REJECT])], 0)
    assert change.batches == [StateBatch(0, 0, 3, 1), StateBatch(1, 1, 2, 1), StateBatch(2, 3, 3, 1)]
    assert change.complete_count == 1
    assert change.dead == [DeadLetters(0, 0, 1, Cause.REJECTED), DeadLetters(2, 3, 1, Cause.REJECTED)]
    assert core.archived(0, 0) == [], "it is not even known to be rejected"
    core.settle(change, True)
    assert (core.start_offset, core.complete_count, core.is_locked) == (0, 1, True)
    assert core.next_fetch_offset() == 4
    assert core.archived(2, 3) == [StateBatch(2, 3, 4, 1)]
    assert (core.start_offset, core.complete_count) == (0, 3)
    assert core.archived(0, 0) == [StateBatch(0, 0, 4, 1)]
    assert (core.start_offset, core.is_locked) == (4, False)
    assert core.archived(0, 3) == []


def test_a_rejection_that_could_not_be_written_is_none():
    core = core_with(2)
    core.settle(core.acknowledge("a", [AckBatch(0, 1, [REJECT])], 0), False)
    assert [(span.state, span.member) for span in core.spans] == [(RecordState.ACQUIRED, "a")]


def test_what_was_delivered_too_often_gets_letters_however_it_came_back():
    core = SharePartition(0, [StateBatch(0, 2, 0, 1)], KEEPING._replace(max_deliveries=2))
    for offset in range(3):
        core.acquire("a", offset, [(offset, offset)], Wish(1, strict=True), 0)
    change = core.acknowledge("a", [AckBatch(0, 0, [RELEASE])], 0)
    assert change.dead == [DeadLetters(0, 0, 2, Cause.EXCEEDED)]
    core.settle(change, True)
    assert core.expire(100) == [StateBatch(1, 1, 3, 2), StateBatch(2, 2, 3, 2)]
    states = {span.first: span.state for span in core.spans}
    assert set(states.values()) == {RecordState.ARCHIVING}


def test_the_end_of_a_session_is_a_release():
    core = SharePartition(0, [StateBatch(0, 0, 0, 1)], KEEPING._replace(max_deliveries=2))
    core.acquire("a", 0, [(0, 0)], Wish(1), 0)
    assert core.release("a").dead == [DeadLetters(0, 0, 2, Cause.EXCEEDED)]


def test_who_takes_over_begins_anew_with_letters_that_may_not_be_written():
    core = SharePartition(
        0, [StateBatch(0, 1, 3, 1), StateBatch(2, 2, 3, 3), StateBatch(3, 3, 4, 3)], KEEPING
    )
    assert core.dead_letters() == [
        DeadLetters(0, 1, 1, Cause.REJECTED),
        DeadLetters(2, 2, 3, Cause.EXCEEDED),
    ]
    assert core.next_fetch_offset() == 4


def test_records_that_the_log_has_lost_hold_up_nothing():
    core = core_with(4)
    core.settle(core.acknowledge("a", [AckBatch(0, 3, [REJECT])], 0), True)
    core.log_start_moved(2)
    assert core.start_offset == 2
    assert core.archived(0, 3) == [StateBatch(2, 3, 4, 1)]
    assert core.start_offset == 4


@settings(max_examples=100, deadline=None)
@given(st.lists(ACTIONS, max_size=60))
def test_with_letters_that_are_written_at_once_all_is_as_without(actions):
    plain, keeping, now = SharePartition(0, (), LIMITS), SharePartition(0, (), KEEPING), 0
    for action in actions:
        if action[0] == "time":
            now += action[1]
        for core in (plain, keeping):
            perform(core, action, now)
        assert seen(plain) == seen(keeping)
        assert plain.start_offset == keeping.start_offset


def perform(core, action, now):
    if action[0] == "fetch":
        read = [batch for batch in LOG if batch[1] >= core.next_fetch_offset()]
        core.acquire(action[1], core.next_fetch_offset(), read, Wish(action[2], 4, action[3]), now)
    elif action[0] == "ack":
        _, member, first, kinds, written = action
        change = try_to_acknowledge(core, member, AckBatch(first, first + len(kinds) - 1, kinds), now)
        if change is not None:
            core.settle(change, written)
    elif action[0] == "time":
        core.expire(now)
    elif action[0] == "gone":
        core.settle(core.release(action[1]), True)
    for dead in core.dead_letters():
        core.archived(dead.first, dead.last)


def seen(core):
    return {
        offset: (span.state, span.count, span.member)
        for span in core.spans
        for offset in range(span.first, span.last + 1)
    }
