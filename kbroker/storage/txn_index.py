"""The transaction index of a segment (.txnindex): the aborted transactions whose marker lies in it."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

_ENTRY = Struct(">hqqqq")
ENTRY_SIZE = _ENTRY.size
_VERSION = 0


class AbortedTxn(NamedTuple):
    """`last_offset` is the abort marker; `last_stable_offset` the stable offset once it was replicated."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def encode(txn: AbortedTxn) -> bytes:
    """The entry's 34 bytes."""
    return _ENTRY.pack(_VERSION, *txn)


def decode_all(data: bytes, base_offset: int) -> list[AbortedTxn]:
    """All entries of a file, in the order of their markers.

    Raises:
        ValueError: not a transaction index of a segment that begins at `base_offset`.
    """
    if len(data) % ENTRY_SIZE:
        raise ValueError(f"{len(data)} is no multiple of {ENTRY_SIZE} bytes")
    found: list[AbortedTxn] = []
    previous = base_offset - 1
    for version, *fields in _ENTRY.iter_unpack(data):
        txn = AbortedTxn(*fields)
        if (
            version != _VERSION
            or txn.last_offset <= previous
            or txn.first_offset >= txn.last_offset
            or not 0 <= txn.last_stable_offset <= txn.last_offset + 1
        ):
            raise ValueError(f"entry {len(found)} is damaged")
        previous = txn.last_offset
        found.append(txn)
    return found


def collect(
    entries: Iterable[AbortedTxn], fetch_offset: int, upper_bound: int
) -> tuple[list[AbortedTxn], bool]:
    """(those that overlap [fetch_offset, upper_bound), whether later segments need not be looked at)."""
    found: list[AbortedTxn] = []
    for txn in entries:
        if txn.last_offset >= fetch_offset and txn.first_offset < upper_bound:
            found.append(txn)
        if txn.last_stable_offset >= upper_bound:
            return found, True
    return found, False
