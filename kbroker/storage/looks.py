"""What a look into a batch has in common with others: it may be run elsewhere, even by another process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias


class Look(Protocol):
    """Knows all it needs. It can be pickled as long as it was not run; so can its outcome afterwards."""

    #: What `run` has found; set instead where that has happened to a copy.
    outcome: Any

    def run(self) -> None:
        """Look. What is wrong with the batch is found, not raised."""


#: Runs a look, wherever; blocks until then.
RunLook: TypeAlias = Callable[[Look], None]


def run_here(look: Look) -> None:
    """In this thread."""
    look.run()
