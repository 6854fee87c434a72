"""Raw load: pre-built frames out, answers counted by their bytes. Both ways are cheap enough for one core."""

from __future__ import annotations

import os
import select
import socket
import time
from typing import NamedTuple


class Load(NamedTuple):
    """What a load did: answered requests, the seconds from first send to last answer."""

    requests: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def pipelined(
    sock: socket.socket,
    framed: bytes,
    answer_bytes: int,
    *,
    together: int,
    ahead: int,
    seconds: float,
    most: int,
) -> Load:
    """One connection: sends `together` frames at a time while fewer than `ahead` requests wait for answers.

    Ends after `seconds` or `most` requests. `ahead` must keep the answers below what socket buffers hold.
    """
    blob = framed * together
    buffer = bytearray(1 << 20)
    sent = received = 0
    started = time.perf_counter()
    deadline = started + seconds
    sending = True
    while sending or received < sent * answer_bytes:
        if sending and sent - received // answer_bytes <= ahead - together:
            sock.sendall(blob)
            sent += together
            sending = sent < most and time.perf_counter() < deadline
            continue
        count = sock.recv_into(buffer)
        if not count:
            raise ConnectionError("the broker closed the connection")
        received += count
    return Load(sent, time.perf_counter() - started)


def one_in_flight(
    sockets: list[socket.socket], framed: bytes | list[bytes], answer_bytes: int, *, seconds: float
) -> Load:
    """Every connection sends its next request when the answer to the last one is complete.

    `framed` may name one frame for each connection.
    """
    poll = select.epoll()
    missing, frames = {}, {}
    each = [framed] * len(sockets) if isinstance(framed, bytes) else framed
    for sock, frame in zip(sockets, each):
        poll.register(sock.fileno(), select.EPOLLIN)
        missing[sock.fileno()] = answer_bytes
        frames[sock.fileno()] = frame
    read, write, wait, clock = os.read, os.write, poll.poll, time.perf_counter
    requests = 0
    started = clock()
    deadline = started + seconds
    for fd in missing:
        write(fd, frames[fd])
    waiting = len(missing)
    while waiting:
        sending = clock() < deadline
        for fd, _ in wait():
            rest = missing[fd] - len(read(fd, 65536))
            if rest:
                missing[fd] = rest
                continue
            requests += 1
            missing[fd] = answer_bytes
            if sending:
                write(fd, frames[fd])
            else:
                waiting -= 1
    poll.close()
    return Load(requests, clock() - started)
