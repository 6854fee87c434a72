"""What differs between two images, for a node whose newer image did not come record by record.

A standby or broker that was away too long loads the leader's snapshot: an image without the way that led to
it. Its subscribers still need to hear what was created, changed and deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbroker.metadata.delta import ClusterDelta, TopicDelta
from kbroker.metadata.image import ClusterImage, TopicImage


def difference(old: ClusterImage, new: ClusterImage) -> ClusterDelta:
    """The change from `old` to `new`, as if its records had been replayed on `old`."""
    delta = ClusterDelta(old)
    for topic in old.topics:
        if new.topics.by_id(topic.id) is None:
            delta.deleted_topics[topic.id] = topic
            delta.topics[topic.id] = TopicDelta(topic, None, {})
    for topic in new.topics:
        before = old.topics.by_id(topic.id)
        if before != topic:
            delta.topics[topic.id] = _changed_topic(before, topic)
    delta.configs = _changed_keys(old.configs, new.configs)
    delta.brokers = _changed_keys(old.brokers, new.brokers)
    delta.controllers_changed = old.controllers != new.controllers
    delta.features_changed = old.features != new.features
    delta.quotas_changed = old.quotas != new.quotas
    delta.acls = _changed_keys(old.acls, new.acls)
    delta.acls_changed = bool(delta.acls)
    delta.scram_changed = old.scram != new.scram
    delta.tokens_changed = old.tokens != new.tokens
    return delta


def _changed_topic(old: TopicImage | None, new: TopicImage) -> TopicDelta:
    known = old.partitions if old is not None else ()
    changed = {
        index: partition
        for index, partition in enumerate(new.partitions)
        if index >= len(known) or known[index] != partition
    }
    return TopicDelta(old, new, changed)


def _changed_keys(old: Mapping[Any, Any], new: Mapping[Any, Any]) -> dict[Any, None]:
    """Keys that came, went or have another value: those of `old` first."""
    changed = {key: None for key, value in old.items() if new.get(key) != value}
    changed.update((key, None) for key, value in new.items() if key not in old)
    return changed
