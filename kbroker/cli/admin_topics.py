"""`kbroker-admin topics`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from kbroker.cli.admin_base import (
    AdminGroup,
    Session,
    confirm,
    parse_assignment,
    parse_partitions,
    parse_settings,
    pass_session,
)
from kbroker.cli.admin_records import produce_, tail
from kbroker.cli.output import clean
from kbroker.client.configs import ResourceType, alter_configs, describe_configs
from kbroker.client.offsets import EARLIEST, LATEST, OffsetAt, list_offsets
from kbroker.client.topics import (
    Topic,
    create_partitions,
    create_topic,
    delete_records,
    delete_topics,
    describe_topics,
    list_topics,
)
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import TopicPartition

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _settings_option(parameter: str, help_text: str) -> Callable[[_Command], _Command]:
    """`create` and `alter` take the same names: nobody has to remember which of them says --config."""
    return click.option(
        "-c", "--config", "--set", parameter, multiple=True, metavar="NAME=VALUE", help=help_text
    )


@click.group(cls=AdminGroup)
def topics() -> None:
    """Create, look at, change and delete topics; read and write records."""


@topics.command("list")
@click.option("--internal", is_flag=True, help="Also the broker's own topics, as __consumer_offsets.")
@pass_session
def list_(session: Session, internal: bool) -> None:
    """List topics."""
    found = list_topics(session.cluster, internal=internal)
    data = [
        {
            "name": topic.name,
            "id": topic.id,
            "partitions": len(topic.partitions),
            "replication_factor": topic.replication_factor,
            "internal": topic.internal,
        }
        for topic in found
    ]
    rows: list[Sequence[object]] = [
        (topic.name, len(topic.partitions), topic.replication_factor) for topic in found
    ]
    session.show(data, ("TOPIC", "PARTITIONS", "REPLICATION"), rows)


@topics.command()
@click.argument("names", nargs=-1, required=True, metavar="TOPIC...")
@pass_session
def describe(session: Session, names: tuple[str, ...]) -> None:
    """Show partitions, their offsets, and the settings that are not the default."""
    documents = []
    for topic in describe_topics(session.cluster, names):
        led = [TopicPartition(topic.name, part.partition) for part in topic.partitions if part.leader >= 0]
        first, end = list_offsets(session.cluster, led, EARLIEST), list_offsets(session.cluster, led, LATEST)
        configs = {
            entry.name: entry.value
            for entry in describe_configs(session.cluster, ResourceType.TOPIC, topic.name)
            if entry.source == "topic"
        }
        if session.json:
            documents.append(_document(topic, first, end, configs))
            continue
        settings = " ".join(f"{name}={value}" for name, value in configs.items()) or "none"
        rows: list[Sequence[object]] = []
        for part in topic.partitions:
            tp = TopicPartition(topic.name, part.partition)
            rows.append(
                (
                    part.partition,
                    part.leader if part.leader >= 0 else "none",
                    part.replicas,
                    part.isr,
                    first[tp].offset if tp in first else None,
                    end[tp].offset if tp in end else None,
                )
            )
        columns = ("PARTITION", "LEADER", "REPLICAS", "IN SYNC", "FIRST OFFSET", "END OFFSET")
        session.show(None, columns, rows, f"topic {topic.name}  id {topic.id or '-'}  settings: {settings}")
    if session.json:
        session.say("", documents)


def _document(
    topic: Topic,
    first: dict[TopicPartition, OffsetAt],
    end: dict[TopicPartition, OffsetAt],
    configs: dict[str, str | None],
) -> dict[str, object]:
    partitions = []
    for part in topic.partitions:
        tp = TopicPartition(topic.name, part.partition)
        partitions.append(
            {
                "partition": part.partition,
                "leader": part.leader,
                "leader_epoch": part.leader_epoch,
                "replicas": part.replicas,
                "isr": part.isr,
                "offline": part.offline,
                "first_offset": first[tp].offset if tp in first else None,
                "end_offset": end[tp].offset if tp in end else None,
            }
        )
    return {
        "name": topic.name,
        "id": topic.id,
        "internal": topic.internal,
        "replication_factor": topic.replication_factor,
        "configs": configs,
        "partitions": partitions,
    }


@topics.command()
@click.argument("names", nargs=-1, required=True, metavar="TOPIC...")
@click.option("-p", "--partitions", type=click.IntRange(min=1), help="How many; else the broker's default.")
@click.option("-r", "--replication-factor", type=click.IntRange(min=1), help="Else the broker's default.")
@_settings_option("configs", "A setting; repeatable.")
@click.option("--assignment", metavar="1:2,2:3", help="Brokers of each partition, the leader first.")
@click.option("--if-not-exists", is_flag=True, help="It is fine if the topic exists already.")
@click.option("--dry-run", is_flag=True, help="Only let the broker check it.")
@pass_session
def create(
    session: Session,
    names: tuple[str, ...],
    partitions: int | None,
    replication_factor: int | None,
    configs: tuple[str, ...],
    assignment: str | None,
    if_not_exists: bool,
    dry_run: bool,
) -> None:
    """Create topics."""
    if assignment and (partitions or replication_factor):
        raise click.UsageError("--assignment tells partitions and replicas already")
    settings, brokers = parse_settings(configs), parse_assignment(assignment)
    results: dict[str, ApiError | None] = {}
    for name in names:
        try:
            create_topic(
                session.cluster,
                name,
                partitions=partitions or -1,
                replication_factor=replication_factor or -1,
                assignment=brokers,
                configs=settings,
                validate_only=dry_run,
            )
            results[name] = None
        except ApiError as error:
            if not if_not_exists or error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                results[name] = error
            elif session.json:
                results[name] = None
            else:
                print(f"topic {clean(name)} exists already")
    session.report("topic {} could be created" if dry_run else "topic {} is created", results)


@topics.command()
@click.argument("names", nargs=-1, required=True, metavar="TOPIC...")
@click.option("--if-exists", is_flag=True, help="It is fine if there is no such topic.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete(session: Session, names: tuple[str, ...], if_exists: bool, yes: bool) -> None:
    """Delete topics with all their records."""
    confirm(f"Delete {', '.join(names)} with all records?", yes)
    results = delete_topics(session.cluster, names)
    for name, error in results.items():
        if if_exists and error is not None and error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            results[name] = None
    session.report("topic {} is gone", results)


@topics.command()
@click.argument("name", metavar="TOPIC")
@click.option(
    "-p", "--partitions", type=click.IntRange(min=1), help="Raise the number of partitions to this."
)
@click.option("--assignment", metavar="1:2,2:3", help="Brokers of each new partition.")
@_settings_option("set_", "Change a setting; repeatable.")
@click.option("--delete", "delete_", multiple=True, metavar="NAME", help="Back to the default; repeatable.")
@click.option("--dry-run", is_flag=True, help="Only let the broker check it.")
@pass_session
def alter(
    session: Session,
    name: str,
    partitions: int | None,
    assignment: str | None,
    set_: tuple[str, ...],
    delete_: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Add partitions, change settings."""
    if partitions is None and not set_ and not delete_:
        raise click.UsageError("nothing to change: give --partitions, --config or --delete")
    settings = parse_settings(set_)
    if partitions is not None:
        create_partitions(
            session.cluster, name, partitions, assignment=parse_assignment(assignment), validate_only=dry_run
        )
    if settings or delete_:
        alter_configs(
            session.cluster, ResourceType.TOPIC, name, set_=settings, delete=delete_, validate_only=dry_run
        )
    outcome = "could be changed" if dry_run else "is changed"
    session.say(f"topic {name} {outcome}", {"name": name, "error": None})


@topics.command("delete-records")
@click.argument("partitions", nargs=-1, required=True, metavar="TOPIC[:PARTITION,...]...")
@click.option("--before", required=True, metavar="OFFSET|end", help="Delete the records below this offset.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete_records_(session: Session, partitions: tuple[str, ...], before: str, yes: bool) -> None:
    """Delete the oldest records of partitions."""
    if before != "end" and not before.isdigit():
        raise click.UsageError("--before takes an offset, or end for all records")
    wanted = parse_partitions(session.cluster, partitions)
    confirm(f"Delete the records before {before} of {', '.join(map(str, wanted))}?", yes)
    first = delete_records(session.cluster, dict.fromkeys(wanted, -1 if before == "end" else int(before)))
    data = [
        {"topic": tp.topic, "partition": tp.partition, "first_offset": offset}
        for tp, offset in sorted(first.items())
    ]
    rows: list[Sequence[object]] = [(tp.topic, tp.partition, offset) for tp, offset in sorted(first.items())]
    session.show(data, ("TOPIC", "PARTITION", "FIRST OFFSET"), rows)


topics.add_command(tail)
topics.add_command(produce_)
