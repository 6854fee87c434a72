"""Metadata put together from the bytes of topics is what the codec writes for the whole."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbroker.broker.absent_brokers import Absent
from kbroker.handlers import metadata, metadata_pieces
from kbroker.metadata.image import (
    BrokerImage,
    ClusterImage,
    Endpoint,
    PartitionImage,
    TopicImage,
    TopicsImage,
)
from kbroker.plain import replace
from kbroker.protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic

NAMES = ("one", "__consumer_offsets", "ü" * 80, "many", "none")


def partition(index: int) -> PartitionImage:
    replicas = ((1, 2, 3), (3, 2, 9), (1,), tuple(range(1, 140)))[index % 4]
    leader = (1, 2, -1, 3, 9)[index % 5]
    return PartitionImage(replicas, replicas[: 1 + index % 2], leader, index, 0)


def broker(node_id: int, *listeners: str) -> BrokerImage:
    endpoints = tuple(Endpoint(name, "host", 9092) for name in listeners)
    return BrokerImage(node_id, 0, bytes(16), endpoints, {}, rack="r", fenced=False)


def image_of(counts: dict[str, int]) -> ClusterImage:
    topics = [
        TopicImage(name, bytes([number]) * 16, tuple(map(partition, range(count))))
        for number, (name, count) in enumerate(counts.items(), 1)
    ]
    return ClusterImage(
        "cluster",
        controller_id=2,
        topics=TopicsImage({t.name: t for t in topics}, {t.id: t for t in topics}),
        brokers={1: broker(1, "A", "B"), 2: broker(2, "A"), 3: broker(3, "A", "B")},
    )


IMAGE = image_of(dict(zip(NAMES, (1, 50, 3, 300, 0))))


def both(services, version: int, listener: str, request: MetadataRequest) -> tuple[bytes, bytes]:
    context = SimpleNamespace(version=version, listener_name=listener)
    pieces = metadata._answer_in_pieces(services, context, request).encode(version)
    return pieces, metadata._answer(services, context, request, {}).encode(version)


def services_on(image: ClusterImage, missing: frozenset[int] = frozenset()):
    return SimpleNamespace(
        metadata=SimpleNamespace(image=image),
        extras={},
        controller_for_clients=image.controller_id,
        absent=Absent(missing),
    )


@pytest.mark.parametrize("operations", [False, True])
@pytest.mark.parametrize("listener", ["A", "B", "C"])
@pytest.mark.parametrize("version", range(14))
def test_as_the_codec_writes_it(version, listener, operations):
    services = services_on(IMAGE)
    wanted = operations and version >= 8
    for topics in (None if version else [], [MetadataRequestTopic(name=n) for n in ("many", "none")]):
        request = MetadataRequest(
            topics=topics,
            include_topic_authorized_operations=wanted,
            include_cluster_authorized_operations=wanted and version <= 10,
        )
        for _ in range(2):
            pieces, whole = both(services, version, listener, request)
            assert pieces == whole


@pytest.mark.parametrize("listener", ["A", "B", "C"])
@pytest.mark.parametrize("version", range(14))
def test_topics_of_one_partition(version, listener):
    names = ["t", "__share_group_state", "ü" * 126, *(f"t{index}" for index in range(20))]
    topics = [
        TopicImage(name, bytes([number]) * 16, (partition(number),)) for number, name in enumerate(names, 1)
    ]
    image = ClusterImage(
        "cluster",
        topics=TopicsImage({t.name: t for t in topics}, {t.id: t for t in topics}),
        brokers=IMAGE.brokers,
    )
    request = MetadataRequest(topics=None if version else [])
    pieces, whole = both(services_on(image), version, listener, request)
    assert pieces == whole


def test_a_change_of_topics_or_brokers_is_seen():
    services, request = services_on(IMAGE), MetadataRequest(topics=None)
    pieces, _ = both(services, 12, "B", request)
    grown = image_of(dict(zip(NAMES, (1, 50, 3, 301, 2))))
    for changed in (
        replace(IMAGE, topics=grown.topics),
        replace(IMAGE, brokers={**IMAGE.brokers, 2: broker(2, "A", "B")}),
    ):
        services.metadata.image = changed
        again, whole = both(services, 12, "B", request)
        assert again == whole != pieces
    services.metadata.image, services.absent = IMAGE, Absent(frozenset({1}))
    again, whole = both(services, 12, "B", request)
    assert again == whole != pieces


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(metadata_pieces, "PIECES_BYTES_MAX", 5_000)
    monkeypatch.setattr(metadata_pieces, "SHAPES_MAX", 2)
    services, request = services_on(IMAGE), MetadataRequest(topics=None)
    for version in range(1, 14):
        pieces, whole = both(services, version, "A", request)
        assert pieces == whole
        shapes = services.extras["metadata_pieces"]
        assert len(shapes) <= 2
        assert all(shape._size <= 5_000 for shape in shapes.values())
