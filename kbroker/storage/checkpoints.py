"""The small text files of a log directory: text to values and back; ValueError says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from kbroker.types import TopicPartition, Uuid, uuid_from_string, uuid_to_string

_VERSION = 0


def parse_offsets(text: str) -> dict[TopicPartition, int]:
    """A recovery-point, log-start, replication or cleaner checkpoint.

    Raises:
        ValueError: not of that form.
    """
    found: dict[TopicPartition, int] = {}
    for line in _body(text):
        fields = line.split(" ")
        if len(fields) != 3:
            raise ValueError(f"malformed line {line!r}: expected topic, partition, offset")
        found[TopicPartition(fields[0], int(fields[1]))] = int(fields[2])
    return found


def format_offsets(offsets: Mapping[TopicPartition, int]) -> str:
    """The inverse of `parse_offsets`."""
    return _format(f"{tp.topic} {tp.partition} {offset}" for tp, offset in offsets.items())


def parse_epochs(text: str) -> list[tuple[int, int]]:
    """(epoch, start offset) entries of a leader-epoch-checkpoint.

    Raises:
        ValueError: not of that form, or not ascending.
    """
    found: list[tuple[int, int]] = []
    for line in _body(text):
        epoch, start = map(int, line.split(" "))
        if epoch < 0 or start < 0 or (found and (epoch <= found[-1][0] or start <= found[-1][1])):
            raise ValueError(f"epochs and offsets must ascend, found {line!r}")
        found.append((epoch, start))
    return found


def format_epochs(entries: Iterable[tuple[int, int]]) -> str:
    """The inverse of `parse_epochs`."""
    return _format(f"{epoch} {start}" for epoch, start in entries)


def _body(text: str) -> list[str]:
    lines = text.splitlines()
    if not lines:
        return []  # Kafka before 4 leaves it so where there is nothing to tell
    if len(lines) < 2:
        raise ValueError("it lacks the version and count lines")
    if int(lines[0]) != _VERSION:
        raise ValueError(f"version {lines[0]} is not {_VERSION}")
    body = [line for line in lines[2:] if line]
    if int(lines[1]) != len(body):
        raise ValueError(f"it says {lines[1]} entries and has {len(body)}")
    return body


def _format(lines: Iterable[str]) -> str:
    body = list(lines)
    return "\n".join([str(_VERSION), str(len(body)), *body]) + "\n"


def parse_partition_metadata(text: str) -> Uuid:
    """The topic id in a partition.metadata file.

    Raises:
        ValueError: not of that form.
    """
    version, topic_id = None, None
    for line in text.splitlines():
        name, _, value = line.partition(": ")
        if name == "version":
            version = int(value)
        elif name == "topic_id":
            topic_id = uuid_from_string(value.strip())
    if version != _VERSION or topic_id is None:
        raise ValueError("it lacks version 0 or the topic_id")
    return topic_id


def format_partition_metadata(topic_id: Uuid) -> str:
    """The inverse of `parse_partition_metadata`; Kafka ends it without a newline."""
    return f"version: {_VERSION}\ntopic_id: {uuid_to_string(topic_id)}"


def parse_clean_shutdown(text: str) -> int:
    """The broker epoch in a .kafka_cleanshutdown; -1 if none is told (the file is empty before 3.8)."""
    try:
        document = json.loads(text)
        return int(document["brokerEpoch"])
    except (ValueError, KeyError, TypeError):
        return -1


def format_clean_shutdown(broker_epoch: int) -> str:
    """The inverse of `parse_clean_shutdown`."""
    return f'{{"version":0,"brokerEpoch":{broker_epoch}}}'
