"""Logs that the cluster does not know are kept, out of the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.metadata.image import ClusterImage
    from kbroker.storage.log_manager import LogManager


def set_strays_aside(logs: LogManager, image: ClusterImage) -> None:
    """Set aside what belongs to topics that `image` does not have (any more)."""
    for tp, log in list(logs.logs.items()):
        # Without an id its partition.metadata is lost or damaged: the name has to do.
        named = log.topic_id == ZERO_UUID
        topic = image.topics.get(tp.topic) if named else image.topics.by_id(log.topic_id)
        if topic is None or topic.name != tp.topic or tp.partition >= len(topic.partitions):
            logs.set_aside(tp)
