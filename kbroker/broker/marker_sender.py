"""Tells every partition of a transaction how it ended, until all have heard.

A coordinator hands in a `MarkersDue`; the leaders of its partitions get WriteTxnMarkers, those that cannot
take it now get it again. A partition that no longer exists needs none. A newer producer or coordinator makes
the rest pointless: the transaction is left to it.

What ends in one turn of the loop goes to another broker in one request.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.timer import Timer
    from kbroker.broker.txn_link import TxnLink
    from kbroker.coordinator.transaction.transaction_shard import MarkersDue
    from kbroker.metadata.cache import MetadataCache
    from kbroker.protocol.generated.write_txn_markers_response import (
        WritableTxnMarkerResult,
        WriteTxnMarkersResponse,
    )

_log = logging.getLogger(__name__)

_RETRY_MS = 100
#: Transactions in one request, at most.
_JOINED_MAX = 200
#: The producer or the coordinator was replaced: whoever did that ends the transaction.
_FENCED = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED})

_Place = tuple[str, int]


class _Ending:
    """One transaction whose markers are being written."""

    __slots__ = ("done", "due", "is_wanted", "left")

    def __init__(self, due: MarkersDue, is_wanted: Callable[[], bool], done: Callable[[], None]) -> None:
        self.due = due
        self.is_wanted = is_wanted
        self.done = done
        #: Partitions without a marker.
        self.left: dict[_Place, None] = {
            (topic, index): None
            for topic, indexes in due.transaction.partitions.items()
            for index in sorted(indexes)
        }


class _Part(NamedTuple):
    """What one leader is told of one transaction."""

    ending: _Ending
    places: list[_Place]


class MarkerSender:
    """Sends markers to the leaders of partitions."""

    def __init__(self, link: TxnLink, metadata: MetadataCache, timer: Timer) -> None:
        self._link = link
        self._metadata = metadata
        self._timer = timer
        #: Partitions without a leader, whose markers wait for one.
        self.leaderless = 0
        #: By leader: what goes to it at the end of this turn.
        self._gathered: dict[int, list[_Part]] = {}

    def start(self, due: MarkersDue, is_wanted: Callable[[], bool], done: Callable[[], None]) -> None:
        """Write all markers of `due`, then call `done`; give up as soon as `is_wanted` says no."""
        ending = _Ending(due, is_wanted, done)
        self._send(ending, list(ending.left))

    def _send(self, ending: _Ending, places: list[_Place]) -> None:
        topics = self._metadata.image.topics
        by_leader: dict[int, list[_Place]] = {}
        leaderless: list[_Place] = []
        for place in places:
            partition = topics.partition(*place)
            if partition is None:
                del ending.left[place]
            elif partition.leader < 0:
                leaderless.append(place)
            else:
                by_leader.setdefault(partition.leader, []).append(place)
        if not ending.left:
            ending.done()
            return
        if leaderless:
            self.leaderless += len(leaderless)
            self._later(ending, leaderless, without_leader=len(leaderless))
        for leader, theirs in by_leader.items():
            part = _Part(ending, theirs)
            if leader == self._link.broker_id:
                self._ask(leader, [part])
            elif leader in self._gathered:
                self._gathered[leader].append(part)
            else:
                self._gathered[leader] = [part]
                self._timer.call_later(0, lambda leader=leader: self._flush(leader))  # type: ignore[misc]

    def _flush(self, leader: int) -> None:
        """Send what was gathered; an answer tells its parts by the producer, which is in a request once."""
        rest = [part for part in self._gathered.pop(leader, ()) if part.ending.is_wanted()]
        while rest:
            joined: dict[int, _Part] = {}
            others: list[_Part] = []
            for part in rest:
                producer_id = part.ending.due.transaction.producer_id
                if producer_id in joined or len(joined) >= _JOINED_MAX:
                    others.append(part)
                else:
                    joined[producer_id] = part
            self._ask(leader, list(joined.values()))
            rest = others

    def _ask(self, leader: int, parts: list[_Part]) -> None:
        request = WriteTxnMarkersRequest(
            markers=[_marker(part.ending.due, part.places) for part in parts],
        )
        self._link.send(leader, request).then(lambda done: self._heard(parts, done))

    def _heard(self, parts: list[_Part], done: Deferred[WriteTxnMarkersResponse]) -> None:
        try:
            told = {marker.producer_id: marker for marker in done.result().markers}
        except ApiError as error:
            _log.warning("no answer to transaction markers: %s", error)
            told = {}
        for part in parts:
            marker = told.get(part.ending.due.transaction.producer_id)
            if not part.ending.is_wanted():
                continue
            if marker is None:
                self._later(part.ending, part.places)
            else:
                self._answered(part.ending, marker)

    def _answered(self, ending: _Ending, marker: WritableTxnMarkerResult) -> None:
        again: list[_Place] = []
        for topic in marker.topics:
            for result in topic.partitions:
                place = topic.name, result.partition_index
                if result.error_code == ErrorCode.NONE:
                    ending.left.pop(place, None)
                elif result.error_code in _FENCED:
                    self._give_up(ending, place, ErrorCode(result.error_code))
                    return
                else:
                    again.append(place)
        if not ending.left:
            ending.done()
        elif again:
            self._later(ending, again)

    @staticmethod
    def _give_up(ending: _Ending, place: _Place, code: ErrorCode) -> None:
        txn = ending.due.transaction
        _log.warning(
            "%r: %s-%d refuses the end of its transaction: %s", txn.transactional_id, *place, code.name
        )
        ending.is_wanted = lambda: False

    def _later(self, ending: _Ending, places: list[_Place], without_leader: int = 0) -> None:
        def again() -> None:
            self.leaderless -= without_leader
            if ending.is_wanted():
                self._send(ending, [place for place in places if place in ending.left])

        self._timer.call_later(_RETRY_MS, again)


def _marker(due: MarkersDue, places: list[_Place]) -> WritableTxnMarker:
    topics: dict[str, WritableTxnMarkerTopic] = {}
    for topic, index in places:
        entry = topics.get(topic)
        if entry is None:
            entry = topics[topic] = WritableTxnMarkerTopic(name=topic)
        entry.partition_indexes.append(index)
    txn = due.transaction
    return WritableTxnMarker(
        producer_id=txn.producer_id,
        producer_epoch=txn.producer_epoch,
        transaction_result=due.commit,
        topics=list(topics.values()),
        coordinator_epoch=due.coordinator_epoch,
        transaction_version=txn.client_version,
    )
