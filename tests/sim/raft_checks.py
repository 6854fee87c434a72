"""What must hold of a raft quorum, told to and asked of an observer that sees everything."""

from __future__ import annotations

from tests.sim.world import Violation


class RaftChecks:
    """Knows every leader, every vote and every committed entry of one run."""

    def __init__(self):
        self.leaders = {}
        self.votes = {}
        self.committed = []
        self.warnings = []
        #: Set by tests of a mutation that makes honest nodes complain.
        self.warnings_allowed = False

    def elected(self, node, epoch):
        """One leader an epoch, and it has everything that is committed."""
        known = self.leaders.setdefault(epoch, node.id)
        if known != node.id:
            raise Violation(f"epoch {epoch} has two leaders: {known} and {node.id}")
        if self.committed:
            last = len(self.committed) - 1
            if node.entry(last) != self.committed[last]:
                raise Violation(f"leader {node.id} of epoch {epoch} lacks the committed offset {last}")

    def voted(self, node, epoch, candidate):
        """A node votes once an epoch, in all its lives, and only after that is stored."""
        known = self.votes.setdefault((node.id, epoch), candidate)
        if known != candidate:
            raise Violation(f"node {node.id} votes for {candidate} in epoch {epoch} after {known}")
        stored = node.stored_election
        if stored.epoch != epoch or stored.voted_id not in (candidate, -1):
            raise Violation(f"node {node.id} votes for {candidate} in epoch {epoch} but stored {stored}")

    def committed_to(self, node, before, high_watermark):
        """A high watermark never falls, is never beyond the log, and what it covers never changes."""
        if high_watermark < before:
            raise Violation(f"the high watermark of node {node.id} falls from {before} to {high_watermark}")
        if high_watermark > node.log.end:
            raise Violation(f"node {node.id} commits {high_watermark} of a log that ends at {node.log.end}")
        committed = self.committed
        for offset in range(max(before, node.log.start), high_watermark):
            entry = node.entry(offset)
            if offset < len(committed):
                if committed[offset] != entry:
                    raise Violation(
                        f"node {node.id} commits {entry} at offset {offset}, where {committed[offset]} was"
                    )
            elif offset == len(committed):
                committed.append(entry)
            else:
                raise Violation(f"node {node.id} commits offset {offset} without what is before it")

    def truncated(self, node, end, high_watermark):
        """Nothing committed is cut off."""
        if end < high_watermark:
            raise Violation(
                f"node {node.id} cuts its log to {end}, below its high watermark {high_watermark}"
            )

    def told_durable(self, node, end):
        """What a follower says it has, it has on stable storage."""
        if end > node.durable_end:
            raise Violation(f"node {node.id} says it has {end} durably, but has {node.durable_end}")

    def wrote(self, node, epoch):
        """Nothing of an epoch is written or sent before it is stored."""
        if node.stored_election.epoch < epoch:
            raise Violation(
                f"node {node.id} acts in epoch {epoch}, but stored epoch {node.stored_election.epoch}"
            )

    def barrier_passed(self, node, asked_at, high_watermark):
        """A linearizable read sees everything that was committed when it was asked for."""
        if high_watermark < asked_at:
            raise Violation(f"node {node.id} reads before {high_watermark}, but {asked_at} was committed")

    def warned(self, node, text):
        """Honest nodes have nothing to complain of."""
        self.warnings.append((node.id, text))
        if not self.warnings_allowed:
            raise Violation(f"node {node.id} complains: {text}")
