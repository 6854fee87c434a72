"""`kbroker-admin transactions`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from kbroker.cli.admin_base import AdminGroup, Session, confirm, parse_partitions, pass_session
from kbroker.client.topics import list_topics
from kbroker.client.transactions import (
    PartitionProducer,
    abort_open,
    describe_producers,
    describe_transaction,
    find_hanging,
    list_transactions,
)
from kbroker.types import TopicPartition

_MINUTE_MS = 60_000
_MAX_MINUTES = 15
_PARTITIONS_HELP = "TOPIC or TOPIC:PARTITION,...; repeatable."


@click.group(cls=AdminGroup)
def transactions() -> None:
    """Look at transactions and the producers of partitions; end those that hang."""


@transactions.command("list")
@click.option("--state", "states", multiple=True, metavar="STATE", help="Only these, as Ongoing; repeatable.")
@click.option(
    "--producer-id", "producer_ids", multiple=True, type=int, metavar="ID", help="Only these; repeatable."
)
@click.option("--longer-than", type=int, default=-1, metavar="MS", help="Open for longer than that.")
@click.option("--pattern", metavar="REGEX", help="Only ids that match it as a whole.")
@pass_session
def list_(
    session: Session,
    states: tuple[str, ...],
    producer_ids: tuple[int, ...],
    longer_than: int,
    pattern: str | None,
) -> None:
    """List transactional ids."""
    found = list_transactions(
        session.cluster,
        states=states,
        producer_ids=producer_ids,
        longer_than_ms=longer_than,
        pattern=pattern,
    )
    rows: list[Sequence[object]] = list(found)
    session.show(
        [each._asdict() for each in found], ("TRANSACTIONAL ID", "STATE", "PRODUCER ID", "COORDINATOR"), rows
    )


@transactions.command()
@click.argument("ids", nargs=-1, required=True, metavar="TRANSACTIONAL_ID...")
@pass_session
def describe(session: Session, ids: tuple[str, ...]) -> None:
    """Show the state of transactional ids, and the partitions of open transactions."""
    found = [describe_transaction(session.cluster, each) for each in ids]
    documents = [
        {
            "id": each.id,
            "state": each.state,
            "producer_id": each.producer_id,
            "producer_epoch": each.producer_epoch,
            "timeout_ms": each.timeout_ms,
            "start_ms": each.start_ms,
            "partitions": [str(tp) for tp in each.partitions],
        }
        for each in found
    ]
    rows: list[Sequence[object]] = [
        (
            each.id,
            each.state,
            each.producer_id,
            each.producer_epoch,
            each.timeout_ms,
            _moment(each.start_ms),
            " ".join(str(tp) for tp in each.partitions),
        )
        for each in found
    ]
    columns = ("TRANSACTIONAL ID", "STATE", "PRODUCER ID", "EPOCH", "TIMEOUT MS", "BEGAN", "PARTITIONS")
    session.show(documents, columns, rows)


@transactions.command()
@click.argument("partitions", nargs=-1, required=True, metavar="TOPIC[:PARTITION,...]...")
@pass_session
def producers(session: Session, partitions: tuple[str, ...]) -> None:
    """Show the producers that partitions remember, and their open transactions."""
    wanted = parse_partitions(session.cluster, partitions)
    found = describe_producers(session.cluster, wanted)
    everyone = [producer for tp in sorted(found) for producer in found[tp]]
    _show_producers(session, everyone)


@transactions.command("find-hanging")
@click.option("--topic", "topics", multiple=True, metavar="TOPIC[:PARTITION,...]", help=_PARTITIONS_HELP)
@click.option(
    "--silent-for",
    type=int,
    default=_MAX_MINUTES,
    metavar="MINUTES",
    show_default=True,
    help="What is younger may still be ended by its coordinator: the largest transaction.max.timeout.ms.",
)
@pass_session
def find_hanging_(session: Session, topics: tuple[str, ...], silent_for: int) -> None:
    """Find open transactions that no coordinator knows of: they hold up all readers of committed records."""
    wanted = parse_partitions(session.cluster, topics or _all_topics(session))
    now_ms = int(time.time() * 1000)
    found = find_hanging(session.cluster, wanted, now_ms, silent_for * _MINUTE_MS)
    documents = [{"transactional_id": each.transactional_id, **_document(each.producer)} for each in found]
    rows: list[Sequence[object]] = [
        (
            each.producer.partition,
            each.producer.start_offset,
            each.producer.producer_id,
            each.producer.producer_epoch,
            _moment(each.producer.last_timestamp_ms),
            each.transactional_id or "-",
        )
        for each in found
    ]
    columns = ("PARTITION", "START OFFSET", "PRODUCER ID", "EPOCH", "LAST RECORD", "TRANSACTIONAL ID")
    session.show(documents, columns, rows)


@transactions.command()
@click.argument("partition", metavar="TOPIC:PARTITION")
@click.argument("start_offset", type=int, metavar="START_OFFSET")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def abort(session: Session, partition: str, start_offset: int, yes: bool) -> None:
    """Abort a transaction that hangs, as find-hanging shows it. Its coordinator is not asked."""
    wanted = parse_partitions(session.cluster, [partition])
    if len(wanted) != 1:
        raise click.UsageError("one partition, please: TOPIC:PARTITION")
    (tp,) = wanted
    confirm(f"Abort the transaction that began at offset {start_offset} of {tp}?", yes)
    producer = abort_open(session.cluster, tp, start_offset)
    session.say(f"aborted the transaction of producer {producer.producer_id} on {tp}", _document(producer))


def _all_topics(session: Session) -> list[str]:
    return [topic.name for topic in list_topics(session.cluster, internal=True)]


def _show_producers(session: Session, everyone: list[PartitionProducer]) -> None:
    rows: list[Sequence[object]] = [
        (
            each.partition,
            each.producer_id,
            each.producer_epoch,
            each.last_sequence,
            _moment(each.last_timestamp_ms),
            each.coordinator_epoch,
            each.start_offset if each.start_offset >= 0 else "-",
        )
        for each in everyone
    ]
    columns = (
        "PARTITION",
        "PRODUCER ID",
        "EPOCH",
        "LAST SEQUENCE",
        "LAST RECORD",
        "COORDINATOR EPOCH",
        "OPEN SINCE OFFSET",
    )
    session.show([_document(each) for each in everyone], columns, rows)


def _document(producer: PartitionProducer) -> dict[str, object]:
    tp: TopicPartition = producer.partition
    return {**producer._asdict(), "topic": tp.topic, "partition": tp.partition}


def _moment(timestamp_ms: int) -> str:
    if timestamp_ms < 0:
        return "-"
    return (
        datetime.fromtimestamp(timestamp_ms / 1000, UTC).isoformat(" ", "milliseconds").replace("+00:00", "Z")
    )
