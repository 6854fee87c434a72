"""Topics, and states of partitions, that somebody took out of ZooKeeper by hand.

What was not deleted by a decision nobody wanted to lose: brokers lead and copy it no more, and keep their
logs. Where a topic is put back with its id, leaders go on with it, also without the states: the controller
that saw it go remembers them. Whatever is put back is led in a new epoch: brokers may have heard of the last
one, which the znodes' versions do not go on from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbroker.controller.decision import Decision
from kbroker.plain import replace
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord

if TYPE_CHECKING:
    from kbroker.metadata.image import ClusterImage, PartitionImage, TopicImage
    from kbroker.metadata.records import MetadataRecord
    from kbroker.types import TopicPartition, Uuid


class Vanished:
    """What this node, as the controller, has seen go."""

    def __init__(self) -> None:
        self._topics: dict[Uuid, TopicImage] = {}
        #: It was decided to delete these, and is not known yet whether that was written.
        self._deciding: set[Uuid] = set()
        #: Partitions that are there again, as they were; until they are led in a later epoch.
        self.formers: dict[tuple[Uuid, int], PartitionImage] = {}

    def __contains__(self, topic_id: object) -> bool:
        """Whether the topic is gone, and was not deleted."""
        return topic_id in self._topics

    def undecided(self, committed: ClusterImage, decided: ClusterImage) -> None:
        """What was decided is not known to be true: it has to be read."""
        if committed.topics is not decided.topics:
            self._deciding.update(
                each.id for each in committed.topics if decided.topics.by_id(each.id) is None
            )

    def compare(
        self, before: ClusterImage, now: ClusterImage, unborn: Sequence[TopicPartition]
    ) -> list[TopicImage]:
        """The cluster was read; the topics that have vanished since it was known as `before`.

        Args:
            unborn: partitions without a state.
        """
        gone = [
            each
            for each in before.topics
            if now.topics.by_id(each.id) is None and each.id not in self._deciding
        ]
        self._deciding.clear()
        for tp in unborn:
            topic = now.topics.get(tp.topic)
            if topic is not None:
                self._remember(before.topics.by_id(topic.id), tp.partition)
        for topic_id in [each for each in self._topics if now.topics.by_id(each) is not None]:
            topic = self._topics.pop(topic_id)
            for index in range(len(topic.partitions)):
                self._remember(topic, index)
        self.formers = {key: each for key, each in self.formers.items() if _is_behind(now, key, each)}
        self._topics.update({each.id: each for each in gone})
        return gone

    def _remember(self, topic: TopicImage | None, index: int) -> None:
        if topic is not None and index < len(topic.partitions) and topic.partitions[index].leader_epoch >= 0:
            self.formers[topic.id, index] = topic.partitions[index]

    def with_formers(self, image: ClusterImage) -> ClusterImage:
        """The same, where the leader epochs of what is there again go on from the former ones."""
        changed: dict[Uuid, TopicImage] = {}
        for (topic_id, index), former in self.formers.items():
            topic = changed.get(topic_id) or image.topics.by_id(topic_id)
            if topic is not None:
                partitions = list(topic.partitions)
                partitions[index] = partitions[index]._replace(leader_epoch=former.leader_epoch)
                changed[topic_id] = topic._replace(partitions=tuple(partitions))
        topics = image.topics.changed([], list(changed.values()))
        return image if topics is image.topics else replace(image, topics=topics)

    def led_anew(self, image: ClusterImage) -> Decision[None]:
        """What is there again with a state is led in a later epoch. (What has none is born.)"""
        records: list[MetadataRecord] = []
        for (topic_id, index), former in self.formers.items():
            topic = image.topics.by_id(topic_id)
            state = None if topic is None else topic.partitions[index]
            if (
                state is not None
                and state.partition_epoch >= 0
                and _is_behind(image, (topic_id, index), former)
            ):
                change = PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=state.leader)
                records.append(change)
        return Decision(None, records, atomic=False)


def _is_behind(image: ClusterImage, key: tuple[Uuid, int], former: PartitionImage) -> bool:
    """Whether it is there, and not in a later epoch."""
    topic = image.topics.by_id(key[0])
    if topic is None or key[1] >= len(topic.partitions):
        return False
    return topic.partitions[key[1]].leader_epoch <= former.leader_epoch
