"""How a KRaft controller takes over a cluster in ZooKeeper (KIP-866): which step is next, from what is known.

| phase | does | until |
|---|---|---|
| UNINITIALIZED | waits for a session | ZooKeeper is reached |
| INACTIVE | nothing: another controller leads, or there is nothing to migrate | |
| WAIT_FOR_CONTROLLER_QUORUM | nothing | every controller of the quorum is set up to migrate |
| WAIT_FOR_BROKERS | looks who is registered in ZooKeeper, and has replicas | they have registered here |
| BECOME_CONTROLLER | takes `/controller` | it is this node's, in a new epoch |
| ZK_MIGRATION | copies all of the tree into the log | the copy is committed |
| SYNC_KRAFT_TO_ZK | writes what the log says and the tree does not | it is written |
| KRAFT_CONTROLLER_TO_BROKER_COMM | tells brokers in ZooKeeper's mode all there is | it is under way |
| DUAL_WRITE | writes each commit to ZooKeeper, then tells these brokers | this node leads no more |

Nothing is remembered but in the log (`zk_migration_state`) and in ZooKeeper: whoever leads next begins with
the same facts. Only with the first claim anything changes in ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum

from kbroker.controller.brokers import CONTROLLER_LEVEL
from kbroker.controller.kraft.migration import MIGRATION_LEVELS
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.cluster_znodes import MigrationZnode
from kbroker.controller.zookeeper.node_znodes import ControllerZnode
from kbroker.controller.zookeeper.tree import Create, Delete, SetData, ZkOp
from kbroker.controller.zookeeper.writing import Claim
from kbroker.metadata.image import BEFORE_MIGRATION, MIGRATED, MIGRATING, NOT_MIGRATED, ClusterImage
from kbroker.plain import plain

#: Of a migration that has written nothing.
NO_PROGRESS = MigrationZnode(-1, -1, -1, -1)


class Phase(Enum):
    """As Kafka names them."""

    UNINITIALIZED = "ZooKeeper is not reached"
    INACTIVE = "this node does not migrate"
    WAIT_FOR_CONTROLLER_QUORUM = "waiting for the quorum's controllers"
    WAIT_FOR_BROKERS = "waiting for brokers to register with the quorum"
    BECOME_CONTROLLER = "taking over from ZooKeeper's controller"
    ZK_MIGRATION = "copying what is in ZooKeeper"
    SYNC_KRAFT_TO_ZK = "writing to ZooKeeper what it lacks"
    KRAFT_CONTROLLER_TO_BROKER_COMM = "telling brokers in ZooKeeper's mode everything"
    DUAL_WRITE = "writing everything to ZooKeeper, too"


@plain(frozen=True)
class Facts:
    """What a controller knows.

    Attributes:
        is_reached: there is a session.
        leads: this node leads the quorum, in `epoch`.
        image: the cluster as committed in the log.
        voters: the controllers of the quorum.
        cluster_id: in ZooKeeper; None: not read yet.
        controller: who is ZooKeeper's controller; None: nobody, or not read yet.
        has_epoch: there is a `/controller_epoch`: without one there never was a controller.
        progress: `/migration`; None: there was none.
        is_read: cluster_id, controller, has_epoch and progress were.
        brokers: who is registered in ZooKeeper; None: not read yet.
        assigned: who has replicas; None: not read yet.
        problems: of znodes that make no sense.
        claim: `/controller` is this node's.
        is_synced, is_told: all that was committed is in ZooKeeper; and is told to brokers.
    """

    image: ClusterImage
    node_id: int = -1
    epoch: int = -1
    is_reached: bool = False
    leads: bool = False
    voters: Collection[int] = ()
    is_read: bool = False
    cluster_id: str | None = None
    controller: ControllerZnode | None = None
    has_epoch: bool = False
    progress: MigrationZnode | None = None
    brokers: Collection[int] | None = None
    assigned: Collection[int] | None = None
    problems: Sequence[str] = ()
    claim: Claim | None = None
    is_synced: bool = False
    is_told: bool = False


def decide(facts: Facts) -> tuple[Phase, str]:
    """The phase, and what it waits for or why it goes no further; empty: it goes on by itself."""
    state = facts.image.zk_migration_state
    if not facts.leads:
        return Phase.INACTIVE, ""
    if not facts.image.metadata_version:
        return Phase.INACTIVE, "the quorum's log has no records yet"
    if state == NOT_MIGRATED:
        return Phase.INACTIVE, "the cluster was created in KRaft mode"
    if state == MIGRATED:
        return Phase.INACTIVE, "the migration is completed: zookeeper.metadata.migration.enable has no effect"
    if not facts.is_reached or not facts.is_read:
        return Phase.UNINITIALIZED, ""
    if facts.claim is None:
        return _before_claim(facts)
    if state == BEFORE_MIGRATION:
        return Phase.ZK_MIGRATION, ""
    if not facts.is_synced:
        return Phase.SYNC_KRAFT_TO_ZK, ""
    if not facts.is_told:
        return Phase.KRAFT_CONTROLLER_TO_BROKER_COMM, ""
    return Phase.DUAL_WRITE, ""


def _before_claim(facts: Facts) -> tuple[Phase, str]:
    if facts.cluster_id != facts.image.cluster_id:
        there = facts.cluster_id or "missing"
        return Phase.INACTIVE, f"ZooKeeper's cluster id is {there}, the quorum's is {facts.image.cluster_id}"
    if not facts.has_epoch:
        return Phase.WAIT_FOR_BROKERS, f"there is no {paths.CONTROLLER_EPOCH}: no broker was ever controller"
    holder = facts.controller
    if facts.image.zk_migration_state == MIGRATING:
        if facts.progress is None:
            return Phase.INACTIVE, f"there is no {paths.MIGRATION}: the migration was taken back"
        if holder is not None and holder.kraft_epoch < 0:
            return Phase.INACTIVE, f"broker {holder.broker_id} is controller: the migration was taken back"
    else:
        reason = quorum_not_ready(facts.image, facts.voters)
        if reason:
            return Phase.WAIT_FOR_CONTROLLER_QUORUM, reason
        reason = _brokers_missing(facts)
        if reason:
            return Phase.WAIT_FOR_BROKERS, reason
    if holder is not None and holder.kraft_epoch >= facts.epoch and holder.broker_id != facts.node_id:
        return (
            Phase.BECOME_CONTROLLER,
            f"controller {holder.broker_id} of the quorum's epoch {holder.kraft_epoch} has taken over",
        )
    return Phase.BECOME_CONTROLLER, ""


def quorum_not_ready(image: ClusterImage, voters: Collection[int]) -> str:
    """Why the quorum cannot begin; empty: it can."""
    if image.metadata_version not in MIGRATION_LEVELS:
        return f"metadata.version {image.metadata_version} does not support migrations"
    for voter in sorted(voters) if image.metadata_version >= CONTROLLER_LEVEL else ():
        controller = image.controllers.get(voter)
        if controller is None:
            return f"controller {voter} has not registered"
        if not controller.zk_migration_ready:
            return f"controller {voter} has not enabled zookeeper.metadata.migration.enable"
    return ""


def missing_brokers(image: ClusterImage, brokers: Collection[int] | None) -> list[int]:
    """Those that have not registered with the quorum as brokers of ZooKeeper."""
    registered = {each.id for each in image.brokers.values() if each.is_migrating_zk_broker}
    return sorted(set(brokers or ()) - registered)


def _brokers_missing(facts: Facts) -> str:
    if not facts.brokers:
        return "no broker is registered in ZooKeeper"
    missing = missing_brokers(facts.image, facts.brokers)
    if missing:
        return f"brokers {_list(missing)} are registered in ZooKeeper, and not with the quorum"
    if facts.assigned is None:
        return "reading who has replicas"
    missing = missing_brokers(facts.image, facts.assigned)
    if missing:
        return f"brokers {_list(missing)} have replicas, and are not registered with the quorum"
    if facts.problems:
        return f"what makes no sense cannot be copied: {facts.problems[0]}"
    return ""


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def claim_operations(
    facts: Facts, now_ms: int, held_version: int | None, epoch: int, epoch_version: int
) -> tuple[Claim, list[ZkOp]]:
    """The transaction that makes this node ZooKeeper's controller, after one of `epoch`, and its claim.

    `/controller` is no ephemeral znode: it outlives sessions, and whoever takes a migration back deletes it.

    Args:
        held_version: of `/controller`; None: nobody holds it.
    """
    ops: list[ZkOp] = [SetData(paths.CONTROLLER_EPOCH, str(epoch + 1).encode(), epoch_version)]
    if held_version is not None:
        ops.append(Delete(paths.CONTROLLER, held_version))
    ops.append(Create(paths.CONTROLLER, ControllerZnode(facts.node_id, now_ms, facts.epoch).encode()))
    known = facts.progress
    progress = (known or NO_PROGRESS)._replace(controller_id=facts.node_id, controller_epoch=facts.epoch)
    data = progress.encode()
    ops.append(Create(paths.MIGRATION, data) if known is None else SetData(paths.MIGRATION, data))
    return Claim(epoch + 1, epoch_version + 1), ops
