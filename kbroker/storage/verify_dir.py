"""Checking a whole log directory: its own files, and every partition in it (see `verify`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kbroker.errors import ConfigError
from kbroker.storage.checkpoints import parse_offsets
from kbroker.storage.disk import Disk
from kbroker.storage.file_names import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSETS,
    DELETE_DIR,
    FUTURE_DIR,
    HIGH_WATERMARKS,
    LOCK,
    LOG,
    LOG_STARTS,
    META_PROPERTIES,
    NO_PRODUCERS,
    RECOVERY_POINTS,
    RUNNING,
    parse_marked_dir,
    parse_partition_dir,
)
from kbroker.storage.meta_properties import read_meta_properties
from kbroker.storage.verify import PartitionCheck
from kbroker.storage.verify_facts import Expectations, Finding, Level, PartitionFacts
from kbroker.types import TopicPartition

METADATA_TOPIC = "__cluster_metadata"
OLD_BOOTSTRAP = "bootstrap.checkpoint"
CHECKPOINTS = (RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS, CLEANER_OFFSETS, NO_PRODUCERS)
_KNOWN_FILES = (*CHECKPOINTS, META_PROPERTIES, CLEAN_SHUTDOWN, RUNNING, LOCK, OLD_BOOTSTRAP)


@dataclass
class DirectoryFacts:
    """What was found in a log directory."""

    path: str
    clean: bool = False
    running: bool = False
    bytes: int = 0
    findings: list[Finding] = field(default_factory=list)
    partitions: dict[TopicPartition, PartitionFacts] = field(default_factory=dict)
    checkpoints: dict[str, dict[TopicPartition, int] | None] = field(default_factory=dict)

    def all_findings(self) -> list[Finding]:
        """The directory's own, and its partitions'."""
        return self.findings + [each for facts in self.partitions.values() for each in facts.findings]


class DirectoryCheck:
    """Checks a log directory. Every call may raise OSError.

    Args:
        path: the directory; it holds partitions.
        running: a broker has it: what it writes just now is not judged.
        only: names of partition directories; none: all.
    """

    def __init__(self, disk: Disk, path: str, *, running: bool = False, only: Sequence[str] = ()) -> None:
        self._disk = disk
        self._only = only
        self.facts = DirectoryFacts(path, running=running)
        self._names = {entry.name: entry for entry in disk.list_dir(path)}
        self.facts.clean = CLEAN_SHUTDOWN in self._names and not running

    def log_bytes(self) -> int:
        """How many bytes of segments there are to read."""
        return sum(
            entry.size
            for name in self._partition_names()
            for entry in self._disk.list_dir(f"{self.facts.path}/{name}")
            if entry.name.endswith(LOG)
        )

    def run(self, progress: Callable[[int], None] = lambda _: None) -> DirectoryFacts:
        """Check everything; `progress` is told how many bytes were read since its last call."""
        facts = self.facts
        if not self._only:
            self._check_names()
            self._check_meta()
        for name in CHECKPOINTS:
            if name != NO_PRODUCERS or facts.clean:
                facts.checkpoints[name] = self._read_checkpoint(name)
        for name in self._partition_names():
            tp = parse_partition_dir(name)
            if tp is not None:
                check = PartitionCheck(self._disk, f"{facts.path}/{name}", self._expectations(tp), progress)
                facts.partitions[tp] = check.run()
        self._compare_checkpoints()
        if OLD_BOOTSTRAP in self._names and not any(tp.topic == METADATA_TOPIC for tp in facts.partitions):
            self._found(Level.NOTE, OLD_BOOTSTRAP, "formatted by Kafka 3, and not started yet")
        return facts

    def _found(self, level: Level, name: str, text: str) -> None:
        self.facts.findings.append(Finding(level, f"{self.facts.path}/{name}", text))

    def _partition_names(self) -> list[str]:
        return [
            name
            for name, entry in self._names.items()
            if entry.is_dir
            and parse_partition_dir(name) is not None
            and (not self._only or name in self._only)
        ]

    def _expectations(self, tp: TopicPartition) -> Expectations:
        points = self.facts.checkpoints
        return Expectations(
            clean=self.facts.clean and tp.topic != METADATA_TOPIC,
            recovery_point=(points[RECOVERY_POINTS] or {}).get(tp, 0),
            compacted=tp in (points[CLEANER_OFFSETS] or {}),
            metadata=tp.topic == METADATA_TOPIC,
        )

    def _check_names(self) -> None:
        for name, entry in self._names.items():
            marked = parse_marked_dir(name)
            if not entry.is_dir:
                if name not in _KNOWN_FILES:
                    self._found(Level.NOTE, name, "a file that is none of Kafka's; it is left alone")
            elif marked is not None:
                what = {
                    DELETE_DIR: "a deleted partition; the next start removes it",
                    FUTURE_DIR: "an unfinished move of a replica; it is left alone",
                }.get(marked[1], "a replica that belongs to no topic; it is kept until somebody removes it")
                self._found(Level.NOTE, name, what)
            elif parse_partition_dir(name) is None:
                self._found(Level.NOTE, name, "a directory that is no partition; it is left alone")

    def _check_meta(self) -> None:
        try:
            meta = read_meta_properties(self._disk, self.facts.path)
        except ConfigError as error:
            self._found(Level.DAMAGE, META_PROPERTIES, str(error))
            return
        if meta is None:
            self._found(
                Level.NOTE, META_PROPERTIES, "is missing: no broker has been told to use this directory"
            )
        if CLEAN_SHUTDOWN in self._names:
            text = self._disk.read_file(f"{self.facts.path}/{CLEAN_SHUTDOWN}").decode("utf-8", "replace")
            try:
                if text:
                    json.loads(text)
            except ValueError as error:
                self._found(Level.WRONG, CLEAN_SHUTDOWN, f"cannot be read: {error}")

    def _read_checkpoint(self, name: str) -> dict[TopicPartition, int] | None:
        if name not in self._names:
            return {}
        try:
            return parse_offsets(self._disk.read_file(f"{self.facts.path}/{name}").decode("utf-8", "replace"))
        except ValueError as error:
            self._found(Level.WRONG, name, f"cannot be read, and counts as empty: {error}")
            return None

    def _compare_checkpoints(self) -> None:
        for name, offsets in self.facts.checkpoints.items():
            for tp, offset in (offsets or {}).items():
                facts = self.facts.partitions.get(tp)
                if facts is None:
                    if not self._only:
                        self._found(Level.NOTE, name, f"names {tp}, which is not here")
                elif offset > facts.end and not self.facts.running:
                    level = Level.WRONG if self.facts.clean else Level.NOTE
                    self._found(level, name, f"says {offset} of {tp}, which ends at {facts.end}")
