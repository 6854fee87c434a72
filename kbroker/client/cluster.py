"""A cluster to ask: finds a broker, the controller, a coordinator or partition leaders, and sends there.

Synchronous and made for tools and tests: connections are opened when first needed and kept; a question whose
answer says "not here, not now" is asked again, with fresh metadata, until the time is over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeVar

from kbroker.client.connection import Address, Connection
from kbroker.client.errors import ClientError, NotConnected, Unreachable, check, error_code
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from kbroker.protocol.generated.find_coordinator_response import FindCoordinatorResponse
from kbroker.protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kbroker.protocol.generated.metadata_response import MetadataResponse, MetadataResponseBroker
from kbroker.protocol.primitives import Message
from kbroker.types import TopicPartition

if TYPE_CHECKING:
    from kbroker.client.security import ClientSecurity

R = TypeVar("R", bound=Message)
T = TypeVar("T")
V = TypeVar("V")

DEFAULT_PORT = 9092
_PROTOCOL = re.compile(r"^[0-9A-Za-z_.%-]*://")
#: Kinds of coordinators, as FindCoordinator numbers them.
GROUP, TRANSACTION = 0, 1

_COORDINATOR_MOVED = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
_CONTROLLER_MOVED = frozenset({ErrorCode.NOT_CONTROLLER})
#: While leadership moves: what brokers answer, and what metadata tells.
_LEADER_MOVED = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
    }
)
_LEADER_MISSING = frozenset({ErrorCode.LEADER_NOT_AVAILABLE})
_PAUSE_S = 0.1


def parse_bootstrap(text: str) -> list[Address]:
    """Addresses of "host:port,host,[::1]:9092"; the port is 9092 where it is missing. A listener's name
    before an address (SSL://host:port) is passed over, as Kafka's clients do.

    Raises:
        ClientError: not of that form.
    """
    addresses = []
    for part in text.split(","):
        address = _PROTOCOL.sub("", part.strip())
        host, colon, port = address.rpartition(":")
        if not colon or port.endswith("]"):
            host, port = address, str(DEFAULT_PORT)
        host = host.removeprefix("[").removesuffix("]")
        if not host or "/" in host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
            raise ClientError(f"{part.strip()!r} is no address of a broker: write host:port")
        addresses.append(Address(host, int(port)))
    return addresses


def _security(settings: Mapping[str, str] | None) -> ClientSecurity | None:
    if not settings or settings.get("security.protocol", "PLAINTEXT").upper() == "PLAINTEXT":
        return None
    # Plain clients load nothing of it.
    from kbroker.client.security import ClientSecurity

    return ClientSecurity(settings)


class Cluster:
    """A context manager; nothing is connected before the first question.

    Args:
        bootstrap: "host:port" of one or more brokers, with commas between.
        timeout_s: for each connection and answer, and for all tries of one question together.
        settings: Kafka's client settings of TLS and SASL (`security.protocol` …).

    Raises:
        ClientError: a bootstrap address is malformed.
        ConfigError: the settings do not do.
    """

    def __init__(
        self,
        bootstrap: str,
        *,
        client_id: str = "kbroker",
        timeout_s: float = 30.0,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.bootstrap = parse_bootstrap(bootstrap)
        self._security = _security(settings)
        self.timeout_s = timeout_s
        self._client_id = client_id
        self._connections: dict[Address, Connection] = {}
        self._brokers: dict[int, MetadataResponseBroker] | None = None
        self._controller_id = -1

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; the next question opens new ones."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    # Where to ask.

    def any(self) -> Connection:
        """A connection to some broker: an open one, else the first of the bootstrap list that answers.

        Raises:
            Unreachable: none does.
        """
        for connection in self._connections.values():
            return connection
        reasons: list[Unreachable] = []
        for address in self.bootstrap:
            try:
                return self._connect(address)
            except Unreachable as error:
                reasons.append(error)
        if len(reasons) == 1:
            raise reasons[0]
        raise NotConnected("; ".join(map(str, reasons)))

    def node(self, node_id: int) -> Connection:
        """A connection to one broker.

        Raises:
            ClientError: the cluster has no live broker of that id.
            Unreachable: it does not answer.
        """
        broker = self.brokers().get(node_id) or self.brokers(refresh=True).get(node_id)
        if broker is None:
            known = ", ".join(str(known) for known in sorted(self.brokers())) or "none"
            raise ClientError(f"there is no broker {node_id} in the cluster (brokers: {known})")
        address = Address(broker.host, broker.port)
        try:
            return self._connect(address)
        except NotConnected as error:
            if address in self.bootstrap:
                raise
            raise NotConnected(f"{error}, where broker {node_id} says to be (advertised.listeners)") from None

    def controller(self) -> Connection:
        """Where changes are sent: the controller, or the broker that KRaft names in its place."""
        if self._brokers is None or self._controller_id not in self._brokers:
            self.metadata([])
        if self._controller_id < 0:
            return self.any()
        try:
            return self.node(self._controller_id)
        except NotConnected:
            # Dead, and no other one is elected yet; where brokers name a controller, any of them passes on.
            return self.any()

    def coordinator(self, key: str, kind: int = GROUP) -> Connection:
        """A connection to the coordinator of a group or transactional id.

        Raises:
            ApiError: there is none.
        """
        return self._connect(self._find_coordinator(key, kind))

    def brokers(self, *, refresh: bool = False) -> dict[int, MetadataResponseBroker]:
        """The live brokers by id."""
        if self._brokers is None or refresh:
            self.metadata([])
        assert self._brokers is not None
        return self._brokers

    # Questions.

    def metadata(self, topics: Iterable[str] | None = None) -> MetadataResponse:
        """Ask for brokers and topics (None: all topics); never creates one."""
        asked = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        answer = self.ask(request, MetadataResponse)
        check(answer.error_code)
        self._brokers = {broker.node_id: broker for broker in answer.brokers}
        self._controller_id = answer.controller_id
        return answer

    def ask(self, request: Message, response: type[R]) -> R:
        """Ask any broker; if an open connection turns out to be dead, another is tried once."""
        kept, deadline = bool(self._connections), monotonic() + self.timeout_s
        try:
            return self._ask_at(self.any(), request, response)
        except Unreachable:
            if not kept or monotonic() >= deadline:
                raise
        return self._ask_at(self.any(), request, response)

    def ask_node(self, node_id: int, request: Message, response: type[R]) -> R:
        """Ask one broker."""
        return self._ask_at(self.node(node_id), request, response)

    def ask_controller(self, request: Message, response: type[R], codes: Callable[[R], Iterable[int]]) -> R:
        """Ask the controller, again if it has moved.

        Args:
            codes: the error codes of an answer.
        """

        def attempt() -> R:
            return self._ask_at(self.controller(), request, response)

        def forget() -> None:
            self._brokers = None

        return self._retry(attempt, codes, _CONTROLLER_MOVED, forget)

    def ask_coordinator(
        self,
        key: str,
        request: Message | Callable[[Connection], tuple[Message, int]],
        response: type[R],
        codes: Callable[[R], Iterable[int]],
        kind: int = GROUP,
    ) -> R:
        """Ask the coordinator of `key`, again while it moves or loads.

        Args:
            request: or a function that makes request and version for the broker that was found.
            codes: the error codes of an answer.
        """

        def attempt() -> R:
            connection = self.coordinator(key, kind)
            if isinstance(request, Message):
                return self._ask_at(connection, request, response)
            message, version = request(connection)
            return self._ask_at(connection, message, response, version)

        return self._retry(attempt, codes, _COORDINATOR_MOVED, lambda: None)

    def leaders(self, partitions: Iterable[TopicPartition]) -> dict[int, list[TopicPartition]]:
        """Which broker leads which of these partitions.

        Raises:
            ApiError: a topic or partition does not exist or has no leader.
        """
        wanted = sorted(set(partitions))
        answer = self.metadata({tp.topic for tp in wanted})
        found: dict[TopicPartition, int] = {}
        for topic in answer.topics:
            check(topic.error_code, what=f"topic {topic.name}", needs="DESCRIBE", on=topic.name or "")
            for partition in topic.partitions:
                leader = -1 if partition.error_code else partition.leader_id
                found[TopicPartition(topic.name or "", partition.partition_index)] = leader
        by_leader: dict[int, list[TopicPartition]] = {}
        for tp in wanted:
            if tp not in found:
                check(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, what=str(tp))
            if found[tp] < 0:
                check(ErrorCode.LEADER_NOT_AVAILABLE, "the partition has no leader", str(tp))
            by_leader.setdefault(found[tp], []).append(tp)
        return by_leader

    def ask_leaders(
        self,
        partitions: Iterable[TopicPartition],
        request: Callable[[dict[str, list[int]]], Message],
        response: type[R],
        results: Callable[[R], Iterable[tuple[TopicPartition, int, V]]],
        *,
        newest_version: int | None = None,
    ) -> dict[TopicPartition, V]:
        """Ask the leader of each partition, once per broker; again for those whose leader has moved.

        Args:
            request: makes the request for some partitions, given by topic.
            results: partition, error code and result of each partition in an answer.
            newest_version: of the request; None: the newest that both sides know.

        Returns:
            the last result of each partition, its error code not checked.

        Raises:
            ApiError: a topic or partition does not exist, or stays without a leader.
        """
        found: dict[TopicPartition, V] = {}
        waiting = set(partitions)
        deadline = monotonic() + self.timeout_s
        while waiting:
            last = monotonic() > deadline
            for leader, led in self._leaders_in_time(waiting, deadline).items():
                by_topic: dict[str, list[int]] = {}
                for tp in led:
                    by_topic.setdefault(tp.topic, []).append(tp.partition)
                connection = self.node(leader)
                message = request(by_topic)
                version = connection.version(message.API_KEY or 0, newest_version)
                for tp, code, result in results(self._ask_at(connection, message, response, version)):
                    found[tp] = result
                    if last or error_code(code) not in _LEADER_MOVED:
                        waiting.discard(tp)
                if last:
                    waiting.difference_update(led)
            if waiting:
                sleep(_PAUSE_S)
        return found

    # How it is done.

    def _leaders_in_time(
        self, partitions: Iterable[TopicPartition], deadline: float
    ) -> dict[int, list[TopicPartition]]:
        while True:
            try:
                return self.leaders(partitions)
            except ApiError as error:
                if error.code not in _LEADER_MISSING or monotonic() > deadline:
                    raise
            sleep(_PAUSE_S)

    def _connect(self, address: Address) -> Connection:
        connection = self._connections.get(address)
        if connection is None:
            connection = Connection(
                address, client_id=self._client_id, timeout_s=self.timeout_s, security=self._security
            )
            self._connections[address] = connection
        return connection

    def _ask_at(
        self, connection: Connection, request: Message, response: type[R], version: int | None = None
    ) -> R:
        try:
            return connection.ask(request, response, version=version)
        except Unreachable:
            self._connections.pop(connection.address, None)
            raise

    def _find_coordinator(self, key: str, kind: int) -> Address:
        def attempt() -> tuple[int, str | None, Address]:
            connection = self.any()
            if connection.version(ApiKey.FIND_COORDINATOR) >= 4:
                request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
                found = self.ask(request, FindCoordinatorResponse).coordinators[0]
                return found.error_code, found.error_message, Address(found.host, found.port)
            answer = self.ask(FindCoordinatorRequest(key=key, key_type=kind), FindCoordinatorResponse)
            return answer.error_code, answer.error_message, Address(answer.host, answer.port)

        code, message, address = self._retry(attempt, lambda a: [a[0]], _COORDINATOR_MOVED, lambda: None)
        check(code, message, f"coordinator of {key}", needs="DESCRIBE", on=key)
        return address

    def _retry(
        self,
        attempt: Callable[[], T],
        codes: Callable[[T], Iterable[int]],
        again: frozenset[ErrorCode],
        refresh: Callable[[], None],
    ) -> T:
        deadline = monotonic() + self.timeout_s
        while True:
            answer = attempt()
            if not any(error_code(code) in again for code in codes(answer)) or monotonic() > deadline:
                return answer
            refresh()
            sleep(_PAUSE_S)
