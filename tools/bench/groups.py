"""Lines of consumer groups: how soon many members are stable, what a commit and a heartbeat cost.

One thread, raw frames, one connection a member: cheap enough that the broker is what is measured.
"""

from __future__ import annotations

import os
import re
import select
import socket
import struct
import time
from typing import TYPE_CHECKING, Any

from kbroker.protocol.api_keys import ApiKey, response_class
from kbroker.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from kbroker.protocol.generated.heartbeat_request import HeartbeatRequest
from kbroker.protocol.generated.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.protocol.generated.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kbroker.protocol.generated.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from tools.bench import wire
from tools.bench.load import Load, one_in_flight, pipelined
from tools.frame_headers import parse_response_header

if TYPE_CHECKING:
    from tools.bench.brokers import BrokerProcess

_MEMBER_ID_REQUIRED, _REBALANCE_IN_PROGRESS = 79, 27
_HEARTBEAT_S = 0.1
_TIMEOUT_S = 120.0
_MEMBERS_TOPIC = "load"
_Answer = tuple[int, int, Any]  # API key, error code, response


class Member:
    """One member of a classic group on its own connection, as a state machine: join, sync, heartbeat."""

    __slots__ = (
        "_data",
        "_session_timeout_ms",
        "_waits_for",
        "generation",
        "group",
        "is_stable",
        "led",
        "member_id",
        "next_beat",
        "sock",
    )

    def __init__(self, address: tuple[str, int], group: str, session_timeout_ms: int = 45_000) -> None:
        self.sock = wire.connect(address)
        self.group = group
        self._session_timeout_ms = session_timeout_ms
        #: Generations that it led, each with its members.
        self.led: dict[int, list[str]] = {}
        self.member_id = ""
        self.generation = -1
        self.is_stable = False
        #: When a heartbeat is due; None while an answer is awaited.
        self.next_beat: float | None = None
        self._waits_for = ApiKey.JOIN_GROUP
        self._data = bytearray()

    def join(self) -> None:
        """Ask to join."""
        protocol = JoinGroupRequestProtocol(name="range", metadata=b"\0\1\0\0\0\1\0\4load\xff\xff\xff\xff")
        self._send(
            JoinGroupRequest(
                group_id=self.group,
                session_timeout_ms=self._session_timeout_ms,
                rebalance_timeout_ms=60_000,
                member_id=self.member_id,
                protocol_type="consumer",
                protocols=[protocol],
            )
        )
        self.is_stable = False

    def beat(self) -> None:
        """Send a heartbeat."""
        self._send(
            HeartbeatRequest(group_id=self.group, generation_id=self.generation, member_id=self.member_id)
        )

    def _send(self, request: Any) -> None:
        self._waits_for = ApiKey(request.API_KEY)
        self.next_beat = None
        self.sock.sendall(wire.frame(request))

    def received(self, data: bytes, now: float) -> None:
        """Take bytes; act when they are a whole answer."""
        self._data += data
        if len(self._data) < 4 or len(self._data) < 4 + struct.unpack_from(">i", self._data)[0]:
            return
        body = bytes(self._data[4:])
        self._data.clear()
        key = self._waits_for
        _, start = parse_response_header(body, key, wire.VERSIONS[key])
        self._act(key, response_class(key).decode(body, wire.VERSIONS[key], start), now)

    def _act(self, key: ApiKey, answer: Any, now: float) -> None:
        code = answer.error_code
        if code == _MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            self.join()
        elif code == _REBALANCE_IN_PROGRESS:
            self.join()
        elif code:
            raise RuntimeError(f"{key.name} of {self.group} is refused with error {code}")
        elif key is ApiKey.JOIN_GROUP:
            self.member_id, self.generation = answer.member_id, answer.generation_id
            members = [each.member_id for each in answer.members]
            if members:
                self.led[self.generation] = members
            self._sync(members)
        else:
            self.is_stable = True
            self.next_beat = now + _HEARTBEAT_S

    def _sync(self, members: list[str]) -> None:
        assignments = [SyncGroupRequestAssignment(member_id=each, assignment=b"x" * 40) for each in members]
        self._send(
            SyncGroupRequest(
                group_id=self.group,
                generation_id=self.generation,
                member_id=self.member_id,
                protocol_type="consumer",
                protocol_name="range",
                assignments=assignments,
            )
        )


def find_coordinator(broker: BrokerProcess, group: str) -> None:
    """Ask until there is a coordinator that answers for `group`."""
    deadline = time.monotonic() + 30
    sock = wire.connect(broker.address)
    fetch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group)])
    while time.monotonic() < deadline:
        answer, _ = wire.ask(sock, wire.frame(FindCoordinatorRequest(key=group)))
        if not answer.error_code:
            offsets, _ = wire.ask(sock, wire.frame(fetch))
            if not offsets.groups[0].error_code:
                sock.close()
                return
        time.sleep(0.01)
    raise RuntimeError("no group coordinator")


def join_all(members: list[Member]) -> float:
    """All join at once; seconds until each has its assignment in one and the same generation."""
    return settle(members, 0, join=True)


def settle(members: list[Member], above: int, *, join: bool = False) -> float:
    """Seconds until all members have their assignment in one generation above `above`."""
    poll = select.epoll()
    by_fd = {member.sock.fileno(): member for member in members}
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    started = time.perf_counter()
    for member in members:
        if join:
            member.join()
    while True:
        now = time.perf_counter()
        for fd, _ in poll.poll(0.01):
            by_fd[fd].received(os.read(fd, 1 << 20), now)
        generations = {member.generation for member in members}
        if all(member.is_stable for member in members) and len(generations) == 1 and min(generations) > above:
            poll.close()
            return time.perf_counter() - started
        for member in members:
            if member.next_beat is not None and member.next_beat < now:
                member.beat()
        if now - started > _TIMEOUT_S:
            raise RuntimeError(f"the members are not stable after {_TIMEOUT_S:.0f} s")


def join_seconds(broker: BrokerProcess, count: int, group: str) -> float:
    """How long `count` new members of one new group take from the first join to stable."""
    find_coordinator(broker, group)
    members = [Member(broker.address, group) for _ in range(count)]
    try:
        return join_all(members)
    finally:
        for member in members:
            member.sock.close()


class Committers:
    """Stable members, all of one group or each of its own; their frames are ready."""

    def __init__(self, broker: BrokerProcess, count: int, *, one_group: bool) -> None:
        name = f"commit-{time.monotonic_ns()}-"
        names = [f"{name}{0 if one_group else i:03}" for i in range(count)]
        find_coordinator(broker, names[0])
        self.members = [Member(broker.address, each) for each in names]
        for crowd in [self.members] if one_group else [[member] for member in self.members]:
            join_all(crowd)

    @property
    def sockets(self) -> list[socket.socket]:
        return [member.sock for member in self.members]

    def close(self) -> None:
        """Hang up."""
        for sock in self.sockets:
            sock.close()

    def frames(self, kind: str) -> list[bytes]:
        """One frame for each member: `commit` or `fetch` of one partition, or `heartbeat`."""
        return [wire.frame(_request(kind, member)) for member in self.members]


def _request(kind: str, member: Member) -> Any:
    if kind == "heartbeat":
        return HeartbeatRequest(
            group_id=member.group, generation_id=member.generation, member_id=member.member_id
        )
    if kind == "fetch":
        topics = [OffsetFetchRequestTopics(name=_MEMBERS_TOPIC, partition_indexes=[0])]
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=member.group, topics=topics)])
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=1234567, committed_metadata=""
    )
    return OffsetCommitRequest(
        group_id=member.group,
        generation_id_or_member_epoch=member.generation,
        member_id=member.member_id,
        topics=[OffsetCommitRequestTopic(name=_MEMBERS_TOPIC, partitions=[partition])],
    )


def _answer_bytes(sock: socket.socket, framed: bytes) -> int:
    """Send a frame once; the size of an answer without error."""
    answer, size = wire.ask(sock, framed)
    errors = re.findall(r"error_code=(-?[0-9]+)", repr(answer))
    if any(map(int, errors)):
        raise RuntimeError(f"refused: {answer}")
    return size


def each_in_flight(committers: Committers, kind: str, seconds: float) -> Load:
    """Every member has one request in flight."""
    frames = committers.frames(kind)
    (size,) = {_answer_bytes(sock, framed) for sock, framed in zip(committers.sockets, frames)}
    return one_in_flight(committers.sockets, frames, size, seconds=seconds)


def pipeline(committers: Committers, kind: str, seconds: float) -> Load:
    """One member sends without waiting."""
    (sock, framed) = committers.sockets[0], committers.frames(kind)[0]
    size = _answer_bytes(sock, framed)
    return pipelined(sock, framed, size, together=32, ahead=256, seconds=seconds, most=10**9)
