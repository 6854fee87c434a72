"""Znodes of topics: assignments, partition states, and the requests that tools write for the controller."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.values import Fields, ZnodeError, to_json
from kbroker.metadata.image import RECOVERED, RECOVERING
from kbroker.types import TopicPartition, Uuid, uuid_from_string, uuid_to_string

NEWEST_TOPIC = 3
#: A partition's state as Kafka and we write it: a new controller reads as many as there are partitions.
_USUAL_STATE = re.compile(
    rb'\{"controller_epoch":([0-9]{1,9}),"leader":(-1|[0-9]{1,9}),"version":1'
    rb',"leader_epoch":([0-9]{1,9}),"isr":\[((?:[0-9]{1,9}(?:,[0-9]{1,9})*)?)\]\}\Z'
)


class Assignment(NamedTuple):
    """/brokers/topics/<topic>: replicas by partition; `topic_id` is None before 2.8."""

    replicas: Mapping[int, Sequence[int]]
    adding: Mapping[int, Sequence[int]] = {}
    removing: Mapping[int, Sequence[int]] = {}
    topic_id: Uuid | None = None

    def encode(self, version: int = NEWEST_TOPIC) -> bytes:
        """Version 1: replicas; 2: adding and removing ones (2.4); 3: the topic's id, if it has one."""
        value: dict[str, Any] = {"partitions": _by_partition(self.replicas)}
        if version >= 3 and self.topic_id is not None:
            value["topic_id"] = uuid_to_string(self.topic_id)
        if version >= 2:
            value["adding_replicas"] = _by_partition(self.adding)
            value["removing_replicas"] = _by_partition(self.removing)
        value["version"] = version
        return to_json(value)

    @classmethod
    def decode(cls, path: str, data: bytes | None) -> Assignment:
        """Raises ZnodeError; also where partitions are missing: they count from 0."""
        fields, version = Fields.parse(path, data, NEWEST_TOPIC)
        fields.mapping("partitions")
        replicas = fields.replicas("partitions")
        for index in range(len(replicas)):
            if index not in replicas:
                raise ZnodeError(path, f"lacks partition {index}")
        topic_id = None
        if version >= 3 and fields.has("topic_id"):
            text = fields.text("topic_id")
            try:
                topic_id = uuid_from_string(text)
            except ValueError:
                raise ZnodeError(path, f"{text!r} is no topic id") from None
        adding = fields.replicas("adding_replicas") if version >= 2 else {}
        removing = fields.replicas("removing_replicas") if version >= 2 else {}
        return cls(replicas, adding, removing, topic_id)


def _by_partition(replicas: Mapping[int, Sequence[int]]) -> dict[str, list[int]]:
    return {str(index): list(replicas[index]) for index in sorted(replicas) if replicas[index]}


class PartitionState(NamedTuple):
    """/brokers/topics/<topic>/partitions/<n>/state. Its partition epoch is the znode's own version."""

    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: Sequence[int]
    recovery_state: int = RECOVERED

    def encode(self) -> bytes:
        """The recovery state (KIP-704, 3.2) is written while the partition is recovering, only."""
        isr = ",".join(map(str, self.isr))
        recovery = ""
        if self.recovery_state != RECOVERED:
            recovery = f',"leader_recovery_state":{self.recovery_state}'
        return (
            f'{{"controller_epoch":{self.controller_epoch},"leader":{self.leader},"version":1'
            f',"leader_epoch":{self.leader_epoch},"isr":[{isr}]{recovery}}}'
        ).encode()

    @classmethod
    def decode(cls, path: str, data: bytes | None) -> PartitionState:
        """Raises ZnodeError."""
        usual = _USUAL_STATE.match(data or b"")
        if usual is not None:
            controller_epoch, leader, leader_epoch, isr = usual.groups()
            replicas = tuple(map(int, isr.split(b","))) if isr else ()
            return cls(int(controller_epoch), int(leader), int(leader_epoch), replicas)
        fields, _ = Fields.parse(path, data, 1)
        recovery = fields.integer("leader_recovery_state", RECOVERED)
        if recovery not in (RECOVERED, RECOVERING):
            raise ZnodeError(path, f"{recovery} is no leader recovery state")
        return cls(
            fields.integer("controller_epoch"),
            fields.integer("leader"),
            fields.integer("leader_epoch"),
            tuple(fields.integers("isr")),
            recovery,
        )


def decode_partitions(path: str, data: bytes | None) -> list[TopicPartition]:
    """A list of partitions: in /isr_change_notification and /admin/preferred_replica_election.

    Raises ZnodeError.
    """
    fields, _ = Fields.parse(path, data, 1)
    return [TopicPartition(e.text("topic"), e.integer("partition")) for e in fields.objects("partitions")]


def decode_reassignments(data: bytes | None) -> dict[TopicPartition, list[int]]:
    """/admin/reassign_partitions: what `kafka-reassign-partitions --zookeeper` asks for.

    Raises ZnodeError.
    """
    fields, _ = Fields.parse(paths.REASSIGN_PARTITIONS, data, 1)
    return {
        TopicPartition(e.text("topic"), e.integer("partition")): e.integers("replicas")
        for e in fields.objects("partitions")
    }
