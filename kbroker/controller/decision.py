"""What a decision of the controller is.

Every decision is a pure function of the **speculative image**: the committed cluster plus the records that
this controller has appended and not yet seen committed. It returns records and the answer to the request;
it changes nothing. The driver appends the records, folds them into the next speculative image, and gives
the answer when the last of them is committed and applied on this node. The **published image**
(`MetadataCache.image`) is the committed part only: handlers and subscribers see nothing else. When
leadership is lost the speculative image is thrown away and the decisions waiting on it fail with
NOT_CONTROLLER.

Nothing here knows where records become true: in KRaft's log, or in ZooKeeper's znodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from kbroker.plain import made, plain

if TYPE_CHECKING:
    from kbroker.metadata.records import MetadataRecord

T = TypeVar("T")

#: No user's request may write more records than this (Kafka's limit; a batch has to stay readable for
#: followers).
MAX_RECORDS_PER_REQUEST = 10_000


@plain()
class Decision(Generic[T]):
    """Records to append, in order, and the answer to give once they are committed.

    An atomic decision becomes one batch; one that is not may be cut into several (each of its records
    leaves the cluster in a state that could have been meant). Only one that goes on, or ends, a metadata
    transaction is `in_transaction`.
    """

    response: T
    records: Sequence[MetadataRecord] = made(default_factory=list)
    atomic: bool = True
    in_transaction: bool = False
