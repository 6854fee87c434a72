"""The batches of a raft log and of its snapshots, in Kafka's format; what is inside the values is not ours.

A log is batches of values (key null) and control batches; a snapshot is the same between a header and a
footer, with offsets from 0 on and every batch in the snapshot's epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kbroker.errors import ApiError
from kbroker.protocol.control_records import (
    ControlType,
    build_control_batch,
    control_record,
    decode_control_message,
)
from kbroker.protocol.generated.kraft_version_record import KRaftVersionRecord
from kbroker.protocol.generated.leader_change_message import LeaderChangeMessage, Voter
from kbroker.protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kbroker.protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kbroker.protocol.generated.voters_record import VotersRecord
from kbroker.protocol.record_batch import (
    Record,
    build_batch,
    check_crc,
    decode_records,
    iter_batches,
)
from kbroker.raft.voter_set import VoterSet, voter_set, voters_record
from kbroker.types import OffsetAndEpoch

#: A snapshot's batches are cut near this size, so that a reader needs little memory at a time.
SNAPSHOT_BATCH_BYTES = 256 << 10


class RaftLogCorruption(Exception):
    """A log or snapshot that is not what a raft node wrote."""


class QuorumRules(NamedTuple):
    """What control records say of the quorum itself: `kraft.version`, and the voters if it is 1 or more."""

    kraft_version: int = 0
    voters: VoterSet | None = None


class LogItem(NamedTuple):
    """One batch: its record values, or for a control batch what it says of the quorum (None: nothing)."""

    last_offset: int
    epoch: int
    timestamp_ms: int
    size: int
    values: Sequence[bytes | None]
    is_control: bool = False
    rules: QuorumRules | None = None
    #: A snapshot's header and footer: the log time it contains, and that it is complete.
    snapshot_timestamp_ms: int | None = None
    is_snapshot_end: bool = False


def values_batch(values: Sequence[bytes], *, base_offset: int, epoch: int, now_ms: int) -> bytes:
    """A batch of record values."""
    records = [Record(timestamp=now_ms, value=value) for value in values]
    return build_batch(records, base_offset=base_offset, leader_epoch=epoch)


def leader_change_batch(
    leader_id: int,
    voter_ids: Sequence[int],
    granting_ids: Sequence[int],
    rules: QuorumRules | None,
    *,
    base_offset: int,
    epoch: int,
    now_ms: int,
) -> bytes:
    """The control batch that opens an epoch; `rules` are written where the log does not have them yet."""
    message = LeaderChangeMessage(
        version=0,
        leader_id=leader_id,
        voters=[Voter(voter_id=voter) for voter in voter_ids],
        granting_voters=[Voter(voter_id=voter) for voter in granting_ids],
    )
    records = [control_record(ControlType.LEADER_CHANGE, message, timestamp=now_ms)]
    if rules is not None:
        records += _rules_records(rules, now_ms)
    return build_control_batch(records, base_offset=base_offset, leader_epoch=epoch)


def rules_batch(
    rules: QuorumRules, *, with_version: bool, base_offset: int, epoch: int, now_ms: int
) -> bytes:
    """The control batch that changes the quorum: its voters, and kraft.version if that changes, too."""
    records = _rules_records(rules, now_ms, with_version)
    return build_control_batch(records, base_offset=base_offset, leader_epoch=epoch)


def _rules_records(rules: QuorumRules, now_ms: int, with_version: bool = True) -> list[Record]:
    """Without voters the quorum is known to be dynamic, but not yet who is in it."""
    records: list[Record] = []
    if rules.kraft_version == 0:
        return records
    if with_version:
        version = KRaftVersionRecord(version=0, kraft_version=rules.kraft_version)
        records.append(control_record(ControlType.KRAFT_VERSION, version, timestamp=now_ms))
    if rules.voters is not None:
        voters = voters_record(rules.voters)
        records.append(control_record(ControlType.KRAFT_VOTERS, voters, timestamp=now_ms))
    return records


def snapshot_batches(
    values: Iterable[bytes], rules: QuorumRules, *, epoch: int, last_log_timestamp_ms: int, now_ms: int
) -> Iterator[bytes]:
    """A whole snapshot, batch by batch."""
    header = SnapshotHeaderRecord(version=0, last_contained_log_timestamp=last_log_timestamp_ms)
    first = [
        control_record(ControlType.SNAPSHOT_HEADER, header, timestamp=now_ms),
        *_rules_records(rules, now_ms),
    ]
    offset = 0
    yield build_control_batch(first, base_offset=offset, leader_epoch=epoch)
    offset += len(first)
    for chunk in _chunks(values):
        yield values_batch(chunk, base_offset=offset, epoch=epoch, now_ms=now_ms)
        offset += len(chunk)
    footer = control_record(ControlType.SNAPSHOT_FOOTER, SnapshotFooterRecord(version=0), timestamp=now_ms)
    yield build_control_batch([footer], base_offset=offset, leader_epoch=epoch)


def _chunks(values: Iterable[bytes]) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    size = 0
    for value in values:
        chunk.append(value)
        size += len(value)
        if size >= SNAPSHOT_BATCH_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def read_items(data: bytes) -> Iterator[LogItem]:
    """The batches in a piece of a log, or in a snapshot file.

    Raises:
        RaftLogCorruption: a batch is damaged or cut short.
    """
    end = 0
    try:
        for header in iter_batches(data):
            if not check_crc(data, header):
                raise RaftLogCorruption(f"wrong checksum in the batch at offset {header.base_offset}")
            records = decode_records(data, header)
            end = header.position + header.size
            item = LogItem(header.last_offset, header.leader_epoch, header.max_timestamp, header.size, ())
            if header.is_control:
                yield _control_item(item, records)
            else:
                yield item._replace(values=[record.value for record in records])
    except ApiError as error:
        raise RaftLogCorruption(f"damaged batch after byte {end}: {error.text}") from None
    if end != len(data):
        raise RaftLogCorruption(f"{len(data) - end} bytes after the last whole batch")


def _control_item(item: LogItem, records: Sequence[Record]) -> LogItem:
    level, voters, timestamp, is_end = None, None, None, False
    for record in records:
        message = decode_control_message(record)[1]
        if isinstance(message, KRaftVersionRecord):
            level = message.kraft_version
        elif isinstance(message, VotersRecord):
            voters = voter_set(message)
        elif isinstance(message, SnapshotHeaderRecord):
            timestamp = message.last_contained_log_timestamp
        elif isinstance(message, SnapshotFooterRecord):
            is_end = True
    rules = None
    if level is not None or voters is not None:
        rules = QuorumRules(1 if level is None else level, voters)
    return item._replace(
        is_control=True, rules=rules, snapshot_timestamp_ms=timestamp, is_snapshot_end=is_end
    )


def check_snapshot(items: Sequence[LogItem], snapshot_id: OffsetAndEpoch) -> None:
    """A snapshot must be whole: header first, footer last.

    Raises:
        RaftLogCorruption: it is not.
    """
    if not items or items[0].snapshot_timestamp_ms is None or not items[-1].is_snapshot_end:
        raise RaftLogCorruption(
            f"the snapshot at offset {snapshot_id.offset} of epoch {snapshot_id.epoch} is cut short"
        )
