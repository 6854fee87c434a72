"""Random histories of brokers that do not exist: Apache Kafka 4.4's controller and ours answer alike.

Five brokers register, are fenced, propose ISRs, leave and come back; replicas move, leaders are elected.
After each step the answer, and leaders, ISRs, eligible replicas of all partitions are compared. Left out is
what is meant to differ (docs/controller.md): reassignments changed on the way, restarts within a session.
"""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.connection import Address, Connection
from kbroker.protocol.api_keys import FACTS, request_class, response_class
from kbroker.testing import Broker
from tests.compat.kafka_process import kafka_on
from tests.handlers.fake_brokers import Controller, FakeBrokers, directory, generated
from tests.needs import cache_folder, need_java

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

KEY = {facts.name: key for key, facts in FACTS.items()}
BROKERS = (10, 11, 12, 13, 14)
TOPICS = {
    "min-1": {"min_insync_replicas": "1"},
    "min-2": {"min_insync_replicas": "2"},
    "unclean": {"min_insync_replicas": "2", "unclean_leader_election_enable": "true"},
    "min-3": {"min_insync_replicas": "3"},
}
SESSION_S = 1.5
#: Nothing by the clock but sessions; a quick real broker, for which controlled shutdowns wait.
SETTINGS = {
    "broker.session.timeout.ms": str(int(SESSION_S * 1000)),
    "broker.heartbeat.interval.ms": "300",
    "unclean.leader.election.interval.ms": "100000000",
    "auto.leader.rebalance.enable": "false",
}
STEPS = 120


class KafkaController(FakeBrokers):
    """Apache Kafka's controller, and the same brokers there."""

    def __init__(self, bootstrap: str, controller: str) -> None:
        super().__init__()
        host, _, port = controller.partition(":")
        self.connection = Connection(Address(host, int(port)))
        self.cluster = Cluster(bootstrap)

    def ask(self, name, version, **fields):
        key = KEY[name]
        return self.connection.ask(request_class(key)(**fields), response_class(key), version=version)

    def cluster_id(self):
        return self.cluster.metadata([]).cluster_id

    def describe(self, names):
        module = generated("describe_topic_partitions_request")
        request = module.DescribeTopicPartitionsRequest(topics=[module.TopicRequest(name=n) for n in names])
        return self.cluster.any().ask(request, response_class(75), version=0).topics

    def topic_id(self, name):
        return self.describe([name])[0].topic_id

    def states(self, names):
        """As one of its brokers knows it, which is a little behind."""
        return {
            (topic.name, p.partition_index): (
                p.leader_id,
                p.leader_epoch,
                p.replica_nodes,
                sorted(p.isr_nodes),
                # Kafka may keep one that is no replica any more.
                sorted(set(p.eligible_leader_replicas or ()) & set(p.replica_nodes)),
                p.last_known_elr or [],
            )
            for topic in self.describe(names)
            for p in topic.partitions
        }


def our_states(ours):
    return {
        (topic.name, index): (
            p.leader,
            p.leader_epoch,
            list(p.replicas),
            sorted(p.isr),
            sorted(p.elr),
            list(p.last_known_elr),
        )
        for topic in ours.image.topics
        for index, p in enumerate(topic.partitions)
        if topic.name in TOPICS
    }


class Pair:
    """Both controllers; every call goes to both and has to be answered alike."""

    def __init__(self, kafka, ours, chance):
        self.both = (kafka, ours)
        self.kafka, self.ours, self.chance = kafka, ours, chance
        self.up, self.out = set(), set()
        self.incarnation = dict.fromkeys(BROKERS, 0)
        self.told = []

    def do(self, call, *arguments, **named):
        """The answer."""
        self.told.append((call, *arguments, *named.items()))
        theirs, ours = (getattr(one, call)(*arguments, **named) for one in self.both)
        assert ours == theirs, self.told[-8:]
        return ours

    def compare(self):
        deadline = time.monotonic() + 5
        while (theirs := self.kafka.states(TOPICS)) != (mine := our_states(self.ours)):
            self.keep_alive()
            different = {key: (theirs[key], mine[key]) for key in theirs if theirs[key] != mine[key]}
            assert time.monotonic() < deadline, (self.told[-8:], different)

    def keep_alive(self):
        for broker in sorted(self.up):
            for one in self.both:
                assert one.beat(broker)[0] == 0

    def register(self, broker, *, clean=False):
        self.incarnation[broker] += 1
        incarnation = broker * 10 % 250 + self.incarnation[broker] % 5
        for one in self.both:
            previous = one.epochs.get(broker, -1) if clean else -1
            code = one.register(broker, incarnation, previous, [directory(100 + broker)])
            assert code == 0, self.told[-8:]
        self.told.append(("register", broker, clean))

    # -- what may happen -------------------------------------------------------------------------------------

    def fence(self, broker):
        if broker in self.up:
            self.do("beat", broker, fence=True)
            self.up.discard(broker)

    def unfence(self, broker):
        if broker not in self.out:
            self.do("beat", broker)
            self.up.add(broker)

    def leave(self, broker):
        """Unregistered, and back later as a new one."""
        if broker in self.out:
            self.register(broker)
            self.out.discard(broker)
        elif self.chance.random() < 0.4:
            answers = [one.ask("UnregisterBroker", 0, broker_id=broker).error_code for one in self.both]
            assert answers == [0, 0]
            self.told.append(("unregister", broker))
            self.out.add(broker)
            self.up.discard(broker)

    def propose(self, name, index):
        p = self.ours.image.topics.partition(name, index)
        if p.leader >= 0:
            isr = [r for r in p.replicas if r == p.leader or self.chance.random() < 0.6]
            self.do("alter", name, isr, p.leader, p.leader_epoch, p.partition_epoch, index=index)

    def reassign(self, name, index):
        p = self.ours.image.topics.partition(name, index)
        if p.reassigning:
            # Where nobody of before is in sync Kafka calls somebody so who is not.
            if (set(p.replicas) - set(p.adding_replicas)) & set(p.isr) and self.chance.random() < 0.5:
                self.do("reassign", name, None, index=index)
        elif p.isr and not p.elr:
            # Kafka trips over an exception of its own without anybody in sync, keeps who is no replica any
            # more eligible, and takes the first partition's number of replicas for that of all.
            count = self.chance.randint(1, 4) if name == "min-1" else 3
            self.do("reassign", name, self.chance.sample(BROKERS, count), index=index)

    def elect(self, name, index):
        self.do("elect", name, self.chance.randrange(2), index=index)

    def step(self):
        self.keep_alive()
        broker, name, index = (
            self.chance.choice(BROKERS),
            self.chance.choice(list(TOPICS)),
            self.chance.randrange(2),
        )
        kind = self.chance.choice(
            ["fence", "unfence", "unfence", "leave", *["propose"] * 3, "reassign", "elect"]
        )
        if kind in ("fence", "unfence", "leave"):
            getattr(self, kind)(broker)
        else:
            getattr(self, kind)(name, index)
        self.compare()


def test_the_same_history_the_same_cluster(tmp_path: Path) -> None:
    need_java()
    folder = tmp_path / "data"
    with Broker(data=str(folder)):
        pass
    with kafka_on(folder, cache_folder(), **SETTINGS) as bootstrap:
        properties = (tmp_path / "kafka.properties").read_text()
        found = re.search(r"quorum\.bootstrap\.servers=(.*)", properties)
        assert found is not None
        pair = Pair(
            KafkaController(bootstrap, found.group(1)),
            Controller(**{name.replace(".", "_"): value for name, value in SETTINGS.items()}),
            random.Random(27),
        )
        for broker in BROKERS:
            pair.register(broker)
            pair.unfence(broker)
        for name, settings in TOPICS.items():
            pair.keep_alive()
            replicas = [pair.chance.sample(BROKERS, 3) for _ in range(2)]
            assert pair.do("topic", name, *replicas, **settings) == (0, None)
        pair.compare()
        for _ in range(STEPS):
            pair.step()
        stop_and_crash(pair)
        pair.kafka.connection.close()
        pair.kafka.cluster.close()


def stop_and_crash(pair: Pair) -> None:
    """One broker stops as it should and comes back, one is silent for its session and comes back without."""
    for broker in BROKERS:
        if broker in pair.out:
            pair.register(broker)
            pair.out.discard(broker)
        pair.unfence(broker)
        pair.keep_alive()
    pair.compare()
    for broker, clean in ((10, True), (11, False)):
        pair.up.discard(broker)
        if clean:
            for one in pair.both:
                deadline = time.monotonic() + 10
                while "down" not in one.beat(broker, down=True)[1]:
                    pair.keep_alive()
                    assert time.monotonic() < deadline
        silent_until = time.monotonic() + SESSION_S * 1.5
        while time.monotonic() < silent_until:
            pair.keep_alive()
            pair.ours.world.advance(100)
            time.sleep(0.1)
        pair.compare()
        pair.register(broker, clean=clean)
        pair.compare()
        pair.unfence(broker)
        pair.compare()
