"""What a node of the quorum says to the others: requests and their answers, pieces of log and snapshot."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kbroker.broker.deferred import Deferred
from kbroker.broker.metadata_files import MetadataFiles
from kbroker.broker.raft_log import RaftLog
from kbroker.broker.raft_snapshots import SnapshotTransfer
from kbroker.errors import ApiError, ErrorCode
from kbroker.plain import replace
from kbroker.raft.messages import (
    Answered,
    BarrierPassed,
    Effect,
    Event,
    PeerGone,
    ProbeVoter,
    Reply,
    Send,
    SendFailed,
    ServeFetch,
    ServeSnapshot,
    VoterProbed,
)
from kbroker.raft.node import RaftNode
from kbroker.raft.rpc import Request, Response
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter

_log = logging.getLogger(__name__)


class RaftTransport(Protocol):
    """The way to the other nodes of the quorum (broker/raft_peers.py)."""

    def send(
        self, to: int, endpoints: Sequence[QuorumEndpoint], request: Request, timeout_ms: int
    ) -> Deferred[Response]:
        """The answer; fails with any Exception where there is none."""
        ...

    def probe(self, voter: QuorumVoter, timeout_ms: int) -> Deferred[tuple[int, int]]:
        """The range of kraft.version that the node there supports; fails where it does not answer."""
        ...

    def watch(self, to: int, endpoints: Sequence[QuorumEndpoint], on_gone: Callable[[], None]) -> None:
        """Tell when the process there is gone; takes the place of the watch before. No endpoints: none."""
        ...


class RaftExchange:
    """Performs the effects that reach other nodes, or who asked this one.

    Args:
        node: knows where the others are.
        log, files: what followers are served from.
        transport: None in a quorum of one.
        request_timeout_ms: of each request.
        feed: takes what comes of it.
    """

    __slots__ = ("_feed", "_log", "_node", "_request_timeout_ms", "_snapshots", "_transport")

    def __init__(
        self,
        node: RaftNode,
        log: RaftLog,
        files: MetadataFiles,
        transport: RaftTransport | None,
        request_timeout_ms: int,
        feed: Callable[[Event], None],
    ) -> None:
        self._node = node
        self._log = log
        self._snapshots = SnapshotTransfer(files)
        self._transport = transport
        self._request_timeout_ms = request_timeout_ms
        self._feed = feed

    @property
    def is_alone(self) -> bool:
        """Whether there is no way to others."""
        return self._transport is None

    def performers(self) -> dict[type[Effect], Callable[[Any], None]]:
        """Who performs which effect."""
        return {
            Send: self.send,
            Reply: self.reply,
            ServeFetch: self.serve_fetch,
            ServeSnapshot: self.serve_snapshot,
            ProbeVoter: self.probe,
            BarrierPassed: self.passed,
        }

    def send(self, effect: Send) -> None:
        """Ask another node."""
        request, to = effect.request, effect.to
        if self._transport is None:
            self._feed(SendFailed(to, request))
            return
        endpoints = self._node.endpoints_of(to)
        answer = self._transport.send(to, endpoints, request, self._request_timeout_ms)
        answer.then(lambda done: self._answered(to, request, done))

    def _answered(self, to: int, request: Request, done: Deferred[Response]) -> None:
        try:
            response = done.result()
        except Exception as error:
            _log.debug("no answer from node %d to %s: %s", to, type(request).__name__, error)
            self._feed(SendFailed(to, request))
        else:
            self._feed(Answered(to, request, response))

    def probe(self, effect: ProbeVoter) -> None:
        """Ask a node which kraft.version it supports."""
        voter = effect.voter
        if self._transport is None:
            self._feed(VoterProbed(voter, None))
            return

        def probed(done: Deferred[tuple[int, int]]) -> None:
            try:
                self._feed(VoterProbed(voter, done.result()))
            except Exception as error:
                _log.debug("voter %d does not answer: %s", voter.id, error)
                self._feed(VoterProbed(voter, None))

        self._transport.probe(voter, self._request_timeout_ms).then(probed)

    def watch(self, leader: int) -> None:
        """Mind whether the leader's process is there; -1: nobody's."""
        if self._transport is not None:
            endpoints = self._node.endpoints_of(leader) if leader >= 0 else ()
            self._transport.watch(leader, endpoints, lambda: self._feed(PeerGone(leader)))

    def serve_fetch(self, effect: ServeFetch) -> None:
        """Answer with records of the log."""
        try:
            records = self._log.read(effect.offset, effect.end_offset)
        except (ApiError, OSError) as error:
            _log.error("cannot read the metadata log for a follower: %s", error)
            _resolve(effect.token, replace(effect.response, error=ErrorCode.KAFKA_STORAGE_ERROR))
        else:
            _resolve(effect.token, replace(effect.response, records=records))

    def serve_snapshot(self, effect: ServeSnapshot) -> None:
        """Answer with a piece of a snapshot; may raise OSError."""
        _resolve(effect.token, self._snapshots.serve(effect.request, effect.response))

    def reply(self, effect: Reply) -> None:
        """Answer who asked."""
        _resolve(effect.token, effect.response)

    def passed(self, effect: BarrierPassed) -> None:
        """Tell who waited for a commit."""
        _resolve(effect.token, effect.high_watermark)


def _resolve(token: object, value: object) -> None:
    assert isinstance(token, Deferred)
    token.resolve(value)
