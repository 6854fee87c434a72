"""Keys that a command fetches, one by one: from a key management service, a secret store, a card
(`kbroker.encryption.keys.command`).

A key is asked for once and kept in memory. Nobody waits for the command but the start, for the keys that the
settings name: what needs a key that is not here yet gets KAFKA_STORAGE_ERROR, which clients try again, while
the command runs in a thread.
"""

from __future__ import annotations

import logging
import re
import shlex
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from kbroker.errors import ConfigError
from kbroker.protocol.sealed_batch import Aead, CannotOpen
from kbroker.security.data_keys import BadKeys, KeyRing, parse_key

if TYPE_CHECKING:
    from kbroker.protocol.sealed_batch import Keys

T = TypeVar("T")

SETTING = "kbroker.encryption.keys.command"
#: After a failure a key is not asked for again so long.
REST_S = 5.0
#: Commands that run at the same time, and ids that have failed and are remembered.
_AT_ONCE_MAX, _FAILED_MAX = 8, 1000
_OUTPUT_BYTES_MAX = 4096
#: What may stand in a command line: an id comes from settings or from a batch on disk.
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/+=@-]*", re.ASCII)

_log = logging.getLogger(__name__)


class CommandKeys:
    """`Keys` of a command that gets the id as its last argument and prints the key, as a file has it.

    Args:
        command: a program and its arguments, as a shell would split them; no shell runs it.
        timeout_s: how long it may take.
        others: asked for keys that the command does not know.
        now_s: a clock.

    Raises:
        ConfigError: it is no command.
    """

    def __init__(
        self,
        command: str,
        timeout_s: float,
        others: Keys | None = None,
        now_s: Callable[[], float] = monotonic,
    ) -> None:
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise ConfigError(f"{SETTING}: {error}") from None
        self._timeout_s, self._others, self._now_s = timeout_s, others, now_s
        self._ring = KeyRing({})
        self._threads: dict[str, threading.Thread] = {}
        #: What threads have found: id, the key or why there is none.
        self._found: deque[tuple[str, bytes | str]] = deque()
        self._rests_until_s: dict[str, float] = {}

    def check(self, key_id: bytes) -> bytes:
        """See `Keys.check`."""
        return self._ask(key_id, lambda keys: keys.check(key_id))

    def derived(self, key_id: bytes, salt: bytes) -> Aead:
        """See `Keys.derived`."""
        return self._ask(key_id, lambda keys: keys.derived(key_id, salt))

    def known(self) -> dict[str, bytes]:
        """See `Keys.known`."""
        self._take()
        return ({} if self._others is None else self._others.known()) | self._ring.known()

    def fetch(self, key_ids: Iterable[str]) -> None:
        """Get these now, and wait for the command. What it does not give is logged."""
        threads = [self._want(key_id) for key_id in dict.fromkeys(key_ids)]
        for thread in threads:
            if thread is not None:
                thread.join(self._timeout_s + 1)
        self._take()

    def expect(self, key_ids: Iterable[str]) -> None:
        """These will be wanted: begin to get them."""
        for key_id in key_ids:
            self._want(key_id)

    def _ask(self, key_id: bytes, ask: Callable[[Keys], T]) -> T:
        self._take()
        try:
            return ask(self._ring)
        except CannotOpen:
            if self._others is not None:
                try:
                    return ask(self._others)
                except CannotOpen:
                    pass
            self._want(key_id.decode("utf-8", "replace"))
            raise

    def _take(self) -> None:
        """Note what threads have found; where keys are used."""
        while self._found:
            key_id, found = self._found.popleft()
            self._threads.pop(key_id, None)
            try:
                if isinstance(found, str):
                    raise BadKeys(found)
                self._ring.add(key_id, found)
            except BadKeys as error:
                _log.error("%s: no key %s: %s", SETTING, key_id, error)
                if len(self._rests_until_s) >= _FAILED_MAX:
                    del self._rests_until_s[next(iter(self._rests_until_s))]
                self._rests_until_s[key_id] = self._now_s() + REST_S

    def _want(self, key_id: str) -> threading.Thread | None:
        self._take()
        if key_id in self._ring.ids or not _ID.fullmatch(key_id):
            return None
        thread = self._threads.get(key_id)
        if thread is None:
            rests = self._now_s() < self._rests_until_s.get(key_id, 0.0)
            if rests or len(self._threads) >= _AT_ONCE_MAX:
                return None
            self._rests_until_s.pop(key_id, None)
            thread = self._threads[key_id] = threading.Thread(
                target=lambda: self._found.append((key_id, self._run(key_id))),
                name="kbroker-key",
                daemon=True,
            )
            thread.start()
        return thread

    def _run(self, key_id: str) -> bytes | str:
        """In a thread: the key, or why there is none. What the command complains of is on our stderr."""
        try:
            done = subprocess.run(
                [*self._command, key_id],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                timeout=self._timeout_s,
                check=False,
            )
            if done.returncode:
                return f"the command ended with exit code {done.returncode}"
            if len(done.stdout) > _OUTPUT_BYTES_MAX:
                return "the command prints too much"
            return parse_key(done.stdout.decode("ascii"))
        except subprocess.TimeoutExpired:
            return f"the command took longer than {self._timeout_s:g} s"
        except UnicodeDecodeError:
            return "the command does not print a key"
        except (OSError, BadKeys) as error:
            return str(error)
