"""kcat, as Debian ships it: librdkafka 2.0, the way most people look into a topic."""

from __future__ import annotations

import json
import subprocess
import time

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.needs import need_command

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


class Kcat:
    """kcat with a bootstrap address."""

    def __init__(self, bootstrap: str) -> None:
        self.command = [need_command("kcat", "kcat"), "-b", bootstrap]

    def __call__(self, *args: str, stdin: str = "") -> str:
        done = subprocess.run(
            [*self.command, *args], input=stdin, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def spawn(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.command, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
        )


@pytest.fixture
def kcat(bootstrap: str) -> Kcat:
    return Kcat(bootstrap)


@pytest.fixture
def topic(bootstrap: str, name: str) -> str:
    """A topic of two partitions."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(name, num_partitions=2, replication_factor=1)])[name].result(30)
    return name


def test_lists_brokers_and_topics(kcat: Kcat, topic: str) -> None:
    listing = json.loads(kcat("-L", "-J", "-t", topic))
    assert len(listing["brokers"]) == 1
    [described] = listing["topics"]
    assert described["topic"] == topic
    assert [p["partition"] for p in described["partitions"]] == [0, 1]
    assert all(p["leader"] == listing["brokers"][0]["id"] for p in described["partitions"])
    assert listing["controllerid"] == listing["brokers"][0]["id"]


@pytest.mark.parametrize("codec", CODECS)
def test_produces_and_consumes(kcat: Kcat, name: str, codec: str) -> None:
    """The topic does not exist: a first produce creates it (auto.create.topics.enable)."""
    topic = f"{name}-{codec}"
    lines = [f"key{i}|value {i} {'x' * 100}" for i in range(200)]
    kcat(
        "-P", "-t", topic, "-z", codec, "-K", "|", "-H", "unit=test", "-p", "0", stdin="\n".join(lines) + "\n"
    )
    out = kcat("-C", "-t", topic, "-e", "-q", "-o", "beginning", "-f", "%k|%s|%h|%p|%o\n")
    assert out.splitlines() == [f"{line}|unit=test|0|{i}" for i, line in enumerate(lines)]


def test_acks_all_and_none(kcat: Kcat, topic: str) -> None:
    kcat("-P", "-t", topic, "-p", "0", "-X", "acks=all", "-X", "enable.idempotence=true", stdin="a\nb\n")
    kcat("-P", "-t", topic, "-p", "0", "-X", "acks=0", stdin="c\n")
    read = kcat("-C", "-t", topic, "-p", "0", "-o", "beginning", "-c", "3", "-q")
    assert read.split() == ["a", "b", "c"]


def test_reads_from_offsets_and_tail(kcat: Kcat, topic: str) -> None:
    kcat("-P", "-t", topic, "-p", "1", stdin="".join(f"{i}\n" for i in range(10)))
    assert kcat("-C", "-t", topic, "-p", "1", "-e", "-q", "-o", "7").split() == ["7", "8", "9"]
    assert kcat("-C", "-t", topic, "-p", "1", "-e", "-q", "-o", "-2").split() == ["8", "9"]
    assert kcat("-C", "-t", topic, "-p", "0", "-e", "-q") == ""


def test_tombstones_and_empty_values(kcat: Kcat, topic: str) -> None:
    kcat("-P", "-t", topic, "-p", "0", "-K", "|", "-Z", stdin="gone|\nkept|x\n")
    out = kcat("-C", "-t", topic, "-p", "0", "-e", "-J", "-q")
    records = [json.loads(line) for line in out.splitlines()]
    assert [(r["key"], r["payload"]) for r in records] == [("gone", None), ("kept", "x")]


def test_seeks_by_time(kcat: Kcat, topic: str) -> None:
    kcat("-P", "-t", topic, "-p", "0", stdin="early\n")
    stamps = kcat("-C", "-t", topic, "-p", "0", "-e", "-q", "-f", "%T\n").split()
    middle = int(stamps[0]) + 1
    while time.time() * 1000 <= middle:
        pass  # two milliseconds at most: the next record must be younger
    kcat("-P", "-t", topic, "-p", "0", stdin="late\n")
    assert kcat("-C", "-t", topic, "-p", "0", "-e", "-q", "-o", f"s@{middle}").split() == ["late"]
    assert kcat("-C", "-t", topic, "-p", "0", "-e", "-q", "-o", f"e@{middle}").split() == ["early"]
    assert f"{topic} [0] offset 1" in kcat("-Q", "-t", f"{topic}:0:{middle}")


def test_group_rebalances_commits_and_resumes(kcat: Kcat, topic: str, name: str) -> None:
    for partition in ("0", "1"):
        kcat("-P", "-t", topic, "-p", partition, stdin="".join(f"p{partition}-{i}\n" for i in range(5)))
    settings = ["-X", "auto.offset.reset=earliest", "-X", "session.timeout.ms=6000"]
    group = [*settings, "-u", "-f", "%s\n", "-G", f"group-{name}", topic]
    first = kcat.spawn(*group)
    second = None
    try:
        assert first.stdout is not None
        read = {first.stdout.readline().strip() for _ in range(10)}
        assert read == {f"p{p}-{i}" for p in range(2) for i in range(5)}
        second = kcat.spawn(*group)
        assert second.stderr is not None
        assigned = next(line for line in second.stderr if "assigned:" in line)
        assert assigned.count(f"{topic} [") == 1  # the two partitions are shared out
        for partition in ("0", "1"):
            kcat("-P", "-t", topic, "-p", partition, stdin=f"more-{partition}\n")
        assert second.stdout is not None
        shared = {first.stdout.readline().strip(), second.stdout.readline().strip()}
        assert shared == {"more-0", "more-1"}
    finally:
        for process in filter(None, (first, second)):
            process.terminate()  # kcat commits and leaves the group
            process.communicate(timeout=30)
    kcat("-P", "-t", topic, "-p", "0", stdin="after\n")
    assert kcat(*settings, "-c", "1", "-q", "-G", f"group-{name}", topic).split() == ["after"]
