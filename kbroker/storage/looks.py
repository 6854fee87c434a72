"""What a look into a batch has in common with others: it may be run elsewhere, even by another process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from kbroker.storage.disk import Buffer


class Look(Protocol):
    """Knows all it needs. `order` and `outcome` are each JSON values and bytes."""

    #: What `run` has found; set instead where that has happened to a copy.
    outcome: tuple[Any, Buffer | None]

    @property
    def order(self) -> tuple[Any, Buffer]:
        """What the class's `of_order` makes a copy of, before it was run."""
        ...

    def run(self) -> None:
        """Look. What is wrong with the batch is found, not raised."""


#: Runs a look, wherever; blocks until then.
RunLook: TypeAlias = Callable[[Look], None]


def run_here(look: Look) -> None:
    """In this thread."""
    look.run()
