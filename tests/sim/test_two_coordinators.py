"""A coordinator that is cut off together with the controller that it hears: it is to fall silent before
another one takes commits."""

from __future__ import annotations

import logging

import pytest

from kbroker.broker.controller_driver import ControllerDriver
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.protocol.generated.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.sim.node_clients import Clients
from tests.sim.node_world import NodeWorld, Options
from tests.sim.replication_checker import Violation

_GROUP = "watched"
#: In some of these the others have a coordinator before the one that is cut off has heard nothing for long.
_SEEDS = (11, 14, 19, 22, 26)


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


class Committed:
    """Commits at those who are left, and looks at the one that is cut off, all the time."""

    def __init__(self, clients):
        self.clients = clients
        self.acknowledged = 0
        self.looks = 0

    async def commit(self, nodes):
        number = 0
        while not self.clients.stopping:
            number += 1
            partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=number)
            topics = [OffsetCommitRequestTopic(name="t", partitions=[partition])]
            request = OffsetCommitRequest(group_id=_GROUP, topics=topics)
            for node_id in nodes():
                answer = await self.clients.send(node_id, request, f"commit-{node_id}", 400, 8)
                if answer is not None and not answer.topics[0].partitions[0].error_code:
                    self.acknowledged = number
            await self.clients.pause(20)

    def look(self, node_id):
        self.clients.run(self._look(node_id))

    async def _look(self, node_id):
        least = self.acknowledged
        topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=_GROUP, topics=topics)])
        answer = await self.clients.send(node_id, request, "look", 6000, 8)
        if answer is not None and not answer.groups[0].error_code:
            self.looks += 1
            [found] = answer.groups[0].topics[0].partitions
            if not found.error_code and found.committed_offset < least:
                raise Violation(f"{found.committed_offset} is said to be committed, and {least} was before")


def play(seed):
    world = NodeWorld(seed, Options(nodes=5, min_isr=1, patience_ms=1500))
    with world.patched():
        world.start()
        clients = Clients(world)
        clients.begin()
        clients.run(clients.create("t", 1))
        group = Committed(clients)
        everybody = list(world.nodes)
        nodes = everybody
        clients.run(clients.commit())  # has the coordinators' topic made
        clients.run(group.commit(lambda: nodes))
        world.wait(lambda: group.acknowledged > 2, 10_000, "a commit")
        coordinator = world.image.topics.get("__consumer_offsets").partitions[0].leader
        controller = next(id for id, node in world.nodes.items() if node.kraft.controller.active)
        away = list(dict.fromkeys([coordinator, controller, *everybody]))[:2]
        nodes = [id for id in everybody if id not in away]
        for one in away:
            for other in nodes:
                world.network.cuts[f"n{one}", f"n{other}"] = None
                world.network.cuts[f"n{other}", f"n{one}"] = None
        before, end = group.acknowledged, world.now + 7000
        while world.now < end:
            group.look(coordinator)
            world.run_until(world.now + 20)
        clients.stopping = True
        return group.acknowledged - before, group.looks


@pytest.mark.parametrize("seed", _SEEDS)
def test_offsets_do_not_go_back_while_two_controllers_believe_that_they_lead(seed):
    commits, looks = play(seed)
    assert commits > 20
    assert looks > 20


def test_a_controller_that_does_not_think_of_a_rival_is_found(monkeypatch):
    monkeypatch.setattr(ControllerDriver, "unrivalled", lambda self: True)
    with pytest.raises(Violation):
        [play(seed) for seed in _SEEDS]
