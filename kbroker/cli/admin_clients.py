"""`kbroker-admin clients`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kbroker.cli.admin_base import AdminCommand, Session, pass_session
from kbroker.cli.output import time_text
from kbroker.client.own import NoKbroker, command

_UNANSWERED = "Apache Kafka cannot tell who its clients are"


@click.command(cls=AdminCommand)
@click.option("--broker", type=int, metavar="ID", help="Only clients of this broker; else of all.")
@click.option("--client", "client_id", metavar="CLIENT-ID", help="Only clients that call themselves this.")
@click.option("--gone", is_flag=True, help="Also clients that have left.")
@click.option("--old", is_flag=True, help="Only clients that Apache Kafka 4 would turn away.")
@click.option("--apis", is_flag=True, help="Show which requests they use, and in which versions.")
@click.option("--metrics", is_flag=True, help="Show what they have pushed instead (KIP-714).")
@pass_session
def clients(
    session: Session,
    broker: int | None,
    client_id: str | None,
    gone: bool,
    old: bool,
    apis: bool,
    metrics: bool,
) -> None:
    """Show who is connected, with what software, and whether it would survive Kafka 4.

    KAFKA 4 names the requests that a client has sent in versions that Kafka 4.0 dropped (KIP-896), with the
    version it sent and the oldest that is left; "yes" says that there was none so far.
    """
    if metrics and (gone or old or apis):
        raise click.UsageError("--metrics goes with --broker and --client only")
    node_ids = sorted(session.cluster.brokers()) if broker is None else [broker]
    asked = {} if client_id is None else {"client_id": client_id}
    if metrics:
        answers = _ask(session, node_ids, "client_metrics", asked)
        if answers:
            _show_metrics(session, answers)
    else:
        answers = _ask(session, node_ids, "clients", {"gone": gone, "old": old, **asked})
        if answers:
            _show_clients(session, answers, gone=gone, apis=apis)


def _ask(
    session: Session, node_ids: list[int], name: str, arguments: dict[str, Any]
) -> dict[int, dict[str, Any]]:
    """What each broker answers; one that is no kbroker is told of and left out."""
    answers = {}
    for node_id in node_ids:
        try:
            answers[node_id] = command(session.cluster, node_id, name, **arguments)
        except NoKbroker as error:
            session.fail(f"{error}: {_UNANSWERED}")
    return answers


def _show_clients(session: Session, answers: dict[int, dict[str, Any]], *, gone: bool, apis: bool) -> None:
    found: list[dict[str, Any]] = []
    for node_id, answer in answers.items():
        _say_what_is_left_out(session, node_id, answer["left_out"], "clients")
        found += [{"broker": node_id, **client} for client in answer["clients"]]
    if apis and not session.json:
        _show_apis(session, found)
        return
    columns = ["CLIENT", "SOFTWARE", "VERSION", "ADDRESS", "LISTENER", "PRINCIPAL", "BROKER", "CONNECTIONS"]
    columns += ["SINCE", *(["GONE"] if gone else []), "KAFKA 4"]
    rows: list[Sequence[object]] = []
    for client in found:
        names = [client[key] for key in ("client_id", "software", "software_version", "address")]
        where = [client["listener"], client["principal"], client["broker"], client["connections"]]
        left = None if client["gone_ms"] is None else time_text(client["gone_ms"])
        times = [time_text(client["since_ms"]), *([left] if gone else [])]
        rows.append([*names, *where, *times, _survival(client)])
    session.show(found, columns, rows)


def _survival(client: dict[str, Any]) -> str:
    """ "yes", or what stands against it, as in "no: Produce 2 (3)"."""
    dropped = [f"{api['name']} {api['used']} ({api['needed']})" for api in client["dropped_by_kafka_4"]]
    return f"no: {', '.join(dropped)}" if dropped else "yes"


def _show_apis(session: Session, found: list[dict[str, Any]]) -> None:
    rows: list[Sequence[object]] = []
    for client in found:
        needed = {api["key"]: api["needed"] for api in client["dropped_by_kafka_4"]}
        for api in client["apis"]:
            versions = str(api["min"]) if api["min"] == api["max"] else f"{api['min']}-{api['max']}"
            low = needed.get(api["key"])
            verdict = "yes" if low is None else f"from {low}"
            rows.append(
                [client["client_id"], client["address"], client["broker"], api["name"], versions, verdict]
            )
    session.show(found, ("CLIENT", "ADDRESS", "BROKER", "REQUEST", "VERSIONS", "KAFKA 4"), rows)


def _show_metrics(session: Session, answers: dict[int, dict[str, Any]]) -> None:
    found: list[dict[str, Any]] = []
    for node_id, answer in answers.items():
        if not answer["kept"]:
            session.fail(
                f"broker {node_id} keeps no metrics of clients: kbroker.client.metrics is false there"
            )
        _say_what_is_left_out(session, node_id, answer["left_out"], "values")
        found += [{"broker": node_id, **instance} for instance in answer["instances"]]
    rows: list[Sequence[object]] = []
    for instance in found:
        for metric in instance["metrics"]:
            labels = ",".join(f"{name}={text}" for name, text in metric["attributes"].items())
            pushed = [time_text(instance["last_ms"]), metric["name"], labels, _value_text(metric["value"])]
            rows.append([instance["client_id"], instance["instance_id"], instance["broker"], *pushed])
    session.show(found, ("CLIENT", "INSTANCE", "BROKER", "PUSHED", "METRIC", "LABELS", "VALUE"), rows)


def _value_text(value: Any) -> object:
    """A number; of a histogram how many values there were, and their sum."""
    if isinstance(value, dict):
        return (
            f"{value['count']} values, sum {value['sum']:g}" if value["sum"] is not None else value["count"]
        )
    return value


def _say_what_is_left_out(session: Session, node_id: int, count: int, what: str) -> None:
    if count:
        session.fail(f"broker {node_id} has {count} {what} more, which are left out")
