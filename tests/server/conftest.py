from __future__ import annotations

import asyncio
import logging

import pytest_asyncio

from kbroker.server.listener import ServerLimits, SocketServer
from tests.handlers.node import Node

try:
    import uvloop
except ImportError:
    uvloop = None


class Running:
    """A listening server over a `Node`."""

    def __init__(self, node, server, port):
        self.node = node
        self.server = server
        self.port = port

    async def connect(self):
        return Peer(*await asyncio.open_connection("127.0.0.1", self.port))


class Peer:
    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    def send(self, data):
        self.writer.write(data)

    async def answer(self):
        """The next whole frame, without its length."""
        size = int.from_bytes(await asyncio.wait_for(self.reader.readexactly(4), 5), "big")
        return await self.reader.readexactly(size)

    async def is_closed(self):
        """Whether the server closes without another byte."""
        try:
            return await asyncio.wait_for(self.reader.read(1), 5) == b""
        except ConnectionError:
            return True

    def close(self):
        self.writer.close()


def pytest_asyncio_loop_factories(config, item):
    """Everything here holds on both loops."""
    if uvloop is None:
        return {"asyncio": asyncio.new_event_loop}
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest_asyncio.fixture
async def running(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="kbroker")
    node = Node(tmp_path / "data")
    server = SocketServer(node.dispatcher, ServerLimits(request_bytes_max=1024 * 1024))
    bound = await server.listen("PLAINTEXT", "127.0.0.1", 0)
    yield Running(node, server, bound.port)
    await server.close()
