"""`kbroker-admin logs verify`: the findings of `storage/verify_dir.py`, with a progress bar for a person."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from kbroker.cli.output import size_text
from kbroker.server.os_disk import OsDisk
from kbroker.storage.file_names import LOCK, parse_partition_dir
from kbroker.storage.repair import Repair, Step
from kbroker.storage.verify_dir import DirectoryCheck, DirectoryFacts
from kbroker.storage.verify_facts import Finding, Level


class NoLogDirectory(Exception):
    """The path is neither a log directory nor a partition's; the text says so."""


def check_for(path: Path) -> DirectoryCheck:
    """The check of a log directory, or of one partition's directory in it.

    Raises:
        NoLogDirectory, OSError.
    """
    path = path.absolute()
    if not path.is_dir():
        raise NoLogDirectory(f"{path} is no directory; give a log directory, or one partition's in it")
    root, only = (path.parent, [path.name]) if parse_partition_dir(path.name) else (path, [])
    if not only and not any(entry.is_dir() and parse_partition_dir(entry.name) for entry in path.iterdir()):
        raise NoLogDirectory(f"{path} is no log directory: there is no partition in it")
    disk = OsDisk()
    return DirectoryCheck(disk, str(root), running=is_running(root), only=only)


def is_running(path: Path) -> bool:
    """Whether a broker has the directory now. Leaves no trace."""
    file = path / LOCK
    if not file.exists():
        return False
    try:
        lock = OsDisk().lock(str(file))
    except OSError:
        return False
    if lock is not None:
        lock.release()
    return lock is None


def verify(check: DirectoryCheck) -> DirectoryFacts:
    """Run it; on a terminal with a bar on stderr."""
    with _progress(check.log_bytes()) as progress:
        return check.run(progress)


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        waiting = 0

        def advance(count: int) -> None:
            nonlocal waiting
            waiting += count
            if waiting >= 1 << 20:
                bar.advance(task, waiting)
                waiting = 0

        yield advance


def as_data(facts: DirectoryFacts) -> dict[str, object]:
    """The result for a program."""
    return {
        "path": facts.path,
        "clean_stop": facts.clean,
        "broker_running": facts.running,
        "partitions": len(facts.partitions),
        "segments": sum(len(each.segments) for each in facts.partitions.values()),
        "bytes": sum(segment.size for each in facts.partitions.values() for segment in each.segments),
        "findings": [_finding(each) for each in facts.all_findings()],
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "level": finding.level.value,
        "path": finding.path,
        "position": finding.position if finding.position >= 0 else None,
        "text": finding.text,
    }


def line_of(finding: Finding) -> str:
    """The result for a person."""
    where = f" at byte {finding.position}" if finding.position >= 0 else ""
    return f"{finding.level.value:<7} {finding.path}{where}: {finding.text}"


def summary(facts: DirectoryFacts) -> str:
    """The last line for a person."""
    data = as_data(facts)
    size = sum(segment.size for each in facts.partitions.values() for segment in each.segments)
    bad = sum(finding.level is not Level.NOTE for finding in facts.all_findings())
    found = f"{bad} problems" if bad != 1 else "1 problem"
    state = (
        "a broker is running on it"
        if facts.running
        else "stopped cleanly"
        if facts.clean
        else "not stopped cleanly"
    )
    return (
        f"{facts.path}: {data['partitions']} partitions, {data['segments']} segments, {size_text(size)}, "
        f"{state}: {found if bad else 'all good'}"
    )


def is_bad(facts: DirectoryFacts) -> bool:
    """Whether something has to be done; notes need nothing."""
    return any(finding.level is not Level.NOTE for finding in facts.all_findings())


def repair(path: Path, apply: bool) -> list[Step]:
    """The plan for a log directory, or one partition's; with `apply` it is carried out.

    Raises:
        NoLogDirectory: it is none, or a broker runs on it.
        OSError.
    """
    check = check_for(path)
    disk, root = OsDisk(), check.facts.path
    # As long as a plan is made and carried out, no broker may start there.
    lock = None if check.facts.running else disk.lock(f"{root}/{LOCK}")
    if lock is None:
        raise NoLogDirectory(f"a broker is running on {root}: stop it first")
    try:
        steps = Repair(disk, verify(check)).plan()
        for step in steps:
            if apply and step.do is not None:
                step.do()
        return steps
    finally:
        lock.release()
