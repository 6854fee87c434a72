"""A network of the test's own: a namespace and an address for each node, all on one bridge (root only).

A way is cut by a wrong hardware address among the sender's neighbours: frames leave and nobody takes them, as
with a cut cable. That needs nothing but `ip` and `nsenter` (iproute2, util-linux), in any kernel that has
namespaces.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress

#: The place of the clients, which are in this process: the bridge itself.
CLIENTS = 254
_NOWHERE = "02:00:00:00:00:00"


class Network:
    """Addresses 10.231.x.1 to .n, x being free on this machine; names begin with this process's id."""

    def __init__(self, nodes: Iterable[int]) -> None:
        self._number = _free_number()
        self._tag = f"kb{os.getpid() % 100_000}"
        self.nodes = list(nodes)
        self.cuts: set[tuple[int, int]] = set()
        self._down: set[int] = set()

    def host(self, place: int) -> str:
        """The address of a node, or of the clients."""
        return f"10.231.{self._number}.{place}"

    def inside(self, node: int) -> list[str]:
        """The command that runs another one at a node's place.

        Not `ip netns exec`: it copies all mounts, and a file system lives as long as a copy, also when it is
        unmounted and mounted again: no power cut would be one.
        """
        return ["nsenter", f"--net=/run/netns/{self._tag}n{node}", "--"]

    def make(self) -> None:
        """Build it.

        Raises:
            OSError: not allowed here, or no `ip`.
        """
        _remove_orphans()
        bridge = f"{self._tag}b"
        _ip("link", "add", bridge, "type", "bridge")
        _ip("link", "set", bridge, "address", self._hardware(CLIENTS), "up")
        _ip("addr", "add", f"{self.host(CLIENTS)}/24", "dev", bridge)
        for node in self.nodes:
            space, cable = f"{self._tag}n{node}", f"{self._tag}v{node}"
            _ip("netns", "add", space)
            _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
            _ip("link", "set", cable, "master", bridge, "up")
            _ip("-n", space, "link", "set", "lo", "up")
            _ip("-n", space, "link", "set", "eth0", "address", self._hardware(node), "up")
            _ip("-n", space, "addr", "add", f"{self.host(node)}/24", "dev", "eth0")
        places = [*self.nodes, CLIENTS]
        for way in ((a, b) for a in places for b in places if a != b):
            self._set(way, whole=True)

    def remove(self) -> None:
        """Take it away."""
        for node in self.nodes:
            with suppress(OSError):
                _ip("netns", "del", f"{self._tag}n{node}")
        with suppress(OSError):
            _ip("link", "del", f"{self._tag}b")

    def cut(self, ways: Iterable[tuple[int, int]]) -> None:
        """Nothing arrives these ways any more."""
        for way in ways:
            self._set(way, whole=False)
            self.cuts.add(way)

    def link(self, node: int, up: bool) -> None:
        """Pull a node's cable, or put it in again."""
        _ip("link", "set", f"{self._tag}v{node}", "up" if up else "down")
        (self._down.discard if up else self._down.add)(node)

    def heal(self) -> None:
        """Everything arrives again."""
        for node in list(self._down):
            self.link(node, True)
        for way in list(self.cuts):
            self._set(way, whole=True)
            self.cuts.discard(way)

    def _set(self, way: tuple[int, int], *, whole: bool) -> None:
        sender, receiver = way
        where = ["-n", f"{self._tag}n{sender}"] if sender != CLIENTS else []
        device = "eth0" if sender != CLIENTS else f"{self._tag}b"
        hardware = self._hardware(receiver) if whole else _NOWHERE
        neighbour = ["neigh", "replace", self.host(receiver), "lladdr", hardware]
        _ip(*where, *neighbour, "dev", device, "nud", "permanent")

    def _hardware(self, place: int) -> str:
        return f"02:00:0a:e7:{self._number:02x}:{place:02x}"


def _free_number() -> int:
    with suppress(OSError):
        taken = set(re.findall(r"10\.231\.(\d+)\.", _ip("-4", "addr")))
        return next(number for number in range(1, 255) if str(number) not in taken)
    return 1


def _remove_orphans() -> None:
    """What a run that was killed has left."""
    for space, pid in re.findall(r"^(kb(\d+)n\d+)", _ip("netns"), re.MULTILINE):
        if not os.path.exists(f"/proc/{pid}"):
            with suppress(OSError):
                _ip("netns", "del", space)
            with suppress(OSError):
                _ip("link", "del", f"kb{pid}b")


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
