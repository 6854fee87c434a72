"""The model of ZooKeeper, and how a node judges its sessions, on it."""

import pytest

from kbroker.broker.zk_port import NodeStat, WatchEvent, ZkCode, ZkError
from kbroker.broker.zk_session import ZkClient
from kbroker.controller.zookeeper.tree import Check, Create, Delete, SetData
from tests.sim.node_loop import Scheduler
from tests.sim.zk_model import Host, ModelLink, ZkModel

SESSION_MS = 1000.0


class World:
    def __init__(self, seed=1):
        self.scheduler = Scheduler(seed)
        self.model = ZkModel(self.scheduler)

    def client(self, name="a"):
        host = Host(self.scheduler, name)
        client = ZkClient(lambda: ModelLink(self.model, host, SESSION_MS), host, host, SESSION_MS)
        client.host, client.log = host, []
        client.listen(Listener(client.log, self.scheduler))
        client.start()
        return client

    def run(self, ms=50.0):
        self.scheduler.run_until(self.scheduler.now + ms)

    def result(self, deferred):
        self.run()
        return deferred.result()


class Listener:
    def __init__(self, log, scheduler):
        self._log, self._scheduler = log, scheduler

    def session_began(self, session_id):
        self._log.append(("began", self._scheduler.now))

    def session_over(self):
        self._log.append(("over", self._scheduler.now))


@pytest.fixture
def world():
    return World()


@pytest.fixture
def client(world):
    client = world.client()
    world.run()
    assert client.live
    return client


def code_of(world, deferred):
    with pytest.raises(ZkError) as caught:
        world.result(deferred)
    return caught.value.code


def test_versions_and_creation(world, client):
    assert world.result(client.multi([Create("/a", b"1")])) == ["/a"]
    assert world.result(client.multi([SetData("/a", b"2", 0)])) == [NodeStat(1, 1)]
    assert code_of(world, client.multi([SetData("/a", b"3", 0)])) is ZkCode.BAD_VERSION
    assert code_of(world, client.multi([Create("/a", b"")])) is ZkCode.NODE_EXISTS
    assert code_of(world, client.multi([Create("/b/c", b"")])) is ZkCode.NO_NODE
    world.result(client.multi([Create("/a/b", b"")]))
    assert code_of(world, client.multi([Delete("/a", -1)])) is ZkCode.NOT_EMPTY
    assert world.result(client.get("/a")).data == b"2"
    assert world.result(client.exists("/none")) is None


def test_a_multi_is_written_whole_or_not_at_all(world, client):
    world.result(client.multi([Create("/epoch", b"1"), Create("/a", b"x"), Create("/a/b", b"y")]))
    failing = [SetData("/a", b"z", 0), Delete("/a/b", 0), Create("/a/c", b""), Check("/epoch", 7)]
    with pytest.raises(ZkError) as caught:
        world.result(client.multi(failing))
    assert caught.value.operation == 3
    assert world.result(client.get("/a")).data == b"x"
    assert world.result(client.children("/a")) == ["b"]


def test_sequential_names_go_on_counting(world, client):
    world.result(client.multi([Create("/s", b"")]))
    made = [world.result(client.multi([Create("/s/n_", b"", sequence=True)])) for _ in range(2)]
    world.result(client.multi([Delete("/s/n_0000000001", -1)]))
    made.append(world.result(client.multi([Create("/s/n_", b"", sequence=True)])))
    assert made == [["/s/n_0000000000"], ["/s/n_0000000001"], ["/s/n_0000000002"]]


def test_watches_are_told_once_and_before_what_they_tell_of_is_read(world, client):
    other = world.client("b")
    world.run()
    seen = []
    world.result(client.exists("/a", lambda event: seen.append(event)))
    world.result(client.children("/", lambda event: seen.append(event)))
    other.multi([Create("/a", b"1")])
    other.multi([SetData("/a", b"2", -1)])
    while not client.get("/a").map(lambda node: seen.append(node.data)).done and b"2" not in seen:
        world.run(0.5)
    assert seen[:2] == [WatchEvent.CREATED, WatchEvent.CHILDREN]
    assert seen.count(WatchEvent.CREATED) == 1
    assert WatchEvent.CHANGED not in seen


def test_denied_paths(world, client):
    world.model.denied.add("/x")
    assert code_of(world, client.multi([Create("/x", b"")])) is ZkCode.NO_AUTH
    assert code_of(world, client.get("/x/y")) is ZkCode.NO_AUTH


def test_ephemerals_go_with_their_session(world, client):
    other = world.client("b")
    world.run()
    world.result(client.multi([Create("/e", b"", ephemeral=True)]))
    assert code_of(world, client.multi([Create("/e/x", b"")])) is ZkCode.NO_CHILDREN
    seen = []
    world.result(other.exists("/e", lambda event: seen.append(event)))
    client.host.kill()
    world.run(SESSION_MS / 2)
    assert not seen
    world.run(SESSION_MS)
    assert seen == [WatchEvent.DELETED]


def test_a_session_that_is_closed_ends_at_once(world, client):
    world.result(client.multi([Create("/e", b"", ephemeral=True)]))
    client.close()
    world.run()
    assert "/e" not in world.model.nodes


def test_who_is_cut_off_knows_it_before_the_servers_do(world, client):
    world.result(client.multi([Create("/e", b"", ephemeral=True)]))
    client.host.cut = True
    while "/e" in world.model.nodes:
        world.run(1.0)
    assert not client.live
    assert [kind for kind, _ in client.log] == ["began", "over"]
    client.host.cut = False
    world.run(SESSION_MS)
    assert [kind for kind, _ in client.log] == ["began", "over", "began"]
    assert client.live


def test_a_process_that_wakes_late_believes_in_nothing(world, client):
    late = client.multi([Create("/late", b"")])
    client.host.pause()
    world.run(SESSION_MS * 2)
    client.host.resume()
    assert not client.live
    assert code_of(world, late) is ZkCode.SESSION_OVER
    assert [kind for kind, _ in client.log][:2] == ["began", "over"]


def test_a_reset_connection_repeats_reads_and_leaves_writes_open(world, client):
    seen = []
    world.result(client.exists("/w", lambda event: seen.append(event)))
    read, write = client.exists("/"), client.multi([Create("/w", b"")])
    client.host.reset()
    assert not read.done
    world.run()
    assert read.succeeded
    assert code_of(world, write) is ZkCode.CONNECTION_LOST
    assert seen == [WatchEvent.UNSURE]
    assert [kind for kind, _ in client.log] == ["began"]


def test_servers_that_pause_shorter_than_a_session_are_waited_for(world, client):
    world.model.pause()
    read = client.exists("/")
    world.run(SESSION_MS * 0.6)
    world.model.resume()
    world.run(SESSION_MS)
    assert read.succeeded
    assert [kind for kind, _ in client.log] == ["began"]


@pytest.mark.parametrize("seed", range(20))
def test_no_node_believes_longer_than_the_servers(seed):
    """Whatever happens: who counts a session as live has one at the servers."""
    world = World(seed)
    chance = world.scheduler.random
    clients = [world.client(name) for name in "abc"]
    for _ in range(150):
        client = chance.choice(clients)
        act = chance.randrange(8)
        if act < 3:
            client.host.suffer(act)
        elif act == 3 and not world.model.paused:
            world.model.pause()
            world.scheduler.later(chance.random() * SESSION_MS * 1.5, world.model.resume)
        world.run(chance.random() * SESSION_MS / 2)
        for each in clients:
            assert not each.live or each.session_id in world.model.sessions
    for client in clients:
        client.host.heal()
    world.run(SESSION_MS * 4)
    assert all(client.live for client in clients)
