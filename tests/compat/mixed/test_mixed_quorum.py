"""kbroker and Apache Kafka as voters of one quorum: they elect each other, and their logs are the same."""

from __future__ import annotations

import signal

import pytest

from tests.compat.mixed.quorum_nodes import LOG, make_quorum
from tests.doubles import wait_until
from tests.needs import cache_folder, need_java

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
