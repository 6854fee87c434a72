"""Several places that know passwords, asked one after the other; right ones are remembered for a while.

The first that knows the user decides, whatever those behind it would say. One that cannot answer lets nobody
in: else whoever could keep it from answering would choose who decides.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol

from kbroker.security.sasl import LoginFailed

#: Users whose right passwords are remembered.
_KEPT_MAX = 10_000


class Verdict(Enum):
    """What a back end says."""

    RIGHT = 1
    WRONG = 2
    #: It does not know the user: the next one is asked.
    UNKNOWN = 3


class BackEndFailed(Exception):
    """It cannot answer now; why, without what was asked."""


class BackEnd(Protocol):
    """Knows passwords. Called in threads, of several logins at the same time."""

    name: str

    def check(self, user: str, password: str) -> Verdict:
        """May take as long as its time-out.

        Raises:
            BackEndFailed: see there.
        """
        ...

    def decoy(self, password: str) -> None:
        """Takes the time of a `check`, if that can be done without asking others."""
        ...


class PlainChain:
    """The check of `PlainServer`.

    Args:
        back_ends: the first one is asked first.
        cache_ms: how long a right password is remembered; 0: not at all.
        now_ms: a clock.
        secret: for what is remembered instead of passwords.
    """

    def __init__(
        self,
        back_ends: Sequence[BackEnd],
        cache_ms: int,
        now_ms: Callable[[], int],
        secret: bytes,
    ) -> None:
        self._back_ends = back_ends
        self._cache_ms = cache_ms
        self._now_ms = now_ms
        self._secret = secret
        #: By user: what stands for the password, and until when.
        self._kept: dict[str, tuple[bytes, int]] = {}

    def forget(self) -> None:
        """Ask anew."""
        self._kept.clear()

    def __call__(self, user: str, password: str) -> bool:
        """Whether the password is right.

        Raises:
            LoginFailed: nobody could say.
        """
        mark = hmac.digest(self._secret, f"{user}\0{password}".encode("utf-8", "surrogatepass"), "sha256")
        now = self._now_ms()
        kept = self._kept.get(user)
        if kept is not None and kept[1] > now and hmac.compare_digest(kept[0], mark):
            return True
        verdict = Verdict.UNKNOWN
        for back_end in self._back_ends:
            if verdict is not Verdict.UNKNOWN:
                # Who is known to the first one should not be told apart by being refused sooner.
                if verdict is Verdict.WRONG:
                    back_end.decoy(password)
                continue
            try:
                verdict = back_end.check(user, password)
            except BackEndFailed:
                raise LoginFailed(f"{back_end.name} cannot tell") from None
        if verdict is not Verdict.RIGHT:
            return False
        if self._cache_ms:
            if len(self._kept) >= _KEPT_MAX:
                self._kept.clear()
            self._kept[user] = (mark, now + self._cache_ms)
        return True
