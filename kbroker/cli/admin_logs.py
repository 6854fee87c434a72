"""`kbroker-admin logs`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kbroker.cli.admin_base import AdminGroup, Session, pass_session
from kbroker.cli.output import clean, print_json, size_text
from kbroker.client.describe import LogDir, describe_log_dirs
from kbroker.client.offsets import partitions_of


@click.group(cls=AdminGroup)
def logs() -> None:
    """Look at log folders of brokers, and into log files."""


@logs.command()
@click.option("--broker", "brokers", type=int, multiple=True, metavar="ID", help="Only these; repeatable.")
@click.option("--topic", "topics", multiple=True, metavar="TOPIC", help="Only these; repeatable.")
@pass_session
def dirs(session: Session, brokers: tuple[int, ...], topics: tuple[str, ...]) -> None:
    """Show how large the logs are, by broker and folder."""
    partitions = partitions_of(session.cluster, topics) if topics else None
    found = describe_log_dirs(session.cluster, brokers or None, partitions)
    if session.json:
        session.say("", found)
        return
    for folder in found:
        _show_folder(session, folder)


def _show_folder(session: Session, folder: LogDir) -> None:
    used = sum(replica.size for replica in folder.replicas)
    title = f"broker {folder.broker}  {folder.path}  {size_text(used)}"
    if folder.usable_bytes >= 0:
        title += f", {size_text(folder.usable_bytes)} free of {size_text(folder.total_bytes)}"
    if folder.error:
        session.fail(f"broker {folder.broker}, {folder.path}: {folder.error}")
    rows: list[Sequence[object]] = [
        (
            replica.topic,
            replica.partition,
            replica.size,
            size_text(replica.size),
            replica.lag,
            "moving here" if replica.future else None,
        )
        for replica in folder.replicas
    ]
    session.show(None, ("TOPIC", "PARTITION", "BYTES", "SIZE", "LAG", "NOTE"), rows, title)


@logs.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--records", is_flag=True, help="Also the records in each batch.")
@click.option("--as-topic", metavar="TOPIC", help="Decode as of this topic; else as the folder's name says.")
@click.option(
    "--keys",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The keys of encrypted batches (kbroker.encryption.keys.file).",
)
@pass_session
def dump(
    session: Session, files: tuple[Path, ...], records: bool, as_topic: str | None, keys: Path | None
) -> None:
    """Show what is in files of a log folder, without a broker; a folder stands for the files in it.

    Reads segments, metadata snapshots, indexes, producer snapshots, checkpoints and the small files beside
    them. With --json one object a line.
    """
    from kbroker.cli.log_dump import DamagedFile, dump, read_keys

    ring = None if keys is None else read_keys(keys)
    for path in files:
        inside = sorted(item for item in path.iterdir() if item.is_file()) if path.is_dir() else [path]
        for file in inside:
            if not session.json and (len(inside) > 1 or len(files) > 1):
                print(f"{file}:")
            try:
                for entry in dump(file, records=records, topic=as_topic, keys=ring):
                    if session.json:
                        print_json({"file": str(file), **entry.data}, line=True)
                    else:
                        print(entry.text)
            except DamagedFile as error:
                session.fail(str(error))
            except OSError as error:
                session.fail(f"{file}: {error.strerror}")


@logs.command()
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path(path_type=Path))
@click.option("--notes/--no-notes", default=True, help="Also what is only worth knowing.")
@pass_session
def verify(session: Session, folders: tuple[Path, ...], notes: bool) -> None:
    """Check log folders, or single partitions' folders in them, without a broker.

    Every batch is read; checksums, offsets, indexes, producer snapshots, leader epochs and checkpoints must
    agree. Nothing is changed. Exit code 1 if there is damage, or a file that contradicts the records.
    """
    from kbroker.cli.log_verify import NoLogDirectory, as_data, check_for, is_bad, line_of, summary, verify
    from kbroker.storage.verify_facts import Level

    for folder in folders:
        try:
            facts = verify(check_for(folder))
        except NoLogDirectory as error:
            session.fail(str(error))
            continue
        if session.json:
            print_json(as_data(facts), line=True)
        else:
            for finding in facts.all_findings():
                if notes or finding.level is not Level.NOTE:
                    print(clean(line_of(finding)))
            print(summary(facts))
        if is_bad(facts):
            session.exit_code = 1


@logs.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--apply/--dry-run", default=False, help="Do it; else only show the plan.  [default: --dry-run]"
)
@pass_session
def repair(session: Session, folder: Path, apply: bool) -> None:
    """Mend a log folder, or a single partition's in it, while no broker runs on it.

    Damaged bytes are taken out of segments (batches behind them stay), indexes are built anew, unreadable
    small files moved aside. Nothing is deleted: what is replaced stays as .bak.
    """
    from kbroker.cli.log_verify import NoLogDirectory, repair

    try:
        steps = repair(folder, apply)
    except NoLogDirectory as error:
        session.fail(str(error))
        return
    if session.json:
        print_json([{"path": s.path, "text": s.text, "possible": s.do is not None} for s in steps])
    else:
        for step in steps:
            print(clean(f"{'' if step.do is not None else 'NOT: '}{step.path}: {step.text}"))
        done = sum(step.do is not None for step in steps)
        if not steps:
            print("nothing to repair")
        elif apply:
            print(f"{done} steps done")
        else:
            print(f"{done} steps to do; with --apply they are done")
    if any(step.do is None for step in steps) or (steps and not apply):
        session.exit_code = 1


@logs.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option("-n", "--last", type=click.IntRange(min=0), default=10, help="So many records.  [default: 10]")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is appended, until Ctrl-C.")
@click.option("--as-topic", metavar="TOPIC", help="Decode as of this topic; else as the folder's name says.")
@pass_session
def tail(session: Session, folder: Path, last: int, follow: bool, as_topic: str | None) -> None:
    """Show the newest records in a partition's folder, from its files; a broker may be running on it.

    What is there need not be committed yet, and may belong to a transaction that is aborted.
    """
    from kbroker.cli.log_tail import tail

    try:
        for entry in tail(folder, last, follow=follow, topic=as_topic):
            if session.json:
                print_json(entry.data, line=True)
            else:
                print(entry.text.strip(), flush=follow)
    except KeyboardInterrupt:
        if not follow:
            raise
