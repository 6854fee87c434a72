"""The little web server against peers that keep it waiting."""

from __future__ import annotations

import asyncio
import logging
import socket

import pytest

from kbroker.client import Address, ClientError, Connection
from kbroker.server.tiny_http import CONNECTIONS_MAX, Answer, TinyHttp


async def _answer(request):
    return Answer(200, "text/plain", ["well\n"])


def test_who_never_asks_keeps_nobody_out():
    async def play():
        http = TinyHttp(_answer)
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        await http.listen([listener])
        slow = []
        for number in range(CONNECTIONS_MAX + 3):
            slow.append(await asyncio.open_connection("127.0.0.1", port))
            if number % 2:
                slow[-1][1].write(b"GET /he")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /health HTTP/1.0\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(), 60)
        # The longest waiting one was closed for it.
        gone = await asyncio.wait_for(slow[0][0].read(), 60)
        for _, each in slow:
            each.close()
        writer.close()
        await http.close()
        return answer, gone

    answer, gone = asyncio.run(play())
    assert answer.startswith(b"HTTP/1.1 200")
    assert gone == b""


@pytest.mark.parametrize("hello", [b"\0\0\0\x20\0\x12\0\x04", b"\x16\x03\x01\x02\0", b"\r\n"])
def test_who_speaks_another_protocol_is_told_at_once(hello, caplog):
    """A Kafka client, one of TLS: the end of a head would not come."""
    caplog.set_level(logging.INFO, logger="kbroker.server.tiny_http")

    async def play():
        http = TinyHttp(_answer)
        listener = socket.create_server(("127.0.0.1", 0))
        await http.listen([listener])
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        writer.write(hello)
        answer = await reader.read()
        writer.close()
        await http.close()
        return answer

    assert asyncio.run(play()).startswith(b"HTTP/1.1 400")
    (line,) = caplog.messages
    assert "no HTTP on the port of the metrics" in line


def test_our_client_says_whom_it_met(scraped):
    port = scraped.port
    with pytest.raises(ClientError, match="speaks HTTP, not Kafka's protocol"):
        Connection(Address("127.0.0.1", port))
