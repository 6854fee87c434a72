"""kbroker and Apache Kafka as voters of one quorum: they elect each other, and their logs are the same."""

from __future__ import annotations

import signal

import pytest

from kbroker.errors import ErrorCode
from kbroker.raft.rpc import AddVoterRequest, RemoveVoterRequest
from tests.compat.mixed.quorum_nodes import LOG, Controller, make_quorum
from tests.doubles import wait_until
from tests.needs import cache_folder, need_java
from tools.bench.brokers import free_port

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(400)]


def leader_of(nodes):
    """The node that leads, with what it says; None if not all who are up have what it committed."""
    up = {node.node_id for node in nodes if node.is_up}
    for node in nodes:
        said = node.describe() if node.is_up else None
        if said is not None and said.high_watermark > 0:
            ends = {state.replica.id: state.log_end_offset for state in said.voters}
            if all(ends[node_id] >= said.high_watermark for node_id in up):
                return node, said
    return None


def settle(nodes, what):
    """Wait until one leads whom all who are up follow."""
    found = []

    def settled():
        found[:] = [leader_of(nodes)]
        return found[0] is not None

    try:
        wait_until(settled, what, 90)
    except AssertionError as error:
        raise AssertionError(f"{error}\n" + "\n".join(node.told() for node in nodes)) from None
    return found[0]


@pytest.mark.parametrize("kinds", [["kbroker", "kafka", "kafka"], ["kbroker", "kbroker", "kafka"]])
def test_a_quorum_of_both(tmp_path, kinds) -> None:
    need_java()
    nodes = make_quorum(tmp_path, kinds, cache_folder())
    try:
        for node in nodes:
            node.start()
        led, committed = set(), 0
        for turn in range(8):
            leader, said = settle(nodes, "a first leader" if not turn else "a leader after all are back")
            assert said.high_watermark >= committed, "what was committed is gone"
            committed = said.high_watermark
            led.add(leader.kind)
            if turn >= 2 and led == {"kafka", "kbroker"}:
                break
            leader.end(signal.SIGKILL if turn % 2 else signal.SIGTERM)
            settle(nodes, "another leader")
            leader.start()
        assert led == {"kafka", "kbroker"}
        shortest = min((node.data / LOG).stat().st_size for node in nodes)
    finally:
        for node in nodes:
            node.end()
    logs = [(node.data / LOG).read_bytes() for node in nodes]
    assert shortest > 300
    assert len({log[:shortest] for log in logs}) == 1


def observed(leader, node):
    """Wait until the leader sees the node as an observer that has everything."""

    def caught_up():
        said = leader.describe()
        return said is not None and any(
            state.replica == node.key and state.last_caught_up_ms > 0 for state in said.observers
        )

    try:
        wait_until(caught_up, "an observer that has everything", 60)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{leader.told()}\n{node.told()}") from None


def added(leader, node):
    """Make the node a voter; one that has just started may not answer the leader's question yet."""

    def done():
        answer = leader.ask(AddVoterRequest(node.voter, 10_000))
        return answer is not None and answer.error in (ErrorCode.NONE, ErrorCode.DUPLICATE_VOTER)

    wait_until(done, "a new voter", 60)


def test_voters_of_both_kinds_come_and_go(tmp_path) -> None:
    """KIP-853, KIP-630: Kafka leads, kbroker loads its snapshot, joins, leads alone, serves a snapshot."""
    need_java()
    ports = [free_port() for _ in range(3)]
    settings = {
        "controller.quorum.bootstrap.servers": ",".join(f"127.0.0.1:{port}" for port in ports),
        "metadata.log.max.record.bytes.between.snapshots": "1000",
        "metadata.log.max.snapshot.interval.ms": "1000",
    }
    first, ours, third = nodes = [
        Controller(tmp_path, kind, node_id, port, cache_folder(), settings, [arguments])
        for kind, node_id, port, arguments in [
            ("kafka", 1, ports[0], "--standalone"),
            ("kbroker", 2, ports[1], "--no-initial-controllers"),
            ("kafka", 3, ports[2], "--no-initial-controllers"),
        ]
    ]
    try:
        first.start()
        wait_until(lambda: len([*(first.data / LOG).parent.glob("*.checkpoint")]) > 1, first.told(), 90)
        ours.start()
        observed(first, ours)
        snapshots = (ours.data / LOG).parent.glob("*.checkpoint")
        assert max(int(path.name[:20]) for path in snapshots) > 0, "it took the log, not the snapshot"
        added(first, ours)
        assert first.ask(RemoveVoterRequest(first.key)).error is ErrorCode.NONE
        wait_until(lambda: ours.describe() is not None, ours.told(), 30)
        third.start()
        observed(ours, third)
        added(ours, third)
        assert [state.replica for state in ours.describe().voters] == [ours.key, third.key]
        ours.end()
        assert third.is_up
    finally:
        for node in nodes:
            node.end()
