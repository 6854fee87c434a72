"""Where partitions end that other brokers lead: asked for only while somebody looks at the lag of groups.

Whoever looks gets what was heard last and, by looking, has it asked for anew; so a scrape shows what is a few
seconds old, and the first one after a while leaves these partitions out. Bounded: `WANTED_MAX` partitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.broker.peer import PeerAddress
from kbroker.protocol.generated.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services

WANTED_MAX = 20_000
#: What was heard longer ago is not told any more.
_OLD_MS = 60_000
#: How often one partition is asked for at most.
_AGAIN_MS = 4_000
_TIMEOUT_MS = 5_000
_PARTITIONS_PER_REQUEST = 1000
_LATEST = -1
_CONSUMER = -1


class RemoteEnds:
    """Of one node.

    Args:
        services: the node.
        listener: of the brokers, for each other.
    """

    def __init__(self, services: Services, listener: str) -> None:
        self._services = services
        self._listener = listener
        #: (offset, when it was heard)
        self._ends: dict[tuple[str, int], tuple[int, float]] = {}
        self._wanted: dict[tuple[str, int], None] = {}
        self._under_way: set[int] = set()
        self._armed = False

    def end_of(self, topic: str, partition: int) -> int:
        """The end of what is committed, as it was heard last; -1: not known (yet)."""
        key = topic, partition
        end, heard_ms = self._ends.get(key, (-1, -_OLD_MS))
        age_ms = self._services.clock.monotonic_ms() - heard_ms
        if age_ms >= _AGAIN_MS and len(self._wanted) < WANTED_MAX:
            self._wanted[key] = None
            if not self._armed:
                self._armed = True
                self._services.timer.call_later(0, self._ask)
        return end if age_ms < _OLD_MS else -1

    def _ask(self) -> None:
        self._armed = False
        wanted, self._wanted = self._wanted, {}
        image = self._services.metadata.image
        by_leader: dict[int, dict[str, list[int]]] = {}
        counts: dict[int, int] = {}
        for topic, partition in wanted:
            state = image.topics.partition(topic, partition)
            if state is None:
                self._ends.pop((topic, partition), None)
                continue
            # Those that are too many now are wanted again by the next who looks.
            leader, count = state.leader, counts.get(state.leader, 0)
            if leader >= 0 and leader not in self._under_way and count < _PARTITIONS_PER_REQUEST:
                counts[leader] = count + 1
                by_leader.setdefault(leader, {}).setdefault(topic, []).append(partition)
        for leader, topics in by_leader.items():
            self._ask_leader(leader, topics)

    def _ask_leader(self, leader: int, topics: dict[str, list[int]]) -> None:
        broker = self._services.metadata.image.brokers.get(leader)
        endpoint = None if broker is None else broker.endpoint(self._listener)
        if endpoint is None or self._services.peers is None:
            return
        request = ListOffsetsRequest(
            replica_id=_CONSUMER,
            topics=[
                ListOffsetsTopic(
                    name=name,
                    partitions=[
                        ListOffsetsPartition(partition_index=index, timestamp=_LATEST) for index in indexes
                    ],
                )
                for name, indexes in topics.items()
            ],
            timeout_ms=_TIMEOUT_MS,
        )
        self._under_way.add(leader)
        address = PeerAddress(leader, endpoint.host, endpoint.port, endpoint.security_protocol)
        answer = self._services.peers.send(address, request, timeout_ms=_TIMEOUT_MS, channel="lag")
        answer.then(lambda done: self._heard(leader, done))

    def _heard(self, leader: int, done: Deferred[Any]) -> None:
        self._under_way.discard(leader)
        if not done.succeeded:
            return
        now_ms = self._services.clock.monotonic_ms()
        for topic in done.result().topics:
            for partition in topic.partitions:
                if not partition.error_code and partition.offset >= 0:
                    self._ends[topic.name, partition.partition_index] = partition.offset, now_ms
        if len(self._ends) > WANTED_MAX:
            self._ends = {key: each for key, each in self._ends.items() if now_ms - each[1] < _OLD_MS}
