"""Topics, and states of partitions, that somebody took out of ZooKeeper by hand.

What was not deleted by a decision nobody wanted to lose: brokers lead and copy it no more, and keep their
logs. Where a topic is put back with its id, leaders go on with it, also without the states: the controller
that saw it go remembers them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbroker.plain import replace

if TYPE_CHECKING:
    from kbroker.metadata.image import ClusterImage, PartitionImage, TopicImage
    from kbroker.types import TopicPartition, Uuid


class Vanished:
    """What this node, as the controller, has seen go."""

    def __init__(self) -> None:
        self._topics: dict[Uuid, TopicImage] = {}
        #: It was decided to delete these, and is not known yet whether that was written.
        self._deciding: set[Uuid] = set()
        #: Partitions that are there again without a state, as they were.
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
                self._remember(before.topics.by_id(topic.id) or self._topics.get(topic.id), tp.partition)
        self._topics.update({each.id: each for each in gone})
        self._topics = {key: each for key, each in self._topics.items() if now.topics.by_id(key) is None}
        return gone

    def _remember(self, topic: TopicImage | None, index: int) -> None:
        if topic is not None and index < len(topic.partitions) and topic.partitions[index].leader_epoch >= 0:
            self.formers[topic.id, index] = topic.partitions[index]

    def with_formers(self, image: ClusterImage, unborn: Sequence[TopicPartition]) -> ClusterImage:
        """The same, where the leader epochs of what has no state go on from the former ones."""
        changed: dict[Uuid, TopicImage] = {}
        for tp in unborn:
            topic = image.topics.get(tp.topic)
            former = None if topic is None else self.formers.get((topic.id, tp.partition))
            if topic is not None and former is not None:
                topic = changed.get(topic.id, topic)
                partitions = list(topic.partitions)
                partitions[tp.partition] = partitions[tp.partition]._replace(leader_epoch=former.leader_epoch)
                changed[topic.id] = topic._replace(partitions=tuple(partitions))
        topics = image.topics.changed([], list(changed.values()))
        return image if topics is image.topics else replace(image, topics=topics)
