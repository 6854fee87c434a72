"""Encrypted batches (protocol/sealed_batch.py) while a log is compacted."""

from __future__ import annotations

from collections.abc import Callable

from kbroker.protocol.record_batch import BatchHeader, CorruptBatch
from kbroker.protocol.sealed_batch import NO_KEYS, CannotOpen, Keys, Sealer, key_id_of, open_batch
from kbroker.storage.cleaner_records import CleanError


class Seals:
    """Opens and seals batches of one log.

    Args:
        keys: None: there are none.
        new_salt: random bytes, see `Sealer`.
    """

    def __init__(self, keys: Keys | None, new_salt: Callable[[], bytes]) -> None:
        self._keys = keys
        self._new_salt = new_salt
        self._sealers: dict[str, Sealer] = {}
        #: The id of the key for want of which it was given up.
        self.missing = ""

    def open(self, data: bytes, header: BatchHeader) -> bytes:
        """The plain batch.

        Raises:
            CannotOpen: the key is not here.
            CleanError: the bytes are not those that were sealed.
        """
        try:
            if self._keys is None:
                raise CannotOpen(NO_KEYS)
            return bytes(open_batch(self._keys, data, header))
        except CannotOpen:
            self.missing = key_id_of(data, header)
            raise
        except CorruptBatch as error:
            raise CleanError(str(error)) from None

    def seal(self, batch: bytes, data: bytes, header: BatchHeader, key_id: str) -> bytes:
        """`batch` sealed: what is left of the one at `header` in `data`.

        Args:
            key_id: the key; "": that of the batch.

        Raises:
            CannotOpen: the key is not here.
        """
        key_id = key_id or key_id_of(data, header)
        sealer = self._sealers.get(key_id)
        if sealer is None:
            try:
                if self._keys is None:
                    raise CannotOpen(NO_KEYS)
                sealer = self._sealers[key_id] = Sealer(self._keys, key_id, self._new_salt)
            except CannotOpen:
                self.missing = key_id
                raise
        return bytes(sealer.seal(batch, header.base_offset))
