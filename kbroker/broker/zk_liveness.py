"""Who lives in a cluster in ZooKeeper, and what its controller decides of it.

A broker lives as long as its znode: that it is gone is known when its session ended, or at once where it
closed it. One that refuses connections is fenced before that (a suspect), and is back as soon as it answers.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from kbroker.controller.brokers import fence_broker, unfence_broker
from kbroker.controller.decision import Decision
from kbroker.controller.elections import PartitionRef, broker_back, elect_anew
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.register_broker_record import RegisterBrokerRecord

if TYPE_CHECKING:
    from kbroker.broker.zk_requests import Key
    from kbroker.controller.election_rules import ElectionRules
    from kbroker.metadata.image import ClusterImage
    from kbroker.metadata.records import MetadataRecord

_log = logging.getLogger(__name__)


class ZkLiveness:
    """See the module; for one term after the other.

    Args:
        rules: what elections obey.
    """

    def __init__(self, rules: ElectionRules) -> None:
        self._rules = rules
        #: Registered in that epoch, and fenced, as they refuse connections.
        self.suspects: set[tuple[int, int]] = set()
        #: What brokers have in log directories that have failed: they are not to lead it.
        self.offline: dict[int, set[Key]] = {}

    def begin(self) -> None:
        """A term begins, or ends: nothing is known."""
        self.suspects.clear()
        self.offline.clear()

    def is_suspect(self, broker_id: int, epoch: int) -> bool:
        """Whether it refuses connections in that epoch."""
        return (broker_id, epoch) in self.suspects

    def fence(self, image: ClusterImage, broker_id: int, epoch: int | None = None) -> Decision[None]:
        """It is gone, in that epoch if one is given."""
        broker = image.brokers.get(broker_id)
        if broker is None or broker.fenced or epoch not in (None, broker.epoch):
            return Decision(None)
        return fence_broker(image, broker_id, broker.epoch, self._rules)

    def unfence(self, image: ClusterImage, broker_id: int, epoch: int) -> Decision[None]:
        """It answers again."""
        broker = image.brokers.get(broker_id)
        if broker is None or not broker.fenced or broker.epoch != epoch:
            return Decision(None)
        _log.info("broker %d answers again", broker_id)
        unfenced = unfence_broker(image, broker_id, epoch, self._rules)
        return Decision(None, self._possible(unfenced.records), atomic=False)

    def without(self, image: ClusterImage, broker_id: int, partitions: Collection[Key]) -> Decision[None]:
        """Others lead these partitions, and the broker is in none of their ISRs."""
        held = [
            PartitionRef(topic, index)
            for topic_id, index in partitions
            if (topic := image.topics.by_id(topic_id)) is not None
            and index < len(topic.partitions)
            and (broker_id in topic.partitions[index].isr or topic.partitions[index].leader == broker_id)
        ]
        return Decision(None, elect_anew(image, self._rules, held, gone=broker_id), atomic=False)

    def join(self, image: ClusterImage, record: RegisterBrokerRecord) -> Decision[None]:
        """Its registration is there."""
        broker = image.brokers.get(record.broker_id)
        if broker is not None and broker.epoch == record.broker_epoch and not broker.fenced:
            return Decision(None)
        if self.is_suspect(record.broker_id, record.broker_epoch):
            return Decision(None)
        # What this life of it cannot lead it will say.
        self.offline.pop(record.broker_id, None)
        record.fenced = True
        known = image.apply([record])
        unfenced = unfence_broker(known, record.broker_id, record.broker_epoch, self._rules)
        return Decision(None, [record, *unfenced.records], atomic=False)

    def lead_again(self, image: ClusterImage, broker_id: int) -> Decision[None]:
        """It leads what it is to lead, where nobody does."""
        broker = image.brokers.get(broker_id)
        if broker is None or broker.fenced:
            return Decision(None)
        return Decision(None, self._possible(broker_back(image, self._rules, broker_id)), atomic=False)

    def _possible(self, records: Sequence[MetadataRecord]) -> list[MetadataRecord]:
        """Without the elections of leaders that have lost the partition's log directory."""
        return [
            each
            for each in records
            if not isinstance(each, PartitionChangeRecord)
            or (each.topic_id, each.partition_id) not in self.offline.get(each.leader, ())
        ]


def with_absent(image: ClusterImage) -> ClusterImage:
    """Also with those brokers that are gone and that partitions still count on: they are to be fenced."""
    absent: list[MetadataRecord] = [
        RegisterBrokerRecord(broker_id=each, broker_epoch=-1, fenced=False)
        for each in sorted(counted_on(image) - image.brokers.keys())
    ]
    return image.apply(absent)


def made_up(image: ClusterImage) -> set[int]:
    """Those that `with_absent` added."""
    return {broker.id for broker in image.brokers.values() if broker.epoch == -1}


def counted_on(image: ClusterImage) -> set[int]:
    """Brokers that lead, or are in sync."""
    return {
        each
        for topic in image.topics
        for partition in topic.partitions
        for each in (*partition.isr, partition.leader)
        if each >= 0
    }
