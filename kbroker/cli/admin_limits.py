"""`kbroker-admin limits`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kbroker.cli.admin_base import AdminCommand, Session, pass_session
from kbroker.client.own import NoKbroker, command


@click.command(cls=AdminCommand)
@click.option("--broker", type=int, metavar="ID", help="Only of this broker; else of all.")
@pass_session
def limits(session: Session, broker: int | None) -> None:
    """Show what brokers do not do for the time being: to protect themselves, or by an operator's switch.

    All of it are settings, changed with `kbroker-admin configs`: kbroker.protect.…, kbroker.read.only,
    kbroker.read.only.topics, kbroker.no.auto.topics, kbroker.no.new.groups, kbroker.request.limits.
    """
    node_ids = sorted(session.cluster.brokers()) if broker is None else [broker]
    found = {}
    for node_id in node_ids:
        try:
            found[node_id] = command(session.cluster, node_id, "limits")
        except NoKbroker as error:
            session.fail(f"{error}: Apache Kafka has no such limits")
    rows: list[Sequence[object]] = []
    for node_id, each in found.items():
        figures = " ".join(f"{name}={value:g}" for name, value in each["figures"].items())
        rows.append([node_id, each["level"], figures, ", ".join(_switches(each)), each["refused"]])
    if not found:
        return
    session.show(found, ("BROKER", "PRODUCERS", "FIGURES", "RESTRICTIONS", "REFUSED"), rows)


def _switches(each: dict[str, Any]) -> list[str]:
    found = [f"limit {text}" for text in each["limits"]]
    if each["read_only"]:
        found.append("read-only")
    if each["read_only_topics"]:
        found.append(f"read-only topics {' '.join(each['read_only_topics'])}")
    if each["no_new_groups"]:
        found.append("no new groups")
    return found
