"""One partition's change: who leads, who is in sync, who is eligible, and where its replicas are.

Every change of a partition goes through `change_partition`, whatever caused it (a broker came or went, the
leader's AlterPartition, a reassignment, an election), so that the rules of KIP-455 (reassignment), KIP-841
(fenced brokers), KIP-858 (directories) and KIP-966 (eligible leader replicas) hold together:

1. A reassignment is complete once all added replicas are in sync; one to fewer replicas, once all that stay
   are. Then the removed ones go.
2. Who leaves the ISR while it is below min.insync.replicas stays eligible: it has all committed records.
3. The leader is kept if it still may lead; else the first in preferred order that is in the ISR, or in the
   ELR where the ISR is empty; else, where both are empty, the last known leader; else, only where that is
   allowed, any live replica.
4. A leader from the ELR starts with an ISR of itself, one that may lack records also as RECOVERING.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum

from kbroker.controller.election_rules import ElectionRules, elr_enabled
from kbroker.controller.partitions import DIRECTORY_LEVEL, default_directory
from kbroker.metadata.image import (
    DIRECTORY_MIGRATING,
    NO_LEADER,
    RECOVERING,
    ClusterImage,
    PartitionImage,
    TopicImage,
)
from kbroker.plain import made, plain
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.types import Uuid

#: `metadata.version` from which an unclean leader is marked (3.2-IV0), and from which a smaller ISR needs no
#: new leader epoch (3.6-IV0).
_RECOVERY_LEVEL = 3
_NO_EPOCH_FOR_SHRINK_LEVEL = 12
#: In PartitionChangeRecord: the leader stays, without a new epoch.
LEADER_UNCHANGED = -2


class Election(Enum):
    """How a leader is looked for."""

    CLEAN = "clean"
    """The present one, else one that has all committed records."""
    PREFERRED = "preferred"
    """The first replica, if it may; else as CLEAN."""
    UNCLEAN = "unclean"
    """As CLEAN, and if there is none, any replica that is alive."""


@plain()
class Wanted:
    """What is to become of a partition; None where it stays.

    Attributes:
        lost: replicas that came back without a clean shutdown: they may lack committed records, so they
            are not eligible any more.
        directories: the log directories of some replicas.
    """

    isr: Sequence[int] | None = None
    replicas: Sequence[int] | None = None
    adding: Sequence[int] | None = None
    removing: Sequence[int] | None = None
    recovery_state: int | None = None
    lost: Collection[int] = ()
    directories: Mapping[int, Uuid] = made(default_factory=dict)
    election: Election = Election.CLEAN


def may_lead_now(image: ClusterImage, partition: PartitionImage, replica: int) -> bool:
    """Whether a replica is alive, and its log directory with it.

    One that nobody tells anything may go on to lead, but would not begin to.
    """
    broker = image.brokers.get(replica)
    if broker is None or not broker.active:
        return False
    if partition.leader != replica and image.is_left_behind(replica):
        return False
    directory = partition.directory_of(replica)
    return directory is None or broker.has_online(directory)


class _Draft:
    """A partition on its way from one state to the next."""

    def __init__(
        self,
        image: ClusterImage,
        rules: ElectionRules,
        topic: TopicImage,
        partition: PartitionImage,
        wanted: Wanted,
        may_lead: Callable[[int], bool],
    ) -> None:
        def or_now(value: Sequence[int] | None, now: tuple[int, ...]) -> tuple[int, ...]:
            return now if value is None else tuple(value)

        self.image = image
        self.old = partition
        self.wanted = wanted
        self.may_lead = may_lead
        self.elr_enabled = elr_enabled(image)
        self.isr = or_now(wanted.isr, partition.isr)
        self.replicas = or_now(wanted.replicas, partition.replicas)
        self.adding = or_now(wanted.adding, partition.adding_replicas)
        self.removing = or_now(wanted.removing, partition.removing_replicas)
        self.elr = partition.elr
        self.leader = partition.leader
        self.unclean = False
        self._complete_reassignment()
        self._update_eligible(rules.min_isr(image, topic.name, len(self.replicas)))
        self._elect()
        if not self.isr and not self.elr_enabled:
            # Somebody has to stay: only the last one in sync surely has all committed records.
            self.isr = partition.isr

    def _complete_reassignment(self) -> None:
        if not self.adding and not self.removing:
            return
        replicas = tuple(replica for replica in self.replicas if replica not in self.removing)
        isr = tuple(replica for replica in self.isr if replica not in self.removing)
        # Who is added and to be removed was added by a reassignment that was changed on the way.
        added = set(self.adding) - set(self.removing)
        needed = added if len(added) >= len(set(self.removing) - set(self.adding)) else set(replicas)
        if replicas and isr and needed <= set(isr):
            self.replicas, self.isr = replicas, isr
            self.adding = self.removing = ()

    def _update_eligible(self, min_isr: int) -> None:
        """KIP-966: who has all committed records without being in sync.

        The high watermark only moves while the ISR has `min_isr` members; so whoever was in it when it
        became smaller misses nothing that was committed since.
        """
        if not self.elr_enabled:
            # What was kept before the feature was given up still tells who has everything.
            self.elr = () if self.isr or self.old.isr else self.old.elr
            return
        if len(self.isr) >= min_isr:
            self.elr = ()
            return
        candidates = sorted({*self.old.elr, *self.old.isr})
        self.elr = tuple(
            replica
            for replica in candidates
            if replica not in self.isr and replica not in self.wanted.lost and replica in self.replicas
        )

    def _elect(self) -> None:
        leader = self._clean_leader()
        if leader == NO_LEADER:
            leader = self._leader_with_loss()
            self.unclean = leader != NO_LEADER
        self.leader = leader
        if leader in (NO_LEADER, self.old.leader):
            self.unclean = False
        elif self.unclean:
            self.isr, self.elr = (leader,), ()
        elif leader not in self.isr:
            self.isr = (leader,)
            # It may be all that a reassignment waited for; nobody would change this partition again.
            self._complete_reassignment()
            self.elr = tuple(r for r in self.elr if r != leader and r in self.replicas)

    def _clean_leader(self) -> int:
        if self.wanted.election is Election.PREFERRED and self._valid(self.replicas[0]):
            return self.replicas[0]
        if self._valid(self.old.leader):
            return self.old.leader
        return next((replica for replica in self.replicas if self._valid(replica)), NO_LEADER)

    def _valid(self, replica: int) -> bool:
        eligible = replica in self.isr if self.isr else replica in self.elr
        return eligible and self.may_lead(replica)

    def _leader_with_loss(self) -> int:
        known = [replica for replica in self.old.last_known_elr if replica in self.replicas]
        if self.elr_enabled and not self.isr and not self.elr and len(known) == 1 and self.may_lead(known[0]):
            return known[0]
        if self.wanted.election is Election.UNCLEAN:
            return next((replica for replica in self.replicas if self.may_lead(replica)), NO_LEADER)
        return NO_LEADER

    def last_known(self) -> tuple[int, ...]:
        """Who led last, while nobody is in sync."""
        old = self.old
        if not self.elr_enabled:
            return old.last_known_elr
        if not self.isr:
            # Kept from the time it lost its leader; only the first time tells who that was.
            last = old.last_known_elr if old.leader == NO_LEADER else (old.leader,)
            return tuple(replica for replica in last if replica in self.replicas)
        return () if self.leader != NO_LEADER else old.last_known_elr

    def needs_epoch(self, level: int) -> bool:
        """Whether the leader has to start a new epoch although it stays."""
        old = self.old
        if self.replicas != old.replicas and not set(old.replicas) <= set(self.replicas):
            return True
        return level < _NO_EPOCH_FOR_SHRINK_LEVEL and not set(old.isr) <= set(self.isr)

    def directories(self) -> tuple[Uuid, ...]:
        """The directories of the replicas, in their order."""
        known = {**dict(zip(self.old.replicas, self.old.directories)), **self.wanted.directories}
        brokers = self.image.brokers
        added = set(self.replicas) - set(self.old.replicas)
        return tuple(
            known.get(replica)
            or (default_directory(brokers.get(replica)) if replica in added else DIRECTORY_MIGRATING)
            for replica in self.replicas
        )


def change_partition(
    image: ClusterImage,
    rules: ElectionRules,
    topic: TopicImage,
    index: int,
    wanted: Wanted,
    may_lead: Callable[[int], bool] | None = None,
) -> PartitionChangeRecord | None:
    """The record that makes of a partition what is wanted, with all that follows from it; None: nothing.

    Args:
        may_lead: who is alive, where that is not yet what the image says.
    """
    old = topic.partitions[index]
    draft = _Draft(
        image,
        rules,
        topic,
        old,
        wanted,
        may_lead or (lambda replica: may_lead_now(image, old, replica)),
    )
    record = PartitionChangeRecord(partition_id=index, topic_id=topic.id)
    changed = False
    if draft.leader != old.leader:
        record.leader, changed = draft.leader, True
    elif old.leader != NO_LEADER and draft.needs_epoch(image.metadata_version):
        record.leader, changed = old.leader, True
    if draft.isr != old.isr or draft.unclean:
        record.isr, changed = list(draft.isr), True
    if draft.elr != old.elr:
        record.eligible_leader_replicas, changed = list(draft.elr), True
    last_known = draft.last_known()
    if last_known != old.last_known_elr:
        record.last_known_elr, changed = list(last_known), True
    changed |= _add_recovery(record, image, draft)
    changed |= _add_assignment(record, image, draft)
    return record if changed else None


def _add_recovery(record: PartitionChangeRecord, image: ClusterImage, draft: _Draft) -> bool:
    state = draft.wanted.recovery_state
    if draft.unclean and image.metadata_version >= _RECOVERY_LEVEL:
        state = RECOVERING
    if state is None or state == draft.old.leader_recovery_state:
        return False
    record.leader_recovery_state = state
    return True


def _add_assignment(record: PartitionChangeRecord, image: ClusterImage, draft: _Draft) -> bool:
    old, changed = draft.old, False
    if draft.replicas != old.replicas:
        record.replicas, changed = list(draft.replicas), True
    if draft.adding != old.adding_replicas:
        record.adding_replicas, changed = list(draft.adding), True
    if draft.removing != old.removing_replicas:
        record.removing_replicas, changed = list(draft.removing), True
    asked = record.replicas is not None or draft.wanted.directories
    if asked and image.metadata_version >= DIRECTORY_LEVEL:
        directories = draft.directories()
        if directories != old.directories:
            record.directories, changed = list(directories), True
    return changed
