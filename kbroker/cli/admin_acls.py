"""`kbroker-admin acls`: who may do what."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import click

from kbroker.cli.admin_base import AdminGroup, Session, confirm, pass_session
from kbroker.client.acls import create_acls, delete_acls, describe_acls
from kbroker.client.errors import ClientError
from kbroker.security.acl import (
    CLUSTER_NAME,
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

_COLUMNS = ("RESOURCE", "NAME", "PRINCIPAL", "HOST", "OPERATION", "PERMISSION")
#: Options that name a resource: (option, type).
_RESOURCES = (
    ("topic", ResourceType.TOPIC),
    ("group", ResourceType.GROUP),
    ("transactional-id", ResourceType.TRANSACTIONAL_ID),
    ("token", ResourceType.DELEGATION_TOKEN),
    ("user", ResourceType.USER),
)


def _resource_options(command: Callable[..., None]) -> Callable[..., None]:
    for option, kind in reversed(_RESOURCES):
        words = kind.name.lower().replace("_", " ")
        command = click.option(f"--{option}", metavar="NAME", help=f"A {words}; '*' is any.")(command)
    command = click.option("--cluster", is_flag=True, help="The cluster as a whole.")(command)
    return click.option("--prefix", is_flag=True, help="All names that begin so.")(command)


def _who_options(command: Callable[..., None]) -> Callable[..., None]:
    command = click.option("--host", help="Only from this address, or network (10.0.0.0/8).")(command)
    return click.option("--principal", metavar="USER", help="A user, or Type:name.")(command)


@click.group(cls=AdminGroup)
def acls() -> None:
    """Look at access control lists, add to them, remove from them."""


@acls.command(name="list")
@_resource_options
@_who_options
@click.option("--operation", metavar="OP", help="As read, write, describe_configs.")
@click.option("--matching", is_flag=True, help="Also prefixes and '*' that cover the name.")
@pass_session
def list_command(session: Session, /, **options: Any) -> None:
    """Show entries: all, or those of a resource or principal."""
    found = describe_acls(session.cluster, _filter(**options))
    session.show([_data(acl) for acl in found], _COLUMNS, [_row(acl) for acl in found])


@acls.command()
@_resource_options
@_who_options
@click.option("--allow", "allowed", metavar="OP,…", help="Operations to allow, or all.")
@click.option("--deny", "denied", metavar="OP,…", help="Operations to deny; a denial beats what is allowed.")
@pass_session
def add(session: Session, /, allowed: str | None, denied: str | None, **options: Any) -> None:
    """Allow or deny something to a principal (all principals if none is given)."""
    resource = _resource(**options)
    if resource is None:
        raise click.UsageError("name a resource: --topic, --group, --cluster, …")
    if not allowed and not denied:
        raise click.UsageError("give --allow or --deny")
    kind, name, pattern = resource
    principal = _principal(options["principal"]) or "User:*"
    host = options["host"] or "*"
    wanted = [
        Acl(kind, name, pattern, principal, host, operation, permission)
        for text, permission in ((allowed, Permission.ALLOW), (denied, Permission.DENY))
        for operation in _operations(text or "")
    ]
    results = create_acls(session.cluster, wanted)
    session.report("added: {}", {_text(acl): error for acl, error in zip(wanted, results)})


@acls.command()
@_resource_options
@_who_options
@click.option("--operation", metavar="OP", help="Only of this operation.")
@click.option("--all", "everything", is_flag=True, help="Every entry that there is.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def remove(session: Session, /, everything: bool, yes: bool, **options: Any) -> None:
    """Remove entries."""
    wanted = _filter(**options)
    if (wanted == AclFilter()) != everything:
        raise click.UsageError("say which entries, or give --all")
    if not yes:
        found = describe_acls(session.cluster, wanted)
        if not found:
            raise ClientError("there are no such entries")
        for acl in found:
            click.echo(_text(acl), err=True)
    confirm("remove these entries?", yes)
    gone = delete_acls(session.cluster, wanted)
    if session.json:
        session.say("", [_data(acl) for acl in gone])
        return
    for acl in gone:
        session.say(f"removed: {_text(acl)}")
    if not gone:
        session.fail("there are no such entries")


# -- what is meant --


def _resource(*, cluster: bool, prefix: bool, **options: Any) -> tuple[ResourceType, str, PatternType] | None:
    named = [
        (kind, options[option.replace("-", "_")])
        for option, kind in _RESOURCES
        if options[option.replace("-", "_")] is not None
    ]
    if cluster:
        named.append((ResourceType.CLUSTER, CLUSTER_NAME))
    if len(named) > 1:
        raise click.UsageError("name one resource at a time")
    if not named:
        return None
    ((kind, name),) = named
    if kind is ResourceType.USER and name != "*":
        # A user as a resource goes by its principal (KIP-373); without a type nobody would be meant.
        name = _principal(name)
    return kind, name, PatternType.PREFIXED if prefix else PatternType.LITERAL


def _filter(**options: Any) -> AclFilter:
    matching, operation = options.pop("matching", False), options.pop("operation", None)
    resource = _resource(**options)
    principal, host = _principal(options["principal"]), options["host"]
    number = _operation(operation) if operation else Operation.ANY
    if resource is None:
        return AclFilter(principal=principal, host=host, operation=number)
    kind, name, pattern = resource
    if matching:
        pattern = PatternType.MATCH
    return AclFilter(kind, name, pattern, principal, host, number)


def _principal(text: str | None) -> str | None:
    return text if text is None or ":" in text else f"User:{text}"


def _operations(text: str) -> list[Operation]:
    return [_operation(name) for name in text.split(",") if name.strip()]


def _operation(name: str) -> Operation:
    try:
        operation = Operation[name.strip().upper().replace("-", "_")]
    except KeyError:
        operation = Operation.UNKNOWN
    if operation in (Operation.UNKNOWN, Operation.ANY):
        known = ", ".join(each.name.lower() for each in Operation if each > Operation.ANY)
        raise click.UsageError(f"no operation {name.strip()!r}; there are {known}")
    return operation


# -- how it is shown --


def _word(kind: type[IntEnum], number: int) -> str:
    try:
        return kind(number).name.lower()
    except ValueError:
        return str(number)


def _row(acl: Acl) -> tuple[str, ...]:
    return (
        _word(ResourceType, acl.resource_type),
        f"{acl.name}…" if acl.pattern == PatternType.PREFIXED else acl.name,
        acl.principal,
        acl.host,
        _word(Operation, acl.operation),
        _word(Permission, acl.permission),
    )


def _data(acl: Acl) -> dict[str, str]:
    return {
        "resource_type": _word(ResourceType, acl.resource_type),
        "resource_name": acl.name,
        "pattern_type": _word(PatternType, acl.pattern),
        "principal": acl.principal,
        "host": acl.host,
        "operation": _word(Operation, acl.operation),
        "permission": _word(Permission, acl.permission),
    }


def _text(acl: Acl) -> str:
    kind, name, principal, host, operation, permission = _row(acl)
    where = "" if host == "*" else f" from {host}"
    return f"{permission} {principal}{where} {operation} on {kind} {name}"
