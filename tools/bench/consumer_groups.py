"""The line of consumer groups (KIP-848): how soon hundreds of members that come at once have partitions.

Each member is a client of the protocol on its own connection: it sends what it owns whenever that changed,
and a heartbeat ten times a second until all is settled.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from kbroker.protocol.api_keys import ApiKey, response_class
from kbroker.protocol.generated.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from tools.bench import wire
from tools.bench.groups import find_coordinator, settle
from tools.frame_headers import parse_response_header

if TYPE_CHECKING:
    from tools.bench.brokers import BrokerProcess

TOPIC = "wide"
_HEARTBEAT_S = 0.1
_KEY = ApiKey.CONSUMER_GROUP_HEARTBEAT


class NewMember:
    """A member of a consumer group, as `groups.settle` drives it; stable while it has partitions."""

    __slots__ = ("_changed", "_data", "generation", "group", "member_id", "next_beat", "owned", "sock")

    def __init__(self, address: tuple[str, int], group: str, number: int) -> None:
        self.sock = wire.connect(address)
        self.group, self.member_id = group, f"member-{number:04}"
        #: The member epoch.
        self.generation = -1
        self.owned: list[TopicPartitions] = []
        self.next_beat: float | None = None
        self._changed = False
        self._data = bytearray()

    @property
    def is_stable(self) -> bool:
        """It has partitions, and the broker knows that it has no others."""
        return bool(self.owned) and not self._changed

    def join(self) -> None:
        """Ask for a place."""
        self._send(
            ConsumerGroupHeartbeatRequest(
                group_id=self.group,
                member_id=self.member_id,
                member_epoch=0,
                instance_id=None,
                rack_id=None,
                rebalance_timeout_ms=60_000,
                subscribed_topic_names=[TOPIC],
                subscribed_topic_regex=None,
                server_assignor=None,
                topic_partitions=[],
            )
        )

    def beat(self) -> None:
        """Send a heartbeat, with what is owned if that changed."""
        self._send(
            ConsumerGroupHeartbeatRequest(
                group_id=self.group,
                member_id=self.member_id,
                member_epoch=self.generation,
                instance_id=None,
                rack_id=None,
                subscribed_topic_names=None,
                subscribed_topic_regex=None,
                server_assignor=None,
                topic_partitions=self.owned if self._changed else None,
            )
        )
        self._changed = False

    def _send(self, request: ConsumerGroupHeartbeatRequest) -> None:
        self.next_beat = None
        self.sock.sendall(wire.frame(request))

    def received(self, data: bytes, now: float) -> None:
        """Take bytes; act when they are a whole answer."""
        self._data += data
        if len(self._data) < 4 or len(self._data) < 4 + struct.unpack_from(">i", self._data)[0]:
            return
        body = bytes(self._data[4:])
        self._data.clear()
        _, start = parse_response_header(body, _KEY, wire.VERSIONS[_KEY])
        answer = response_class(_KEY).decode(body, wire.VERSIONS[_KEY], start)
        if answer.error_code:
            raise RuntimeError(f"a heartbeat of {self.group} is refused: {answer.error_message}")
        self.generation = answer.member_epoch
        if answer.assignment is not None:
            self.owned = [
                TopicPartitions(topic_id=each.topic_id, partitions=each.partitions)
                for each in answer.assignment.topic_partitions
            ]
            self._changed = True
        self.next_beat = now + _HEARTBEAT_S


def stable_seconds(broker: BrokerProcess, count: int, group: str) -> float:
    """How long `count` new members of one new group take until each has its partitions, in one epoch."""
    find_coordinator(broker, group)
    members = [NewMember(broker.address, group, number) for number in range(count)]
    try:
        return settle(members, 0, join=True)
    finally:
        for member in members:
            member.sock.close()
