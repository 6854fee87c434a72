"""Short runs of everything in this folder; the long ones are `make chaos` (docs/reliability.md).

CI has twenty minutes for all: four runs of 25 s, each of other classes of faults, in place of six of 60 s.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.chaos.cluster.checker import report
from tests.chaos.cluster.nodes import faketime_library
from tests.chaos.cluster.run import Plan, Run
from tests.needs import need

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SECONDS = 25.0
PLANS = {
    "processes": Plan(101, SECONDS, kinds=["kill", "stop", "pause", "kill_all"], rhythm_s=3),
    "network": Plan(
        102,
        SECONDS,
        size=5,
        kinds=["isolate", "one_way", "bridge", "halves", "ring", "flap", "no_clients", "kill"],
        rhythm_s=3,
    ),
    "power": Plan(103, SECONDS, kinds=["power", "kill", "one_link"], disk="xfs", rhythm_s=4),
    "disks-and-clocks": Plan(
        104, SECONDS, kinds=["full", "clock", "pause"], disk="tmpfs", clocks=True, rhythm_s=4
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_nothing_that_was_acknowledged_is_lost_doubled_or_reordered(name: str, tmp_path: Path) -> None:
    plan = PLANS[name]
    if os.geteuid() != 0:
        if plan.disk != "plain" or name != "processes":
            pytest.skip("needs root, for networks and disks of its own")
        plan.network = False
    else:
        need(shutil.which("ip"), "the program ip (Debian package iproute2)")
    if plan.clocks:
        need(faketime_library(), "libfaketime (Debian package faketime)")
    result = Run(plan, tmp_path).play()
    assert not result.found, report(result.found)
    assert result.acknowledged > 500
    assert result.transactions > 5
    assert result.topics > 0
    assert sum(result.faults.values()) >= 2


def test_links_of_the_loopback_are_enough_for_partitions(tmp_path: Path) -> None:
    """What those who are not root get."""
    plan = Plan(105, 12.0, kinds=["isolate", "one_way", "one_link", "kill"], rhythm_s=2, network=False)
    result = Run(plan, tmp_path).play()
    assert not result.found, report(result.found)
    assert result.acknowledged > 200
