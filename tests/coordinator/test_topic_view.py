"""Hashes of topics and groups, as Apache Kafka 4.4 wrote them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbroker.coordinator.group.topic_view import TopicView
from kbroker.coordinator.group.xxh3 import xxh3_64
from kbroker.types import uuid_from_string


@pytest.mark.parametrize(
    ("size", "digest"),
    [
        (0, 0x2D06800538D394C2),
        (3, 0xC3489259E968AD9E),
        (8, 0xB88DEE77F6BF6980),
        (16, 0x9DA23836ADF2BE1E),
        (100, 0x6DBB812CF19D012E),
        (200, 0x7C64F3B17285E96A),
        (240, 0x4917A75C0EF8EED7),
        (241, 0x541B19226F0052E8),
        (1024, 0xDC5ACF0B043C445B),
        (3000, 0x6168BB188259CCCF),
    ],
)
def test_xxh3_of_every_length_class(size, digest):
    assert xxh3_64(bytes(i * 7 & 255 for i in range(size))) == digest


def view(topics, racks=None):
    by_name = {
        name: SimpleNamespace(
            id=uuid_from_string(topic_id), name=name, partitions=[SimpleNamespace(replicas=r) for r in parts]
        )
        for name, (topic_id, parts) in topics.items()
    }
    brokers = {id_: SimpleNamespace(id=id_, rack=rack) for id_, rack in (racks or {}).items()}
    image = SimpleNamespace(topics=by_name, brokers=brokers, offset=1)
    return TopicView(lambda: image)


def test_the_hash_of_a_group_is_kafkas():
    seen = view({"chb-t": ("aE66hM6WT4ib5zZyZ72FKA", [(1,)] * 3)})
    assert seen.group_hash(["chb-t"]) == -5104705680968901742
    assert seen.group_hash(["chb-t", "no-such-topic"]) == -5104705680968901742
    assert seen.group_hash(["no-such-topic"]) == 0
    assert seen.group_hash([]) == 0
    static = view({"cgs-t": ("ZMevuXySQROMBcwfv4oM2w", [(1,)] * 2)})
    assert static.group_hash(["cgs-t"]) == 513516668782140627


def test_two_topics_of_a_group():
    seen = view({
        "crx-one": ("6hQJial8SdKSY7ZF94LvRg", [(1,)]),
        "crx-two": ("km0tOlUhS4meG16mf7vXTg", [(1,)]),
    })  # fmt: skip
    assert seen.group_hash(["crx-two", "crx-one"]) == 4747232680849226297


def test_racks_count():
    topics = {"t": ("aE66hM6WT4ib5zZyZ72FKA", [(1, 2)])}
    hashes = {view(topics, racks).group_hash(["t"]) for racks in ({}, {1: "a"}, {1: "b"}, {1: "a", 2: "b"})}
    assert len(hashes) == 4
    assert view(topics, {1: "b", 2: "a"}).group_hash(["t"]) in hashes
