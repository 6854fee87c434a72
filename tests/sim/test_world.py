"""The simulated world itself."""

from __future__ import annotations

from random import Random

import pytest

from tests.sim.world import ANSWER, FAILED, GONE, MS, REQUEST, TIMER, Process, SyncedList, World


class Recorder(Process):
    """Writes down what it hears; answers requests with their double."""

    def __init__(self, world, node_id):
        super().__init__(world, node_id)
        self.heard = []

    def started(self):
        pass

    def killed(self, power):
        pass

    def handle(self, kind, payload):
        if kind == REQUEST:
            self.heard.append((kind, payload.request))
            self.world.network.answer(payload, payload.request * 2)
        elif kind in (ANSWER, FAILED):
            if self.world.network.end(payload):
                self.heard.append((kind, payload.answer if kind == ANSWER else payload.request))
        else:
            self.heard.append((kind, None if kind == TIMER else payload))


@pytest.fixture
def world():
    world = World(1)
    for node_id in (1, 2):
        process = Recorder(world, node_id)
        world.add(process)
        process.start()
    return world


def ask(world, number):
    world.network.request(world.processes[1], 2, number, 1000 * MS)


def test_requests_and_answers_keep_their_order(world):
    for number in range(20):
        ask(world, number)
    world.run(100 * MS)
    assert world.processes[2].heard == [(REQUEST, number) for number in range(20)]
    assert world.processes[1].heard == [(ANSWER, number * 2) for number in range(20)]


def test_a_blocked_direction_swallows_and_the_asker_waits_for_its_time_out(world):
    world.network.blocked.add((2, 1))
    ask(world, 5)
    world.run(999 * MS)
    assert (world.processes[1].heard, world.processes[2].heard) == ([], [(REQUEST, 5)])
    world.run(1001 * MS)
    assert world.processes[1].heard == [(FAILED, 5)]


def test_a_dead_process_refuses_and_its_peers_hear_of_it(world):
    world.processes[2].kill()
    ask(world, 5)
    world.run(50 * MS)
    assert sorted(world.processes[1].heard) == [(FAILED, 5), (GONE, 2)]


def test_what_is_under_way_when_its_target_dies_fails_once(world):
    ask(world, 5)
    world.processes[2].kill()
    world.processes[2].start()
    world.run(2000 * MS)
    assert world.processes[1].heard.count((FAILED, 5)) == 1
    assert world.processes[2].heard == []


def test_a_paused_process_hears_everything_later_in_order(world):
    world.processes[2].paused_until = 300 * MS
    ask(world, 1)
    ask(world, 2)
    world.run(299 * MS)
    assert world.processes[2].heard == []
    world.run(400 * MS)
    assert world.processes[2].heard == [(REQUEST, 1), (REQUEST, 2)]


def test_a_timer_follows_the_clock_of_its_node(world):
    process = world.processes[1]
    process.clock_rate, process.clock_offset_ms = 2.0, 1000
    process.arm(1000 + 100)
    process.arm(1000 + 200)
    world.run(49 * MS)
    assert process.heard == []
    world.run(51 * MS)
    assert process.heard == [(TIMER, None)]
    assert process.now_ms() >= 1100


def test_a_crash_keeps_what_was_synced_and_a_prefix_of_the_rest():
    seen = set()
    for seed in range(200):
        log = SyncedList()
        log.append([1, 2, 3])
        mark = log.mark()
        log.append([4, 5])
        log.synced(mark)
        log.truncate(4)
        log.append([6])
        assert log.items == [1, 2, 3, 4, 6]
        log.crash(Random(seed))
        seen.add(tuple(log.items))
    assert seen == {(1, 2, 3), (1, 2, 3, 4), (1, 2, 3, 4, 5), (1, 2, 3, 4, 6)}


def test_a_sync_of_before_a_crash_counts_for_nothing():
    log = SyncedList()
    log.append([1])
    mark = log.mark()
    log.crash(Random(1))
    log.append([2])
    log.synced(mark)
    log.crash(Random(5))
    assert log.items in ([], [1], [2], [1, 2])


def test_the_beginning_can_be_dropped():
    log = SyncedList()
    log.append([0, 1, 2, 3])
    log.drop_before(2)
    log.crash(Random(1))
    assert (log.start, log.end, log.items) == (2, 4, [2, 3])
