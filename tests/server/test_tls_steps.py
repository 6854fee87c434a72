"""Steps of TLS handshakes are done elsewhere: nothing touches the engine meanwhile, and nothing is lost."""

from __future__ import annotations

import asyncio
import ssl
import weakref
from types import SimpleNamespace

import pytest

from kbroker.handlers.context import ConnectionContext
from kbroker.server.connection import ConnectionCore
from kbroker.server.newcomers import EarlyBytes, Newcomers
from kbroker.server.tls_protocol import TlsProtocol
from kbroker.server.turns import Turns
from tests.security.certificates import Authority, trusting


class RawTransport:
    """What came out, and whether it is read."""

    def __init__(self):
        self.sent = bytearray()
        self.reads = True
        self.closed = self.aborted = False

    def write(self, data):
        self.sent += data

    def pause_reading(self):
        assert self.reads
        self.reads = False

    def resume_reading(self):
        assert not self.reads
        self.reads = True

    def close(self):
        self.closed = True

    def abort(self):
        self.closed = self.aborted = True

    def is_closing(self):
        return self.closed

    def set_write_buffer_limits(self, *args, **kwargs):
        pass

    def get_write_buffer_size(self):
        return 0

    def get_extra_info(self, name):
        return None


class Core(ConnectionCore):
    """A connection that keeps what it is fed."""

    def __init__(self):
        super().__init__(ConnectionContext("c", "127.0.0.1"), SimpleNamespace(closed=lambda core: None), 1000)
        self.fed = bytearray()

    def feed(self, data):
        self.fed += data


@pytest.fixture(scope="module")
def authority():
    return Authority()


@pytest.fixture
def world(authority, tmp_path):
    world = World(authority, tmp_path)
    yield world
    world.loop.close()


class World:
    """One connection of a client whose socket is this test."""

    def __init__(self, authority, folder):
        node = authority.sign("node")
        path = folder / "node.pem"
        path.write_text(node.key_pem() + node.pem)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        self.jobs, self.shaken = [], []
        self.core, self.raw = Core(), RawTransport()
        self.loop = asyncio.new_event_loop()
        self.protocol = TlsProtocol(
            self.loop,
            self.core,
            memoryview(bytearray(1 << 18)),
            Turns(self.loop.call_soon, self.loop.time),
            lambda *_: None,
            lambda *_: None,
            context,
            lambda core, engine: self.shaken.append(engine),
            Newcomers(),
            EarlyBytes(),
            lambda work, done: self.jobs.append((work, done)),
        )
        self.protocol.connection_made(self.raw)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = trusting(authority.pem)
        self.client = client.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")

    def shake(self):
        """The client's next step; True when it is done."""
        try:
            self.client.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def deliver(self, more=b""):
        data = self.outgoing.read() + more
        self.protocol.get_buffer(-1)[: len(data)] = data
        self.protocol.buffer_updated(len(data))

    def do(self):
        """What the thread does, and what the loop hears of it."""
        work, done = self.jobs.pop()
        error = None
        try:
            work()
        except BaseException as problem:
            error = problem
        done(error)
        self.incoming.write(bytes(self.raw.sent))
        self.raw.sent.clear()


def test_a_handshake_and_what_comes_with_its_end(world):
    assert not world.shake()
    world.deliver()
    # Nothing was done here, and nothing more is read until it is.
    assert (len(world.jobs), bytes(world.raw.sent), world.raw.reads) == (1, b"", False)
    world.do()
    assert world.raw.reads
    assert not world.shaken
    assert world.shake()
    world.client.write(b"hello")
    world.deliver()
    world.do()
    assert len(world.shaken) == 1
    assert bytes(world.core.fed) == b"hello"
    world.client.write(b" again")
    world.deliver()
    assert not world.jobs
    assert bytes(world.core.fed) == b"hello again"


@pytest.mark.parametrize("how", ["lost", "dropped"])
def test_who_goes_during_a_step(world, how):
    assert not world.shake()
    world.deliver()
    if how == "dropped":
        world.protocol._crowded_out()
        assert world.raw.closed
    transport = weakref.ref(world.protocol._tls)
    world.protocol.connection_lost(None)
    # Its engine goes at once, not when the thread comes to its step.
    assert transport() is None
    assert world.jobs
    world.do()
    assert bytes(world.raw.sent) == b""
    assert not world.raw.reads
    assert not world.shaken


def test_what_is_no_tls_closes(world):
    world.deliver(b"GET / HTTP/1.1\r\n\r\n")
    world.do()
    assert world.core.close_reason == "no TLS on a TLS port"
    assert world.raw.closed
