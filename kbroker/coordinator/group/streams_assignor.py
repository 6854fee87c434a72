"""The sticky assignor of streams groups (KIP-1071): active tasks evenly over members, where they were as far
as that allows; standby copies on other processes, where client tags are told on ones that differ in them
(KIP-708).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kbroker.coordinator.group.streams_member import Target

NAME = "sticky"

Task = tuple[str, int]


class Runner(NamedTuple):
    """A member: its process, what it was to have, and its client tags."""

    process_id: str
    previous: Target
    tags: tuple[tuple[str, str], ...] = ()


class _Place:
    """A member while tasks are handed out."""

    __slots__ = ("active", "member_id", "process", "standby")

    def __init__(self, member_id: str, process: _Process) -> None:
        self.member_id = member_id
        self.process = process
        self.active: list[Task] = []
        self.standby: list[Task] = []

    @property
    def load(self) -> int:
        return len(self.active) + len(self.standby)

    def take(self, task: Task, active: bool) -> None:
        (self.active if active else self.standby).append(task)
        self.process.tasks.add(task)


class _Process:
    """One instance of the application with its members (threads)."""

    __slots__ = ("places", "process_id", "tags", "tasks")

    def __init__(self, process_id: str, tags: dict[str, str]) -> None:
        self.process_id = process_id
        self.tags = tags
        self.places: list[_Place] = []
        self.tasks: set[Task] = set()

    @property
    def load(self) -> float:
        return sum(place.load for place in self.places) / len(self.places)

    def idlest(self) -> _Place:
        return min(self.places, key=lambda place: (place.load, place.member_id))


def assign(
    runners: Mapping[str, Runner],
    tasks: Mapping[str, int],
    stateful: Iterable[str],
    standbys: int,
    tags: tuple[str, ...] = (),
) -> dict[str, Target]:
    """What each member is to have.

    Args:
        runners: the members by id.
        tasks: the number of tasks of each subtopology.
        stateful: subtopologies whose tasks have state: only they get standby copies.
        standbys: how many copies.
        tags: client tags in which the processes of one task are to differ.
    """
    processes: dict[str, _Process] = {}
    places: dict[str, _Place] = {}
    for member_id, runner in sorted(runners.items()):
        process = processes.get(runner.process_id)
        if process is None:
            process = processes[runner.process_id] = _Process(runner.process_id, dict(runner.tags))
        place = places[member_id] = _Place(member_id, process)
        process.places.append(place)
    if not places:
        return {}
    work = [(subtopology, each) for subtopology, size in tasks.items() for each in range(size)]
    # The tasks of one partition side by side: who keeps one of them keeps the others, too.
    work.sort(key=lambda task: (task[1], task[0]))
    had_active, had_standby = _previous(runners, places)
    _assign_active(work, places, processes, had_active, had_standby)
    keeps_state = set(stateful)
    copies = [task for task in work if task[0] in keeps_state]
    if standbys > 0:
        _Standbys(processes, had_active, had_standby, tags).assign(copies, standbys)
    return {
        member_id: Target(_grouped(place.active), _grouped(place.standby))
        for member_id, place in places.items()
    }


def _previous(
    runners: Mapping[str, Runner], places: Mapping[str, _Place]
) -> tuple[dict[Task, _Place], dict[Task, list[_Place]]]:
    active: dict[Task, _Place] = {}
    standby: dict[Task, list[_Place]] = {}
    for member_id, runner in runners.items():
        for subtopology, partitions in runner.previous.active.items():
            for partition in partitions:
                active[subtopology, partition] = places[member_id]
        for copies in (runner.previous.standby, runner.previous.warmup):
            for subtopology, partitions in copies.items():
                for partition in partitions:
                    standby.setdefault((subtopology, partition), []).append(places[member_id])
    return active, standby


class _Quota:
    """How many active tasks a member may keep: the average rounded up, until enough members have that many
    that the others' average is lower.
    """

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members

    @property
    def size(self) -> int:
        return -(-self._tasks // self._members) if self._members else 0

    def filled(self, size: int) -> None:
        """A member has got `size` tasks."""
        if size == self.size:
            self._members -= 1
            self._tasks -= size


def _assign_active(
    work: list[Task],
    places: Mapping[str, _Place],
    processes: Mapping[str, _Process],
    had_active: Mapping[Task, _Place],
    had_standby: Mapping[Task, list[_Place]],
) -> None:
    quota = _Quota(len(work), len(places))
    left = []
    for task in work:
        place = had_active.get(task)
        if place is not None and len(place.active) < quota.size:
            place.take(task, True)
            quota.filled(len(place.active))
        else:
            left.append(task)
    rest = []
    for task in left:
        copies = had_standby.get(task)
        place = _idlest(copies) if copies else None
        if place is not None and len(place.active) < quota.size:
            place.take(task, True)
            quota.filled(len(place.active))
        else:
            rest.append(task)
    for task in sorted(rest):
        least = min(processes.values(), key=lambda process: (process.load, process.process_id))
        least.idlest().take(task, True)


class _Standbys:
    """Hands out standby copies."""

    def __init__(
        self,
        processes: Mapping[str, _Process],
        had_active: Mapping[Task, _Place],
        had_standby: Mapping[Task, list[_Place]],
        tags: tuple[str, ...],
    ) -> None:
        self._processes = processes
        self._had_active = had_active
        self._had_standby = had_standby
        self._tags = tags

    def assign(self, work: list[Task], standbys: int) -> None:
        """First to those who had the task before, then to the idlest."""
        open_: list[tuple[Task, int]] = []
        for task in work:
            for done in range(standbys):
                place = self._previous(task)
                if place is None:
                    open_.append((task, standbys - done))
                    break
                place.take(task, False)
        for task, count in open_:
            for _ in range(count):
                best = self._best(task)
                if not best:
                    break
                least = min(best, key=lambda process: (process.load, process.process_id))
                least.idlest().take(task, False)

    def _best(self, task: Task) -> list[_Process]:
        """Processes without the task; of them those that differ in most tags from those that have it."""
        free = [process for process in self._processes.values() if task not in process.tasks]
        if not self._tags or not free:
            return free
        having = [process for process in self._processes.values() if task in process.tasks]
        used = {tag: {process.tags.get(tag) for process in having} for tag in self._tags}
        fresh = [sum(process.tags.get(tag) not in used[tag] for tag in self._tags) for process in free]
        most = max(fresh)
        return [process for process, count in zip(free, fresh) if count == most]

    def _previous(self, task: Task) -> _Place | None:
        """Who had the task and may keep a copy of it."""
        best = self._best(task)
        before = self._had_active.get(task)
        if before is not None and before.process in best and _is_balanced(before.process, self._processes):
            idlest = before.process.idlest()
            return idlest if before.load > idlest.load else before
        copies = [place for place in self._had_standby.get(task, ()) if place.process in best]
        place = _idlest(copies) if copies else None
        if place is not None and _is_balanced(place.process, self._processes):
            return place
        return None


def _is_balanced(process: _Process, processes: Mapping[str, _Process]) -> bool:
    """One more task there leaves no other process much idler."""
    return process.load <= min(each.load for each in processes.values()) + 1


def _idlest(places: list[_Place]) -> _Place:
    return min(places, key=lambda place: (place.load, place.member_id))


def _grouped(tasks: Iterable[Task]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for subtopology, partition in tasks:
        found.setdefault(subtopology, set()).add(partition)
    return {subtopology: frozenset(partitions) for subtopology, partitions in found.items()}
