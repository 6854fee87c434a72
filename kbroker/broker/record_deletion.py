"""DeleteRecords (KIP-107) of one partition: what its leader forgets, and who waits until all others have.

Methods of `Partition`, which takes them in by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition


def delete_records(partition: Partition, offset: int) -> int:
    """Forget the records below `offset` (-1: all committed ones); the offset meant (KIP-107).

    `when_deleted` tells when the replicas have forgotten them, too.

    Raises:
        ApiError: POLICY_VIOLATION on a topic that only compacts, OFFSET_OUT_OF_RANGE above the high
            watermark or below 0.
    """
    log = partition.check_leader()
    if not log.config.delete:
        raise ApiError(ErrorCode.POLICY_VIOLATION)
    if offset == -1:
        offset = log.high_watermark
    if not 0 <= offset <= log.high_watermark:
        raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if offset > log.log_start_offset:
        log.delete_records_to(offset)
        partition.wake()
    return offset


def when_deleted(partition: Partition, offset: int) -> Deferred[None]:
    """Done when no replica that is alive has anything below `offset`; fails if leadership goes."""
    done: Deferred[None] = Deferred()
    if partition.low_watermark >= offset:
        done.resolve(None)
    else:
        partition._deletions.add(offset - 1, done)
    return done


def check_deletions(partition: Partition) -> None:
    """A follower has forgotten more, or a broker is gone: who waits for it need not any more."""
    if partition._deletions:
        for done in partition._deletions.release(partition.low_watermark):
            done.resolve(None)
