"""One seed of a whole cluster: clients and faults, then healing, progress, and a look at all that is there.

python -m tests.sim.node_run [first seed] [how many]
"""

from __future__ import annotations

import gc
import logging
import sys
import time

from kbroker.storage.memory_disk import Tail
from tests.sim import node_groups
from tests.sim.node_clients import Clients
from tests.sim.node_groups import GroupClients
from tests.sim.node_world import NodeWorld
from tests.sim.replication_checker import Checker, Violation, raw, records

_LOOK_MS = 25
_FAULT_MS = 500


class NodeRun:
    """Plays one seed. Raises Violation, or whatever a node did not catch."""

    def __init__(self, seed, options=None):
        self.world = NodeWorld(seed, options)
        self.clients = Clients(self.world)
        self.groups = GroupClients(self.clients) if self.world.options.groups else None
        self.checker = None
        self.faults = 0
        #: A machine that has lost power, until it has everything again.
        self._damaged = None

    def play(self):
        with self.world.patched():
            self._play()
        return self

    def _play(self):
        world, clients, options = self.world, self.clients, self.world.options
        world.start()
        clients.begin()
        clients.run(clients.create("t", options.partitions))
        world.wait(lambda: world.image.topics.get("t") is not None, 5000, "a topic")
        world.wait(lambda: all(world.leader(i) for i in range(options.partitions)), 5000, "leaders")
        self.checker = Checker(world)
        for index in range(options.partitions):
            for number in (2 * index, 2 * index + 1):
                clients.run(clients.produce(number, index))
            clients.run(clients.read(index))
        clients.run(clients.commit())
        clients.run(clients.take_ids())
        if self.groups is not None:
            self._begin_groups()
        end = world.now + options.faults_end_ms
        next_fault = world.now + 300
        while world.now < end:
            if world.now >= next_fault:
                self._fault()
                next_fault = world.now + world.random.expovariate(1 / _FAULT_MS)
            self._go_on()
        self._heal()
        before = clients.acknowledged
        self._until(lambda: clients.acknowledged > before + 5, "an acknowledgement after the faults")
        clients.stopping = True
        others = self.groups.is_running if self.groups is not None else lambda: 0
        self._until(lambda: clients.running == others(), "the end of the clients")
        if self.groups is not None:
            self._end_groups()
        self._until(self._is_whole, "that all is whole")
        self._until(self._all_know_what_was_created, "that all know what was created")
        self.checker.check_acknowledged()
        self._check_all()

    def _begin_groups(self):
        clients, world = self.clients, self.world
        clients.run(clients.create(node_groups.TOPIC, node_groups.PARTITIONS))
        world.wait(lambda: world.image.topics.get(node_groups.TOPIC) is not None, 5000, "a topic")
        self.groups.begin()

    def _end_groups(self):
        """Whoever works on records goes on until all are done; the transactions have ended by then."""
        world, groups = self.world, self.groups
        groups.draining = True

        def log_of(topic, index):
            state = world.image.topics.get(topic).partitions[index]
            partition = world.nodes[state.leader].replicas.get(topic, index) if state.leader >= 0 else None
            return partition.log if partition is not None else None

        def final():
            for index in range(world.options.partitions):
                log = world.leader(index).replicas.get("t", index).log
                for offset, _, _ in records(log, log.log_start_offset, log.high_watermark):
                    yield index, offset

        self._until(self._is_whole, "that all is whole")
        self._until(lambda: self._is_whole() and groups.is_done(final()), "that all records are worked on")
        self._until(lambda: groups.ended, "the last transaction")
        logs = [log_of(node_groups.TOPIC, index) for index in range(node_groups.PARTITIONS)]
        self._until(lambda: all(each.last_stable_offset == each.high_watermark for each in logs), "markers")
        looks = []
        self.clients.run(groups.look(looks))
        self._until(lambda: looks, "a look at offsets")
        groups.check(logs, *looks)
        groups.stopping = True
        self._until(lambda: not self.clients.running, "the end of the members of groups")

    def _go_on(self):
        world = self.world
        world.run_until(world.now + _LOOK_MS)
        for machine in world.nodes.values():
            self.checker.check(machine)

    def _until(self, test, what):
        world = self.world
        end = world.now + world.options.heal_ms
        while not test():
            if world.now > end:
                self._is_whole(explain=True)
                raise Violation(f"seed {world.seed} at {world.now:.0f} ms: {what} takes too long")
            self._go_on()

    def _is_whole(self, explain=False):
        if not all(machine.serves for machine in self.world.nodes.values()):
            return False
        try:
            self.checker.check_healed()
        except Violation:
            if explain:
                raise
            return False
        return True

    def _all_know_what_was_created(self):
        images = [machine.services.metadata.image for machine in self.world.nodes.values()]
        return all(image.topics.get(name) is not None for name in self.clients.created for image in images)

    # -- at the end --

    def _check_all(self):
        world = self.world
        for index in range(world.options.partitions):
            log = world.leader(index).replicas.get("t", index).log
            values = [value for _, _, value in records(log, log.log_start_offset, log.log_end_offset)]
            for number in (2 * index, 2 * index + 1):
                own = [int(value.split(b":")[1]) for value in values if value.startswith(b"%d:" % number)]
                if own != sorted(set(own)):
                    raise Violation(f"seed {world.seed}: t-{index}: doubled or out of order: {own}")
                if own and own != list(range(own[-1] + 1)):
                    raise Violation(f"seed {world.seed}: t-{index}: some of producer {number} are missing")
        logs = [machine.replicas.get("__consumer_offsets", 0) for machine in world.nodes.values()]
        if all(partition is not None for partition in logs):
            mark = min(partition.log.high_watermark for partition in logs)
            heads = {tuple(each for each in records(partition.log, 0, mark)) for partition in logs if mark}
            if len(heads) > 1:
                raise Violation(f"seed {world.seed}: the logs of committed offsets differ")

    # -- faults --

    def _fault(self):
        world = self.world
        machine = world.random.choice(list(world.nodes.values()))
        kind = world.random.choice([*world.options.kinds, "create", "mend"])
        self.faults += 1
        getattr(self, f"_{kind}")(machine)

    def _mend(self, machine):
        self.world.network.cuts.clear()

    def _create(self, machine):
        self.clients.run(self.clients.create(f"x{self.faults}", 1))

    def _boot_later(self, machine):
        def boot():
            if machine.process is None:
                machine.boot()

        world = self.world
        world.later(world.random.choice([20, 300, 1500]) * world.random.random(), boot)

    def _kill(self, machine):
        if machine.process is not None and machine.serves:
            machine.kill()
            self._boot_later(machine)

    def _lacks_something(self):
        if self._damaged is not None and self._damaged.serves and self._all_in_sync():
            self._damaged = None
        return self._damaged is not None

    def _all_in_sync(self):
        return all(
            sorted(partition.isr) == sorted(partition.replicas)
            for topic in self.world.image.topics
            for partition in topic.partitions
        )

    def _kill_all(self, _):
        for machine in self.world.nodes.values():
            self._kill(machine)

    def _power(self, machine):
        """Whoever else has what this one loses must be there, where nothing is synced but the metadata."""
        if self.world.options.syncs:
            self._darken(machine)
            return
        ready = all(each.serves and not each.process.paused for each in self.world.nodes.values())
        if ready and self._all_in_sync() and not self._lacks_something():
            self._damaged = machine
            machine.kill(self.world.random.choice([Tail.LOST, Tail.TORN, Tail.ZEROED]))
            self._boot_later(machine)

    def _blackout(self, _):
        for machine in self.world.nodes.values():
            self._darken(machine)

    def _darken(self, machine):
        if machine.process is not None:
            machine.kill(self.world.random.choice([Tail.LOST, Tail.TORN, Tail.ZEROED]))
            self._boot_later(machine)

    def _stop(self, machine):
        if machine.serves and not machine.process.paused:
            process = machine.process
            machine.stop()

            def boot():
                if machine.process is None:
                    machine.boot()
                elif machine.process is process:
                    self.world.later(100, boot)

            self.world.later(300, boot)

    def _pause(self, machine):
        process = machine.process
        if process is not None and not process.paused:
            process.pause()
            self.world.later(self.world.options.pause_ms * self.world.random.random(), process.resume)

    def _cut(self, machine):
        for other in self.world.nodes.values():
            if other is not machine:
                self.world.network.cuts[machine.host, other.host] = None
                self.world.network.cuts[other.host, machine.host] = None

    def _one_way(self, machine):
        others = [each.host for each in self.world.nodes.values() if each is not machine] + ["client"]
        other = self.world.random.choice(others)
        way = (machine.host, other) if self.world.random.random() < 0.5 else (other, machine.host)
        self.world.network.cuts[way] = None

    def _slow_disk(self, machine):
        machine.slow_until = self.world.now + 800

    def _heal(self):
        self.world.network.cuts.clear()
        for machine in self.world.nodes.values():
            machine.slow_until = -1.0
            if machine.process is not None and machine.process.paused:
                machine.process.resume()
            self._boot_later(machine)


def digest(seed):
    """A number for all that happened."""
    from hashlib import sha256

    run = NodeRun(seed).play()
    data = b"".join(
        raw(log, log.log_start_offset)
        for machine in run.world.nodes.values()
        for log in machine.services.replicas.logs.logs.values()
    )
    return sha256(data + b"%d %d" % (run.world.events, run.clients.acknowledged)).hexdigest()


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    logging.disable(logging.CRITICAL)
    gc.set_threshold(200_000)
    began, events, acknowledged, commits, faults = time.process_time(), 0, 0, 0, 0
    for seed in range(first, first + count):
        run = NodeRun(seed).play()
        events += run.world.events
        acknowledged += run.clients.acknowledged
        commits += run.clients.commits
        faults += run.faults
    took = time.process_time() - began
    print(
        f"{count} seeds, {events} events, {faults} faults, {acknowledged} batches and {commits} commits "
        f"acknowledged, {took:.1f} s CPU"
    )


if __name__ == "__main__":
    main()
