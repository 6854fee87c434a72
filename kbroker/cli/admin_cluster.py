"""`kbroker-admin cluster`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from kbroker.cli.admin_base import AdminGroup, Session, pass_session
from kbroker.cli.output import time_text
from kbroker.client.describe import ClusterInfo, Quorum, api_versions, describe_cluster, describe_quorum
from kbroker.client.errors import ClientError, Unreachable
from kbroker.client.features import SAFE_DOWNGRADE, UPGRADE, update_features
from kbroker.client.own import command
from kbroker.errors import ApiError


@click.group(cls=AdminGroup)
def cluster() -> None:
    """Look at brokers, features and the metadata quorum."""


@cluster.command()
@pass_session
def describe(session: Session) -> None:
    """Show id, controller, brokers, features and the metadata quorum."""
    info = describe_cluster(session.cluster)
    try:
        quorum = describe_quorum(session.cluster)
    except Unreachable as error:
        quorum = None
        session.fail(quorum_silent(session, error))
    if session.json:
        document = {"id": info.id, "controller": info.controller, "brokers": info.brokers}
        session.say("", {**document, "features": info.features, "quorum": quorum})
        return
    _show_brokers(session, info, info.controller if quorum is None else quorum.leader)
    if info.features:
        print()
        _show_features(session, info)
    if quorum is not None:
        print()
        show_quorum(session, quorum)


def _show_features(session: Session, info: ClusterInfo) -> None:
    features: list[Sequence[object]] = [
        (feature.name, feature.level, f"{feature.min_supported}-{feature.max_supported}")
        for feature in info.features
    ]
    session.show(None, ("FEATURE", "LEVEL", "SUPPORTED"), features)


def _show_brokers(session: Session, info: ClusterInfo, controller: int) -> None:
    rows: list[Sequence[object]] = [
        (
            broker.id,
            f"{broker.host}:{broker.port}",
            broker.rack,
            "fenced" if broker.fenced else _state(session, broker.id),
            "controller" if broker.id == controller else None,
        )
        for broker in info.brokers
    ]
    session.show(None, ("BROKER", "ADDRESS", "RACK", "STATE", "ROLE"), rows, f"cluster {info.id}")


def _state(session: Session, broker_id: int) -> str:
    """ "up", and what a kbroker does to protect itself."""
    try:
        limits = command(session.cluster, broker_id, "limits")
    except (ApiError, ClientError):
        return "up"
    level = limits.get("level", "OPEN")
    return "up" if level == "OPEN" else f"up, producers {level.lower()} ({', '.join(limits['reasons'])})"


def quorum_silent(session: Session, error: Unreachable) -> str:
    """What to say where nobody tells of the quorum: brokers pass that question on to its leader.

    Raises:
        Unreachable: `error`, as no broker answers other questions either.
    """
    try:
        session.cluster.brokers(refresh=True)
    except ClientError:
        raise error from None
    return "no controller answers: the metadata quorum has no leader; are most of its voters down?"


def show_quorum(session: Session, quorum: Quorum) -> None:
    """Print the quorum as a table."""
    title = f"metadata quorum  epoch {quorum.leader_epoch}  high watermark {quorum.high_watermark}"
    rows: list[Sequence[object]] = [
        (
            replica.id,
            replica.role,
            replica.log_end_offset,
            replica.lag if replica.lag >= 0 else None,
            time_text(replica.last_caught_up_ms),
        )
        for replica in quorum.replicas
    ]
    session.show(None, ("NODE", "ROLE", "END OFFSET", "LAG", "LAST CAUGHT UP"), rows, title)


@cluster.command()
@click.argument("levels", metavar="NAME=LEVEL", nargs=-1, required=True)
@click.option("--downgrade", is_flag=True, help="To lower levels.")
@click.option("--dry-run", is_flag=True, help="Only tell whether it can be.")
@pass_session
def features(session: Session, levels: Sequence[str], downgrade: bool, dry_run: bool) -> None:
    """Set levels of features, as kraft.version=1, all or none."""
    wanted: dict[str, int] = {}
    for text in levels:
        name, _, number = text.partition("=")
        if not name or not number.isdecimal():
            raise click.UsageError(f"{text!r} is no level of a feature: write name=level")
        wanted[name] = int(number)
    kind = SAFE_DOWNGRADE if downgrade else UPGRADE
    update_features(session.cluster, wanted, kind=kind, validate_only=dry_run)
    done = "can be" if dry_run else "is" if len(wanted) == 1 else "are"
    session.say(f"{', '.join(levels)} {done} set", {"features": wanted, "dry_run": dry_run})


@cluster.command("api-versions")
@click.option("--broker", type=int, metavar="ID", help="Only this broker; else all.")
@pass_session
def api_versions_(session: Session, broker: int | None) -> None:
    """Show which requests each broker serves, and the newest version that we both know."""
    node_ids = sorted(session.cluster.brokers()) if broker is None else [broker]
    by_node = {node_id: api_versions(session.cluster, node_id) for node_id in node_ids}
    if session.json:
        session.say("", by_node)
        return
    for node_id, ranges in by_node.items():
        rows: list[Sequence[object]] = [
            (api.key, api.name, f"{api.min_version}-{api.max_version}", api.usable) for api in ranges
        ]
        session.show(None, ("KEY", "REQUEST", "VERSIONS", "USED"), rows, f"broker {node_id}")
