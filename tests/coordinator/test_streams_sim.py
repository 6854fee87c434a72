"""Streams groups under random members: they join, lag, leave, die; topics grow; the coordinator restarts.

StreamsWorld checks after every step that no two members hold a task as active; here that all settles once
nothing more happens, and that the log tells the whole state.
"""

from __future__ import annotations

import random

import pytest

from tests.coordinator.streams_world import StreamsWorld, subtopology, told, told_topic

STEPS = 150


class Client:
    """What a Kafka Streams thread does with the answers."""

    def __init__(self, name: str, process: str) -> None:
        self.name, self.process = name, process
        self.epoch = 0
        self.tasks: tuple = ({}, {}, {})
        self.unsaid = False

    def beat(self, w: StreamsWorld) -> None:
        owned = self.tasks if self.unsaid and self.epoch else None
        answer = w.beat(
            self.name, self.epoch, owned, **({"process_id": self.process} if not self.epoch else {})
        )
        if answer.error_code:
            self.epoch, self.tasks = 0, ({}, {}, {})
            return
        self.epoch, self.unsaid = answer.member_epoch, False
        tasks = told(answer)
        if tasks is not None:
            self.tasks, self.unsaid = tasks, True


@pytest.mark.parametrize("seed", range(16))
def test_random_lives(seed: int) -> None:
    chance = random.Random(seed)
    w = StreamsWorld(num_standby_replicas=chance.choice([0, 1, 2]))
    w.topic("in", 3)
    w.topology = [
        subtopology("0", ["in"], sinks=["rep"]),
        subtopology("1", repartitions=[told_topic("rep")], logs=[told_topic("log")]),
    ]
    clients: list[Client] = []
    for step in range(STEPS):
        what = chance.random()
        if what < 0.1 and len(clients) < 6:
            clients.append(Client(f"m{step}", f"p{chance.randrange(3)}"))
        elif what < 0.14 and clients:
            gone = clients.pop(chance.randrange(len(clients)))
            if chance.random() < 0.5 and gone.epoch:
                w.beat(gone.name, -1)
        elif what < 0.2:
            w.make_missing()
        elif what < 0.24:
            w.pass_ms(chance.randrange(50_000))
        elif what < 0.26 and w.shard.groups:
            w.same_after_replay()
            w.shard = w.replayed()
            w.shard.loaded(w.now)
        elif clients:
            chance.choice(clients).beat(w)
    _settle(w, clients)


def _settle(w: StreamsWorld, clients: list[Client]) -> None:
    if not clients:
        return
    w.pass_ms(100_000)  # who died is out
    for _ in range(12):
        for client in clients:
            client.beat(w)
            w.make_missing()
    assert w.group().state_name == "Stable"
    active = sorted(
        (key, each) for client in clients for key, held in client.tasks[0].items() for each in held
    )
    assert active == [(key, each) for key in ("0", "1") for each in range(3)]
    loads = [sum(map(len, client.tasks[0].values())) for client in clients]
    assert max(loads) <= max(-(-6 // len(clients)), 1) + 1
    w.same_after_replay()
