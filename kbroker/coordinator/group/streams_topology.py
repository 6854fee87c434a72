"""The topics of a streams application: are they there, how many partitions must the internal ones have, which
of them are missing. All from the topology that its members tell and the cluster's topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.streams_group_heartbeat_request import Topology
from kbroker.protocol.generated.streams_group_topology_value import (
    CopartitionGroup,
    StreamsGroupTopologyValue,
    Subtopology,
    TopicConfig,
    TopicInfo,
)

#: Status codes of a group, as members hear them.
MISSING_SOURCE_TOPICS, INCORRECTLY_PARTITIONED_TOPICS, MISSING_INTERNAL_TOPICS = 1, 2, 3
SHUTDOWN_APPLICATION, ASSIGNMENT_DELAYED, MISSING_CLIENT_TAGS = 4, 5, 6

#: How many partitions a topic has; None: it does not exist.
Sizes = Callable[[str], "int | None"]


class InternalTopic(NamedTuple):
    """A topic that the broker is to create for the application."""

    name: str
    partitions: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...]


class Problem(NamedTuple):
    """Why the application cannot run yet."""

    code: int
    detail: str


class Configured(NamedTuple):
    """A topology with what the cluster's topics make of it.

    Args:
        tasks: subtopology to its number of tasks; empty while there is a problem.
        internal: the partitions of each internal topic; empty while there is a problem.
    """

    tasks: Mapping[str, int]
    internal: Mapping[str, int]
    problem: Problem | None = None
    missing: tuple[InternalTopic, ...] = ()


def recorded_topology(topology: Topology) -> StreamsGroupTopologyValue:
    """What a member tells, as it is kept."""
    return StreamsGroupTopologyValue(
        epoch=topology.epoch,
        subtopologies=[
            Subtopology(
                subtopology_id=each.subtopology_id,
                source_topics=each.source_topics,
                source_topic_regex=each.source_topic_regex,
                state_changelog_topics=_infos(each.state_changelog_topics),
                repartition_sink_topics=each.repartition_sink_topics,
                repartition_source_topics=_infos(each.repartition_source_topics),
                copartition_groups=[
                    CopartitionGroup(
                        source_topics=group.source_topics,
                        source_topic_regex=group.source_topic_regex,
                        repartition_source_topics=group.repartition_source_topics,
                    )
                    for group in each.copartition_groups
                ],
            )
            for each in sorted(topology.subtopologies, key=lambda each: each.subtopology_id)
        ],
    )


def _infos(topics: Iterable[Any]) -> list[TopicInfo]:
    return [
        TopicInfo(
            name=each.name,
            partitions=each.partitions,
            replication_factor=each.replication_factor,
            topic_configs=[TopicConfig(key=config.key, value=config.value) for config in each.topic_configs],
        )
        for each in topics
    ]


def required_topics(topology: StreamsGroupTopologyValue) -> set[str]:
    """Sources and internal topics."""
    found: set[str] = set()
    for each in topology.subtopologies:
        found.update(each.source_topics)
        found.update(topic.name for topic in each.repartition_source_topics)
        found.update(topic.name for topic in each.state_changelog_topics)
    return found


def input_topics(subtopology: Subtopology) -> list[str]:
    """What a subtopology reads."""
    return [*subtopology.source_topics, *(each.name for each in subtopology.repartition_source_topics)]


def configure(topology: StreamsGroupTopologyValue, sizes: Sizes) -> Configured:
    """Look at the topics.

    Raises:
        ApiError: STREAMS_INVALID_TOPOLOGY.
    """
    subtopologies = topology.subtopologies
    sources = {name for each in subtopologies for name in each.source_topics}
    missing = sorted(name for name in sources if sizes(name) is None)
    if missing:
        detail = f"Source topics {', '.join(missing)} are missing."
        return Configured({}, {}, Problem(MISSING_SOURCE_TOPICS, detail))
    counts = {name: sizes(name) or 0 for name in sources}
    repartition = {topic.name: topic for each in subtopologies for topic in each.repartition_source_topics}
    counts.update({name: topic.partitions for name, topic in repartition.items() if topic.partitions > 0})
    _count_repartitions(subtopologies, repartition, counts)
    for each in subtopologies:
        for group in each.copartition_groups:
            problem = _copartition(each, group, counts)
            if problem is not None:
                return Configured({}, {}, Problem(INCORRECTLY_PARTITIONED_TOPICS, problem))
    tasks = {
        each.subtopology_id: max((counts[name] for name in input_topics(each)), default=0)
        for each in subtopologies
    }
    wanted = [_internal(topic, counts[name]) for name, topic in sorted(repartition.items())]
    for each in subtopologies:
        size = tasks[each.subtopology_id]
        wanted += [_internal(topic, size) for topic in each.state_changelog_topics]
    return _compared(tasks, wanted, sizes)


def _compared(tasks: dict[str, int], wanted: list[InternalTopic], sizes: Sizes) -> Configured:
    for topic in wanted:
        size = sizes(topic.name)
        if size is not None and size != topic.partitions:
            detail = (
                f"Existing topic {topic.name} has different number of partitions: "
                f"expected {topic.partitions}, found {size}"
            )
            return Configured({}, {}, Problem(INCORRECTLY_PARTITIONED_TOPICS, detail))
    missing = sorted({topic for topic in wanted if sizes(topic.name) is None})
    if missing:
        detail = f"Internal topics are missing: {', '.join(topic.name for topic in missing)}"
        return Configured({}, {}, Problem(MISSING_INTERNAL_TOPICS, detail), tuple(missing))
    return Configured(tasks, {topic.name: topic.partitions for topic in wanted})


def _internal(topic: TopicInfo, partitions: int) -> InternalTopic:
    configs = tuple((config.key, config.value) for config in topic.topic_configs)
    return InternalTopic(topic.name, partitions, topic.replication_factor, configs)


def _count_repartitions(
    subtopologies: list[Subtopology], repartition: Mapping[str, TopicInfo], counts: dict[str, int]
) -> None:
    """A repartition topic without a number of its own has as many partitions as the largest topic that is
    read by those who write to it.
    """
    writers: dict[str, list[Subtopology]] = {}
    for each in subtopologies:
        for name in each.repartition_sink_topics:
            writers.setdefault(name, []).append(each)
    open_ = {name for name in repartition if name not in counts}
    whole = True  # first only those whose sources are all known; loops are cut where that leads nowhere
    while open_:
        found: dict[str, int] = {}
        for name in open_:
            read = {topic for writer in writers.get(name, ()) for topic in input_topics(writer)}
            known = [counts[topic] for topic in read if topic in counts]
            if known and (not whole or len(known) == len(read)):
                found[name] = max(known)
        if not found and not whole:
            raise ApiError(
                ErrorCode.STREAMS_INVALID_TOPOLOGY,
                "Failed to compute number of partitions for all repartition topics, because a repartition "
                "source topic is never used as a sink topic.",
            )
        whole = bool(found)
        counts.update(found)
        open_ -= found.keys()


def _copartition(subtopology: Subtopology, group: CopartitionGroup, counts: dict[str, int]) -> str | None:
    """Make the repartition topics of a group alike; what is against it."""
    sources = {subtopology.source_topics[index] for index in group.source_topics}
    topics = [subtopology.repartition_source_topics[index] for index in group.repartition_source_topics]
    fixed = {each.name for each in topics if each.partitions > 0}
    if not sources and not fixed:
        size = max((counts[each.name] for each in topics), default=0)
    else:
        sizes = {name: counts[name] for name in sorted(sources or fixed)}
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{name}={size}" for name, size in sizes.items())
            return f"Following topics do not have the same number of partitions: [{{{listed}}}]"
        size = next(iter(sizes.values()))
        for name in sorted(fixed):
            if counts[name] != size:
                return (
                    f"Number of partitions [{counts[name]}] of repartition topic [{name}] doesn't match "
                    f"number of partitions [{size}] of the source topic."
                )
    for each in topics:
        counts[each.name] = size
    return None
