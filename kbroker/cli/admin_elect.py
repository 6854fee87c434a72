"""`kbroker-admin elect`."""

from __future__ import annotations

import click

from kbroker.cli.admin_base import AdminCommand, Session, confirm, parse_partitions, pass_session
from kbroker.client.reassignments import PREFERRED, UNCLEAN, elect_leaders
from kbroker.errors import ErrorCode


@click.command(cls=AdminCommand)
@click.argument("partitions", nargs=-1, metavar="TOPIC[:PARTITION,...]...")
@click.option("--all", "everything", is_flag=True, help="All partitions of the cluster.")
@click.option(
    "--unclean", is_flag=True, help="Let a replica lead that may lack records, which are lost then."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def elect(session: Session, partitions: tuple[str, ...], everything: bool, unclean: bool, yes: bool) -> None:
    """Let the preferred (first) replicas lead, or with --unclean any replica where none is in sync."""
    if bool(partitions) == everything:
        raise click.UsageError("name partitions, or give --all")
    if unclean:
        confirm("records that only missing replicas have will be lost; go on?", yes)
    chosen = None if everything else parse_partitions(session.cluster, partitions)
    results = elect_leaders(session.cluster, chosen, UNCLEAN if unclean else PREFERRED)
    idle = {tp for tp, error in results.items() if error and error.code is ErrorCode.ELECTION_NOT_NEEDED}
    changed = {tp: error for tp, error in results.items() if tp not in idle}
    if not changed and not session.json:
        session.say("every leader is the one it should be")
        return
    session.report("{} has a new leader", changed)
