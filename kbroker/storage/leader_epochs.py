"""Which leader epoch began at which offset (KIP-101, KIP-279): the ground of log truncation and fencing.

The law: epochs and start offsets both ascend strictly. An epoch that wrote nothing is replaced by the next
one at the same offset. The entries can always be told from the batches again, so the file may lag behind the
memory as long as it is written before the recovery point passes an entry's start.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class LeaderEpochs:
    """The cache of one log; `dirty` while it differs from the checkpoint file."""

    __slots__ = ("_epochs", "_starts", "dirty", "latest")

    def __init__(self, entries: list[tuple[int, int]] | None = None) -> None:
        self._epochs: list[int] = []
        self._starts: list[int] = []
        #: The latest epoch, -1 without any.
        self.latest = UNDEFINED_EPOCH
        self.dirty = False
        for epoch, start in entries or ():
            self.assign(epoch, start)
        self.dirty = False

    def entries(self) -> list[tuple[int, int]]:
        """(epoch, start offset), oldest first."""
        return list(zip(self._epochs, self._starts))

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Epoch `epoch` begins at `start_offset`. False if that was known or contradicts nothing new."""
        epochs, starts = self._epochs, self._starts
        if epoch < 0 or start_offset < 0:
            return False
        if epochs and epochs[-1] == epoch and starts[-1] <= start_offset:
            return False
        while epochs and (epochs[-1] >= epoch or starts[-1] >= start_offset):
            epochs.pop()
            starts.pop()
        epochs.append(epoch)
        starts.append(start_offset)
        self.latest = epoch
        self.dirty = True
        return True

    def back_to(self, epoch: int, start_offset: int) -> None:
        """Behind later epochs the log goes on in an earlier one, at `start_offset`: its end was cut off and
        written over, and a power cut brought some of it back. It is taken for all of the earlier epoch, which
        ends before in the leader's log.
        """
        while self._epochs and self._epochs[-1] > epoch:
            self._epochs.pop()
            self._starts.pop()
            self.dirty = True
        self.latest = self._epochs[-1] if self._epochs else UNDEFINED_EPOCH
        self.assign(epoch, start_offset)

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """(epoch, end offset) of the largest known epoch that is not above `epoch`; (-1, -1) if unknown.

        The rules of OffsetForLeaderEpoch: an epoch before the first known one ends where that begins.
        """
        if epoch == UNDEFINED_EPOCH:
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        if epoch == self.latest:
            return epoch, log_end_offset
        higher = bisect_right(self._epochs, epoch)
        if higher == len(self._epochs):
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        if higher == 0:
            return epoch, self._starts[0]
        return self._epochs[higher - 1], self._starts[higher]

    def epoch_at(self, offset: int) -> int:
        """The epoch in which `offset` was or will be written; -1 if it lies before the first known one."""
        found = bisect_right(self._starts, offset)
        return self._epochs[found - 1] if found else UNDEFINED_EPOCH

    def previous(self, epoch: int) -> int:
        """The latest known epoch below `epoch`, -1 if none."""
        found = bisect_left(self._epochs, epoch)
        return self._epochs[found - 1] if found else UNDEFINED_EPOCH

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget epochs that begin at or after `end_offset`."""
        keep = bisect_left(self._starts, end_offset)
        if keep < len(self._starts):
            del self._epochs[keep:], self._starts[keep:]
            self.latest = self._epochs[-1] if keep else UNDEFINED_EPOCH
            self.dirty = True

    def truncate_from_start(self, start_offset: int) -> None:
        """Forget epochs that ended before `start_offset`; the one that holds it now begins there."""
        gone = bisect_right(self._starts, start_offset)
        if gone > 1 or (gone and self._starts[0] < start_offset):
            del self._epochs[: gone - 1], self._starts[: gone - 1]
            self._starts[0] = start_offset
            self.dirty = True

    def clear(self) -> None:
        """Forget all."""
        if self._epochs:
            self._epochs.clear()
            self._starts.clear()
            self.latest = UNDEFINED_EPOCH
            self.dirty = True
