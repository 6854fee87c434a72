"""How what was in ZooKeeper gets into the metadata log: one transaction, a slice in each turn of the loop.

So the node stays a quorum's leader meanwhile, however much there is (KIP-866, KIP-868).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_liveness import counted_on
from kbroker.controller.decision import Decision
from kbroker.controller.elections import broker_gone
from kbroker.controller.kraft.bootstrap import abort_transaction
from kbroker.controller.kraft.migration import copy_slices
from kbroker.plain import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.timer import Timer
    from kbroker.controller.election_rules import ElectionRules
    from kbroker.metadata.image import ClusterImage
    from kbroker.metadata.records import MetadataRecord


def append_copy(
    controller: ControllerDriver,
    timer: Timer,
    rules: ElectionRules,
    records: Sequence[MetadataRecord],
    still_leads: Callable[[], bool],
) -> Generator[Deferred[Any], Any, None]:
    """Append the records; yields what it waits for.

    Args:
        still_leads: whether this node leads the quorum in the epoch of the beginning; else the next leader
            ends what was begun.
    """
    last: Deferred[None] = Deferred()
    for count, decision in enumerate(copy_slices(records)):
        if not still_leads():
            return
        last = controller.append_records(partial(_as_decided, decision), always=True)
        if last.done and not last.succeeded:
            if count:
                controller.append_records(_abort, always=True)
            break
        turn: Deferred[None] = Deferred()
        timer.call_later(0, partial(turn.resolve, None))
        yield turn
    yield last
    # Who is not there any more leads nothing and is in no ISR, as when it is fenced.
    yield controller.append_records(partial(_without_the_absent, rules))


def _without_the_absent(rules: ElectionRules, image: ClusterImage) -> Decision[None]:
    records: list[MetadataRecord] = []
    for broker_id in sorted(counted_on(image)):
        broker = image.brokers.get(broker_id)
        if broker is None or broker.fenced:
            gone = broker_gone(image, rules, broker_id)
            image = image.apply(gone)
            records += gone
    return Decision(None, records, atomic=False)


def _as_decided(decision: Decision[None], image: ClusterImage) -> Decision[None]:
    return decision


def _abort(image: ClusterImage) -> Decision[None]:
    return replace(abort_transaction(image), in_transaction=True)
