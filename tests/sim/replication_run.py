"""One seed of partition replication: clients and faults, then healing and progress.

python -m tests.sim.replication_run [first seed] [how many]
"""

from __future__ import annotations

import sys
import time

from kbroker.controller.reassignment import Reassignment, alter_reassignments
from kbroker.errors import ApiError
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.storage.log import AppendOrigin
from kbroker.storage.memory_disk import Tail
from tests.sim.replication_checker import Checker, Violation
from tests.sim.replication_world import CONTROLLER, Acked, World

#: Clients go on for so long after the last fault.
_GO_ON_MS = 400
#: How often it is looked whether all have come together since.
_LOOK_MS = 250


class Run:
    """Plays one seed. Raises Violation."""

    def __init__(self, seed, options=None):
        self.world = World(seed, options)
        self.checker = Checker(self.world)
        self._values = 0
        self._begin = 0.0

    def play(self):
        world, options = self.world, self.world.options
        world.start()
        self._begin = world.now
        self._produce()
        self._every(self._fault, 400)
        world.run_until(self._begin + options.faults_end_ms)
        self._heal()
        world.run_until(world.now + _GO_ON_MS)
        self._settle(world.now + options.heal_ms)
        self.checker.check_acknowledged()
        return self

    def _settle(self, end):
        """Runs until all is as it must be without faults; not for longer than to `end`."""
        world = self.world
        while True:
            world.run_until(world.now + _LOOK_MS)
            for node in world.nodes.values():
                self.checker.check(node)
            try:
                self.checker.check_healed()
                return
            except Violation:
                if world.now >= end:
                    raise

    @property
    def _faulty(self):
        return self.world.now < self._begin + self.world.options.faults_end_ms

    # -- clients --

    def _produce(self):
        world, random = self.world, self.world.random
        if world.now > self._begin + world.options.faults_end_ms + _GO_ON_MS:
            return
        index = random.randrange(world.options.partitions)
        for node in world.nodes.values():
            partition = world.partition(node.id, index)
            if partition is not None and partition.is_leader and random.random() < 0.8:
                self._append(node, partition, index, random.choice([1, -1, -1, -1]))
        if random.random() < 0.02 * world.options.deletes:
            self._delete(index)
        world.at(world.now + random.expovariate(1 / 25), self._produce)

    def _append(self, node, partition, index, acks):
        world = self.world
        values = []
        for _ in range(world.random.choice([1, 1, 3])):
            self._values += 1
            values.append(b"%d" % self._values)
        batch = build_batch([Record(timestamp=1_700_000_000_000, value=value) for value in values])
        try:
            result = partition.append(batch, node.replicas.clock.now_ms(), AppendOrigin.CLIENT, acks)
            partition.flush()
        except ApiError:
            return
        self.checker.appended(index, partition.leader_epoch, result.base_offset, values)
        if acks == -1:
            partition.when_committed(result.last_offset).then(
                lambda done: self._acked(done, partition, index, result.base_offset, values)
            )
        world.check(node)

    def _acked(self, done, partition, index, base, values):
        try:
            done.result()
        except ApiError:
            return
        state = partition.leader_state
        if state is not None and state.has_kept_enough_in_sync:
            for offset, value in enumerate(values, base):
                self.world.acked.append(Acked(index, offset, value, state.leader_epoch))

    def _delete(self, index):
        leader = self.world.leader(index)
        if leader is not None:
            self.world.check(leader)  # notes what is committed, before it is gone
            partition = self.world.partition(leader.id, index)
            partition.delete_records(partition.high_watermark)
            leader.logs.checkpoint_log_starts()

    # -- faults --

    def _every(self, action, mean_ms):
        world = self.world

        def again():
            if self._faulty:
                action()
                world.at(world.now + world.random.expovariate(1 / mean_ms), again)

        world.at(world.now + world.random.expovariate(1 / mean_ms), again)

    def _fault(self):
        world, options, random = self.world, self.world.options, self.world.random
        node = random.choice(list(world.nodes.values()))
        kinds = {
            self._kill: options.kills,
            self._power: options.power_cuts,
            self._stop: options.clean_stops,
            self._cut_peer: options.cuts,
            self._cut_controller: options.controller_cuts,
            self._reassign: options.reassigns,
            self._heal_links: 1.0,
            self._blackout: options.blackouts,
        }
        (kind,) = random.choices(list(kinds), list(kinds.values()))
        kind(node)

    def _kill(self, node):
        if node.alive:
            node.kill()
            self._reboot_later(node)

    def _power(self, node):
        if node.alive:
            node.kill(self.world.random.choice([Tail.LOST, Tail.TORN, Tail.ZEROED]))
            self._reboot_later(node)

    def _blackout(self, _):
        for node in self.world.nodes.values():
            self._power(node)

    def _stop(self, node):
        if node.alive:
            node.stop()
            self._reboot_later(node)

    def _reboot_later(self, node):
        world = self.world
        world.at(
            world.now + world.random.choice([5, 100, 900]) * world.random.random(), lambda: self._boot(node)
        )

    @staticmethod
    def _boot(node):
        if not node.alive:
            node.boot()

    def _cut_peer(self, node):
        world = self.world
        other = world.random.choice([each for each in world.nodes if each != node.id])
        links = [(node.id, other), (other, node.id)]
        world.cut(*links[: world.random.choice([1, 2])])

    def _cut_controller(self, node):
        links = [(node.id, CONTROLLER), (CONTROLLER, node.id)]
        self.world.cut(*links[: self.world.random.choice([1, 2])])

    def _reassign(self, node):
        """Other replicas for a partition, or call off what is under way."""
        world = self.world
        controller, index = world.controller, world.random.randrange(world.options.partitions)
        replicas = world.random.sample(list(world.nodes), 3)
        if world.random.random() < 0.2:
            replicas = None
        wanted = [Reassignment("t", index, replicas)]
        controller.commit(alter_reassignments(controller.image, wanted, controller.rules).records)

    def _heal_links(self, node):
        self.world.heal()

    def _heal(self):
        self.world.heal()
        for node in self.world.nodes.values():
            self._boot(node)


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    begin, events, acked, losses = time.process_time(), 0, 0, 0
    for seed in range(first, first + count):
        run = Run(seed).play()
        events += run.world.events
        acked += len(run.world.acked)
        losses += run.checker.losses
    took = time.process_time() - begin
    print(f"{count} seeds, {events} events, {acked} acknowledged, {losses} losses allowed, {took:.1f} s CPU")


if __name__ == "__main__":
    main()
