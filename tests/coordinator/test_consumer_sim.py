"""Random histories of consumer groups: members of both protocols join, leave, fall silent, lose answers;
topics grow and go; coordinators fail over. Never two owners of a partition; in the end everybody settles.
"""

from __future__ import annotations

import random

import pytest

from kbroker.errors import ErrorCode as E
from tests.coordinator.consumer_world import ConsumerWorld, assignment, held, subscription

NAMES = ["a", "b", "c"]


class NewClient:
    """A client of the consumer protocol as the KIP describes it."""

    def __init__(self, w, rng, number):
        self.w, self.rng = w, rng
        self.member_id, self.instance = f"n{number}", rng.choice([None, None, f"i{number % 3}"])
        self.topics = rng.sample(NAMES, rng.randint(1, 2))
        self.regex = rng.choice([None, None, "a|b"])
        self.epoch, self.owned, self.alive = 0, {}, True

    def step(self, lossy=True):
        joining = self.epoch == 0
        if joining:
            self.owned = {}
        tells = joining or self.rng.random() < 0.6 or not lossy
        answer = self.w.beat(
            self.member_id,
            self.epoch,
            self.topics if joining else None,
            self.owned if tells else None,
            instance=self.instance,
            regex=self.regex if joining else None,
            rebalance=5_000 if joining else -1,
        )
        if lossy and self.rng.random() < 0.2:
            return  # the answer is lost
        if answer.error_code:
            assert answer.error_code in (
                E.UNKNOWN_MEMBER_ID,
                E.FENCED_MEMBER_EPOCH,
                E.FENCED_INSTANCE_ID,
                E.UNRELEASED_INSTANCE_ID,
                E.GROUP_ID_NOT_FOUND,
            ), answer
            self.epoch, self.owned = 0, {}
            if answer.error_code in (E.FENCED_INSTANCE_ID, E.UNRELEASED_INSTANCE_ID):
                self.instance = None
            return
        self.epoch = answer.member_epoch
        new = held(answer)
        if new is not None:
            self.owned = {t: p for t, p in new.items() if p}

    def quit(self):
        if self.epoch > 0:
            leave = -2 if self.instance is not None and self.rng.random() < 0.5 else -1
            self.w.beat(self.member_id, leave, instance=self.instance)
        self.alive, self.owned = False, {}

    def owns(self):
        return {(t, p) for t, each in self.owned.items() for p in each}

    def change(self):
        self.topics = self.rng.sample(NAMES, self.rng.randint(1, 3))
        if self.epoch > 0:
            self.w.beat(self.member_id, self.epoch, self.topics, instance=self.instance)


class OldClient:
    """A client of the classic protocol with a cooperative assignor."""

    def __init__(self, w, rng, number):
        self.w, self.rng = w, rng
        self.number, self.member_id = number, ""
        self.topics = rng.sample(NAMES, rng.randint(1, 2))
        self.generation, self.owned, self.alive, self.joins = -1, {}, True, True
        self.ids = {}

    def step(self, lossy=True):
        if self.joins:
            self._join()
        else:
            code = self.w.heartbeat(self.member_id, self.generation)
            if code == E.REBALANCE_IN_PROGRESS:
                self.joins = True
            elif code:
                self._lost()

    def _lost(self):
        self.member_id, self.generation, self.owned, self.joins = "", -1, {}, True

    def _join(self):
        bytes_ = subscription(*self.topics, owned=self.owned)
        ticket = self.w.join(member=self.member_id, protocols=[("cooperative", bytes_)], rebalance=5_000)
        self.w.pass_ms(0)
        answer = self.w.answers.get(ticket)
        if answer is None:
            self.joins = False  # parked: a classic group gathers
            self._lost()
            return
        if answer.error_code == E.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            return
        if answer.error_code:
            self._lost()
            return
        self.member_id, self.generation = answer.member_id, answer.generation_id
        given = [(each.member_id, b"") for each in answer.members]
        ticket = self.w.sync(self.member_id, self.generation, given)
        answer = self.w.answers.get(ticket)
        if answer is None or answer.error_code:
            self._lost() if answer is None or answer.error_code != E.REBALANCE_IN_PROGRESS else None
            return
        self.joins = False
        new = assignment(answer.assignment) if answer.assignment else {}
        gives_up = any(set(each) - set(new.get(name, ())) for name, each in self.owned.items())
        self.owned = {name: each for name, each in new.items() if each}
        self.ids = {name: self.w.image.topics.get(name) for name in self.owned}
        self.joins = gives_up

    def quit(self):
        if self.member_id:
            self.w.leave(self.member_id)
        self.alive, self.owned = False, {}

    def owns(self):
        found = set()
        for name, each in self.owned.items():
            topic = self.w.image.topics.get(name)
            if topic is not None and topic.id == self.ids[name].id:  # not one made anew
                found |= {(topic.id, p) for p in each}
        return found

    def change(self):
        self.topics = self.rng.sample(NAMES, self.rng.randint(1, 3))
        self.joins = True


def members_of(w):
    return getattr(w.shard.groups.get("g"), "members", {})


def check_clients(w, clients):
    """What clients that are members believe to own is owned once."""
    owners = {}
    members = members_of(w)
    if w.shard.groups.get("g") is None or w.shard.groups["g"].TYPE != "consumer":
        return
    for client in clients:
        if client.member_id not in members:
            continue
        for each in client.owns():
            assert each not in owners, (each, client.member_id, owners[each])
            owners[each] = client.member_id


def play(seed, kinds, interval):
    rng = random.Random(seed)
    w = ConsumerWorld(interval_ms=interval)
    for name in NAMES:
        w.topic(name, rng.randint(1, 6))
    clients = []
    for number in range(150):
        act = rng.random()
        alive = [client for client in clients if client.alive]
        if act < 0.12 and len(alive) < 7:
            clients.append(rng.choice(kinds)(w, rng, number))
        elif act < 0.17 and alive:
            rng.choice(alive).quit()
        elif act < 0.20 and alive:
            rng.choice(alive).change()
        elif act < 0.22:
            name = rng.choice(NAMES)
            topic = w.image.topics.get(name)
            w.topic(name, (0 if topic is None else len(topic.partitions)) + 1)
        elif act < 0.23 and len(w.image.topics.by_name) > 1:
            w.delete_topic(rng.choice(list(w.image.topics.by_name)))
        elif act < 0.25:
            fail_over(w)
        elif act < 0.35:
            w.pass_ms(rng.choice([100, 1_000, 6_000, 46_000]))
        elif alive:
            rng.choice(alive).step()
        check_clients(w, clients)
        if number % 10 == 0:
            w.same_after_replay()
    settle(w, [client for client in clients if client.alive])


def fail_over(w):
    w.same_after_replay()
    w.shard = w.replayed()
    w.perform(w.shard.loaded(w.now))


def settle(w, clients):
    for name in NAMES:
        if w.image.topics.get(name) is None:
            w.topic(name, 2)
    for _ in range(60):
        w.pass_ms(1_500)
        for client in clients:
            client.step(lossy=False)
        check_clients(w, clients)
    group = w.shard.groups.get("g")
    if group is None or group.TYPE != "consumer" or not clients:
        return
    assert group.state_name == "Stable"
    assert set(group.members) == {client.member_id for client in clients}
    wanted = {
        (topic.id, p)
        for name in NAMES
        if group.subscriptions()(name)
        for topic in [w.image.topics.get(name)]
        for p in range(len(topic.partitions))
    }
    assert {each for client in clients for each in client.owns()} == wanted
    w.same_after_replay()


@pytest.mark.parametrize("seed", range(15))
def test_members_of_the_new_protocol(seed):
    play(seed, [NewClient], [0, 1_000][seed % 2])


@pytest.mark.parametrize("seed", range(100, 115))
def test_members_of_both_protocols(seed):
    play(seed, [NewClient, NewClient, OldClient], [0, 1_000][seed % 2])
