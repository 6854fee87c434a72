"""One run: a cluster, its clients, faults by a seed; then everything is mended, and the history judged."""

from __future__ import annotations

import glob
import os
import pickle
import random
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, TopicPartition as Place

from kbroker.client.errors import ClientError
from kbroker.errors import ApiError
from kbroker.protocol.record_batch import iter_batches
from tests.chaos.cluster.checker import check, not_worked_on, silences
from tests.chaos.cluster.faults import Nemesis, possible
from tests.chaos.cluster.history import History, Key, decode
from tests.chaos.cluster.nodes import LoopbackCluster, NetworkCluster, ZooKeeperCluster, faketime_library
from tests.chaos.cluster.pipeline import SOURCE, TARGET, Pipeline, decode_moved
from tests.chaos.cluster.share import (
    DEAD_LETTERS,
    SETTINGS as SHARE_SETTINGS,
    Worker,
    begin_at_the_start,
    look_for_letters,
)
from tests.chaos.cluster.streams import (
    SETTINGS as STREAMS_SETTINGS,
    STREAMS_GROUP,
    Streamer,
    with_copies,
)
from tests.chaos.cluster.workload import QUICK, Churner, Member, RawSender, Reader, Sender, Watcher

MAIN, GROUP, MODERN_GROUP = "main", "readers", "modern"
PARTITIONS = 3
#: After the last fault: until all is in sync, every partition takes records, and the pipeline is done.
MEND_S = float(os.environ.get("KBROKER_CHAOS_MEND_S", "90"))


@dataclass(slots=True)
class Plan:
    """What a run does. `kinds` of faults None: those that the seed picks. `zookeeper`: a server of its own
    keeps the metadata; not for a network."""

    seed: int
    seconds: float = 60.0
    size: int = 3
    kinds: list[str] | None = None
    disk: str = "plain"
    clocks: bool = False
    rhythm_s: float = 5.0
    rate: float = 40.0
    quick_sessions: bool = True
    network: bool = True
    zookeeper: bool = False
    #: Nothing is acknowledged, or shown, before it is synced on all replicas that are in sync.
    syncs: bool = False
    #: Producers, a reader, and one that looks at ends; no groups, transactions, or topics that come and go.
    light: bool = False

    @classmethod
    def of_seed(cls, seed: int, seconds: float, *, network: bool) -> Plan:
        """Everything by the seed (swarm testing: whole classes of faults are left out at random)."""
        rng = random.Random(seed)
        plan = cls(seed, seconds, network=network)
        plan.size = rng.choice([3, 3, 3, 5]) if network else 3
        plan.disk = rng.choice(["plain", "tmpfs", "ext4", "xfs"]) if network else "plain"
        plan.clocks = network and faketime_library() is not None and rng.random() < 0.4
        plan.quick_sessions = rng.random() < 0.6
        plan.rhythm_s = rng.choice([3.0, 6.0, 12.0])
        return plan


@dataclass(slots=True)
class Result:
    """What came of a run."""

    plan: Plan
    kinds: list[str]
    operations: int = 0
    acknowledged: int = 0
    transactions: int = 0
    topics: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    silences: dict[str, list[float]] = field(default_factory=dict)
    mended_s: float = 0.0
    found: dict[str, list[str]] = field(default_factory=dict)

    def row(self) -> str:
        """For a table."""
        faults = ", ".join(f"{count} {name}" for name, count in sorted(self.faults.items()))
        counts = [
            len(self.found.get(name, ())) for name in ("lost", "duplicate", "reordered", "real-time order")
        ]
        lost, duplicated, reordered = counts[0], counts[1], counts[2] + counts[3]
        return (
            f"| {self.plan.seed} | {self.plan.size} | {self.plan.disk} | {self.plan.seconds:.0f} s "
            f"| {self.operations:,} | {self.acknowledged:,} | {self.transactions} | {self.topics} | {faults} "
            f"| {lost} | {duplicated} | {reordered} | {self.mended_s:.1f} s |"
        )


class Run:
    """A context for one plan; `play()` once."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.history = History()
        self.cluster = self._cluster()
        self.kinds: list[str] = []

    def _cluster(self) -> LoopbackCluster:
        session = 2000 if self.plan.quick_sessions else 9000
        config = {
            "broker.session.timeout.ms": session,
            "broker.heartbeat.interval.ms": session // 4,
            "replica.lag.time.max.ms": session,
            "offsets.topic.num.partitions": 3,
            "transaction.state.log.num.partitions": 3,
            "group.initial.rebalance.delay.ms": 0,
            "group.consumer.session.timeout.ms": 6000,
            "group.consumer.min.session.timeout.ms": 6000,
            "group.consumer.heartbeat.interval.ms": 500,
            "group.consumer.min.heartbeat.interval.ms": 500,
            "log.segment.bytes": 1 << 20,
            "log.roll.ms": 5000,
            "log.index.interval.bytes": 64,
            "auto.create.topics.enable": False,
            **SHARE_SETTINGS,
            **STREAMS_SETTINGS,
        }
        if self.plan.syncs:
            config["log.flush.interval.messages"] = 1
        profile = "production" if self.plan.disk in ("ext4", "xfs") else "dev"
        if self.plan.zookeeper:
            return ZooKeeperCluster(
                self.plan.size,
                config=config | {"zookeeper.session.timeout.ms": session},
                data=str(self.folder),
                profile=profile,
            )
        if not self.plan.network:
            return LoopbackCluster(self.plan.size, config=config, data=str(self.folder), profile=profile)
        return NetworkCluster(
            self.plan.size,
            config=config,
            data=self.folder,
            profile=profile,
            disk=self.plan.disk,
            clocks=self.plan.clocks,
        )

    def play(self) -> Result:
        """The run; its history is written to the folder if something was found."""
        with self.cluster:
            for topic in (MAIN, SOURCE, TARGET):
                self.cluster.create_topic(topic, PARTITIONS)
            if not self.plan.zookeeper:
                enabled = {"errors.deadletterqueue.group.enable": True}
                self.cluster.create_topic(DEAD_LETTERS, PARTITIONS, config=enabled)
                begin_at_the_start(self.cluster.bootstrap)
                with_copies(self.cluster.bootstrap)
            result = self._broken_and_mended()
            self.cluster.stop_processes()
            self._compare_replicas()
        result.found = check(self.history)
        result.operations = self.history.operations()
        result.acknowledged = sum(1 for _ in self.history.acknowledged())
        result.transactions = sum(move.outcome == "ok" for move in self.history.moves)
        result.topics = self.history.topics_churned
        result.faults = Counter(fault.kind for fault in self.history.faults)
        result.silences = silences(self.history)
        with (self.folder / "history.pickle").open("wb") as file:
            pickle.dump(self.history, file)
        return result

    def _broken_and_mended(self) -> Result:
        rng = random.Random(self.plan.seed)
        able = sorted(possible(self.cluster).keys() - (set() if self.plan.syncs else {"power_all"}))
        self.kinds = self.plan.kinds or sorted(rng.sample(able, rng.randint(2, max(2, len(able) - 2))))
        nemesis = Nemesis(self.cluster, self.history, rng, self.kinds, self.plan.rhythm_s)
        senders, readers, pipeline = self._clients()
        pipelines = [] if pipeline is None else [pipeline]
        for client in (*senders, *readers, *pipelines):
            client.start()
        time.sleep(2)
        nemesis.work(self.plan.seconds)
        began = time.monotonic()
        self.cluster.heal()
        nemesis.bring_back(may_end=True)
        result = Result(self.plan, self.kinds)
        try:
            self.cluster.wait_for(self.cluster.all_in_sync, MEND_S)
            self.cluster.wait_for(lambda: self._progress(began), MEND_S)
        except AssertionError as error:
            self.history.problems.append(f"stuck: {error}")
        result.mended_s = time.monotonic() - began
        for client in senders:
            client.stopping.set()
        for client in senders:
            client.stop()
        self._drain(pipeline)
        self._wait_for_tasks([each for each in readers if isinstance(each, Streamer)])
        for client in (*readers, *pipelines):
            client.stopping.set()
        for client in (*readers, *pipelines):
            client.stop()
        for each in pipelines:
            (self.folder / "pipeline.txt").write_text("\n".join(each.restarts + each.problems))
        return result

    def _clients(self) -> tuple[list, list, Pipeline | None]:
        history, bootstrap = self.history, self.cluster.bootstrap
        keys = [(MAIN, partition) for partition in range(PARTITIONS)]
        source = [(SOURCE, partition) for partition in range(PARTITIONS)]
        target = [(TARGET, partition) for partition in range(PARTITIONS)]
        rate = self.plan.rate
        senders = [
            Sender(history, bootstrap, 1, keys, idempotent=True, rate=rate),
            Sender(history, bootstrap, 2, keys[::-1], idempotent=True, rate=rate),
            Sender(history, bootstrap, 3, keys, idempotent=False, rate=rate / 2),
            RawSender(history, bootstrap, 4, keys, rate / 2),
            Sender(history, bootstrap, 5, source, idempotent=True, rate=rate),
        ]
        readers = [
            Reader(history, bootstrap, "reader", keys),
            Reader(history, bootstrap, "moved", target, decode_moved, "read_committed"),
            Member(history, bootstrap, "member-1", MAIN, GROUP, lives_s=(3600.0, 3600.0)),
            Member(history, bootstrap, "member-2", MAIN, GROUP),
            Member(history, bootstrap, "guest", MAIN, GROUP, lives_s=(2.0, 8.0)),
            Watcher(history, bootstrap, GROUP, keys),
            Churner(history, bootstrap, "churner"),
        ]
        if self.plan.light:
            return senders, [readers[0], Watcher(history, bootstrap, GROUP, keys)], None
        if not self.plan.zookeeper:
            # As in Kafka, there are no groups of these kinds in ZooKeeper mode.
            readers += [
                Member(history, bootstrap, "modern-1", MAIN, MODERN_GROUP, modern=True),
                Member(history, bootstrap, "modern-2", MAIN, MODERN_GROUP, modern=True),
                Watcher(history, bootstrap, MODERN_GROUP, keys, looks_at_ends=False),
                *(Worker(history, bootstrap, number, MAIN) for number in (1, 2, 3)),
                *(Streamer(history, bootstrap, number, MAIN) for number in (1, 2, 3)),
                Watcher(history, bootstrap, STREAMS_GROUP, keys, looks_at_ends=False),
            ]
        return senders, readers, Pipeline(history, bootstrap)

    def _progress(self, since: float) -> bool:
        fresh = {sent.key for sent in self.history.acknowledged() if sent.began > since}
        return len(fresh) == 2 * PARTITIONS

    def _drain(self, pipeline: Pipeline | None) -> None:
        """Read everything, and wait until the pipeline has moved all of the input."""
        for topic in (MAIN, SOURCE):
            for key, records in self._read(topic, "read_uncommitted").items():
                self.history.final[key] = [(offset, decode(data, key)) for offset, data in records]
        if pipeline is None:
            return
        count = sum(len(records) for key, records in self.history.final.items() if key[0] == SOURCE)
        deadline = time.monotonic() + MEND_S
        while sum(map(len, self._read(TARGET, "read_committed").values())) < count:
            if time.monotonic() > deadline:
                self.history.problems.append(f"the pipeline has not moved everything within {MEND_S:.0f} s")
                self.history.unmoved = True
                break
            time.sleep(1)
        # Whatever it commits from here on nobody would see.
        pipeline.stop()
        output = self._read(TARGET, "read_committed")
        while not self.plan.zookeeper and self._share_group_works() and time.monotonic() < deadline:
            time.sleep(1)
        for key, records in output.items():
            self.history.output[key] = [(offset, *map(int, data.split())) for offset, data in records]

    def _share_group_works(self) -> bool:
        """Records are left, or dead letters of records."""
        logs = [node.log for node in self.cluster.nodes.values()]
        try:
            all_there = look_for_letters(self.history, self.cluster.bootstrap, PARTITIONS, logs)
        except (ApiError, ClientError) as error:
            self.history.unwritten.clear()
            print(f"dead letters cannot be read: {error}", file=sys.stderr)
            return True
        return bool(not_worked_on(self.history)) or not all_there

    def _wait_for_tasks(self, streamers: list[Streamer]) -> None:
        """Each task of the streams group finds its member."""
        deadline = time.monotonic() + MEND_S
        for each in streamers:
            each.stays = True
        while streamers and {index for each in streamers for index in each.tasks} != set(range(PARTITIONS)):
            if time.monotonic() > deadline:
                self.history.problems.append("tasks of the streams group belong to nobody")
                return
            time.sleep(0.2)

    def _read(self, topic: str, isolation: str) -> dict[Key, list[tuple[int, bytes]]]:
        consumer = Consumer(
            QUICK
            | {"bootstrap.servers": self.cluster.bootstrap, "group.id": "nobody", "enable.auto.commit": False}
            | {"enable.partition.eof": True, "isolation.level": isolation, "auto.offset.reset": "error"}
        )
        found: dict[Key, list[tuple[int, bytes]]] = {(topic, part): [] for part in range(PARTITIONS)}
        consumer.assign([Place(topic, partition, 0) for partition in range(PARTITIONS)])
        waiting, deadline = set(found), time.monotonic() + MEND_S
        while waiting and time.monotonic() < deadline:
            for message in consumer.consume(1000, 0.2):
                key = message.topic(), message.partition()
                if message.error() is None:
                    found[key].append((message.offset(), message.value()))
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    waiting.discard(key)
        consumer.close()
        if waiting:
            self.history.problems.append(f"the end of {waiting} is not reached")
        return found

    def _compare_replicas(self) -> None:
        """After a clean stop of all: the same bytes on all replicas (but for what is compacted)."""
        logs: dict[str, dict[int, bytes]] = {}
        for node in self.cluster.nodes.values():
            for folder in glob.glob(f"{node.data}/*-*"):
                name = os.path.basename(folder)
                files = sorted(glob.glob(f"{folder}/*.log"))
                logs.setdefault(name, {})[node.id] = b"".join(Path(file).read_bytes() for file in files)
        for name, by_node in logs.items():
            if name.startswith(("churn-", "__")) or len(by_node) < 2:
                continue
            shortest = min(by_node, key=lambda node: len(by_node[node]))
            for node, data in by_node.items():
                if data[: len(by_node[shortest])] != by_node[shortest]:
                    self.history.problems.append(
                        f"{name} differs: {_first_difference(by_node, shortest, node)}"
                    )


def _first_difference(by_node: dict[int, bytes], one: int, other: int) -> str:
    for ours, theirs in zip(iter_batches(by_node[one]), iter_batches(by_node[other])):
        if ours != theirs:
            return f"node {one} {ours}, node {other} {theirs}"
    return f"nodes {one} and {other}, in the bytes of a batch"


def recovery_table(results: list[Result]) -> str:
    """For each kind of fault: how long a partition was silent, at most."""
    all_silences: dict[str, list[float]] = {}
    for result in results:
        for kind, values in result.silences.items():
            all_silences.setdefault(kind, []).extend(values)
    rows = ["| fault | times | longest silence of a partition: median | worst |", "|---|---|---|---|"]
    for kind, values in sorted(all_silences.items()):
        rows.append(f"| {kind} | {len(values)} | {statistics.median(values):.2f} s | {max(values):.2f} s |")
    return "\n".join(rows)
