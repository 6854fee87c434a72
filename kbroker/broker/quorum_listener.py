"""Who hears of the metadata quorum."""

from __future__ import annotations

from typing import Protocol

from kbroker.types import OffsetAndEpoch


class QuorumListener(Protocol):
    """Who hears of the quorum: the controller."""

    def became_leader(self, epoch: int) -> None:
        """This node may append now; all before its epoch is committed."""
        ...

    def committed(self, high_watermark: int) -> None:
        """Everything before this offset is committed."""
        ...

    def resigned(self, epoch: int) -> None:
        """This node does not lead any more."""
        ...

    def leader_changed(self, leader_id: int, epoch: int) -> None:
        """Another node leads; -1: nobody that this one knows of."""
        ...

    def snapshot_installed(self, snapshot_id: OffsetAndEpoch) -> None:
        """A snapshot of the leader's took the place of snapshot and log; it is committed."""
        ...
