"""Encryption of what lies in a log (protocol/sealed_batch.py).

Batches of clients are sealed when they are appended, and are copied to other brokers as they are. A log that
has, or may have, a sealed batch is marked by a file in its folder, durable before the first of them is
written: whoever reads such a log looks for them, whatever the settings are by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kbroker.protocol.sealed_batch import NO_KEYS, CannotOpen, Sealer, open_all
from kbroker.storage.file_names import ENCRYPTED

if TYPE_CHECKING:
    from kbroker.storage.log import Log
    from kbroker.storage.log_reader import LogSlice
    from kbroker.storage.open_files import OpenFiles


class OpenedSlice(NamedTuple):
    """In the place of a `FileSlice`: batches that were opened, in memory."""

    data: bytes

    @property
    def length(self) -> int:
        """Bytes."""
        return len(self.data)

    def read(self) -> bytes:
        """The bytes."""
        return self.data


class LogEncryption:
    """Seals what clients append to one log.

    Args:
        log: whose.
        key_id: the key.
    """

    __slots__ = ("_log", "_sealer", "key_id")

    def __init__(self, log: Log, key_id: str) -> None:
        self._log = log
        self._sealer: Sealer | None = None
        self.key_id = key_id

    def seal(self, records: memoryview, base_offset: int) -> memoryview:
        """The form in which a batch is stored.

        Raises:
            ApiError: KAFKA_STORAGE_ERROR, the key is not here, or the mark cannot be written.
        """
        log = self._log
        if self._sealer is None:
            found = log.directory.files.data_keys
            if found is None:
                raise CannotOpen(NO_KEYS)
            keys, new_salt = found
            self._sealer = Sealer(keys, self.key_id, new_salt)
        if not log.encrypted:
            mark(log)
        return memoryview(self._sealer.seal(records, base_offset))


def encryption_of(log: Log) -> LogEncryption | None:
    """What seals the batches of clients, as the log's settings say."""
    key_id = log.config.encryption_key
    return LogEncryption(log, key_id) if key_id else None


def mark(log: Log) -> None:
    """From now on the log may have sealed batches. Raises StorageError."""
    try:
        log.directory.disk.write_file(f"{log.path}/{ENCRYPTED}", b"")
    except OSError as error:
        raise log.directory.fail(error) from error
    log.encrypted = True


def opened(log: Log, found: LogSlice) -> OpenedSlice:
    """What a consumer gets of a stretch of a marked log.

    Raises:
        ApiError: see `open_all`.
        StorageError: it cannot be read.
    """
    try:
        data = b"".join(part.read() for part in found.parts)
    except OSError as error:
        raise log.directory.fail(error) from error
    return OpenedSlice(open_data(log.directory.files, data))


def open_data(files: OpenFiles, data: bytes) -> bytes:
    """Batches as clients know them. Raises ApiError, see `open_all`."""
    return open_all(None if files.data_keys is None else files.data_keys[0], data)
