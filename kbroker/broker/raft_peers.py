"""Raft's way to other nodes over the peer port, and how their questions reach this node's core.

Fetches wait at the leader until there is something new: they have a channel of their own, so that no vote
waits behind one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from kbroker import __version__
from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import AS_CONTROLLER, PeerAddress, PeerError, PeerFailure, Peers, Watch
from kbroker.controller.features import kraft_version_refused
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.api_versions_request import ApiVersionsRequest
from kbroker.raft.rpc import (
    FetchRequest,
    FetchSnapshotRequest,
    Request,
    Response,
    UpgradeKraftVersion,
    VoterChangeResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.raft_driver import RaftDriver
    from kbroker.protocol.primitives import Message
    from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter
    from kbroker.raft.wire import RaftWire

_log = logging.getLogger(__name__)

_KRAFT_VERSION = "kraft.version"
#: So many other clusters are told of in the log.
_FOREIGN_TOLD = 10
_FOREIGN = ErrorCode.INCONSISTENT_CLUSTER_ID


def wire_of(cluster_id: str, listener: str) -> Callable[[], RaftWire]:
    """Kafka's messages of raft, imported with the first: a node that is alone has no use for them."""

    @cache
    def wire() -> RaftWire:
        from kbroker.raft.wire import RaftWire

        return RaftWire(cluster_id, listener)

    return wire


class RaftPeers:
    """`RaftTransport` with Kafka's requests.

    Args:
        peers: the other nodes.
        wire: of this cluster (`wire_of`).
        listener: the controller listener by which nodes reach each other.
        bootstrap: controller.quorum.bootstrap.servers.
    """

    def __init__(
        self, peers: Peers, wire: Callable[[], RaftWire], listener: str, bootstrap: Sequence[PeerAddress] = ()
    ) -> None:
        self._peers = peers
        self._wire = wire
        self._listener = listener
        self._bootstrap = bootstrap
        self._watch: Watch | None = None
        #: Why nodes were not reached at the last attempt.
        self.unreached: dict[PeerAddress, PeerError] = {}
        #: Told of a node that says that we belong to another cluster than it does.
        self.on_foreign: Callable[[PeerAddress], object] | None = None

    def send(
        self, to: int, endpoints: Sequence[QuorumEndpoint], request: Request, timeout_ms: int
    ) -> Deferred[Response]:
        """See `RaftTransport.send`."""
        answer: Deferred[Response] = Deferred()
        address = self._address(to, endpoints)
        if address is None:
            answer.fail(PeerError(PeerFailure.UNREACHABLE, detail=f"no address of node {to}"))
            return answer
        channel = "raft-fetch" if isinstance(request, FetchRequest | FetchSnapshotRequest) else "raft"

        def answered(done: Deferred[Any]) -> None:
            try:
                message = done.result()
                self.unreached.pop(address, None)
                if self.on_foreign and getattr(message, "error_code", 0) == _FOREIGN:
                    self.on_foreign(address)
                answer.resolve(self._wire().read_response(request, message))
            except PeerError as error:
                self.unreached[address] = error
                meaning = None
                if error.reason is PeerFailure.UNSUPPORTED_VERSION:
                    meaning = self._wire().unsupported(request)
                if meaning is not None:
                    answer.resolve(meaning)
                else:
                    answer.fail(error)
            except Exception as error:
                answer.fail(error)

        try:
            sent = self._peers.send(
                address, self._wire().request_message(request), timeout_ms=timeout_ms, channel=channel
            )
        except ValueError as error:
            answer.fail(error)
            return answer
        sent.then(answered)
        return answer

    def probe(self, voter: QuorumVoter, timeout_ms: int) -> Deferred[tuple[int, int]]:
        """See `RaftTransport.probe`."""
        address = self._address(voter.id, voter.endpoints)
        if address is None:
            nobody: Deferred[tuple[int, int]] = Deferred()
            nobody.fail(PeerError(PeerFailure.UNREACHABLE, detail=f"no address of node {voter.id}"))
            return nobody
        request = ApiVersionsRequest(client_software_name="kbroker", client_software_version=__version__)
        asked = self._peers.send(address, request, timeout_ms=timeout_ms, channel="raft")
        return asked.map(_kraft_versions)

    def watch(self, to: int, endpoints: Sequence[QuorumEndpoint], on_gone: Callable[[], None]) -> None:
        """See `RaftTransport.watch`."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        address = self._address(to, endpoints) if endpoints else None
        if address is not None:
            self._watch = self._peers.watch(address, on_gone)

    def _address(self, to: int, endpoints: Sequence[QuorumEndpoint]) -> PeerAddress | None:
        if to < 0:
            number = -1 - to
            return self._bootstrap[number] if number < len(self._bootstrap) else None
        if not endpoints:
            return None
        chosen = next((each for each in endpoints if each.name == self._listener), endpoints[0])
        return PeerAddress(to, chosen.host, chosen.port, AS_CONTROLLER)


def _kraft_versions(response: Any) -> tuple[int, int]:
    for feature in response.supported_features:
        if feature.name == _KRAFT_VERSION:
            return feature.min_version, feature.max_version
    return 0, 0


class QuorumService:
    """Answers the quorum's requests of peers and administrators, Kafka's messages by Kafka's messages."""

    __slots__ = ("_foreign", "_raft", "_wire")

    def __init__(self, raft: RaftDriver, wire: Callable[[], RaftWire]) -> None:
        self._raft = raft
        self._wire = wire
        #: Other clusters whose nodes have come here, as far as it was told in the log.
        self._foreign: set[str] = set()

    def answer(self, request: Message, listener: str) -> Deferred[Message]:
        """The response, for who came by that listener; fails with ApiError when this node stops."""
        from kbroker.raft.wire import RequestRefused

        try:
            asked = self._wire().read_request(request)
        except RequestRefused as refused:
            if getattr(refused.response, "error_code", 0) == _FOREIGN:
                self._tell_foreign(str(getattr(request, "cluster_id", "")))
            done: Deferred[Message] = Deferred()
            done.resolve(refused.response)
            return done
        answer = self._raft.ask(asked)
        return answer.map(lambda response: self._wire().response_message(request, response, listener))

    def _tell_foreign(self, cluster: str) -> None:
        if cluster not in self._foreign and len(self._foreign) < _FOREIGN_TOLD:
            self._foreign.add(cluster)
            _log.warning("a node of cluster %.40r asks here, and is refused", cluster)

    @property
    def static_voters(self) -> list[int]:
        """The ids of controller.quorum.voters; none once the voters are in the log (kraft.version 1)."""
        node = self._raft.node
        return [] if node.rules.kraft_version else [voter.id for voter in node.voters]

    def upgrade(self, level: int, validate_only: bool) -> Deferred[None]:
        """Finalize that level of kraft.version (KIP-853).

        Fails with ApiError: INVALID_UPDATE_VERSION, not all voters support it; NOT_CONTROLLER;
        REQUEST_TIMED_OUT, it may still be committed.
        """

        def answered(response: Response) -> None:
            assert isinstance(response, VoterChangeResponse)
            if response.error is ErrorCode.INVALID_UPDATE_VERSION:
                raise kraft_version_refused(level, response.message or "")
            if response.error is ErrorCode.NOT_LEADER_OR_FOLLOWER:
                raise ApiError(ErrorCode.NOT_CONTROLLER)
            if response.error is not ErrorCode.NONE:
                raise ApiError(response.error, response.message)

        return self._raft.ask(UpgradeKraftVersion(level, validate_only)).map(answered)
