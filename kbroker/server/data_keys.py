"""The keys for encrypted batches: of a file (`kbroker.encryption.keys.file`), of a command, of both."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kbroker.broker.topic_settings import ENCRYPTED_TOPICS, NOT_ENCRYPTED
from kbroker.config.values import to_text
from kbroker.errors import ConfigError
from kbroker.protocol.sealed_batch import SALT_BYTES, Aead, CannotOpen
from kbroker.security.data_keys import KEY_BYTES, BadKeys, KeyRing, aes_gcm, parse_keys

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.protocol.sealed_batch import Keys
    from kbroker.storage.log_manager import LogManager

SETTING = "kbroker.encryption.keys.file"
KEYS_COMMAND = "kbroker.encryption.keys.command"

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

    def known(self) -> dict[str, bytes]:
        """See `Keys.known`."""
        self._look_again()
        return self._ring.known()

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
        ConfigError: the file or the command cannot be used.
    """
    path, command = to_text(config.get(SETTING)), to_text(config.get(KEYS_COMMAND))
    if not path and not command:
        _tell_missing(config, None)
        return
    try:
        aes_gcm(bytes(KEY_BYTES))  # imported now: the files of a running broker may be replaced
    except ImportError:
        name = SETTING if path else KEYS_COMMAND
        raise ConfigError(f"{name} needs the package cryptography: pip install kbroker[security]") from None
    keys: Keys | None = FileKeys(path) if path else None
    if command:
        keys = _command_keys(config, command, keys)
    else:
        _tell_missing(config, keys)
    assert keys is not None
    for each in logs.dirs:
        each.files.data_keys = (keys, lambda: os.urandom(SALT_BYTES))


def _command_keys(config: BrokerConfig, command: str, others: Keys | None) -> Keys:
    """Keys of the command; those that the settings name are here when it returns, or it has failed."""
    from kbroker.server.key_command import CommandKeys

    timeout_s = config.get_int("kbroker.encryption.keys.command.timeout.ms") / 1000
    keys = CommandKeys(command, timeout_s, others)

    def named() -> list[str]:
        return [each for each in _named(config) if others is None or not _has(others, each)]

    keys.fetch(named())
    config.subscribe(lambda _: keys.expect(named()), [ENCRYPTED_TOPICS])
    return keys


def _tell_missing(config: BrokerConfig, keys: Keys | None) -> None:
    """Say which keys the settings name and nobody has: now, and when they change."""

    def tell() -> None:
        for key_id in _named(config):
            if keys is None:
                _log.error(
                    "%s names the key %s, but neither %s nor %s is set: its topics take no records",
                    *(ENCRYPTED_TOPICS, key_id, SETTING, KEYS_COMMAND),
                )
            elif not _has(keys, key_id):
                _log.error(
                    "%s names the key %s, which is not in %s: its topics take no records until it is",
                    *(ENCRYPTED_TOPICS, key_id, SETTING),
                )

    tell()
    config.subscribe(lambda _: tell(), [ENCRYPTED_TOPICS])


def _named(config: BrokerConfig) -> list[str]:
    ids = (item.partition("=")[2].strip() for item in config.get_list(ENCRYPTED_TOPICS))
    return [each for each in dict.fromkeys(ids) if each != NOT_ENCRYPTED]


def _has(keys: Keys, key_id: str) -> bool:
    try:
        keys.check(key_id.encode())
    except CannotOpen:
        return False
    return True
