"""`kbroker-admin metrics`: a node's metrics by name, and a live table of what goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from kbroker.cli.admin_base import AdminCommand, AdminGroup, Session, pass_session
from kbroker.cli.output import print_json, size_text
from kbroker.client.own import NoKbroker, command

_UNANSWERED = "Apache Kafka tells its metrics by JMX only"
#: What `top` asks for.
_TOP = (
    "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,*",
    "kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec,*",
    "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,*",
    "kafka.server:type=ReplicaManager,name=PartitionCount",
    "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions",
    "kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*",
    "kafka.network:type=RequestMetrics,name=RequestsPerSec,*",
    "kafka.network:type=RequestMetrics,name=TotalTimeMs,*",
    "process:type=cpu_seconds",
)
_ATTRIBUTES = ("Count", "Value", "99thPercentile", "connection-count")
_TOPICS_SHOWN = _APIS_SHOWN = 10


@click.group(cls=AdminGroup)
def metrics() -> None:
    """What the nodes count, under Kafka's JMX names."""


@metrics.command(cls=AdminCommand)
@click.argument("patterns", nargs=-1)
@click.option("--broker", type=int, metavar="ID", help="Only this broker; else all.")
@click.option("--attribute", "attributes", multiple=True, help="Only this attribute; may be repeated.")
@pass_session
def show(
    session: Session, patterns: tuple[str, ...], broker: int | None, attributes: tuple[str, ...]
) -> None:
    """Show metrics. PATTERNS are JMX object names, as kafka.server:type=BrokerTopicMetrics,*"""
    answers = _ask(session, broker, patterns or ("*:*",), attributes)
    if not answers:
        return
    rows: list[Sequence[object]] = []
    for node_id, answer in answers.items():
        if answer["left_out"]:
            session.fail(f"broker {node_id} has more of them: name fewer")
        for name, values in answer["beans"].items():
            rows += [[node_id, name, attribute, value] for attribute, value in values.items()]
    session.show(
        [{"broker": node_id, **answer} for node_id, answer in answers.items()],
        ("BROKER", "NAME", "ATTRIBUTE", "VALUE"),
        rows,
    )


@metrics.command(cls=AdminCommand)
@click.option("--broker", type=int, metavar="ID", help="Only this broker; else all.")
@click.option("--interval", type=click.FloatRange(0.1), default=2.0, show_default=True, help="In seconds.")
@click.option("--count", type=click.IntRange(1), help="Stop after so many tables; else with Ctrl-C.")
@pass_session
def top(session: Session, broker: int | None, interval: float, count: int | None) -> None:
    """Show, again and again, what brokers, topics and requests do now. With --json a line each time."""
    before = _ask(session, broker, _TOP, _ATTRIBUTES)
    shown = 0
    while before and (count is None or shown < count):
        try:
            time.sleep(interval)
        except KeyboardInterrupt:
            return
        after = _ask(session, broker, _TOP, _ATTRIBUTES)
        now = summary(before, after)
        if session.json:
            print_json(now, line=True)
        else:
            if sys.stdout.isatty():
                print("\x1b[H\x1b[2J", end="")
            _print(session, now)
        sys.stdout.flush()
        before, shown = after, shown + 1


def _ask(
    session: Session, broker: int | None, patterns: Sequence[str], attributes: Sequence[str]
) -> dict[int, dict[str, Any]]:
    answers = {}
    for node_id in sorted(session.cluster.brokers()) if broker is None else [broker]:
        arguments: dict[str, Any] = {"mbeans": list(patterns)}
        if attributes:
            arguments["attributes"] = list(attributes)
        try:
            answers[node_id] = command(session.cluster, node_id, "metrics", **arguments)
        except NoKbroker as error:
            session.fail(f"{error}: {_UNANSWERED}")
    return answers


def keys_of(name: str) -> dict[str, str]:
    """The keys of an object name."""
    return dict(part.partition("=")[::2] for part in name.partition(":")[2].split(","))


def _rates(
    before: Mapping[str, Any], after: Mapping[str, Any], attribute: str = "Count"
) -> Iterator[tuple[dict[str, str], float]]:
    """Events a second between two answers, for every bean that counts."""
    elapsed_s = (after["time_ms"] - before["time_ms"]) / 1000
    for name, values in after["beans"].items():
        if attribute in values and elapsed_s > 0:
            old = before["beans"].get(name, {}).get(attribute, 0)
            yield keys_of(name), max(values[attribute] - old, 0) / elapsed_s


def summary(before: Mapping[int, Any], after: Mapping[int, Any]) -> dict[str, Any]:
    """What went on between two answers of the same brokers."""
    brokers: list[dict[str, Any]] = []
    topics: dict[str, dict[str, Any]] = {}
    apis: dict[str, dict[str, Any]] = {}
    for node_id in sorted(set(before) & set(after)):
        row: dict[str, Any] = {"broker": node_id, "requests": 0.0, "connections": 0, "cpu": 0.0}
        for keys, rate in _rates(before[node_id], after[node_id]):
            name = keys.get("name", "")
            if keys["type"] == "BrokerTopicMetrics":
                column = name.removesuffix("PerSec")
                if "topic" in keys:
                    topic = topics.setdefault(keys["topic"], {"topic": keys["topic"]})
                    topic[column] = topic.get(column, 0.0) + rate
                else:
                    row[column] = rate
            elif name == "RequestsPerSec":
                api = apis.setdefault(
                    keys["request"], {"request": keys["request"], "rate": 0.0, "p99_ms": 0.0}
                )
                api["rate"] += rate
                if keys["request"] != "Fetch":  # its two kinds are there as well
                    row["requests"] += rate
        for keys, rate in _rates(before[node_id], after[node_id], "Value"):
            if keys["type"] == "cpu_seconds":
                row["cpu"] = rate
        for name, values in after[node_id]["beans"].items():
            keys = keys_of(name)
            if keys["type"] == "socket-server-metrics":
                row["connections"] += values.get("connection-count", 0)
            elif keys["type"] == "ReplicaManager":
                row[keys["name"]] = values["Value"]
            elif keys.get("name") == "TotalTimeMs" and keys["request"] in apis:
                api = apis[keys["request"]]
                api["p99_ms"] = max(api["p99_ms"], values["99thPercentile"])
        brokers.append(row)
    busiest = sorted(topics.values(), key=lambda each: -each.get("BytesIn", 0) - each.get("BytesOut", 0))
    return {
        "brokers": brokers,
        "topics": [
            each for each in busiest if any(value for value in each.values() if value.__class__ is float)
        ],
        "requests": sorted((each for each in apis.values() if each["rate"]), key=lambda each: -each["rate"]),
    }


def _print(session: Session, now: dict[str, Any]) -> None:
    rows: list[Sequence[object]] = [
        [
            each["broker"],
            f"{each['cpu'] * 100:.0f} %",
            _bytes(each, "BytesIn"),
            _bytes(each, "BytesOut"),
            f"{each.get('MessagesIn', 0):,.0f}",
            f"{each['requests']:,.0f}",
            int(each["connections"]),
            each.get("PartitionCount"),
            each.get("UnderReplicatedPartitions"),
        ]
        for each in now["brokers"]
    ]
    columns = ("BROKER", "CPU", "IN/s", "OUT/s", "RECORDS/s", "REQUESTS/s", "CONNECTIONS", "PARTITIONS")
    session.show(None, (*columns, "UNDER-REPLICATED"), rows)
    rows = [
        [
            each["topic"],
            _bytes(each, "BytesIn"),
            _bytes(each, "BytesOut"),
            f"{each.get('MessagesIn', 0):,.0f}",
        ]
        for each in now["topics"][:_TOPICS_SHOWN]
    ]
    if rows:
        print()
        session.show(None, ("TOPIC", "IN/s", "OUT/s", "RECORDS/s"), rows)
    rows = [
        [each["request"], f"{each['rate']:,.1f}", f"{each['p99_ms']:.2f} ms"]
        for each in now["requests"][:_APIS_SHOWN]
    ]
    if rows:
        print()
        session.show(None, ("REQUEST", "A SECOND", "P99"), rows)


def _bytes(row: Mapping[str, Any], column: str) -> str:
    return size_text(int(row.get(column, 0)))
