"""`kbroker-admin brokers`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from kbroker.cli.admin_base import AdminGroup, Session, confirm, pass_session
from kbroker.cli.output import size_text
from kbroker.client.describe import describe_cluster, describe_log_dirs
from kbroker.client.errors import ClientError
from kbroker.client.reassignments import unregister_broker
from kbroker.client.topics import list_topics


@click.group(cls=AdminGroup)
def brokers() -> None:
    """Look at brokers; forget those that will not come back."""


@brokers.command("list")
@click.option("--sizes", is_flag=True, help="Ask each for the size of its logs.")
@pass_session
def list_(session: Session, sizes: bool) -> None:
    """Show all brokers, with what they lead and hold."""
    info = describe_cluster(session.cluster)
    leads: Counter[int] = Counter()
    holds: Counter[int] = Counter()
    behind: Counter[int] = Counter()
    for topic in list_topics(session.cluster, internal=True):
        for part in topic.partitions:
            leads[part.leader] += 1
            holds.update(part.replicas)
            behind.update(set(part.replicas) - set(part.isr))
    bytes_of: Counter[int] = Counter()
    if sizes:
        up = [broker.id for broker in info.brokers if not broker.fenced]
        for log_dir in describe_log_dirs(session.cluster, up):
            bytes_of[log_dir.broker] += sum(replica.size for replica in log_dir.replicas)
    rows: list[Sequence[object]] = []
    data = []
    for broker in info.brokers:
        state = "fenced" if broker.fenced else "up"
        size = size_text(bytes_of[broker.id]) if sizes and not broker.fenced else None
        rows.append(
            (
                broker.id,
                f"{broker.host}:{broker.port}",
                broker.rack,
                state,
                leads[broker.id],
                holds[broker.id],
                behind[broker.id],
                size,
            )
        )
        document = {**broker._asdict(), "leads": leads[broker.id], "replicas": holds[broker.id]}
        data.append(
            {**document, "out_of_sync": behind[broker.id], "bytes": bytes_of[broker.id] if sizes else None}
        )
    session.show(
        data, ("BROKER", "ADDRESS", "RACK", "STATE", "LEADS", "REPLICAS", "OUT OF SYNC", "SIZE"), rows
    )


@brokers.command()
@click.argument("broker", type=int)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def unregister(session: Session, broker: int, yes: bool) -> None:
    """Forget a broker that has stopped for good."""
    if any(each.id == broker and not each.fenced for each in describe_cluster(session.cluster).brokers):
        raise ClientError(f"broker {broker} is up and would be back at once: stop it first")
    confirm(f"forget broker {broker}?", yes)
    unregister_broker(session.cluster, broker)
    session.say(f"broker {broker} is forgotten", {"broker": broker})
