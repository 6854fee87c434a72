"""Notes on the disk which registration the process that writes to it has (`storage/running_mark.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage
    from kbroker.storage.log_manager import LogManager
    from kbroker.types import Uuid


def running_marker(
    logs: LogManager, node_id: int, incarnation_id: Uuid
) -> Callable[[ClusterImage, ClusterImage, ClusterDelta], None]:
    """A subscriber to the metadata: once this process is registered, in each epoch that it gets."""
    noted = -1

    def note(old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        nonlocal noted
        own = new.brokers.get(node_id)
        if own is not None and own.epoch != noted and own.incarnation_id == incarnation_id:
            noted = own.epoch
            logs.mark_running(noted)

    return note
