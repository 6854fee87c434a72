"""The little web server against peers that keep it waiting."""

from __future__ import annotations

import asyncio
import socket

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
