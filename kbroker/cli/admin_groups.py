"""`kbroker-admin groups`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from kbroker.cli.admin_base import AdminGroup, Session, confirm, parse_partitions, parse_time, pass_session
from kbroker.client.errors import ClientError
from kbroker.client.group_offsets import (
    Target,
    commit_offsets,
    committed_offsets,
    delete_offsets,
    plan_reset,
)
from kbroker.client.groups import Group, Member, delete_groups, describe_group, list_groups
from kbroker.client.offsets import EARLIEST, LATEST, list_offsets
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import TopicPartition

_TOPIC_OPTION = click.option(
    "--topic", "topics", multiple=True, metavar="TOPIC[:PARTITION,...]", help="Only this; repeatable."
)


@click.group(cls=AdminGroup)
def groups() -> None:
    """Look at consumer groups and their offsets; reset and delete."""


@groups.command("list")
@click.option("--state", "states", multiple=True, metavar="STATE", help="Only these, as Stable; repeatable.")
@click.option(
    "--type", "types", multiple=True, metavar="TYPE", help="classic, consumer, share, streams; repeatable."
)
@pass_session
def list_(session: Session, states: tuple[str, ...], types: tuple[str, ...]) -> None:
    """List groups."""
    found = list_groups(session.cluster, states=states, types=types)
    rows: list[Sequence[object]] = list(found)
    session.show(found, ("GROUP", "TYPE", "STATE", "PROTOCOL", "COORDINATOR"), rows)


@groups.command()
@click.argument("names", nargs=-1, required=True, metavar="GROUP...")
@click.option("--members", is_flag=True, help="Show the members instead of the offsets.")
@pass_session
def describe(session: Session, names: tuple[str, ...], members: bool) -> None:
    """Show committed offsets with their lag, and who works on what."""
    documents = []
    for name in names:
        group = describe_group(session.cluster, name)
        positions = [] if group.type == "share" else _positions(session, group)
        if session.json:
            documents.append(_document(group, positions))
            continue
        title = f"group {group.id}  {group.type}  {group.state}  members {len(group.members)}"
        if members:
            _show_members(session, group, title)
        elif group.type == "share":
            session.say(f"{title}\n`kbroker-admin shares describe {group.id}` shows where it stands")
        else:
            columns = ("TOPIC", "PARTITION", "OFFSET", "END OFFSET", "LAG", "MEMBER", "HOST", "CLIENT")
            rows: list[Sequence[object]] = []
            for position in positions:
                member = position["member"]
                host, client = (member.host, member.client_id) if isinstance(member, Member) else (None, None)
                member_id = member.id if isinstance(member, Member) else None
                rows.append((*[position[key] for key in _POSITION], member_id, host, client))
            session.show(None, columns, rows, title)
    if session.json:
        session.say("", documents)


_POSITION = ("topic", "partition", "offset", "end_offset", "lag")


def _positions(session: Session, group: Group) -> list[dict[str, object]]:
    """Committed and assigned partitions; lag is None where nothing is committed or the topic is gone."""
    committed = committed_offsets(session.cluster, group.id)
    owners = {tp: member for member in group.members for tp in member.partitions}
    partitions = sorted({*committed, *owners})
    ends = _ends(session, partitions)
    positions = []
    for tp in partitions:
        offset = committed[tp].offset if tp in committed else None
        end = ends.get(tp)
        positions.append(
            {
                "topic": tp.topic,
                "partition": tp.partition,
                "offset": offset,
                "end_offset": end,
                "lag": None if offset is None or end is None else max(end - offset, 0),
                "member": owners.get(tp),
            }
        )
    return positions


def _ends(session: Session, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
    """End offsets, without topics that are deleted or have no leader."""
    ends: dict[TopicPartition, int] = {}
    by_topic: dict[str, list[TopicPartition]] = {}
    for tp in partitions:
        by_topic.setdefault(tp.topic, []).append(tp)
    for entries in by_topic.values():
        try:
            ends |= {tp: at.offset for tp, at in list_offsets(session.cluster, entries, LATEST).items()}
        except ApiError:
            continue
    return ends


def _show_members(session: Session, group: Group, title: str) -> None:
    rows: list[Sequence[object]] = [
        (member.id, member.client_id, member.host, member.instance_id, [str(tp) for tp in member.partitions])
        for member in group.members
    ]
    session.show(None, ("MEMBER", "CLIENT", "HOST", "INSTANCE", "PARTITIONS"), rows, title)


def _document(group: Group, positions: list[dict[str, object]]) -> dict[str, object]:
    offsets = []
    for position in positions:
        member = position["member"]
        offsets.append({**position, "member": member.id if isinstance(member, Member) else None})
    return {
        "id": group.id,
        "type": group.type,
        "state": group.state,
        "assignor": group.assignor,
        "coordinator": group.coordinator,
        "members": group.members,
        "offsets": offsets,
    }


@groups.command()
@click.argument("names", nargs=-1, required=True, metavar="GROUP...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete(session: Session, names: tuple[str, ...], yes: bool) -> None:
    """Delete groups that have no members, with their offsets."""
    confirm(f"Delete {', '.join(names)} with the committed offsets?", yes)
    session.report("group {} is deleted", delete_groups(session.cluster, names))


@groups.command("delete-offsets")
@click.argument("group", metavar="GROUP")
@_TOPIC_OPTION
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete_offsets_(session: Session, group: str, topics: tuple[str, ...], yes: bool) -> None:
    """Forget committed offsets of topics that the group does not read now."""
    if not topics:
        raise click.UsageError("name at least one --topic")
    partitions = parse_partitions(session.cluster, topics)
    confirm(f"Forget what {group} has committed for {', '.join(map(str, partitions))}?", yes)
    results = delete_offsets(session.cluster, group, partitions)
    session.report("offset of {} is forgotten", results)


@groups.command("reset-offsets")
@click.argument("group", metavar="GROUP")
@_TOPIC_OPTION
@click.option("--all-topics", is_flag=True, help="Everything the group has committed.")
@click.option("--to-earliest", is_flag=True, help="The first record there is.")
@click.option("--to-latest", is_flag=True, help="The end.")
@click.option("--to-offset", type=click.IntRange(min=0), metavar="OFFSET", help="That offset.")
@click.option("--to-datetime", metavar="TIME", help="The first record since, as 2026-01-31T12:00:00 (UTC).")
@click.option("--shift-by", type=int, metavar="N", help="N records forward, or backward with -N.")
@click.option("--execute", is_flag=True, help="Do it; without, only the plan is shown.")
@pass_session
def reset_offsets(
    session: Session,
    group: str,
    topics: tuple[str, ...],
    all_topics: bool,
    to_earliest: bool,
    to_latest: bool,
    to_offset: int | None,
    to_datetime: str | None,
    shift_by: int | None,
    execute: bool,
) -> None:
    """Move a group without members to other offsets. Shows the plan; --execute commits it."""
    chosen = [to_earliest, to_latest, to_offset is not None, to_datetime is not None, shift_by is not None]
    if sum(chosen) != 1:
        raise click.UsageError("say where to with exactly one of --to-… and --shift-by")
    if bool(topics) == all_topics:
        raise click.UsageError("say what with --topic, or --all-topics")
    at = (
        EARLIEST if to_earliest else LATEST if to_latest else parse_time(to_datetime) if to_datetime else None
    )
    target = Target(at, to_offset, shift_by)
    before = committed_offsets(session.cluster, group)
    partitions = sorted(before) if all_topics else parse_partitions(session.cluster, topics)
    if not partitions:
        raise ClientError(f"group {group} has committed nothing")
    plan = plan_reset(session.cluster, group, partitions, target)
    if execute:
        _refuse_active(session, group)
        commit_offsets(session.cluster, group, plan)
    _show_plan(session, {tp: committed.offset for tp, committed in before.items()}, plan)
    if not execute and not session.json:
        print("Nothing is changed yet: this is the plan, --execute does it.")


def _refuse_active(session: Session, group: str) -> None:
    """The members would commit over it, or have skipped records already."""
    try:
        state = describe_group(session.cluster, group).state
    except ApiError as error:
        if error.code == ErrorCode.GROUP_ID_NOT_FOUND:
            return  # the commit makes it
        raise
    if state not in ("Empty", "Dead"):
        raise ClientError(
            f"group {group} has members (it is {state}): stop them before its offsets are reset"
        )


def _show_plan(
    session: Session, before: Mapping[TopicPartition, int], plan: Mapping[TopicPartition, int]
) -> None:
    data = [
        {"topic": tp.topic, "partition": tp.partition, "offset": before.get(tp), "new_offset": offset}
        for tp, offset in plan.items()
    ]
    rows: list[Sequence[object]] = [
        (tp.topic, tp.partition, before.get(tp), offset) for tp, offset in plan.items()
    ]
    session.show(data, ("TOPIC", "PARTITION", "OFFSET", "NEW OFFSET"), rows)
