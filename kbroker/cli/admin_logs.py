"""`kbroker-admin logs`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from kbroker.cli.admin_base import AdminGroup, Session, pass_session
from kbroker.cli.output import size_text
from kbroker.client.describe import LogDir, describe_log_dirs
from kbroker.client.offsets import partitions_of


@click.group(cls=AdminGroup)
def logs() -> None:
    """Look at log folders of brokers, and into log files."""


@logs.command()
@click.option("--broker", "brokers", type=int, multiple=True, metavar="ID", help="Only these; repeatable.")
@click.option("--topic", "topics", multiple=True, metavar="TOPIC", help="Only these; repeatable.")
@pass_session
def dirs(session: Session, brokers: tuple[int, ...], topics: tuple[str, ...]) -> None:
    """Show how large the logs are, by broker and folder."""
    partitions = partitions_of(session.cluster, topics) if topics else None
    found = describe_log_dirs(session.cluster, brokers or None, partitions)
    if session.json:
        session.say("", found)
        return
    for folder in found:
        _show_folder(session, folder)


def _show_folder(session: Session, folder: LogDir) -> None:
    used = sum(replica.size for replica in folder.replicas)
    title = f"broker {folder.broker}  {folder.path}  {size_text(used)}"
    if folder.usable_bytes >= 0:
        title += f", {size_text(folder.usable_bytes)} free of {size_text(folder.total_bytes)}"
    if folder.error:
        session.fail(f"broker {folder.broker}, {folder.path}: {folder.error}")
    rows: list[Sequence[object]] = [
        (
            replica.topic,
            replica.partition,
            replica.size,
            size_text(replica.size),
            replica.lag,
            "moving here" if replica.future else None,
        )
        for replica in folder.replicas
    ]
    session.show(None, ("TOPIC", "PARTITION", "BYTES", "SIZE", "LAG", "NOTE"), rows, title)
