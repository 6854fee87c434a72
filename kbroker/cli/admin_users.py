"""`kbroker-admin users`."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from typing import IO

import click

from kbroker.cli.admin_base import AdminGroup, Session, confirm, pass_session
from kbroker.client.users import delete_user, list_users, set_user
from kbroker.security.password_file import hash_password
from kbroker.security.scram import ITERATIONS_MAX, ITERATIONS_MIN, MECHANISMS

_MECHANISM = click.Choice(list(MECHANISMS))


def _password(file: IO[str] | None) -> str:
    if file is None:
        if sys.stdin is None or not sys.stdin.isatty():
            raise click.UsageError("there is no terminal to ask for the password; --password-file - reads it")
        password: str = click.prompt("password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = file.readline().rstrip("\r\n")
    if not password:
        raise click.UsageError("the password is empty")
    return password


@click.group(cls=AdminGroup)
def users() -> None:
    """Manage the users that log in with SCRAM."""


@users.command("list")
@click.argument("names", nargs=-1, metavar="[USER]...")
@pass_session
def list_(session: Session, names: tuple[str, ...]) -> None:
    """List users, and the iterations of their mechanisms."""
    found = list_users(session.cluster, names)
    rows: list[Sequence[object]] = [
        (user.name, mechanism, iterations)
        for user in found
        for mechanism, iterations in user.mechanisms.items()
    ]
    data = [{"name": user.name, "mechanisms": user.mechanisms} for user in found]
    session.show(data, ("USER", "MECHANISM", "ITERATIONS"), rows)


@users.command("set")
@click.argument("name", metavar="USER")
@click.option(
    "--password-file",
    type=click.File(),
    help="Its first line is the password; - is standard input.  [default: ask for it]",
)
@click.option("--mechanism", type=_MECHANISM, default="SCRAM-SHA-512", show_default=True)
@click.option(
    "--iterations",
    type=click.IntRange(ITERATIONS_MIN, ITERATIONS_MAX),
    default=ITERATIONS_MIN,
    show_default=True,
)
@pass_session
def set_(session: Session, name: str, password_file: IO[str] | None, mechanism: str, iterations: int) -> None:
    """Make a user, or change its password. The password never is an argument, which others could see."""
    set_user(session.cluster, name, _password(password_file), mechanism, iterations)
    session.say(f"{name} can log in with {mechanism}", {"name": name, "mechanism": mechanism})


@users.command("hash")
@click.argument("name", metavar="USER")
@click.option(
    "--password-file",
    type=click.File(),
    help="Its first line is the password; - is standard input.  [default: ask for it]",
)
@click.option(
    "--kind", type=click.Choice(["scrypt", "sha256", "sha512"]), default="scrypt", show_default=True
)
@pass_session
def hash_(session: Session, name: str, password_file: IO[str] | None, kind: str) -> None:
    """Print a line for the file kbroker.plain.file; asks no broker."""
    line = f"{name}:{hash_password(_password(password_file), secrets.token_bytes(16), kind)}"
    session.say(line, {"line": line})


@users.command()
@click.argument("name", metavar="USER")
@click.option("--mechanism", type=_MECHANISM, help="Only this one.  [default: all that the user has]")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete(session: Session, name: str, mechanism: str | None, yes: bool) -> None:
    """Delete a user. Connections that it has stay until they end or log in again."""
    confirm(f"delete user {name}?", yes)
    mechanisms = [mechanism] if mechanism else list(list_users(session.cluster, [name])[0].mechanisms)
    for each in mechanisms:
        delete_user(session.cluster, name, each)
        session.say(f"{name} cannot log in with {each} any more", {"name": name, "mechanism": each})
