"""One run of a raft quorum in the simulated world: faults, then healing, then progress is demanded.

`python -m tests.sim.raft_sim SEED` plays one seed and tells what happened.
"""

from __future__ import annotations

import sys
from zlib import crc32

from kbroker.raft.rpc import AddVoterRequest, DescribeQuorumRequest, RemoveVoterRequest
from kbroker.raft.timeouts import RaftTimeouts
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, ReplicaKey, VoterSet
from tests.sim.raft_checks import RaftChecks
from tests.sim.raft_process import RaftProcess
from tests.sim.world import MS, SECOND, Faults, Violation, World

#: Faults for so long, and so long to recover afterwards.
FAULTY = 4 * SECOND
RECOVERY = 20 * SECOND


def directory(node_id):
    """A directory id."""
    return bytes(15) + bytes([node_id + 1])


def endpoints(node_id):
    """Where a node would be."""
    return (QuorumEndpoint("CONTROLLER", f"node{node_id}", 9093),)


def voter(node_id, told, directory_id):
    """A voter, whose endpoints are known or not."""
    return QuorumVoter(node_id, directory_id, endpoints(node_id) if told else ())


class RaftSim:
    """A quorum, its clients and its faults, all chosen by the seed."""

    def __init__(self, seed, process_class=RaftProcess, warnings_allowed=False):
        world = self.world = World(seed)
        self.checks = RaftChecks()
        self.checks.warnings_allowed = warnings_allowed
        self.dynamic = world.chance(0.5)
        count = (1, 2, 3, 3, 3, 3, 5, 5)[world.below(8)]
        extra = world.below(3)
        ids = range(1, count + 1)
        told = world.chance(0.5)
        keys = [voter(i, told, directory(i) if self.dynamic else bytes(16)) for i in ids]
        world.network.delay = ((100, 1 * MS), (200, 5 * MS), (1 * MS, 40 * MS))[world.below(3)]
        world.network.detects_death = world.chance(0.7)
        fsync = ((50, 500), (500, 8 * MS), (1 * MS, 300 * MS))[world.below(3)]
        snapshot_every = (0, 0, 20, 60)[world.below(4)]
        fetch_entries = (1, 4, 50)[world.below(3)]
        skewed, slow_writes = world.chance(0.3), world.chance(0.3)
        for node_id in range(1, count + extra + 1):
            process = process_class(
                world,
                node_id,
                self.checks,
                VoterSet(keys),
                fsync=fsync,
                snapshot_every=snapshot_every,
                fetch_entries=fetch_entries,
                slow_writes=slow_writes,
                directory_id=directory(node_id),
                endpoints=endpoints(node_id) if told or world.chance(0.5) else (),
                auto_join=self.dynamic and world.chance(0.2),
                kraft_version=1 if self.dynamic else 0,
                timeouts=RaftTimeouts(),
            )
            if skewed:
                process.clock_rate = 0.8 + 0.5 * world.random.random()
                process.clock_offset_ms = world.below(100_000)
            world.add(process)
        mean_gap, longest = (300, 700, 1500)[world.below(3)] * MS, (1, 2, 4)[world.below(3)] * SECOND
        self.faults = Faults(world, mean_gap=mean_gap, longest=longest)
        self.values = 0
        self.gap = (4 * MS, 20 * MS, 100 * MS)[world.below(3)]

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

    @property
    def fingerprint(self):
        """A number that tells one course of events from another."""
        checks, world = self.checks, self.world
        course = (world.events, world.now, world.random.random(), checks.leaders, checks.committed)
        return crc32(repr(course).encode())

    def _client(self):
        world = self.world
        for process in world.processes.values():
            if process.is_leader and process.paused_until <= world.now:
                self.values += 1
                process.append(self.values)
                if world.chance(0.2):
                    process.read()
                if world.chance(0.02):
                    process.ask(DescribeQuorumRequest())
        world.call(world.now + world.between(self.gap // 2, self.gap * 2), self._client)

    def _administrator(self):
        """Asks every node that thinks it leads, the deposed one behind a partition included."""
        world = self.world
        for leader in world.processes.values():
            if leader.is_leader and leader.paused_until <= world.now:
                node_id = 1 + world.below(len(world.processes))
                if node_id not in leader.node.voters:
                    new = voter(node_id, True, directory(node_id))
                    leader.ask(AddVoterRequest(new, 1000, world.chance(0.5)))
                elif world.chance(0.7):
                    leader.ask(RemoveVoterRequest(ReplicaKey(node_id, directory(node_id))))
        hurry = world.chance(0.7)
        gap = world.between(1 * MS, 50 * MS) if hurry else world.between(50 * MS, 2 * SECOND)
        world.call(world.now + gap, self._administrator)

    def _demand_progress(self):
        """A leader that everybody follows, and a new value that everybody has."""
        world = self.world
        for process in world.processes.values():
            process.fetch_entries = 50
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


def play(seed, process_class=RaftProcess, warnings_allowed=False):
    """Play a seed; a violation names it."""
    sim = RaftSim(seed, process_class, warnings_allowed)
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
        f"{len(played.checks.committed)} committed, recovered in {played.recovery / MS} ms, "
        f"fingerprint {played.fingerprint:08x}"
    )
