"""The checker finds what it is there for, and nothing in a history that is clean."""

from __future__ import annotations

import pytest

from kbroker.coordinator.share.dead_letters import Cause
from tests.chaos.cluster.checker import check, silences
from tests.chaos.cluster.history import (
    Commit,
    Committed,
    EndSeen,
    FaultSpan,
    Given,
    Held,
    History,
    Letter,
    Move,
    Read,
    Said,
    Sent,
    Told,
    decode,
    encode,
)

REJECTED, EXCEEDED = Cause.REJECTED.value, Cause.EXCEEDED.value
KEY = ("main", 0)
OUT = ("target", 0)
IN = ("source", 0)


def clean() -> History:
    """Two producers, a reader, a group, a pipeline."""
    history = History(idempotent={1, 2})
    for offset in range(10):
        producer, number = 1 + offset % 2, offset // 2 + 1
        value = producer << 40 | number
        history.sent.append(Sent(producer, KEY, value, "ok", offset, offset, offset + 0.5, number))
        history.read.append(Read("reader", 1, KEY, offset, value))
    history.final[KEY] = [(sent.offset, sent.value) for sent in history.sent]
    history.commits = [Commit("g", KEY, n, n, n + 0.5) for n in range(1, 5)]
    history.committed = [Committed("g", KEY, n, n + 0.6, n + 0.8) for n in range(1, 5)]
    history.ends = [EndSeen(KEY, n, n, n + 0.1) for n in range(10)]
    inputs = [3 << 40 | n for n in range(4)]
    history.sent += [Sent(3, IN, value, "ok", n, 20 + n, 20.5 + n, n) for n, value in enumerate(inputs)]
    history.final[IN] = list(enumerate(inputs))
    history.output[OUT] = [(n, value, 7 + n // 2, 2) for n, value in enumerate(inputs)]
    history.moves = [Move(7, tuple(inputs[:2]), "ok"), Move(8, tuple(inputs[2:]), "ok")]
    # Of the second half nothing is heard until its lock has ended.
    first, silent = Given("w1", KEY, 0, 4, 1, 30, 30.1), Given("w1", KEY, 5, 9, 1, 31, 31.1)
    again = Given("w2", KEY, 5, 9, 2, 33.5, 33.6)
    history.given = [first, silent, again]
    history.said = [Said(first, True, "ok", 30.2, 30.3), Said(again, True, "ok", 34, 34.1)]
    # A member holds a partition until it hears that it must not; the next one then begins.
    history.held = [Held("g", "m1", KEY, 40, 41, 41.2), Held("g", "m1", KEY, 40, 42, 42.2)]
    history.held += [Held("g", "m2", KEY, 43, 44, 44.2), Held("g", "m1", KEY, 45, 46, 46.2)]
    history.told = [Told("s1", KEY, 2), Told("s1", KEY, 3), Told("s2", KEY, 4), Told("s2", ("main", 1), 3)]
    return history


def lose(history: History) -> None:
    del history.final[KEY][-1]


def lose_in_the_middle(history: History) -> None:
    del history.final[KEY][4]


def double(history: History) -> None:
    history.final[KEY].append((10, history.final[KEY][3][1]))


def replace(history: History) -> None:
    history.final[KEY][5] = 5, history.final[KEY][6][1]
    del history.final[KEY][6]


def write_what_failed(history: History) -> None:
    history.sent[2] = history.sent[2]._replace(outcome="fail")


def invent(history: History) -> None:
    history.final[KEY].append((10, 5 << 40))


def swap(history: History) -> None:
    final = history.final[KEY]
    final[4], final[6] = (4, final[6][1]), (6, final[4][1])


def overtake(history: History) -> None:
    first, second = history.sent[4], history.sent[5]
    history.sent[4], history.sent[5] = first._replace(offset=5), second._replace(offset=4)
    final = history.final[KEY]
    final[4], final[5] = (4, final[5][1]), (5, final[4][1])


def read_two_values(history: History) -> None:
    history.read.append(Read("another", 1, KEY, 3, history.final[KEY][4][1]))


def read_what_vanished(history: History) -> None:
    history.read.append(Read("another", 1, KEY, 10, 1 << 40 | 99))


def skip(history: History) -> None:
    del history.read[4]


def repeat(history: History) -> None:
    history.read.insert(5, history.read[3])


def commit_back(history: History) -> None:
    history.committed[-1] = history.committed[-1]._replace(offset=2)


def end_back(history: History) -> None:
    history.ends[-1] = history.ends[-1]._replace(offset=3)


def tear(history: History) -> None:
    history.final[IN].pop()
    history.output[OUT].pop()


def move_twice(history: History) -> None:
    first = history.output[OUT][0]
    history.output[OUT].append((9, first[1], 9, 1))
    history.moves.append(Move(9, (first[1],), "info"))


def move_not(history: History) -> None:
    del history.output[OUT][2:]
    history.moves[1] = history.moves[1]._replace(outcome="info")


def show_aborted(history: History) -> None:
    history.moves[0] = history.moves[0]._replace(outcome="fail")


def forget_a_commit(history: History) -> None:
    history.moves.append(Move(10, (), "ok"))


def give_to_two(history: History) -> None:
    history.given.append(Given("w2", KEY, 3, 3, 2, 30.12, 30.15))


def give_again_what_was_accepted(history: History) -> None:
    history.given.append(Given("w2", KEY, 0, 1, 2, 50, 50.1))


def accept_twice(history: History) -> None:
    history.said.append(Said(history.given[1], True, "ok", 34.2, 34.3))


def give_to_nobody(history: History) -> None:
    history.said.pop()


def reject_without_a_letter(history: History) -> None:
    history.said[0] = history.said[0]._replace(rejected=True)


def bury_what_was_accepted(history: History) -> None:
    history.letters.append(Letter(KEY, 0, EXCEEDED))


def bury_what_nobody_rejected(history: History) -> None:
    history.said[0] = history.said[0]._replace(outcome="info")
    history.letters.append(Letter(KEY, 0, REJECTED))


def commit_as_a_zombie(history: History) -> None:
    history.held.append(Held("g", "m1", KEY, 40, 47, 47.2))


def own_a_task_too(history: History) -> None:
    history.told.append(Told("s2", KEY, 3))


PLANTED = [
    (lose, "lost"),
    (lose_in_the_middle, "lost"),
    (double, "duplicate"),
    (replace, "offset of another record"),
    (write_what_failed, "written though refused"),
    (invent, "phantom"),
    (swap, "reordered"),
    (overtake, "real-time order"),
    (read_two_values, "inconsistent or vanished read"),
    (read_what_vanished, "inconsistent or vanished read"),
    (skip, "skip or repetition"),
    (repeat, "skip or repetition"),
    (commit_back, "committed offset went back"),
    (end_back, "end went back"),
    (tear, "exactly once"),
    (move_twice, "exactly once"),
    (move_not, "exactly once"),
    (show_aborted, "exactly once"),
    (forget_a_commit, "exactly once"),
    (commit_as_a_zombie, "two owners"),
    (own_a_task_too, "streams group: two owners of a task"),
    (give_to_two, "share group: two holders"),
    (give_again_what_was_accepted, "share group: two holders"),
    (accept_twice, "share group: two holders"),
    (give_to_nobody, "share group: not delivered"),
    (reject_without_a_letter, "share group: dead letters"),
    (bury_what_was_accepted, "share group: dead letters"),
    (bury_what_nobody_rejected, "share group: dead letters"),
]


def test_a_clean_history_is_clean() -> None:
    assert check(clean()) == {}


@pytest.mark.parametrize(("plant", "name"), PLANTED, ids=[plant.__name__ for plant, _ in PLANTED])
def test_what_is_planted_is_found(plant, name: str) -> None:
    history = clean()
    plant(history)
    assert name in check(history)


def test_rejected_records_have_dead_letters_or_it_is_known_that_they_have_none() -> None:
    history = clean()
    reject_without_a_letter(history)
    given = history.said[0].given
    history.letters = [Letter(given.key, offset, REJECTED) for offset in range(given.first, given.last)] * 2
    history.unwritten = [Letter(given.key, given.last, "no leader")]
    assert check(history) == {}


def test_what_nobody_knows_may_be_there_or_not() -> None:
    history = clean()
    history.sent[9] = history.sent[9]._replace(outcome="info", offset=-1)
    assert check(history) == {}
    history.final[KEY].pop()
    history.read.pop()
    assert check(history) == {}


def test_a_commit_that_was_not_answered_may_be_repeated_late() -> None:
    history = clean()
    commit_back(history)
    look = history.committed[-1]
    history.unsure_commits = [Commit("g", KEY, look.offset, look.ended + 1, look.ended + 2)]
    assert "committed offset went back" in check(history)
    history.unsure_commits.append(Commit("g", KEY, look.offset, look.began - 2, look.began - 1))
    assert check(history) == {}


def test_copies_of_a_plain_producer_are_allowed() -> None:
    history = clean()
    history.idempotent.clear()
    double(history)
    assert "duplicate" not in check(history)


def test_a_record_in_the_wrong_partition_is_no_number() -> None:
    assert decode(encode(5, KEY), KEY) == 5
    with pytest.raises(ValueError, match="main-1"):
        decode(encode(5, KEY), ("main", 1))


def test_the_silence_of_a_fault_is_the_longest_of_any_partition() -> None:
    history = History()
    for offset, ended in enumerate([0.1, 1.0, 4.5, 5.0]):
        history.sent.append(Sent(1, KEY, offset, "ok", offset, ended, ended, offset))
    history.faults.append(FaultSpan("kill", "1", 1.5, 3.0))
    assert silences(history) == {"kill": [3.0]}
