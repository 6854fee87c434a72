"""`kbroker-admin audit`: who tried what, and was allowed or not."""

from __future__ import annotations

import time
from typing import Any

import click

from kbroker.cli.admin_base import AdminGroup, Session, pass_session
from kbroker.cli.output import clean, print_json, time_text
from kbroker.client.own import NoKbroker, command

_UNANSWERED = "Apache Kafka writes its audit log (kafka.authorizer.logger) to a file only"
_PAUSE_S = 1.0


@click.group(cls=AdminGroup)
def audit() -> None:
    """Look into the audit logs of all nodes (kbroker.audit.log)."""


@audit.command()
@click.option(
    "-n", "count", type=click.IntRange(0, 1000), default=20, show_default=True, help="Lines at first."
)
@click.option("-f", "--follow", is_flag=True, help="Go on with what comes.")
@click.option("--denied", is_flag=True, help="Only what was not allowed.")
@click.option("--principal", metavar="USER", help="Only of this user, or Type:name.")
@click.option("--broker", type=int, metavar="ID", help="Only of this broker.")
@pass_session
def tail(
    session: Session, count: int, follow: bool, denied: bool, principal: str | None, broker: int | None
) -> None:
    """Show the newest lines, the last one last; with --json one object a line."""
    if principal is not None and ":" not in principal:
        principal = f"User:{principal}"
    nodes = sorted(session.cluster.brokers()) if broker is None else [broker]
    since: dict[int, int] = {}
    first = True
    while first or follow:
        lines: list[dict[str, Any]] = []
        for node in nodes:
            lines += _lines(session, node, since)
        lines = [
            line
            for line in sorted(lines, key=lambda line: line["time_ms"])
            if not (denied and line["allowed"]) and principal in (None, line["principal"])
        ]
        for line in lines[-count:] if first and count else () if first else lines:
            _show(session, line)
        first = False
        if follow:
            time.sleep(_PAUSE_S)


def _lines(session: Session, node: int, since: dict[int, int]) -> list[dict[str, Any]]:
    """What is new at a node, with the node's id."""
    asked = {"since": since[node]} if node in since else {}
    try:
        answer = command(session.cluster, node, "audit", **asked)
    except NoKbroker as error:
        session.fail(f"{error}: {_UNANSWERED}")
        return []
    since[node] = answer["next"]
    if answer["missed"]:
        session.fail(f"{answer['missed']} lines of broker {node} came too fast to be shown")
    return [{"broker": node, **line} for line in answer["lines"]]


def _show(session: Session, line: dict[str, Any]) -> None:
    if session.json:
        print_json(line, line=True)
        return
    verdict = "allowed" if line["allowed"] else "DENIED "
    what = f"{line['operation'].lower()} {line['resource'].lower()} {line['name']}"
    who = f"{line['principal']} from {line['host']}"
    print(clean(f"{time_text(line['time_ms'])}  {verdict}  {who}  {line['api']}: {what}"))
