"""Znodes of the whole cluster: blocks of producer ids, finalized features, the way to KRaft (KIP-866)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.values import INT64, Fields, ZnodeError, to_json


class ProducerIdsZnode(NamedTuple):
    """/latest_producer_id_block: the ids `first` to `last` are `broker`'s."""

    broker: int
    first: int
    last: int

    def encode(self) -> bytes:
        """Both ends stand as texts."""
        value = {"version": 1, "broker": self.broker}
        return to_json(value | {"block_start": str(self.first), "block_end": str(self.last)})

    @classmethod
    def decode(cls, data: bytes | None) -> ProducerIdsZnode | None:
        """None while no block was given out. Raises ZnodeError."""
        if not data:
            return None
        fields, _ = Fields.parse(paths.PRODUCER_IDS, data, 1)
        block = cls(fields.integer("broker"), fields.digits("block_start"), fields.digits("block_end"))
        if not -1 <= block.first - 1 <= block.last < INT64:
            raise ZnodeError(paths.PRODUCER_IDS, f"{block.first} to {block.last} is no block")
        return block


class FeatureZnode(NamedTuple):
    """/feature: finalized levels. Not `enabled`: the brokers' inter.broker.protocol is below 2.7."""

    levels: Mapping[str, int]
    enabled: bool = True

    def encode(self, version: int = 2) -> bytes:
        """Version 1 (before 3.3) had a lowest level, too."""
        levels: dict[str, dict[str, int]] = {}
        for name, level in self.levels.items():
            levels[name] = {"min_version_level": 1} if version == 1 else {}
            levels[name]["max_version_level"] = level
        return to_json({"features": levels, "version": version, "status": int(self.enabled)})

    @classmethod
    def decode(cls, data: bytes | None) -> FeatureZnode:
        """Raises ZnodeError."""
        fields, _ = Fields.parse(paths.FEATURE, data, 2)
        status = fields.integer("status")
        if status not in (0, 1):
            raise ZnodeError(paths.FEATURE, f"{status} is no status")
        levels = {
            name: Fields(paths.FEATURE, value, f"feature {name!r} has no level").integer("max_version_level")
            for name, value in fields.mapping("features", {}).items()
        }
        return cls(levels, status == 1)


class MigrationZnode(NamedTuple):
    """/migration: how far a KRaft controller has written what it knows into ZooKeeper."""

    controller_id: int
    controller_epoch: int
    metadata_offset: int
    metadata_epoch: int

    def encode(self) -> bytes:
        """Version 0."""
        value: dict[str, Any] = {"version": 0, "kraft_metadata_offset": self.metadata_offset}
        value["kraft_controller_id"] = self.controller_id
        value["kraft_metadata_epoch"] = self.metadata_epoch
        value["kraft_controller_epoch"] = self.controller_epoch
        return to_json(value)

    @classmethod
    def decode(cls, data: bytes | None) -> MigrationZnode:
        """Raises ZnodeError."""
        fields, _ = Fields.parse(paths.MIGRATION, data, 0, 0)
        return cls(
            fields.integer("kraft_controller_id"),
            fields.integer("kraft_controller_epoch"),
            fields.integer("kraft_metadata_offset", largest=INT64),
            fields.integer("kraft_metadata_epoch"),
        )
