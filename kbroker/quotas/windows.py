"""How the settings say that rates are measured."""

from __future__ import annotations

from typing import NamedTuple

#: The longest delay that an answer can tell of.
DELAY_MS_MAX = 2**31 - 1


class Windows(NamedTuple):
    """`quota.window.num` samples of `quota.window.size.seconds`."""

    samples: int = 11
    seconds: int = 1

    @property
    def ms(self) -> int:
        """Length of one."""
        return self.seconds * 1000

    @property
    def full_s(self) -> int:
        """Seconds that are over and still count."""
        return (self.samples - 1) * self.seconds

    @property
    def all_s(self) -> int:
        """Seconds that a token bucket holds."""
        return self.samples * self.seconds
