"""`kbroker-admin drain`."""

from __future__ import annotations

import click

from kbroker.cli.admin_base import AdminCommand, Session, pass_session
from kbroker.client.drain import load_order, plan_drain, put_in_order, save_order
from kbroker.client.errors import ClientError
from kbroker.client.own import NoKbroker, command


@click.command(cls=AdminCommand)
@click.argument("broker", type=int)
@click.option("--save", metavar="FILE", help="Keep the order of replicas as it is now, for --undo.")
@click.option("--undo", metavar="FILE", help="Give back what was taken away, by the file of --save.")
@click.option(
    "--disconnect", type=float, metavar="SECONDS", help="Then close its clients' connections, within so long."
)
@pass_session
def drain(
    session: Session, broker: int, save: str | None, undo: str | None, disconnect: float | None
) -> None:
    """Let other brokers lead what this one leads, so that it can be stopped or worked on unnoticed.

    Its replicas stay and go on copying. It becomes the last replica of each partition, so that nothing gives
    it leaders back until --undo. Clients find the new leaders by themselves; --disconnect makes them look.
    """
    if undo is not None:
        if save is not None or disconnect is not None:
            raise click.UsageError("--undo goes alone")
        session.report("{} is as it was", put_in_order(session.cluster, load_order(undo)))
        return
    session.cluster.node(broker)
    if len(session.cluster.brokers()) == 1:
        raise ClientError(f"broker {broker} is the only one that is up: nobody can lead in its place")
    plan = plan_drain(session.cluster, broker)
    if save is not None:
        save_order(save, plan.before)
    session.report("{} is led by another broker", put_in_order(session.cluster, plan.after))
    if not plan.after and not plan.stuck and not session.json:
        session.say(f"broker {broker} leads nothing")
    for tp in plan.stuck:
        session.fail(f"{tp} stays: no other replica is in sync")
    if disconnect is not None:
        try:
            command(session.cluster, broker, "disconnect", seconds=disconnect)
        except NoKbroker as error:
            session.fail(f"{error}: its connections stay")
