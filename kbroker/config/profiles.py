"""What `kbroker start` sets by itself before it reads any file."""

from __future__ import annotations

#: One node on a developer's machine: one replica of everything, groups form at once, no wait for the disk.
DEVELOPMENT: dict[str, str] = {
    "node.id": "1",
    "process.roles": "broker,controller",
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "kbroker.advertised.host": "localhost",
    "kbroker.auto.create.wait": "true",
    "kbroker.metadata.fsync": "false",
}

#: Apache Kafka's own defaults; only what has none there.
PRODUCTION: dict[str, str] = {
    "node.id": "1",
    "process.roles": "broker,controller",
}

PROFILES = {"dev": DEVELOPMENT, "production": PRODUCTION}
