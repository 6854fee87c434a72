"""`kbroker-admin quotas`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kbroker.cli.admin_base import AdminCommand, AdminGroup, Session, pass_session
from kbroker.client.own import NoKbroker, command
from kbroker.client.quotas import Entity, alter_quotas, list_quotas

_DEFAULT = "<default>"
_KEYS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
)


@click.group(cls=AdminGroup)
def quotas() -> None:
    """Show, set and explain how much clients may do."""


@quotas.command(cls=AdminCommand, name="list")
@pass_session
def list_all(session: Session) -> None:
    """Show all quotas that are set."""
    found = list_quotas(session.cluster)
    rows: list[Sequence[object]] = []
    for each in found:
        names = {kind: _DEFAULT if name is None else name for kind, name in each.entity}
        for key, value in each.values.items():
            rows.append([names.get("user"), names.get("client-id"), names.get("ip"), key, _number(value)])
    data = [{"entity": dict(each.entity), "quotas": each.values} for each in found]
    session.show(data, ("USER", "CLIENT ID", "ADDRESS", "QUOTA", "VALUE"), rows)


@quotas.command(cls=AdminCommand, name="set")
@click.option(
    "--user", metavar="NAME", help=f"Of this user; {_DEFAULT} means all that have none of their own."
)
@click.option("--client-id", metavar="ID", help=f"Of this client id, or {_DEFAULT}.")
@click.option("--ip", metavar="ADDRESS", help=f"Of this address, or {_DEFAULT}.")
@click.argument("values", nargs=-1, required=True, metavar="QUOTA=VALUE...")
@pass_session
def set_some(
    session: Session, user: str | None, client_id: str | None, ip: str | None, values: tuple[str, ...]
) -> None:
    """Set quotas, as producer_byte_rate=1048576; an empty value removes one.

    Quotas are producer_byte_rate and consumer_byte_rate (bytes a second and broker), request_percentage,
    controller_mutation_rate (partitions created or deleted a second), and for --ip connection_creation_rate.
    """
    named = {"user": user, "client-id": client_id, "ip": ip}
    entity: Entity = tuple(
        (kind, None if name == _DEFAULT else name) for kind, name in named.items() if name is not None
    )
    if not entity:
        raise click.UsageError("name --user, --client-id or --ip")
    alter_quotas(session.cluster, entity, dict(_parse(text) for text in values))
    session.say("done", {"entity": dict(entity)})


@quotas.command(cls=AdminCommand)
@click.option("--user", metavar="NAME", default="ANONYMOUS", show_default=True, help="Who logs in.")
@click.option("--client-id", metavar="ID", default="", help="What it calls itself.")
@click.option("--ip", metavar="ADDRESS", help="Where it connects from.")
@click.option("--broker", type=int, metavar="ID", help="Only by this broker; else by all.")
@pass_session
def explain(session: Session, user: str, client_id: str, ip: str | None, broker: int | None) -> None:
    """Show which quotas hold for a client, at which of Kafka's levels, and how much of them is used.

    Without a name: for a client that neither logs in nor gives an id. Of Apache Kafka's brokers, which do
    not tell what is used, by what is set alone.
    """
    node_ids = sorted(session.cluster.brokers()) if broker is None else [broker]
    asked = {"user": user, "client_id": client_id, **({} if ip is None else {"ip": ip})}
    found: list[dict[str, Any]] = []
    for node_id in node_ids:
        try:
            quotas = command(session.cluster, node_id, "quotas", **asked)["quotas"]
        except NoKbroker:
            quotas = _by_what_is_set(session, user, client_id, ip)
        found += [{"broker": node_id, **each} for each in quotas]
    if not found:
        session.say(_unlimited(user, client_id, ip), found)
        return
    rows: list[Sequence[object]] = [
        [
            each["broker"],
            each["key"],
            _number(each["limit"]),
            "" if each["observed"] is None else f"{each['observed']:.1f}",
            each["level"],
            each["why"],
            each["shared_by"],
        ]
        for each in found
    ]
    columns = ("BROKER", "QUOTA", "LIMIT", "OBSERVED", "LEVEL", "SET FOR", "SHARED BY")
    session.show(found, columns, rows)


def _by_what_is_set(session: Session, user: str, client_id: str, ip: str | None) -> list[dict[str, Any]]:
    from kbroker.quotas.explaining import explained_address, explained_by_table
    from kbroker.quotas.table import QuotaTable

    table = QuotaTable({tuple(sorted(each.entity)): each.values for each in list_quotas(session.cluster)})
    return explained_by_table(table, user, client_id) + (explained_address(table, ip) if ip else [])


def _unlimited(user: str, client_id: str, ip: str | None) -> str:
    who, missing = f"user {user}", []
    for kind, name in (("client-id", client_id), ("ip", ip)):
        if name:
            who += f", {kind} {name}"
        else:
            missing.append(f"--{kind}")
    more = f" (there may be others with {', '.join(missing)})" if missing else ""
    return f"no quota holds for {who}{more}; `kbroker-admin quotas list` shows all that are set"


def _parse(text: str) -> tuple[str, float | None]:
    key, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"{text} is no QUOTA=VALUE")
    if key not in _KEYS:
        raise click.UsageError(f"{key} is no quota; there are {', '.join(_KEYS)}")
    try:
        return key, float(value) if value else None
    except ValueError:
        raise click.UsageError(f"{value} is no number") from None


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:g}"
