"""`kbroker-admin configs`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from kbroker.cli.admin_base import AdminGroup, Session, parse_settings, pass_session
from kbroker.client.configs import ResourceType, alter_configs, describe_configs

_TYPES = {
    "topic": ResourceType.TOPIC,
    "broker": ResourceType.BROKER,
    "broker-default": ResourceType.BROKER,
    "broker-logger": ResourceType.BROKER_LOGGER,
    "group": ResourceType.GROUP,
    "client-metrics": ResourceType.CLIENT_METRICS,
}
_KIND = click.argument("kind", type=click.Choice(list(_TYPES)), metavar="TYPE")


@click.group(cls=AdminGroup)
def configs() -> None:
    """Look at and change settings.

    TYPE is topic, broker (NAME is its id), broker-default (all brokers; without NAME), broker-logger, group
    or client-metrics.
    """


@configs.command()
@_KIND
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--all", "all_", is_flag=True, help="Defaults too.")
@click.option("--docs", is_flag=True, help="With what each setting means.")
@pass_session
def describe(session: Session, kind: str, name: str | None, all_: bool, docs: bool) -> None:
    """Show settings; without --all only those that somebody has set."""
    rest = () if name is None else (name,)
    resource, name, _ = _resource(kind, rest)
    entries = describe_configs(session.cluster, resource, name, documentation=docs)
    shown = [entry for entry in entries if all_ or not entry.is_default]
    columns = ["SETTING", "VALUE", "SOURCE", "TYPE"]
    rows: list[Sequence[object]] = []
    for entry in shown:
        value = "(secret)" if entry.sensitive else entry.value
        row: list[object] = [entry.name, value, entry.source, entry.type]
        rows.append([*row, entry.documentation] if docs else row)
    session.show(shown, [*columns, "MEANING"] if docs else columns, rows)


@configs.command("set")
@_KIND
@click.argument("rest", nargs=-1, required=True, metavar="[NAME] SETTING=VALUE...")
@click.option("--append", is_flag=True, help="Add to settings that are lists.")
@click.option("--subtract", is_flag=True, help="Take away from settings that are lists.")
@click.option("--dry-run", is_flag=True, help="Only let the broker check it.")
@pass_session
def set_(
    session: Session, kind: str, rest: tuple[str, ...], append: bool, subtract: bool, dry_run: bool
) -> None:
    """Change settings; all others stay as they are."""
    if append and subtract:
        raise click.UsageError("--append or --subtract, not both")
    resource, name, texts = _resource(kind, rest)
    settings = parse_settings(texts)
    if not settings:
        raise click.UsageError("name at least one SETTING=VALUE")
    alter_configs(
        session.cluster,
        resource,
        name,
        set_={} if append or subtract else settings,
        append=settings if append else None,
        subtract=settings if subtract else None,
        validate_only=dry_run,
    )
    _say_changed(session, kind, name, dry_run)


@configs.command()
@_KIND
@click.argument("rest", nargs=-1, required=True, metavar="[NAME] SETTING...")
@click.option("--dry-run", is_flag=True, help="Only let the broker check it.")
@pass_session
def delete(session: Session, kind: str, rest: tuple[str, ...], dry_run: bool) -> None:
    """Take settings back to their default."""
    resource, name, settings = _resource(kind, rest)
    if not settings:
        raise click.UsageError("name at least one SETTING")
    alter_configs(session.cluster, resource, name, delete=settings, validate_only=dry_run)
    _say_changed(session, kind, name, dry_run)


def _resource(kind: str, rest: Sequence[str]) -> tuple[ResourceType, str, Sequence[str]]:
    """Type, name and what is behind the name; the default of all brokers has none.

    Raises:
        click.UsageError: the name is missing.
    """
    if kind == "broker-default":
        return _TYPES[kind], "", rest
    if not rest or "=" in rest[0]:
        raise click.UsageError(f"which {kind}? Give its name behind the type")
    return _TYPES[kind], rest[0], rest[1:]


def _say_changed(session: Session, kind: str, name: str, dry_run: bool) -> None:
    outcome = "could be changed" if dry_run else "is changed"
    session.say(f"{kind} {name}".rstrip() + f" {outcome}", {"type": kind, "name": name, "error": None})
