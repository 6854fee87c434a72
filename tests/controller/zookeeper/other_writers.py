"""Znodes that others write, and this controller obeys: tools, and brokers from before 2.7."""

from __future__ import annotations

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.tree import Create
from kbroker.controller.zookeeper.values import to_json


def encode_partitions(partitions):
    """A list of partitions: in /isr_change_notification and /admin/preferred_replica_election."""
    listed = [{"topic": topic, "partition": partition} for topic, partition in partitions]
    return to_json({"version": 1, "partitions": listed})


def encode_reassignments(wanted):
    """/admin/reassign_partitions: what `kafka-reassign-partitions --zookeeper` asks for."""
    listed = [
        {"topic": topic, "partition": partition, "replicas": list(replicas)}
        for (topic, partition), replicas in wanted.items()
    ]
    return to_json({"version": 1, "partitions": listed})


def deletion_marks(topics, claimed):
    """Topics that are to be deleted. The RemoveTopicRecord that completes it also takes the mark away."""
    return [claimed.check, *(Create(paths.topic_deletion(name)) for name in topics)]


def isr_changed(partitions):
    """A leader that wrote states by itself tells the controller."""
    return Create(paths.ISR_CHANGE, encode_partitions(partitions), sequence=True)
