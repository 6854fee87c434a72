"""A small quorum in the simulated world, for scenarios: cut, kill, pause, and see what becomes of it."""

from __future__ import annotations

from kbroker.raft.timeouts import RaftTimeouts
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, VoterSet
from tests.sim.raft_checks import RaftChecks
from tests.sim.raft_process import RaftProcess
from tests.sim.world import MS, World


def directory(node_id):
    """A directory id."""
    return bytes(15) + bytes([node_id])


def voter(node_id, kraft_version=1):
    """A voter as it tells of itself."""
    endpoints = (QuorumEndpoint("CONTROLLER", f"node{node_id}", 9093),)
    return QuorumVoter(node_id, directory(node_id) if kraft_version else bytes(16), endpoints)


class Quorum:
    """Voters 1 to `voters`, and observers after them.

    Args:
        dynamic: kraft.version 1, so that voters can change.
        options: of RaftProcess and RaftNode.
    """

    def __init__(self, voters=3, observers=0, *, dynamic=False, detect=True, seed=1, **options):
        self.world = World(seed)
        self.checks = RaftChecks()
        self.world.network.delay = (300, 700)
        self.world.network.detects_death = detect
        level = 1 if dynamic else 0
        base = VoterSet(voter(i, level) for i in range(1, voters + 1))
        options.setdefault("timeouts", RaftTimeouts())
        self.nodes = {}
        for node_id in range(1, voters + observers + 1):
            more = {"directory_id": directory(node_id), "endpoints": voter(node_id).endpoints, **options}
            process = RaftProcess(self.world, node_id, self.checks, base, kraft_version=level, **more)
            self.nodes[node_id] = process
            self.world.add(process)

    def start(self):
        """Start all, and wait for a leader that everybody follows."""
        for process in self.nodes.values():
            process.start()
        self.settle()
        return self

    def __getitem__(self, node_id):
        return self.nodes[node_id]

    @property
    def now_ms(self):
        """Since the beginning."""
        return self.world.now / MS

    @property
    def leader(self):
        """Of the newest epoch, if it takes records."""
        leaders = [node for node in self.nodes.values() if node.is_leader]
        return max(leaders, key=lambda node: node.leads, default=None)

    @property
    def follower(self):
        """A voter that follows."""
        leader = self.leader
        return next(n for n in self.nodes.values() if n is not leader and n.up and n.node.is_voter)

    def run(self, ms):
        """Let time pass."""
        self.world.run(self.world.now + int(ms * MS))

    def until(self, test, within_ms):
        """Let time pass until `test()`; how many ms it took."""
        begin = self.world.now
        assert test() or self.world.run(begin + within_ms * MS, test), f"not within {within_ms} ms"
        return (self.world.now - begin) / MS

    def settle(self, within_ms=10_000):
        """Wait for a leader that all who are up follow, with everything committed; how many ms it took."""

        def settled():
            leader = self.leader
            up = [node for node in self.nodes.values() if node.up]
            return leader is not None and all(
                node.node.leader_id == leader.id and node.high_watermark == leader.log.end for node in up
            )

        return self.until(settled, within_ms)

    def cut(self, some):
        """Nothing passes between these nodes and the others."""
        for one in self.nodes:
            for other in self.nodes:
                if (one in some) != (other in some):
                    self.world.network.blocked.add((one, other))

    def heal(self):
        """Everything passes."""
        self.world.network.blocked.clear()

    def append(self, *values):
        """At the leader; waits for nothing."""
        for value in values:
            assert self.leader.append(value) is not None

    def values(self, node):
        """What clients wrote, in the order of a node's log."""
        entries = [node.entry(offset) for offset in range(node.log.end)]
        return [value for _, value in entries if isinstance(value, int)]
