"""`kbroker-admin quorum`: the controllers that keep the metadata."""

from __future__ import annotations

import click

from kbroker.cli.admin_base import AdminGroup, Session, confirm, pass_session
from kbroker.cli.admin_cluster import quorum_silent, show_quorum
from kbroker.client.describe import Quorum, describe_quorum
from kbroker.client.errors import ClientError, Unreachable
from kbroker.client.quorum import add_voter, remove_voter
from kbroker.types import uuid_from_string


@click.group(cls=AdminGroup)
def quorum() -> None:
    """Look at the metadata quorum; let controllers vote, or no more."""


@quorum.command()
@pass_session
def describe(session: Session) -> None:
    """Show leader, voters and observers."""
    found = _quorum(session)
    if session.json:
        session.say("", found)
    else:
        show_quorum(session, found)


@quorum.command()
@click.argument("node", type=int)
@click.argument("address", metavar="HOST:PORT")
@click.option(
    "--directory-id", metavar="ID", help="Of its metadata folder, if the quorum does not know it yet."
)
@click.option(
    "--listener", default="CONTROLLER", show_default=True, help="The name of its controller listener."
)
@pass_session
def add(session: Session, node: int, address: str, directory_id: str | None, listener: str) -> None:
    """Let controller NODE vote, whose controller listener is at HOST:PORT.

    It runs already, with controller.quorum.bootstrap.servers, and follows the quorum as an observer.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise click.UsageError(f"{address!r} is no address: write host:port")
    directory = directory_id or _directory_of_observer(_quorum(session), node)
    add_voter(session.cluster, node, _uuid(directory), [(listener.upper(), host.strip("[]"), int(port))])
    session.say(f"controller {node} votes", {"node": node, "directory_id": directory})


@quorum.command()
@click.argument("node", type=int)
@click.option(
    "--directory-id", metavar="ID", help="Of its metadata folder, if more than one voter has the id."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def remove(session: Session, node: int, directory_id: str | None, yes: bool) -> None:
    """Let controller NODE vote no more."""
    directory = directory_id or _directory(_quorum(session), node, "voter")
    confirm(f"let controller {node} vote no more?", yes)
    remove_voter(session.cluster, node, _uuid(directory))
    session.say(f"controller {node} votes no more", {"node": node, "directory_id": directory})


def _quorum(session: Session) -> Quorum:
    try:
        found = describe_quorum(session.cluster)
    except Unreachable as error:
        raise ClientError(quorum_silent(session, error)) from None
    if found is None:
        raise ClientError("this cluster has no metadata quorum, or does not tell")
    return found


def _directory_of_observer(found: Quorum, node: int) -> str:
    roles = {each.role for each in found.replicas if each.id == node}
    if not roles:
        raise ClientError(
            f"the quorum does not know node {node}: start it first, with controller.quorum.bootstrap.servers"
        )
    if "observer" not in roles:
        raise ClientError(f"controller {node} votes already")
    return _directory(found, node, "observer")


def _directory(found: Quorum, node: int, role: str) -> str:
    """The directory of that node; a leader is a voter, too."""
    roles = ("voter", "leader") if role == "voter" else (role,)
    chosen = [
        replica.directory_id for replica in found.replicas if replica.id == node and replica.role in roles
    ]
    if not chosen:
        raise ClientError(f"node {node} is no {role} of the quorum")
    if len(chosen) > 1:
        raise ClientError(f"node {node} has several directories: choose with --directory-id")
    return chosen[0]


def _uuid(text: str) -> bytes:
    try:
        return uuid_from_string(text)
    except ValueError:
        raise click.UsageError(f"{text!r} is no directory id") from None
