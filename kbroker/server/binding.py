"""Taking a port early: sockets that listen before anything behind them is ready.

Who connects meanwhile waits in the system's queue; a port that is taken is found out before a byte is
written to disk.
"""

from __future__ import annotations

import errno
import os
import socket
import sys

from kbroker.errors import ConfigError

#: Kafka asks for 50; a burst of clients that reconnect needs more.
BACKLOG = 1024
#: The machine does not speak that address family: no error while another one works.
_NO_FAMILY = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})


def bind_sockets(name: str, host: str, port: int) -> list[socket.socket]:
    """Sockets that listen on every address of `host` (empty: all interfaces), all on the same port.

    Args:
        name: the listener's name, for the error.
        port: 0 takes any free one.

    Raises:
        ConfigError: the address cannot be used; the text names it and says why.
    """
    where = f"{host or '0.0.0.0'}:{port}"
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ConfigError(f"cannot listen on {where} ({name}): {error.strerror or error}") from None
    sockets: list[socket.socket] = []
    problem: OSError | None = None
    for family, _, _, _, address in dict.fromkeys(found):
        if family not in (socket.AF_INET, getattr(socket, "AF_INET6", None)):
            continue
        try:
            sockets.append(_bind(family, (address[0], port, *address[2:])))
        except OSError as error:
            problem = error
            if error.errno not in _NO_FAMILY:
                break
        else:
            port = sockets[-1].getsockname()[1]
    if problem is not None and (not sockets or problem.errno not in _NO_FAMILY):
        for sock in sockets:
            sock.close()
        why = os.strerror(problem.errno) if problem.errno else str(problem)
        raise ConfigError(f"cannot listen on {where} ({name}): {why.lower()}")
    return sockets


def _bind(family: int, address: tuple[object, ...]) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == getattr(socket, "AF_INET6", None):
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
        sock.setblocking(False)
        # Linux lets two sockets bind one port; only listening tells that it is taken.
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock
