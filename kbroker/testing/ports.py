"""Ports for what tests start, and bring back on the same port."""

from __future__ import annotations

import random
import socket

#: Below those that systems use for outgoing connections: a node that comes back must find its port free.
_PORTS = 10_240, 19_999


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on now, and that the system gives to no outgoing connection."""
    sockets: list[socket.socket] = []
    try:
        while len(sockets) < count:
            sock = socket.socket()
            try:
                sock.bind(("127.0.0.1", random.randint(*_PORTS)))
            except OSError:
                sock.close()
            else:
                sockets.append(sock)
        return [sock.getsockname()[1] for sock in sockets]
    finally:
        for sock in sockets:
            sock.close()
