"""Good and bad values: names, settings, record sets, numbers at the edge."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from kbroker.config.definitions import (
    broker_definitions,
    client_metrics_definitions,
    group_definitions,
    topic_definitions,
)
from tools.differential.world import World

RECORD_TIME_MS = 1_700_000_000_000
EXTREMES = {
    "int8": (0, -1, 127, -128),
    "int16": (0, -1, 2**15 - 1, -(2**15)),
    "int32": (0, -1, 2**31 - 1, -(2**31)),
    "int64": (0, -1, 2**63 - 1, -(2**63)),
    "uint16": (0, 1, 2**16 - 1),
    "uint32": (0, 1, 2**32 - 1),
    "float64": (0.0, 0.5, -1.0, 1e300),
}
_TOPIC, _BROKER, _CLIENT_METRICS, _GROUP = 2, 4, 16, 32
_NUMBERS = ("0", "1", "-1", "-2", "100", "1048576", "2147483647", "9223372036854775807")
_TEXTS = ("", "x", " ", "1.5", "true", "FALSE", "yes", "9223372036854775808", "a,b", "12 ", "null")
#: Settings of a broker that may be changed here: they do not disturb what comes after, as a limit of
#: connections would.
BROKER_SETTINGS = (
    "log.cleaner.delete.retention.ms", "log.retention.bytes",
    "follower.replication.throttled.rate", "log.cleaner.min.compaction.lag.ms", "log.segment.delete.delay.ms",
    "log.flush.interval.messages", "log.index.interval.bytes", "log.preallocate",
)  # fmt: skip
#: Of topics: these would make what comes after depend on the clock or on the place of a segment's end.
_NOT_CHANGED = frozenset(
    (
        "segment.ms", "segment.bytes", "segment.jitter.ms", "retention.ms", "retention.bytes", "flush.ms",
        "internal.segment.bytes", "file.delete.delay.ms", "cleanup.policy", "segment.index.bytes",
        "min.cleanable.dirty.ratio",
    )
)  # fmt: skip
_WORDS = {
    "compression.type": ("gzip", "lz4", "producer", "uncompressed", "zstd", "snappy"),
    "message.timestamp.type": ("CreateTime", "LogAppendTime"),
    "cleanup.policy": ("delete", "compact", "compact,delete", "delete,compact"),
    "unclean.leader.election.enable": ("true", "false"),
    "preallocate": ("false",),
    "log.preallocate": ("false",),
    "leader.replication.throttled.replicas": ("*", "0:1", "0:1,1:1"),
    "follower.replication.throttled.replicas": ("*", "0:1", ""),
    "share.auto.offset.reset": ("latest", "earliest", "by_duration:PT1H"),
    "share.isolation.level": ("read_committed",),
    "match": ("client_id=x", "client_software_name=.*"),
    "metrics": ("a.b", "*", "a,b"),
    "interval.ms": ("1000", "100"),
    "max.message.bytes": ("1000000", "2000000"),
}


def bad_topic_names(prefix: str) -> list[str]:
    """Unknown ones and impossible ones."""
    return [
        f"{prefix}none",
        f"{prefix}none2",
        "",
        ".",
        "..",
        "a/b",
        "a b",
        "é",
        "x" * 249,
        "x" * 250,
        "__cluster_metadata",
    ]


def _definitions(resource: int) -> list[str]:
    if resource == _TOPIC:
        return [*topic_definitions()]
    if resource == _GROUP:
        return [name for name, found in group_definitions().items() if not found.hidden]
    if resource == _CLIENT_METRICS:
        return [*client_metrics_definitions()]
    if resource == _BROKER:
        return [
            name
            for name, found in broker_definitions().items()
            if not found.hidden and not name.startswith("kbroker.")
        ]
    return ["org.apache.kafka", "root"]


def config_names(rng: Random, resource: int, bad: Callable[[], bool], count: int) -> list[str]:
    """Names of settings to ask for."""
    names = _definitions(resource)
    return [
        rng.choice(("nonsense", "", "retention.ms", "log.retention.ms")) if bad() else rng.choice(names)
        for _ in range(count)
    ]


def _text(rng: Random, name: str, bad: bool) -> str:
    if bad:
        return rng.choice(_TEXTS + _NUMBERS)
    return rng.choice(_WORDS.get(name, _NUMBERS))


def topic_configs(rng: Random, bad: Callable[[], bool], count: int) -> list[dict[str, Any]]:
    """For CreateTopics."""
    return [{key: pair[key] for key in ("name", "value")} for pair in settings(rng, _TOPIC, bad, count)]


def settings(rng: Random, resource: int, bad: Callable[[], bool], count: int) -> list[dict[str, Any]]:
    """Names with values."""
    found: list[dict[str, Any]] = []
    for _ in range(count):
        wrong = bad()
        name = rng.choice(BROKER_SETTINGS if resource == _BROKER else _definitions(resource))
        if name in _NOT_CHANGED:
            if rng.random() < 0.3:  # what is refused cannot disturb
                found.append({"name": "segment.bytes", "value": rng.choice(("x", "-7", "12"))})
                continue
            name = "min.compaction.lag.ms"
        if wrong and rng.random() < 0.2:
            name = rng.choice(("nonsense", "", "Retention.ms"))
        value: Any = None if wrong and rng.random() < 0.15 else _text(rng, name, wrong)
        found.append({"name": name, "value": value})
    return found


def record_set(world: World, rng: Random, topic: str, partition: int, bad: Callable[[], bool]) -> Any:
    """Batches in the notation of tests/conformance/record_sets.py."""
    batches = [_batch(world, rng, topic, partition, bad)]
    if bad():
        batches.append(_batch(world, rng, topic, partition, bad))
    return {"batches": batches}


_DAMAGES = (
    "crc", "cut:1", "cut:10", "cut:62", "length:10", "length:49", "length:-1", "length:1000000", "magic:3",
    "magic:1", "count:5", "count:0", "count:-1", "delta:7", "delta:-1", "attributes:64", "attributes:7",
    "attributes:5", "attributes:8", "attributes:32", "count:1000000",
)  # fmt: skip
_ODDITIES: tuple[dict[str, Any], ...] = (
    {"txn": True}, {"control": "commit"}, {"ts_type": "append"}, {"records": []}, {"base": 5},
    {"leader_epoch": 3}, {"magic": 1}, {"magic": 0}, {"pid": 5}, {"pid": -2},
    {"pid": 9999, "epoch": 0, "seq": 0},
)  # fmt: skip


def _batch(world: World, rng: Random, topic: str, partition: int, bad: Callable[[], bool]) -> dict[str, Any]:
    count = rng.choice((1, 1, 2, 5))
    records: list[dict[str, Any]] = []
    for index in range(count):
        record: dict[str, Any] = {
            "v": rng.choice(("value", "", None, {"repeat": ["ab", 200]})),
            "ts": RECORD_TIME_MS + index,
        }
        if rng.random() < 0.6:
            record["k"] = rng.choice(("k1", "k2", ""))
        if rng.random() < 0.2:
            record["h"] = [["h", "x"], ["h2", None]][: rng.choice((1, 2))]
        if bad() and rng.random() < 0.3:
            record["ts"] = rng.choice((-1, 0, "$now+7200000", -5))
        records.append(record)
    batch: dict[str, Any] = {
        "codec": rng.choice(("none", "none", "gzip", "lz4", "zstd", "snappy")),
        "records": records,
    }
    if world.producers and rng.random() < 0.4:
        _sequence(world, rng, batch, topic, partition, bad, count)
    if bad():
        batch["damage"] = rng.choice(_DAMAGES)
        if batch["damage"].startswith("attributes"):
            batch["codec"] = "none"  # else the records would be garbage, which kbroker does not look at
    if bad() and rng.random() < 0.4:
        batch.update(rng.choice(_ODDITIES))
    if batch.get("magic", 2) < 2:
        batch["codec"] = rng.choice(("none", "gzip", "snappy"))  # the old formats know no others, or not well
    return batch


def _sequence(
    world: World,
    rng: Random,
    batch: dict[str, Any],
    topic: str,
    partition: int,
    bad: Callable[[], bool],
    count: int,
) -> None:
    producer = rng.choice(world.producers)
    place = (producer, topic, partition)
    due = world.sequences.get(place, 0)
    batch.update(pid=f"${producer}", epoch=0, seq=due)
    if bad():
        batch["seq"] = rng.choice((due + 1, max(0, due - count), 0, -1, 2**31 - 1, due + 100))
    elif bad():
        batch["epoch"] = rng.choice((-1, 1, 5, -2))
    else:
        world.sequences[place] = due + count
