"""What a node's settings say of its part in the metadata quorum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.kraft_node import KraftSetup
from kbroker.broker.peer import AS_CONTROLLER, PeerAddress
from kbroker.config.quorum import migrates
from kbroker.raft.snapshot import SnapshotPolicy
from kbroker.raft.timeouts import RaftTimeouts
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter
from kbroker.server.node_sockets import endpoints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kbroker.config.broker_config import BrokerConfig
    from kbroker.config.quorum import QuorumConfig
    from kbroker.server.node_sockets import NodeSockets
    from kbroker.types import Uuid


def kraft_setup(
    config: BrokerConfig,
    quorum: QuorumConfig,
    sockets: NodeSockets,
    *,
    cluster_id: str,
    incarnation_id: Uuid,
    directory_id: Uuid,
    log_dir_ids: Sequence[Uuid],
    random: Callable[[int], int],
) -> KraftSetup:
    """Who the node is and how it keeps its metadata; the arguments are KraftSetup's."""
    return KraftSetup(
        node_id=config.node_id,
        cluster_id=cluster_id,
        incarnation_id=incarnation_id,
        broker_endpoints=endpoints(sockets.clients),
        controller_endpoints=endpoints(sockets.controllers),
        is_broker=quorum.is_broker,
        is_controller=quorum.is_controller,
        directory_id=directory_id,
        bootstrap_controllers=[PeerAddress(-1, *at, AS_CONTROLLER) for at in quorum.bootstrap],
        timeouts=_raft_timeouts(config),
        random=random,
        auto_join=config.get_bool("controller.quorum.auto.join.enable"),
        migrates=quorum.is_controller and migrates(config),
        rack=config.get_str("broker.rack") or None,
        log_dir_ids=log_dir_ids,
        static_voters=_static_voters(quorum),
        snapshots=SnapshotPolicy(
            config.get_int("metadata.log.max.record.bytes.between.snapshots"),
            config.get_int("metadata.log.max.snapshot.interval.ms"),
            config.get_int("metadata.max.retention.bytes"),
            config.get_int("metadata.max.retention.ms"),
        ),
        min_insync_replicas=config.static_int("min.insync.replicas"),
        wait_for_disk=config.get_bool("kbroker.metadata.fsync"),
        segment_bytes=config.get_int("metadata.log.segment.bytes"),
        segment_ms=config.get_int("metadata.log.segment.ms"),
    )


def _raft_timeouts(config: BrokerConfig) -> RaftTimeouts:
    setting = config.get_int
    fetch_ms = setting("controller.quorum.fetch.timeout.ms")
    return RaftTimeouts(
        election_ms=setting("controller.quorum.election.timeout.ms"),
        fetch_ms=fetch_ms,
        # A fetch that a leader keeps as long as its follower has patience looks like a dead leader.
        fetch_wait_ms=min(RaftTimeouts().fetch_wait_ms, fetch_ms // 4),
        backoff_max_ms=setting("controller.quorum.election.backoff.max.ms"),
        request_ms=setting("controller.quorum.request.timeout.ms"),
        retry_ms=setting("controller.quorum.retry.backoff.ms"),
    )


def _static_voters(quorum: QuorumConfig) -> list[QuorumVoter]:
    listener = quorum.controller_listener
    return [
        QuorumVoter(voter.id, endpoints=(QuorumEndpoint(listener, voter.host, voter.port),))
        for voter in quorum.voters
    ]
