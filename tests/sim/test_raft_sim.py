"""The raft core under seeded faults. KBROKER_SIM_SEED plays that seed alone, KBROKER_SIM_SEEDS so many."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.sim.planted import PLANTED
from tests.sim.raft_process import RaftProcess
from tests.sim.raft_sim import play
from tests.sim.world import Violation

_ONE = os.environ.get("KBROKER_SIM_SEED")
_COUNT = int(os.environ.get("KBROKER_SIM_SEEDS", "1000"))
_PARTS = 10


@pytest.mark.skipif(_ONE is not None, reason="one seed is asked for")
@pytest.mark.parametrize("part", range(_PARTS))
def test_a_quorum_survives_its_faults(part):
    for seed in range(part, _COUNT, _PARTS):
        play(seed)


@pytest.mark.skipif(_ONE is None, reason="KBROKER_SIM_SEED is not set")
def test_one_seed():
    play(int(_ONE))


def test_a_seed_replays_exactly_also_with_other_hashes():
    outputs = set()
    for hashes in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.sim.raft_sim", "7"],
            env={**os.environ, "PYTHONHASHSEED": hashes},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert f"{play(7).fingerprint:08x}" in outputs.pop()


@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.__name__)
def test_a_planted_bug_is_found_within_200_seeds(bug):
    class Spoilt(RaftProcess):
        node_class = bug

    for seed in range(200):
        try:
            play(seed, Spoilt, warnings_allowed=True)
        except Violation:
            return
    pytest.fail(f"{bug.__name__} is not found")
