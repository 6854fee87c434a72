"""`kbroker-admin shares`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from kbroker.cli.admin_base import AdminGroup, Session, confirm, parse_partitions, pass_session
from kbroker.client.groups import describe_group, list_groups
from kbroker.client.shares import move_share_group, share_positions

_COLUMNS = ("TOPIC", "PARTITION", "START", "LAG")


@click.group(cls=AdminGroup)
def shares() -> None:
    """Look at share groups (queues), and let them begin elsewhere."""


@shares.command("list")
@pass_session
def list_(session: Session) -> None:
    """List share groups."""
    found = list_groups(session.cluster, types=["share"])
    rows: list[Sequence[object]] = [(each[0], each[2], each[4]) for each in found]
    session.show([each._asdict() for each in found], ("GROUP", "STATE", "COORDINATOR"), rows)


@shares.command()
@click.argument("group_id", metavar="GROUP")
@pass_session
def describe(session: Session, group_id: str) -> None:
    """Show where a share group is, and how many records are still to be done."""
    found = share_positions(session.cluster, group_id)
    if not found:
        # Nothing is told of groups that do not exist, nor of those that have not begun.
        describe_group(session.cluster, group_id)
    rows: list[Sequence[object]] = [
        (each.topic, each.partition, *("-" if value < 0 else value for value in each[2:])) for each in found
    ]
    session.show([each._asdict() for each in found], _COLUMNS, rows)


@shares.command()
@click.argument("group_id", metavar="GROUP")
@click.argument("partitions", nargs=-1, required=True, metavar="TOPIC[:PARTITION,...]...")
@click.option("--to-offset", type=click.IntRange(min=0), required=True, metavar="OFFSET", help="Begin there.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be done.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def reset(
    session: Session, group_id: str, partitions: tuple[str, ...], to_offset: int, dry_run: bool, yes: bool
) -> None:
    """Let a share group without members begin at another offset."""
    starts = dict.fromkeys(parse_partitions(session.cluster, partitions), to_offset)
    if not dry_run:
        confirm(f"Move {group_id} in {len(starts)} partitions?", yes)
        move_share_group(session.cluster, group_id, starts)
    rows: list[Sequence[object]] = [(each.topic, each.partition, to_offset) for each in starts]
    session.show(
        [{"topic": each.topic, "partition": each.partition, "start": to_offset} for each in starts],
        ("TOPIC", "PARTITION", "NEW START"),
        rows,
    )
