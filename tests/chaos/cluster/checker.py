"""Judges a `History`: each anomaly by name, with the first examples of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from tests.chaos.cluster.history import Given, Held, History, Key, Sent

_EXAMPLES = 3
#: From this delivery on a record may be given up: answers that were lost with a connection count, too.
GIVEN_UP_FROM = 5


def check(history: History) -> dict[str, list[str]]:
    """Name of the anomaly -> descriptions; empty: none."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, judge in CHECKS.items():
        for text in judge(history):
            found[name].append(text)
    return dict(found)


def report(found: dict[str, list[str]]) -> str:
    """For people."""
    lines = []
    for name, texts in found.items():
        lines.append(f"{name}: {len(texts)}")
        lines += [f"    {text}" for text in texts[:_EXAMPLES]]
    return "\n".join(lines)


def _offsets(history: History) -> dict[Key, dict[int, int]]:
    return {key: dict(records) for key, records in history.final.items()}


def _places(history: History) -> dict[int, list[tuple[Key, int]]]:
    places: dict[int, list[tuple[Key, int]]] = defaultdict(list)
    for key, records in history.final.items():
        for offset, value in records:
            places[value].append((key, offset))
    return places


def _lost(history: History) -> Iterator[str]:
    places = _places(history)
    for sent in history.acknowledged():
        if sent.key in history.final and sent.value not in places:
            yield f"{_name(sent)} was acknowledged at offset {sent.offset}"


def _moved(history: History) -> Iterator[str]:
    final = _offsets(history)
    for sent in history.acknowledged():
        if sent.offset < 0 or sent.key not in final:
            continue
        there = final[sent.key].get(sent.offset)
        if there is not None and there != sent.value:
            yield f"{_name(sent)} was acknowledged at offset {sent.offset}, where {there:#x} is"


def _duplicates(history: History) -> Iterator[str]:
    once = history.idempotent | history.single
    for value, where in _places(history).items():
        if len(where) > 1 and _producer(value) in once:
            yield f"{value:#x} at {where}"


def _fail_written(history: History) -> Iterator[str]:
    places = _places(history)
    for sent in history.sent:
        if sent.outcome == "fail" and sent.value in places:
            yield f"{_name(sent)} failed with {sent.error}, and is at {places[sent.value]}"


def _phantoms(history: History) -> Iterator[str]:
    known = {sent.value for sent in history.sent}
    for value, where in _places(history).items():
        if value not in known:
            yield f"{value:#x} at {where} was sent by nobody"


def _reordered(history: History) -> Iterator[str]:
    """Of one idempotent producer to one key: all that is there is in the order of the sends.

    Others have no such promise: what was sent may be in the network for long, and librdkafka sends to a new
    leader before what waits for a retry. What was acknowledged is judged by `_real_time`.
    """
    first: dict[int, int] = {}
    for records in history.final.values():
        for offset, value in records:
            first.setdefault(value, offset)
    newest: dict[tuple[int, Key], tuple[int, Sent]] = {}
    for sent in sorted(history.sent, key=lambda sent: sent.order):
        offset = first.get(sent.value)
        if offset is None or sent.producer not in history.idempotent:
            continue
        before = newest.get((sent.producer, sent.key))
        if before is not None and offset < before[0]:
            yield f"{_name(sent)} at {offset} after {before[1].value:#x} at {before[0]}"
        else:
            newest[sent.producer, sent.key] = offset, sent


def _real_time(history: History) -> Iterator[str]:
    """What was acknowledged before another send began comes before it."""
    by_key: dict[Key, list[Sent]] = defaultdict(list)
    for sent in history.acknowledged():
        if sent.offset >= 0:
            by_key[sent.key].append(sent)
    for sends in by_key.values():
        events = [(sent.began, 1, sent) for sent in sends] + [(sent.ended, 0, sent) for sent in sends]
        highest: Sent | None = None
        for _, begins, sent in sorted(events, key=lambda event: event[:2]):
            if not begins:
                if highest is None or sent.offset > highest.offset:
                    highest = sent
            elif highest is not None and sent.offset < highest.offset:
                yield f"{_name(sent)} at {sent.offset} was sent after {highest.offset} was acknowledged"


def _inconsistent(history: History) -> Iterator[str]:
    """One value at an offset, for all readers, for ever; what was read once stays."""
    final = _offsets(history)
    for key, records in history.output.items():
        final[key] = {offset: value for offset, value, _, _ in records}
    seen: dict[tuple[Key, int], int] = {}
    for read in history.read:
        place = read.key, read.offset
        if seen.setdefault(place, read.value) != read.value:
            yield f"{read.key} {read.offset}: {seen[place]:#x} and {read.value:#x}"
        if read.key in final and final[read.key].get(read.offset) != read.value:
            yield f"{read.consumer} read {read.value:#x} at {read.key} {read.offset}, which is not there"


def _skips(history: History) -> Iterator[str]:
    """Within a session offsets grow, and none that has a record is left out."""
    final = {key: [offset for offset, _ in records] for key, records in history.final.items()}
    index = {key: {offset: i for i, offset in enumerate(offsets)} for key, offsets in final.items()}
    last: dict[tuple[str, int, Key], int] = {}
    for read in history.read:
        stream = read.consumer, read.session, read.key
        before = last.get(stream)
        last[stream] = read.offset
        if before is None:
            continue
        if read.offset <= before:
            yield f"{read.consumer} read {read.key} {read.offset} after {before}"
            continue
        places = index.get(read.key, {})
        if before in places and read.offset in places and places[read.offset] != places[before] + 1:
            yield f"{read.consumer} skipped from {before} to {read.offset} in {read.key}"


def _commits_back(history: History) -> Iterator[str]:
    """A look at a committed offset shows what was committed before the look began, or more.

    Or what somebody sent before who was not answered: librdkafka's repetition of that one came after a later
    commit of the same member (seed 9719).
    """
    events: list[tuple[float, int, int, tuple[str, Key]]] = []
    for commit in history.commits:
        events.append((commit.ended, 0, commit.offset, (commit.group, commit.key)))
    looks = sorted(history.committed, key=lambda look: look.began)
    events.sort(key=lambda event: event[0])
    unsure: dict[tuple[str, Key, int], float] = {}  # since when
    for each in history.unsure_commits:
        sent = each.group, each.key, each.offset
        unsure[sent] = min(each.began, unsure.get(sent, each.began))
    highest: dict[tuple[str, Key], int] = {}
    position = 0
    for look in looks:
        while position < len(events) and events[position][0] < look.began:
            _, _, offset, place = events[position]
            highest[place] = max(offset, highest.get(place, -1))
            position += 1
        place = look.group, look.key
        began = unsure.get((*place, look.offset))
        if look.offset < highest.get(place, -1) and (began is None or began > look.ended):
            yield f"{look.group} {look.key}: {look.offset} after {highest[place]} was committed"


def _ends_back(history: History) -> Iterator[str]:
    """The committed end of a partition never falls for one who asks again and again (KIP-207).

    It may lie below what others were acknowledged: a leader that is cut off does not know yet.
    """
    highest: dict[Key, int] = {}
    for look in sorted(history.ends, key=lambda look: look.began):
        if look.offset < highest.get(look.key, 0):
            told = f"by node {look.node} in epoch {look.leader_epoch}"
            yield f"{look.key}: the end was {highest[look.key]}, then {look.offset}, {told}"
        highest[look.key] = max(look.offset, highest.get(look.key, 0))


def _exactly_once(history: History) -> Iterator[str]:
    """The output has each record of the input once; transactions are there whole or not at all."""
    if not history.output:
        return
    count: dict[int, int] = defaultdict(int)
    present: dict[int, int] = defaultdict(int)
    promised: dict[int, int] = {}
    for records in history.output.values():
        for _, value, transaction, size in records:
            count[value] += 1
            present[transaction] += 1
            promised[transaction] = size
    outcome = {move.transaction: move.outcome for move in history.moves}
    for transaction, size in promised.items():
        if present[transaction] != size:
            yield f"transaction {transaction:#x} has {present[transaction]} of {size} records"
        if outcome.get(transaction) == "fail":
            yield f"transaction {transaction:#x} was aborted, and is to be read"
    for move in history.moves:
        if move.outcome == "ok" and move.transaction not in present:
            yield f"transaction {move.transaction:#x} was committed, and is not there"
    source = {value for key, records in history.final.items() if key[0] == "source" for _, value in records}
    for value in source:
        if count[value] != 1 and not (history.unmoved and not count[value]):
            yield f"{value:#x} was moved {count[value]} times"
    for value in count.keys() - source:
        yield f"{value:#x} is in the output, not in the input"


def _share_group(history: History) -> Iterator[str]:
    """A record that was accepted had one holder from its delivery on, for ever.

    A delivery that nobody could acknowledge any more says nothing: its lock may have ended, or its leader.
    """
    begins: dict[tuple[Key, int], list[Given]] = defaultdict(list)
    for given in history.given:
        for offset in range(given.first, given.last + 1):
            begins[given.key, offset].append(given)
    accepted: dict[tuple[Key, int], Given] = {}
    for said in history.said:
        if said.outcome != "ok" or not said.accepted:
            continue
        given = said.given
        for offset in range(given.first, given.last + 1):
            place = given.key, offset
            if place in accepted:
                yield f"{place} was accepted of {accepted[place]} and of {given}"
            accepted[place] = given
            for other in begins[place]:
                if other is not given and other.began > given.ended:
                    yield f"{place} was given as {given}, accepted at {said.ended:.3f}, and given as {other}"


def _left_over(history: History) -> Iterator[str]:
    for place in not_worked_on(history)[:100] if history.given else ():
        yield f"{place} waits for the share group for ever"


def not_worked_on(history: History) -> list[tuple[Key, int]]:
    """Records of `main` that the share group has still to be given, or given again."""
    done: set[tuple[Key, int]] = set()
    for given in history.given:
        if given.count >= GIVEN_UP_FROM:
            done.update((given.key, offset) for offset in range(given.first, given.last + 1))
    for said in history.said:
        if said.accepted and said.outcome != "fail":
            done.update((said.given.key, offset) for offset in range(said.given.first, said.given.last + 1))
    places = ((key, offset) for key, records in history.final.items() for offset, _ in records)
    return [place for place in places if place[0][0] == "main" and place not in done]


def _dead_letters(history: History) -> Iterator[str]:
    """Each record that was rejected has one; none that was accepted has, nor one that nobody rejected."""
    there = {(letter.key, letter.offset) for letter in history.letters}
    for place in without_letters(history)[:100]:
        yield f"{place} was rejected, and has no dead letter"
    may_be: set[tuple[Key, int]] = set()
    for said in history.said:
        for offset in range(said.given.first, said.given.last + 1):
            place = said.given.key, offset
            if said.rejected:
                if said.outcome != "fail":
                    may_be.add(place)
            elif said.accepted and said.outcome == "ok" and place in there:
                yield f"{place} was accepted as {said.given}, and has a dead letter"
    for letter in history.letters:
        if "rejected" in letter.cause and (letter.key, letter.offset) not in may_be:
            yield f"nobody has rejected what {letter} is about"


def without_letters(history: History) -> list[tuple[Key, int]]:
    """Records of which it was acknowledged that they were rejected."""
    told = {(letter.key, letter.offset) for letter in (*history.letters, *history.unwritten)}
    places = (
        (said.given.key, offset)
        for said in history.said
        if said.rejected and said.outcome == "ok"
        for offset in range(said.given.first, said.given.last + 1)
    )
    return [place for place in places if place not in told]


def _owners(history: History) -> Iterator[str]:
    """While a member of a group holds a partition, nobody else's commit for it is taken before its own."""
    by_place: dict[tuple[str, Key], list[Held]] = defaultdict(list)
    for held in history.held:
        by_place[held.group, held.key].append(held)
    for (group, key), all_held in by_place.items():
        for held in all_held:
            for other in all_held:
                if other.member != held.member and held.since <= other.began and other.ended <= held.began:
                    yield f"{group} {key}: {held} was taken, and {other} meanwhile"
                    break


def _tasks(history: History) -> Iterator[str]:
    """In one epoch of the streams group a task is one member's."""
    owners: dict[tuple[Key, int], str] = {}
    for told in history.told:
        owner = owners.setdefault((told.key, told.epoch), told.member)
        if owner != told.member:
            yield f"{told.key} belongs to {owner} and to {told.member} in epoch {told.epoch}"


def _problems(history: History) -> Iterator[str]:
    yield from history.problems


CHECKS: dict[str, Callable[[History], Iterator[str]]] = {
    "problem": _problems,
    "lost": _lost,
    "offset of another record": _moved,
    "duplicate": _duplicates,
    "written though refused": _fail_written,
    "phantom": _phantoms,
    "reordered": _reordered,
    "real-time order": _real_time,
    "inconsistent or vanished read": _inconsistent,
    "skip or repetition": _skips,
    "committed offset went back": _commits_back,
    "end went back": _ends_back,
    "exactly once": _exactly_once,
    "two owners": _owners,
    "streams group: two owners of a task": _tasks,
    "share group: two holders": _share_group,
    "share group: not delivered": _left_over,
    "share group: dead letters": _dead_letters,
}


def _producer(value: int) -> int:
    return value >> 40


def _name(sent: Sent) -> str:
    return f"{sent.value:#x} for {sent.key[0]}-{sent.key[1]}"


def silences(history: History, slack_s: float = 30.0) -> dict[str, list[float]]:
    """For each kind of fault: how long, at most, a partition had no acknowledgement from its beginning on."""
    by_key: dict[Key, list[float]] = defaultdict(list)
    for sent in history.acknowledged():
        by_key[sent.key].append(sent.ended)
    for times in by_key.values():
        times.sort()
    found: dict[str, list[float]] = defaultdict(list)
    starts = [fault.began for fault in history.faults]
    for fault in history.faults:
        later = [start for start in starts if start > fault.ended]
        until = min([fault.ended + slack_s, *later])
        worst = 0.0
        for key, times in by_key.items():
            if key[0] != "main":
                continue
            before = fault.began
            for time in times:
                if time < fault.began:
                    continue
                worst = max(worst, time - before)
                before = time
                if time > until:
                    break
        found[fault.kind].append(worst)
    return dict(found)
