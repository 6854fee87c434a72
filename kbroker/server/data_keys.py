"""The file of keys for encrypted batches (`kbroker.encryption.keys.file`)."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kbroker.config.values import to_text
from kbroker.errors import ConfigError
from kbroker.protocol.sealed_batch import SALT_BYTES, Aead, CannotOpen
from kbroker.security.data_keys import KEY_BYTES, BadKeys, KeyRing, aes_gcm, parse_keys

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.storage.log_manager import LogManager

SETTING = "kbroker.encryption.keys.file"

_log = logging.getLogger(__name__)


class FileKeys:
    """`Keys` of a file, which is read again, if it has changed, when a key is wanted that it did not have.

    Args:
        path: of the file.

    Raises:
        ConfigError: it cannot be read, or understood.
    """

    __slots__ = ("_path", "_ring", "_seen")

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        try:
            self._seen = self._state()
            self._ring = KeyRing(parse_keys(self._path.read_text()))
            if self._path.stat().st_mode & 0o077:
                _log.warning("%s: others may read the data keys", path)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{SETTING}: {path}: {error}") from None

    def check(self, key_id: bytes) -> bytes:
        """See `Keys.check`."""
        try:
            return self._ring.check(key_id)
        except CannotOpen:
            self._look_again()
            return self._ring.check(key_id)

    def derived(self, key_id: bytes, salt: bytes) -> Aead:
        """See `Keys.derived`."""
        try:
            return self._ring.derived(key_id, salt)
        except CannotOpen:
            self._look_again()
            return self._ring.derived(key_id, salt)

    def _state(self) -> tuple[int, int, int]:
        found = self._path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _look_again(self) -> None:
        try:
            seen = self._state()
            if seen == self._seen:
                return
            self._seen = seen
            for key_id, key in parse_keys(self._path.read_text()).items():
                self._ring.add(key_id, key)
        except (OSError, UnicodeDecodeError, BadKeys) as error:
            _log.error("%s: %s; the keys read before hold", self._path, error)


def open_data_keys(config: BrokerConfig, logs: LogManager) -> None:
    """Give logs the keys that the settings name.

    Raises:
        ConfigError: the file cannot be used.
    """
    path = to_text(config.get(SETTING))
    if not path:
        return
    try:
        aes_gcm(bytes(KEY_BYTES))  # imported now: the files of a running broker may be replaced
    except ImportError:
        raise ConfigError(
            f"{SETTING} needs the package cryptography: pip install kbroker[security]"
        ) from None
    keys = FileKeys(path)
    for each in logs.dirs:
        each.files.data_keys = (keys, lambda: os.urandom(SALT_BYTES))
