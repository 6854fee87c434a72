"""`kbroker-admin reassign`: move partitions between brokers, by plans in the format of Kafka's own tool."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

import click

from kbroker.cli.admin_base import AdminGroup, Session, confirm, pass_session
from kbroker.cli.output import print_json
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.describe import describe_cluster
from kbroker.client.reassignments import Place, alter_reassignments, list_reassignments, plan_assignment
from kbroker.client.topics import describe_topics, list_topics
from kbroker.types import TopicPartition

Plan = dict[TopicPartition, list[int]]
_RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
_LISTS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
_PAUSE_S = 0.2


@click.group(cls=AdminGroup)
def reassign() -> None:
    """Move partitions between brokers, or change how many replicas they have."""


@reassign.command()
@click.argument("topics", nargs=-1)
@click.option("--brokers", metavar="ID,...", help="Where to; else all that are up.")
@click.option("-r", "--replication-factor", type=click.IntRange(min=1), help="Else as many as now.")
@pass_session
def generate(
    session: Session, topics: tuple[str, ...], brokers: str | None, replication_factor: int | None
) -> None:
    """Print a plan that spreads TOPICS (all, without internal ones, if none is named) evenly.

    It moves no more than that needs. Save it and give it to `execute`.
    """
    info = describe_cluster(session.cluster)
    wanted = None if brokers is None else _ids(brokers)
    places = [
        Place(each.id, each.rack)
        for each in info.brokers
        if (not each.fenced if wanted is None else each.id in wanted)
    ]
    missing = set(wanted or ()) - {place.id for place in places}
    if missing:
        raise click.UsageError(f"there is no broker {', '.join(map(str, sorted(missing)))}")
    found = describe_topics(session.cluster, topics) if topics else list_topics(session.cluster)
    current = {
        TopicPartition(topic.name, part.partition): part.replicas
        for topic in found
        for part in topic.partitions
    }
    try:
        planned = plan_assignment(current, places, replication_factor)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    print_json(_document(planned))


@reassign.command()
@click.argument("plan", type=click.File(encoding="utf-8"))
@click.option(
    "--throttle", type=click.IntRange(min=1), metavar="BYTES", help="Copy at most so many a second."
)
@click.option("--wait", is_flag=True, help="Wait until all is moved, and end the throttle.")
@pass_session
def execute(session: Session, plan: TextIO, throttle: int | None, wait: bool) -> None:
    """Begin what PLAN (a file, - for standard input) says; where what is moved was before is printed first.

    That is itself a plan: keep it to go back. With --json it is all that is printed, with `results` in it.
    """
    wanted = _read(plan)
    before = _replicas(session, wanted)
    if throttle is not None:
        _throttle(session, wanted, before, throttle)
    results = alter_reassignments(session.cluster, wanted)
    moved = {tp: replicas for tp, replicas in before.items() if results.get(tp) is None}
    if moved and not session.json:
        print_json(_document(moved))
    session.report("{} is being moved", results, _document(moved))
    if throttle is not None and not moved and not list_reassignments(session.cluster):
        _end_throttle(session, wanted)
    if wait and session.exit_code == 0:
        _wait(session, wanted)
        _end_throttle(session, wanted)


@reassign.command()
@click.argument("plan", type=click.File(encoding="utf-8"))
@click.option("--wait", is_flag=True, help="Wait until all is moved.")
@click.option("--keep-throttle", is_flag=True, help="Leave throttles as they are when all is moved.")
@pass_session
def verify(session: Session, plan: TextIO, wait: bool, keep_throttle: bool) -> None:
    """Tell how far PLAN is; exit code 1 while something is not where it should be."""
    wanted = _read(plan)
    if wait:
        _wait(session, wanted)
    states = _states(session, wanted)
    rows: list[Sequence[object]] = [
        (tp.topic, tp.partition, ",".join(map(str, wanted[tp])), state) for tp, state in states.items()
    ]
    data = [
        {"topic": tp.topic, "partition": tp.partition, "replicas": wanted[tp], "state": state}
        for tp, state in states.items()
    ]
    session.show(data, ("TOPIC", "PARTITION", "REPLICAS", "STATE"), rows)
    if all(state == "done" for state in states.values()):
        if not keep_throttle:
            _end_throttle(session, wanted)
    else:
        session.exit_code = 1


@reassign.command("list")
@pass_session
def list_(session: Session) -> None:
    """Show what is being moved."""
    found = list_reassignments(session.cluster)
    rows: list[Sequence[object]] = [
        (each.topic, each.partition, _text(each.replicas), _text(each.adding), _text(each.removing))
        for each in found
    ]
    session.show(found, ("TOPIC", "PARTITION", "REPLICAS", "ADDING", "REMOVING"), rows)


@reassign.command()
@click.argument("plan", type=click.File(encoding="utf-8"), required=False)
@click.option("--all", "everything", is_flag=True, help="Whatever is being moved.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def cancel(session: Session, plan: TextIO | None, everything: bool, yes: bool) -> None:
    """Go back to where the partitions of PLAN were; copies that were not complete are deleted."""
    if (plan is None) == (not everything):
        raise click.UsageError("give either a plan or --all")
    going_on = {TopicPartition(each.topic, each.partition) for each in list_reassignments(session.cluster)}
    chosen = going_on if plan is None else going_on & set(_read(plan))
    if not chosen:
        session.say("nothing is being moved", [])
        return
    confirm(f"stop moving {len(chosen)} partitions?", yes)
    session.report(
        "{} stays where it was", alter_reassignments(session.cluster, dict.fromkeys(sorted(chosen)))
    )
    _end_throttle(session, chosen)


def _read(file: TextIO) -> Plan:
    try:
        document = json.load(file)
        found = {
            TopicPartition(str(part["topic"]), int(part["partition"])): [int(id_) for id_ in part["replicas"]]
            for part in document["partitions"]
        }
    except json.JSONDecodeError as error:
        raise click.UsageError(
            f"{file.name} is no JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        why = f" without {error}" if isinstance(error, KeyError) else ""
        form = '{"partitions": [{"topic": …, "partition": …, "replicas": […]}]}'
        raise click.UsageError(
            f"{file.name} is no plan{why}: {form}; `reassign generate` makes one"
        ) from None
    if not found:
        raise click.UsageError(f"{file.name} moves nothing")
    if any(log_dir != "any" for part in document["partitions"] for log_dir in part.get("log_dirs") or ()):
        raise click.UsageError(
            f"{file.name} names log_dirs: kafka-reassign-partitions moves between those, this does not"
        )
    return found


def _document(plan: Mapping[TopicPartition, Sequence[int]]) -> dict[str, Any]:
    parts = [
        {"topic": tp.topic, "partition": tp.partition, "replicas": list(replicas)}
        for tp, replicas in sorted(plan.items())
    ]
    return {"version": 1, "partitions": parts}


def _ids(text: str) -> set[int]:
    try:
        return {int(part) for part in text.split(",")}
    except ValueError:
        raise click.UsageError(f"{text!r} is no list of broker ids: write 1,2,3") from None


def _text(ids: Sequence[int]) -> str | None:
    return ",".join(map(str, ids)) or None


def _replicas(session: Session, wanted: Plan) -> Plan:
    topics = describe_topics(session.cluster, sorted({tp.topic for tp in wanted}))
    found = {
        TopicPartition(topic.name, part.partition): part.replicas
        for topic in topics
        for part in topic.partitions
    }
    return {tp: found[tp] for tp in wanted if tp in found}


def _states(session: Session, wanted: Plan) -> dict[TopicPartition, str]:
    going_on = {TopicPartition(each.topic, each.partition) for each in list_reassignments(session.cluster)}
    now = _replicas(session, wanted)
    states = {}
    for tp in sorted(wanted):
        if tp in going_on:
            states[tp] = "moving"
        elif now.get(tp) == wanted[tp]:
            states[tp] = "done"
        else:
            states[tp] = "elsewhere" if tp in now else "missing"
    return states


def _wait(session: Session, wanted: Plan) -> None:
    with _progress(len(wanted)) as progress:
        while True:
            moving = sum(state == "moving" for state in _states(session, wanted).values())
            progress(len(wanted) - moving)
            if not moving:
                return
            time.sleep(_PAUSE_S)


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal's stderr; nothing elsewhere."""
    import sys

    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("partitions moved"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)


def _throttle(session: Session, wanted: Plan, before: Plan, rate: int) -> None:
    """As Kafka's tool: the rate at all brokers that take part, the replicas at the topics."""
    brokers = {broker for plan in (wanted, before) for ids in plan.values() for broker in ids}
    # What a plan says of a broker that is not there is refused, partition by partition, when it is executed.
    for broker in sorted(brokers.intersection(session.cluster.brokers(refresh=True))):
        alter_configs(
            session.cluster, ResourceType.BROKER, str(broker), set_=dict.fromkeys(_RATES, str(rate))
        )
    for topic in sorted({tp.topic for tp in wanted}):
        leaders, followers = [], []
        for tp, replicas in wanted.items():
            if tp.topic == topic:
                old = before.get(tp, [])
                leaders += [f"{tp.partition}:{broker}" for broker in old]
                followers += [f"{tp.partition}:{broker}" for broker in replicas if broker not in old]
        lists = {_LISTS[0]: ",".join(leaders), _LISTS[1]: ",".join(followers)}
        chosen = {name: value for name, value in lists.items() if value}
        if chosen:
            alter_configs(session.cluster, ResourceType.TOPIC, topic, set_=chosen)


def _end_throttle(session: Session, wanted: Iterable[TopicPartition]) -> None:
    for topic in sorted({tp.topic for tp in wanted}):
        alter_configs(session.cluster, ResourceType.TOPIC, topic, delete=_LISTS)
    for broker in sorted(session.cluster.brokers(refresh=True)):
        alter_configs(session.cluster, ResourceType.BROKER, str(broker), delete=_RATES)
