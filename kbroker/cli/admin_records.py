"""`kbroker-admin topics tail` and `topics produce`: records at the terminal."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from time import time

import click

from kbroker.cli.admin_base import (
    AdminCommand,
    Session,
    parse_partitions,
    parse_settings,
    parse_time,
    pass_session,
)
from kbroker.cli.output import clean, print_json, text_of, time_text
from kbroker.client.offsets import EARLIEST, LATEST, list_offsets
from kbroker.client.records import fetch, partition_for_key, produce
from kbroker.client.topics import describe_topics
from kbroker.protocol.compression import Codec
from kbroker.protocol.record_batch import Record
from kbroker.protocol.record_codec import Header
from kbroker.types import TopicPartition

#: What goes into one batch, at most: records, and bytes of them (`max.message.bytes` counts whole batches).
_BATCH_RECORDS, _BATCH_BYTES = 500, 500_000


@click.command(cls=AdminCommand)
@click.argument("partitions", nargs=-1, required=True, metavar="TOPIC[:PARTITION,...]...")
@click.option("--last", type=click.IntRange(min=0), metavar="N", help="The last N of each partition. [10]")
@click.option("--from-beginning", is_flag=True, help="All there are.")
@click.option("--offset", type=click.IntRange(min=0), metavar="OFFSET", help="From this offset on.")
@click.option("--since", metavar="TIME", help="From this time on, as 2026-01-31T12:00:00 (UTC).")
@click.option("-f", "--follow", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@click.option("-n", "--max", "most", type=click.IntRange(min=1), metavar="N", help="Stop after N records.")
@click.option("--read-committed", is_flag=True, help="Nothing of open or aborted transactions.")
@pass_session
def tail(
    session: Session,
    partitions: tuple[str, ...],
    last: int | None,
    from_beginning: bool,
    offset: int | None,
    since: str | None,
    follow: bool,
    most: int | None,
    read_committed: bool,
) -> None:
    """Print records; with --json one object a line."""
    if sum((last is not None, from_beginning, offset is not None, since is not None)) > 1:
        raise click.UsageError("only one of --last, --from-beginning, --offset and --since")
    wanted = parse_partitions(session.cluster, partitions)
    first = {tp: at.offset for tp, at in list_offsets(session.cluster, wanted, EARLIEST).items()}
    found = list_offsets(session.cluster, wanted, LATEST, read_committed=read_committed)
    end = {tp: at.offset for tp, at in found.items()}
    if from_beginning:
        start = first
    elif offset is not None:
        start = {tp: min(max(offset, first[tp]), end[tp]) for tp in wanted}
    elif since is not None:
        at = list_offsets(session.cluster, wanted, parse_time(since))
        start = {tp: at[tp].offset if at[tp].offset >= 0 else end[tp] for tp in wanted}
    else:
        start = {tp: max(first[tp], end[tp] - (10 if last is None else last)) for tp in wanted}
    until = None if follow else end
    records = _read(session, start, until, read_committed)
    for tp, record in islice(records, most):
        _print_record(session, tp, record)
        if follow:
            sys.stdout.flush()


def _read(
    session: Session,
    offsets: dict[TopicPartition, int],
    until: dict[TopicPartition, int] | None,
    read_committed: bool,
) -> Iterator[tuple[TopicPartition, Record]]:
    """Records as they are fetched; up to the offsets `until`, or for ever."""
    offsets = dict(offsets)
    while True:
        if until is not None:
            offsets = {tp: offset for tp, offset in offsets.items() if offset < until[tp]}
            if not offsets:
                return
        for tp, got in fetch(session.cluster, offsets, read_committed=read_committed).items():
            offsets[tp] = got.next_offset
            for record in got.records:
                if until is None or record.offset < until[tp]:
                    yield tp, record


def _print_record(session: Session, tp: TopicPartition, record: Record) -> None:
    key = None if record.key is None else text_of(record.key)
    value = None if record.value is None else text_of(record.value)
    headers = [[name, None if content is None else text_of(content)] for name, content in record.headers]
    if session.json:
        document = {"topic": tp.topic, "partition": tp.partition, "offset": record.offset}
        document |= {"timestamp": record.timestamp, "key": key, "value": value, "headers": headers}
        print_json(document, line=True)
        return
    words = [f"{tp}@{record.offset}", time_text(record.timestamp), "null" if key is None else key]
    words.append("null" if value is None else value)
    words += [f"{name}={content}" for name, content in headers]
    print(clean("  ".join(words)))


@click.command("produce", cls=AdminCommand)
@click.argument("topic", metavar="TOPIC")
@click.option("--value", help="One record with this value; else every line of standard input is one.")
@click.option("--key", help="Key of the records.")
@click.option("--key-separator", metavar="TEXT", help="Lines are key, this text, value.")
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="A header; repeatable.")
@click.option("-p", "--partition", type=click.IntRange(min=0), help="Else by key, or any.")
@click.option(
    "--compression",
    type=click.Choice([codec.name.lower() for codec in Codec]),
    default="none",
    show_default=True,
)
@pass_session
def produce_(
    session: Session,
    topic: str,
    value: str | None,
    key: str | None,
    key_separator: str | None,
    headers: tuple[str, ...],
    partition: int | None,
    compression: str,
) -> None:
    """Write records, from --value or from the lines of standard input."""
    pairs: list[Header] = [(name, _bytes_of(text)) for name, text in parse_settings(headers).items()]
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # bytes that are no text stay what they are
    lines = [value] if value is not None else (line.rstrip("\r\n") for line in sys.stdin or ())
    (description,) = describe_topics(session.cluster, [topic])
    count = len(description.partitions)
    codec = Codec[compression.upper()]
    written = 0
    records = _records(lines, key, key_separator, pairs)
    for batch in _batches(records):
        anywhere = random.randrange(count)
        by_partition: dict[int, list[Record]] = {}
        for record in batch:
            where = partition
            if where is None:
                where = anywhere if record.key is None else partition_for_key(record.key, count)
            by_partition.setdefault(where, []).append(record)
        for where, chosen in by_partition.items():
            tp = TopicPartition(topic, where)
            base = produce(session.cluster, tp, chosen, codec=codec)
            written += len(chosen)
            if session.json:
                last = base + len(chosen) - 1
                document = {"topic": topic, "partition": where, "first_offset": base, "last_offset": last}
                print_json(document, line=True)
    if not session.json:
        print(f"{written} {'record is' if written == 1 else 'records are'} written to {clean(topic)}")


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    held = 0
    for record in records:
        size = len(record.key or b"") + len(record.value or b"")
        if batch and (len(batch) >= _BATCH_RECORDS or held + size > _BATCH_BYTES):
            yield batch
            batch, held = [], 0
        batch.append(record)
        held += size
    if batch:
        yield batch


def _records(
    lines: Iterable[str], key: str | None, separator: str | None, headers: list[Header]
) -> Iterator[Record]:
    for line in lines:
        name: str | None = key
        if separator is not None:
            before, found, rest = line.partition(separator)
            if not found:
                raise click.UsageError(f"no {separator!r} in the line {line!r}")
            name, line = before, rest
        encoded = None if name is None else _bytes_of(name)
        yield Record(timestamp=int(time() * 1000), key=encoded, value=_bytes_of(line), headers=headers)


def _bytes_of(text: str) -> bytes:
    """As it was given: what is no UTF-8 came as surrogates."""
    return text.encode(errors="surrogateescape")
