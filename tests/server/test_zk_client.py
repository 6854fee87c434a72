"""The link over kazoo, against a real ZooKeeper server."""

import asyncio
import contextlib
import itertools
import logging
from types import SimpleNamespace

import pytest

from kbroker.broker.zk_port import WatchEvent, ZkCode, ZkError
from kbroker.broker.zk_session import ZkClient
from kbroker.controller.zookeeper.tree import Check, Create, Delete, SetData
from kbroker.errors import ConfigError
from kbroker.server.runtime import LoopTimer
from kbroker.server.zk_client import ZkSettings, open_links, split_connect
from tests.needs import need, need_java
from tests.server.zookeeper import ZooKeeperServer

SESSION_MS = 2000


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    need_java()
    pytest.importorskip("kazoo")
    with ZooKeeperServer(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


_places = itertools.count()


@pytest.fixture
def server(process):
    """The server, with a place in it for one test."""
    process.place = f"/place{next(_places)}"
    return process


class Wall:
    def now_ms(self):
        return int(self.monotonic_ms())

    def monotonic_ms(self):
        return asyncio.get_running_loop().time() * 1000


class Sessions:
    def __init__(self):
        self.log = []
        self.changed = asyncio.Event()

    def session_began(self, session_id):
        self.log.append("began")
        self.changed.set()

    def session_over(self):
        self.log.append("over")
        self.changed.set()


async def begin(server, chroot="", **settings):
    """A client below the test's own place."""
    top = await connect(server)
    with contextlib.suppress(ZkError):
        await result(top.multi([Create(server.place, b"")]))
    await result(top.close())
    return await connect(server, chroot=server.place + chroot, **settings)


async def connect(server, **settings):
    clock = Wall()
    links = open_links(ZkSettings(servers=server.address, session_ms=SESSION_MS, **settings))
    client = ZkClient(links, clock, LoopTimer(asyncio.get_running_loop()), SESSION_MS)
    client.sessions = Sessions()
    client.listen(client.sessions)
    client.start()
    await until(client, lambda: client.live or client.refusal)
    return client


async def until(client, condition):
    async with asyncio.timeout(60):
        while not condition():
            client.sessions.changed.clear()
            await asyncio.wait([asyncio.ensure_future(client.sessions.changed.wait())], timeout=0.05)


async def result(deferred):
    future = asyncio.get_running_loop().create_future()
    deferred.then(lambda done: future.set_result(None))
    async with asyncio.timeout(60):
        await future
    return deferred.result()


async def code_of(deferred):
    with pytest.raises(ZkError) as caught:
        await result(deferred)
    return caught.value.code


async def test_reads_and_writes(server):
    client = await begin(server)
    assert await result(client.multi([Create("/a", b"1"), Create("/a/n_", b"", sequence=True)])) == [
        "/a",
        "/a/n_0000000000",
    ]
    stat = (await result(client.multi([Check("/a", 0), SetData("/a", b"2", 0)])))[1]
    node = await result(client.get("/a"))
    assert (node.data, node.stat) == (b"2", stat)
    assert stat.version == 1
    assert stat.czxid > 0
    assert await result(client.children("/a")) == ["n_0000000000"]
    assert await result(client.exists("/none")) is None
    assert await code_of(client.get("/none")) is ZkCode.NO_NODE
    with pytest.raises(ZkError) as caught:
        await result(client.multi([SetData("/a", b"3", 1), Check("/a", 9), Delete("/a", -1)]))
    assert (caught.value.code, caught.value.operation, caught.value.path) == (ZkCode.BAD_VERSION, 1, "/a")
    assert (await result(client.get("/a"))).data == b"2"
    assert await code_of(client.multi([Create("/a", b"")])) is ZkCode.NODE_EXISTS
    assert await code_of(client.multi([Delete("/a", -1)])) is ZkCode.NOT_EMPTY
    assert await code_of(client.multi([Create("/b/c", b"")])) is ZkCode.NO_NODE
    await result(client.close())


async def test_watches_and_ephemerals_between_two(server):
    one, other = await begin(server), await begin(server)
    events = asyncio.Queue()
    await result(other.exists("/e", events.put_nowait))
    await result(one.multi([Create("/e", b"", ephemeral=True)]))
    assert await asyncio.wait_for(events.get(), 60) is WatchEvent.CREATED
    stat = await result(other.exists("/e", events.put_nowait))
    assert stat.owner == one.session_id
    await result(one.close())
    assert await asyncio.wait_for(events.get(), 60) is WatchEvent.DELETED
    await result(other.close())


async def test_a_server_that_is_silent_ends_the_session_by_our_own_clock(server):
    client = await begin(server)
    events = []
    await result(client.exists("/watched", events.append))
    await result(client.multi([Create("/mine", b"", ephemeral=True)]))
    server.pause()
    try:
        write = client.multi([Create("/late", b"")])
        await until(client, lambda: "over" in client.sessions.log)
        assert not client.live
        assert await code_of(write) in (ZkCode.SESSION_OVER, ZkCode.CONNECTION_LOST)
        assert await code_of(client.exists("/")) is ZkCode.SESSION_OVER
    finally:
        server.resume()
    await until(client, lambda: client.live)
    assert client.sessions.log == ["began", "over", "began"]
    stat = await result(client.exists("/mine"))
    assert stat is None or stat.owner != client.session_id
    await result(client.close())


async def test_the_servers_grant_less_than_was_asked_for(server):
    link = open_links(ZkSettings(servers=server.address, session_ms=100_000))()
    granted = asyncio.get_running_loop().create_future()
    link.open(SimpleNamespace(connected=lambda session_id, ms: granted.set_result(ms)))
    assert await asyncio.wait_for(granted, 60) == 60_000
    link.close(lambda: None)


async def test_a_chroot(server):
    client = await begin(server)
    await result(client.multi([Create("/kafka", b"")]))
    below = await begin(server, chroot="/kafka")
    assert below.root_exists
    assert await result(below.multi([Create("/a", b"x")])) == ["/a"]
    assert (await result(client.get("/kafka/a"))).data == b"x"
    nowhere = await begin(server, chroot="/nowhere")
    assert not nowhere.root_exists
    assert await code_of(nowhere.multi([Create("/a", b"x")])) is ZkCode.NO_NODE
    for each in (client, below, nowhere):
        await result(each.close())


async def test_no_zookeeper_is_tried_in_silence(server, caplog):
    caplog.set_level(logging.INFO)
    links = open_links(ZkSettings(servers="127.0.0.1:1", session_ms=SESSION_MS))
    client = ZkClient(links, Wall(), LoopTimer(asyncio.get_running_loop()), SESSION_MS)
    client.start()
    assert await code_of(client.exists("/")) is ZkCode.SESSION_OVER
    await result(client.close())
    assert not [each for each in caplog.records if each.levelno > logging.INFO]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("h:1", ("h:1", "")),
        ("h:1,i:2/", ("h:1,i:2", "")),
        ("h:1,i/a/b/", ("h:1,i", "/a/b")),
        ("[::1]:2181/k", ("[::1]:2181", "/k")),
    ],
)
def test_zookeeper_connect(text, parts):
    assert split_connect(text) == parts


@pytest.mark.parametrize("text", ["", "/a", "h:x", ":1", "h:1,,i:2", "h:1/a//b", "h:1/../a", "h:1/a/."])
def test_what_cannot_be_zookeeper_connect(text):
    with pytest.raises(ConfigError):
        split_connect(text)


def test_kazoo_is_there_in_ci():
    """The tests above are skipped without it."""
    need(__import__("importlib.util").util.find_spec("kazoo"), "kazoo (pip install 'kbroker[zookeeper]')")
