"""One run of a raft quorum in the simulated world: faults, then healing, then progress is demanded.

`python -m tests.sim.raft_sim SEED` plays one seed and tells what happened.
"""

from __future__ import annotations

import sys

from kbroker.raft.rpc import AddVoterRequest, RemoveVoterRequest
from kbroker.raft.timeouts import RaftTimeouts
from kbroker.raft.voter_set import QuorumVoter, ReplicaKey, VoterSet
from tests.sim.raft_checks import RaftChecks
from tests.sim.raft_process import RaftProcess
from tests.sim.world import MS, SECOND, Faults, Violation, World

#: Faults for so long, and so long to recover afterwards.
FAULTY = 6 * SECOND
RECOVERY = 20 * SECOND


def directory(node_id):
    """A directory id."""
    return bytes(15) + bytes([node_id + 1])


class RaftSim:
    """A quorum, its clients and its faults, all chosen by the seed."""

    def __init__(self, seed, process_class=RaftProcess):
        world = self.world = World(seed)
        self.checks = RaftChecks()
        self.dynamic = world.chance(0.4)
        count = (1, 2, 3, 3, 3, 3, 5, 5)[world.below(8)]
        extra = world.below(3)
        ids = range(1, count + 1)
        keys = [QuorumVoter(i, directory(i) if self.dynamic else bytes(16)) for i in ids]
        world.network.delay = ((100, 1 * MS), (200, 5 * MS), (1 * MS, 40 * MS))[world.below(3)]
        world.network.detects_death = world.chance(0.7)
        fsync = ((50, 500), (500, 8 * MS), (1 * MS, 300 * MS))[world.below(3)]
        snapshot_every = (0, 0, 20, 60)[world.below(4)]
        skewed = world.chance(0.3)
        for node_id in range(1, count + extra + 1):
            process = process_class(
                world,
                node_id,
                self.checks,
                VoterSet(keys),
                fsync=fsync,
                snapshot_every=snapshot_every,
                directory_id=directory(node_id),
                kraft_version=1 if self.dynamic else 0,
                timeouts=RaftTimeouts(),
            )
            if skewed:
                process.clock_rate = 0.8 + 0.5 * world.random.random()
                process.clock_offset_ms = world.below(100_000)
            world.add(process)
        self.faults = Faults(world)
        self.values = 0
        self.gap = (2 * MS, 20 * MS, 100 * MS)[world.below(3)]

    @property
    def leader(self):
        """The leader of the newest epoch, if one takes records."""
        leaders = [p for p in self.world.processes.values() if p.is_leader]
        return max(leaders, key=lambda p: p.leads, default=None)

    def run(self):
        """Play; raises Violation."""
        world = self.world
        for process in world.processes.values():
            world.call(world.between(0, 200 * MS), process.start)
        self._client()
        if self.dynamic:
            self._administrator()
        self.faults.begin(FAULTY)
        world.run(FAULTY)
        self.faults.heal()
        world.call(FAULTY + 1, self.faults.heal)
        self._demand_progress()
        return self

    def _client(self):
        world = self.world
        for process in world.processes.values():
            if process.is_leader and process.paused_until <= world.now:
                self.values += 1
                process.append(self.values)
                if world.chance(0.05):
                    process.read()
        world.call(world.now + world.between(self.gap // 2, self.gap * 2), self._client)

    def _administrator(self):
        world, leader = self.world, self.leader
        if leader is not None and leader.paused_until <= world.now and world.chance(0.8):
            node_id = 1 + world.below(len(world.processes))
            if node_id in leader.node.voters:
                if len(leader.node.voters) > 1:
                    change = RemoveVoterRequest(ReplicaKey(node_id, directory(node_id)))
                    world.network.request(world.processes[node_id], leader.id, change, SECOND)
            else:
                change = AddVoterRequest(QuorumVoter(node_id, directory(node_id)), 1000)
                world.network.request(world.processes[node_id], leader.id, change, SECOND)
        world.call(world.now + world.between(100 * MS, 2 * SECOND), self._administrator)

    def _demand_progress(self):
        """A leader that everybody follows, and a new value that everybody has."""
        world = self.world
        known = len(self.checks.committed)
        processes = [*world.processes.values()]

        def recovered():
            leader = self.leader
            if leader is None or len(self.checks.committed) < known + 3:
                return False
            return all(p.high_watermark >= known + 3 and p.node.leader_id == leader.id for p in processes)

        if not world.run(FAULTY + RECOVERY, recovered):
            state = "; ".join(
                f"{p.id}: {p.node.role.value} epoch {p.node.epoch} leader {p.node.leader_id} "
                f"log {p.log.start}-{p.log.end} durable {p.durable_end} high watermark {p.high_watermark}"
                for p in processes
            )
            raise Violation(f"no progress {RECOVERY // SECOND} s after the last fault: {state}")
        self.recovery = world.now - FAULTY


def play(seed, process_class=RaftProcess):
    """Play a seed; a violation names it."""
    sim = RaftSim(seed, process_class)
    try:
        return sim.run()
    except Violation as error:
        raise Violation(f"seed {seed} at {sim.world.now / SECOND:.3f} s: {error}") from None
    except Exception as error:
        raise Violation(f"seed {seed} at {sim.world.now / SECOND:.3f} s: {error!r}") from error


if __name__ == "__main__":
    played = play(int(sys.argv[1]))
    print(
        f"{played.world.events} events, {len(played.checks.leaders)} leaders, "
        f"{len(played.checks.committed)} committed, recovered in {played.recovery // MS} ms"
    )
