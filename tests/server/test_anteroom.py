"""Newcomers' sockets have a slice of each turn, whoever is in goes over to the loop, and nobody starves."""

from __future__ import annotations

import asyncio
import errno
import select
import socket
from collections import Counter

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.handlers.context import ConnectionContext
from kbroker.server import anteroom
from kbroker.server.anteroom import EVENTS_PER_ACCEPT, Anteroom
from kbroker.server.binding import bind_sockets
from kbroker.server.connection import ConnectionCore
from kbroker.server.frame_handler import FrameHandler
from kbroker.server.listener import ServerLimits, SocketServer
from kbroker.server.newcomer_transport import NewcomerTransport
from kbroker.server.transport import SocketProtocol
from kbroker.server.turns import SLICE_S_MIN, Slices
from tests.server.conftest import Peer

pytestmark = pytest.mark.skipif(not anteroom.is_possible(), reason="there is no epoll")

# -- turns, with a loop that a test drives -------------------------------------------------------------------

#: So that four fit into a slice.
EVENT_S = SLICE_S_MIN / 4 * 1.001


class Turning:
    """A loop whose turns the test takes; an event of a newcomer takes `EVENT_S`."""

    def __init__(self):
        self.now = 0.0
        self.soon, self.later = [], []
        self.readers = {}
        self.room = Anteroom(self, Slices(self.call_soon, lambda: self.now))
        self.log = []

    def call_soon(self, call, *args):
        self.soon.append(lambda: call(*args))

    def call_later(self, delay, call):
        self.later.append(call)

    def add_reader(self, fd, call):
        self.readers[fd] = call

    def remove_reader(self, fd):
        del self.readers[fd]

    def turn(self):
        """What was to come soon, then the sockets that are ready; who was served."""
        self.log = []
        soon, self.soon = self.soon, []
        for call in soon:
            call()
        for fd in select.select(list(self.readers), [], [], 0)[0]:
            self.readers[fd]()
        return self.log


class Guest:
    """As much of a protocol as the anteroom sees."""

    def __init__(self, loop, name="accepted"):
        self.loop, self.name = loop, name
        self.core = ConnectionCore(ConnectionContext("c", ""), None, 1000)
        self.is_newcomer = True
        self.buffer = memoryview(bytearray(1))

    def served(self, what):
        self.loop.now += EVENT_S
        self.loop.log.append(what)

    def connection_made(self, transport):
        self.served(f"{self.name} came")

    def get_buffer(self, sizehint):
        return self.buffer

    def buffer_updated(self, count):
        self.served(self.name)

    def eof_received(self):
        self.served(f"{self.name} ends")
        return False

    def connection_lost(self, error):
        self.served(f"{self.name} lost")


@pytest.fixture
def turning():
    loop = Turning()
    loop.sockets = []
    yield loop
    loop.room.close()
    assert not loop.readers
    for sock in loop.sockets:
        sock.close()


def come(loop, name, data=b""):
    """Somebody who has been accepted; returns the other end."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    loop.sockets += [ours, theirs]
    guest = Guest(loop, name)
    NewcomerTransport(loop.room, ours, None, guest).begin()
    theirs.sendall(data)
    return theirs


def test_all_that_speak_share_a_slice_of_each_turn_in_turn(turning):
    for name in range(6):
        come(turning, name, b"xxxx")
    turning.turn()
    counts = Counter()
    for _ in range(6):
        served = turning.turn()
        assert len(served) == 4, "four events fit into a slice"
        counts.update(served)
    assert set(counts.values()) == {4}
    assert turning.turn() == []
    assert not turning.soon, "when nobody speaks, there is nothing to do"


def test_who_is_silent_takes_no_part_of_it(turning):
    for name in range(500):
        come(turning, f"silent {name}")
    come(turning, "speaks", b"x" * 8)
    turning.turn()
    assert turning.turn() == ["speaks"] * 4
    assert turning.turn() == ["speaks"] * 4


def test_others_come_between_slices_and_first(turning):
    come(turning, "newcomer", b"x" * 12)
    ours, theirs = socket.socketpair()
    turning.sockets += [ours, theirs]
    theirs.send(b"x")
    turning.readers[ours.fileno()] = lambda: turning.log.append("other")
    assert turning.turn() == ["other"], "whoever else is ready goes first"
    assert turning.turn() == ["newcomer"] * 4 + ["other"]
    assert turning.turn() == ["newcomer"] * 4 + ["other"]
    del turning.readers[ours.fileno()]
    assert turning.turn() == ["newcomer"] * 4


def listening(loop):
    (sock,) = bind_sockets("TEST", "127.0.0.1", 0)
    return loop.room.listen(sock, lambda: Guest(loop)), sock


def knock(loop, sock, count):
    for _ in range(count):
        loop.sockets.append(socket.create_connection(sock.getsockname()))


def test_one_is_accepted_after_so_many_events_of_others(turning):
    ear, sock = listening(turning)
    come(turning, "speaks", b"x" * 100)
    knock(turning, sock, 3)
    turning.turn()
    served = [each for _ in range(5) for each in turning.turn()]
    assert served[: 2 * EVENTS_PER_ACCEPT + 2] == 2 * (["speaks"] * EVENTS_PER_ACCEPT + ["accepted came"])
    ear.close()


def test_accepting_shares_the_slice_too(turning):
    ear, sock = listening(turning)
    knock(turning, sock, 10)
    turning.turn()
    assert [len(turning.turn()) for _ in range(4)] == [4, 4, 2, 0]
    ear.close()
    ear.close()


def test_who_goes_is_closed_within_the_slice(turning):
    for name in "abc":
        come(turning, name).close()
    turning.turn()
    assert turning.turn() == ["a ends", "a lost", "b ends", "b lost"]
    assert turning.turn() == ["c ends", "c lost"]


def test_an_error_of_one_holds_up_nobody(turning, monkeypatch):
    bad, good = come(turning, "bad"), come(turning, "good")
    bad.send(b"x")
    good.send(b"xx")
    handled = Guest.buffer_updated

    def fails(self, count):
        if self.name == "bad":
            raise ValueError
        handled(self, count)

    monkeypatch.setattr(Guest, "buffer_updated", fails)
    turning.turn()
    with pytest.raises(ValueError):
        turning.turn()
    assert sorted(turning.turn()) == ["bad lost", "good", "good"]


def test_without_descriptors_nobody_is_accepted_for_a_while(turning, caplog):
    ear, sock = listening(turning)
    knock(turning, sock, 1)

    class Full:
        def accept(self):
            raise OSError(errno.EMFILE, "no room")

        def __getattr__(self, name):
            return getattr(sock, name)

    ear._sock = Full()
    turning.turn()
    turning.turn()
    assert len(turning.later) == 1
    assert caplog.text.count("no connection can be accepted for a moment") == 1
    ear._sock = sock
    for _ in range(3):
        assert turning.turn() == []
    turning.later.pop()()
    turning.turn()
    assert turning.turn() == ["accepted came"]
    ear.close()


# -- a server, on both loops ---------------------------------------------------------------------------------


class Gate(FrameHandler):
    """Answers what it gets; "in" lets in."""

    def __init__(self):
        self.parked = []
        self.lost = 0

    encrypted = False

    def guard(self, connection, inside):
        connection.is_newcomer = True
        return inside

    def opened(self, context):
        pass

    def closed(self, context):
        self.lost += 1

    def finish_batch(self, connection):
        pass

    def request(self, connection, frame):
        data = bytes(frame)
        if data.startswith(b"in"):
            connection.is_newcomer = False
        if data.startswith(b"later"):
            self.parked.append(Deferred())
            return self.parked[-1]
        if data.startswith(b"bad"):
            raise ValueError(data)
        return framed(data) * (40 if data.startswith(b"much") else 1)


def framed(data):
    return len(data).to_bytes(4, "big") + data


IN, HELLO, LATER = b"in------", b"hello---", b"later---"


class House:
    def __init__(self):
        self.gate = Gate()
        self.server = SocketServer(self.gate, ServerLimits())
        (sock,) = bind_sockets("ROOM", "127.0.0.1", 0)
        self.sock, self.address = sock, sock.getsockname()

    async def __aenter__(self):
        await self.server.listen_on("ROOM", [self.sock], security=self.gate)
        return self

    async def __aexit__(self, *exc):
        await self.server.close()

    async def peer(self):
        return Peer(*await asyncio.open_connection(*self.address))

    def cores(self):
        return [each.core for each in self.server._connections]


async def ask(peer, data):
    peer.send(framed(data))
    return await peer.answer()


async def test_who_is_in_and_speaks_goes_over_to_the_loop():
    async with House() as house:
        peer = await house.peer()
        assert await ask(peer, HELLO) == HELLO
        assert await ask(peer, IN) == IN
        assert house.cores()[0].in_anteroom, "it may have come just to log in"
        for number in range(20):
            data = b"%08d" % number
            assert await ask(peer, data) == data
        assert not house.cores()[0].in_anteroom
        peer.close()
        while not house.gate.lost:
            await asyncio.sleep(0)


async def test_who_says_nothing_stays_and_may_go():
    async with House() as house:
        silent, peer = await house.peer(), await house.peer()
        for _ in range(20):
            assert await ask(peer, HELLO) == HELLO
        assert all(core.in_anteroom for core in house.cores())
        silent.close()
        peer.close()
        while house.gate.lost < 2:
            await asyncio.sleep(0)
        assert not house.server.connection_count


@pytest.mark.parametrize("begins", [HELLO, IN])
async def test_large_answers_to_who_does_not_read_arrive_whole(begins):
    """What the system does not take is sent by the loop's transport, in its order."""
    async with House() as house:
        with socket.create_connection(house.address) as sock:
            sock.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(sock, framed(begins))
            for number in range(8):
                await loop.sock_sendall(sock, framed(b"much%04d" % number + bytes(60_000)))
            expected = framed(begins) + b"".join(
                framed(b"much%04d" % number + bytes(60_000)) * 40 for number in range(8)
            )
            got = bytearray()
            while len(got) < len(expected):
                got += await loop.sock_recv(sock, 1 << 16)
            assert got == expected


async def test_an_answer_that_comes_later_finds_its_way():
    async with House() as house:
        peer = await house.peer()
        assert await ask(peer, IN) == IN
        peer.send(framed(LATER))
        while not house.gate.parked:
            await asyncio.sleep(0)
        house.gate.parked.pop().resolve(framed(HELLO))
        assert await peer.answer() == HELLO
        assert await ask(peer, HELLO) == HELLO


async def test_who_sends_no_more_still_gets_his_answer():
    async with House() as house:
        peer = await house.peer()
        peer.send(framed(LATER))
        peer.writer.write_eof()
        while not house.gate.parked:
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)
        house.gate.parked.pop().resolve(framed(HELLO))
        assert await peer.answer() == HELLO
        assert await peer.is_closed()


async def test_errors_close_their_connection_only():
    told = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
    async with House() as house:
        bad, peer = await house.peer(), await house.peer()
        bad.send(framed(b"bad-----"))
        assert await bad.is_closed()
        bad = await house.peer()
        bad.send(b"\xff" * 8)
        assert await bad.is_closed()
        assert await ask(peer, HELLO) == HELLO
    assert len(told) == 1


@pytest.mark.parametrize("abort", [False, True])
async def test_the_server_closes_all_of_them_wherever_they_are(abort):
    async with House() as house:
        peers = [await house.peer() for _ in range(30)]
        for number, peer in enumerate(peers):
            if number % 3:
                assert await ask(peer, IN) == IN
            if number % 3 == 2:
                peer.send(framed(HELLO))  # and is on its way over, or not yet
        await house.server.close(abort=abort)
        assert house.gate.lost == 30
        for peer in peers:
            peer.close()


async def test_newcomers_and_those_who_are_in_are_served_beside_each_other():
    """Both have more to say than a turn allows; none waits for the other's end."""
    async with House() as house:
        busy, done, others = [await house.peer() for _ in range(3)], asyncio.Event(), 0
        for peer in busy:
            assert await ask(peer, IN) == IN

        async def goes_on(peer):
            nonlocal others
            while not done.is_set():
                for _ in range(50):
                    peer.send(framed(HELLO))
                for _ in range(50):
                    assert await peer.answer() == HELLO
                others += 1

        streams = [asyncio.ensure_future(goes_on(peer)) for peer in busy]
        silent = [await house.peer() for _ in range(100)]
        at_first = others
        for _ in range(20):
            comers = await asyncio.gather(*(house.peer() for _ in range(10)))
            assert await asyncio.gather(*(ask(peer, IN) for peer in comers)) == [IN] * 10
            for peer in comers:
                peer.close()
        assert others > at_first
        done.set()
        await asyncio.gather(*streams)
        for peer in (*busy, *silent):
            peer.close()


async def test_a_connection_on_its_way_over_can_be_aborted(monkeypatch):
    async with House() as house:
        peer = await house.peer()
        assert await ask(peer, IN) == IN
        (protocol,) = house.server._connections
        assert isinstance(protocol, SocketProtocol)
        handled = SocketProtocol.buffer_updated

        def and_abort(self, count):
            handled(self, count)
            asyncio.get_running_loop().call_soon(self.abort)

        monkeypatch.setattr(SocketProtocol, "buffer_updated", and_abort)
        peer.send(framed(HELLO))
        while not house.gate.lost:
            await asyncio.sleep(0)
        assert not house.server.connection_count
        peer.close()
