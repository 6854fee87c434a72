"""Event loops of simulated processes: all of one world, on its clock, one callback at a time.

A process that is killed has no more callbacks; one that is paused has them when it goes on. Its sockets are
byte streams through the world's network, which delays, holds back and resets them.
"""

from __future__ import annotations

import asyncio
import errno
import heapq
import itertools
import socket
from asyncio import events
from collections import deque
from random import Random
from types import SimpleNamespace


class Scheduler:
    """The clock of a world, in ms, and what happens when."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.now = 0.0
        self.events = 0
        self._heap = []
        self._order = itertools.count()
        #: Exceptions that nobody caught: each is a bug of the broker, or of the world.
        self.problems = []

    def at(self, time, callback):
        heapq.heappush(self._heap, (time, next(self._order), callback))

    def later(self, delay, callback):
        self.at(self.now + delay, callback)

    def run_until(self, end):
        heap = self._heap
        while heap and heap[0][0] <= end:
            self.now, _, callback = heapq.heappop(heap)
            self.events += 1
            callback()
            if self.problems:
                raise self.problems[0]
        self.now = max(self.now, end)


class Process:
    """What is lost when a process ends."""

    def __init__(self, world, host):
        self.world = world
        self.host = host
        self.dead = self.paused = False
        self._held = []
        self.loop = SimLoop(self)
        #: Connections and listeners, to be reset by a kill.
        self.transports = {}
        self.listeners = []

    def run(self, callback):
        """Call it, now or when the process goes on; never if it is dead."""
        if self.dead:
            return
        if self.paused:
            self._held.append(callback)
            return
        before = events._get_running_loop()
        events._set_running_loop(self.loop)
        try:
            callback()
        finally:
            events._set_running_loop(before)

    def pause(self):
        self.paused = True

    def resume(self):
        self.paused = False
        held, self._held = self._held, []
        for callback in held:
            self.world.later(0, lambda callback=callback: self.run(callback))

    def kill(self, silent_ms=0.0):
        """End it; its peers hear of it, or first after `silent_ms` (the machine is gone, too)."""
        self.dead = True
        for listener in self.listeners:
            self.world.network.listeners.pop(listener.place, None)
        for transport in list(self.transports):
            transport.reset(silent_ms)


class SimLoop(asyncio.AbstractEventLoop):
    """What asyncio needs of a loop."""

    def __init__(self, process):
        self._process = process
        self._world = process.world

    def time(self):
        return self._world.now / 1000

    def _run(self, handle):
        if not handle.cancelled():
            self._process.run(lambda: None if handle.cancelled() else handle._run())

    def call_soon(self, callback, *args, context=None):
        handle = asyncio.Handle(callback, args, self, context)
        self._world.later(0, lambda: self._run(handle))
        return handle

    call_soon_threadsafe = call_soon

    def call_later(self, delay, callback, *args, context=None):
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(self, when, callback, *args, context=None):
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        # Never early, however floats are rounded: a timer that rings early is set again, for ever.
        self._world.at(max(when * 1000 + 0.001, self._world.now), lambda: self._run(handle))
        return handle

    def _timer_handle_cancelled(self, handle):
        pass

    def create_future(self):
        return asyncio.Future(loop=self)

    def create_task(self, coro, *, name=None, context=None, **_):
        task = asyncio.Task(coro, loop=self, name=name or "sim", context=context)
        task._log_destroy_pending = False
        return task

    def get_debug(self):
        return False

    def is_running(self):
        return True

    def is_closed(self):
        return False

    def call_exception_handler(self, context):
        if not self._process.dead:
            self._world.problems.append(context.get("exception") or AssertionError(context["message"]))

    async def create_connection(self, factory, host, port, **_):
        return await self._world.network.connect(self._process, factory, (host, port))

    async def create_server(self, factory, *, sock, **_):
        return sock.accept_with(factory)


class SimListener:
    """A bound socket; who connects before somebody accepts waits."""

    def __init__(self, process, place):
        self.process, self.place = process, place
        self.factory = None
        self.waiting = []
        process.listeners.append(self)
        process.world.network.listeners[place] = self

    def getsockname(self):
        return self.place

    def accept_with(self, factory):
        self.factory = factory
        for accept in self.waiting:
            accept()
        self.waiting.clear()
        return self

    def close(self):
        self.process.world.network.listeners.pop(self.place, None)


class SimTransport(asyncio.Transport):
    """One end of a connection."""

    def __init__(self, network, process, peer_host, place):
        super().__init__()
        self._network, self._process, self._place = network, process, place
        self.peer_host = peer_host
        self.other = None
        self.protocol = None
        self._closing = self._ended = False
        self._reading = True
        self._inbox = deque()
        self._stream = network.stream(process.host, peer_host)
        process.transports[self] = None

    # -- what protocols call --

    def get_extra_info(self, name, default=None):
        if name == "socket":
            return SimpleNamespace(family=socket.AF_INET, setsockopt=lambda *_: None)
        return {"peername": (self.peer_host, 1), "sockname": self._place}.get(name, default)

    def set_write_buffer_limits(self, high=None, low=None):
        pass

    def get_write_buffer_size(self):
        return 0

    def is_closing(self):
        return self._closing

    def write(self, data):
        if data and not self._closing:
            self._stream.send(lambda other=self.other, data=bytes(data): other.arrived(data))

    def pause_reading(self):
        self._reading = False

    def resume_reading(self):
        self._reading = True
        self._process.world.later(0, lambda: self._process.run(self._read))

    def close(self):
        if not self._closing:
            self._closing = True
            self._stream.send(lambda other=self.other: other.arrived(None))
            self._end_soon(None)

    abort = close

    # -- what the network calls --

    def reset(self, silent_ms):
        """The process is dead: the other end hears of it."""
        self._closing = self._ended = True
        self._network.world.later(
            silent_ms, lambda other=self.other: self._stream.send(lambda: other.arrived(None, reset=True))
        )

    def arrived(self, data, reset=False):
        if self._ended:
            return
        self._inbox.append((data, reset))
        self._process.run(self._read)

    def _read(self):
        while self._inbox and self._reading and not self._closing and self.protocol is not None:
            data, reset = self._inbox.popleft()
            if data is not None:
                self._feed(memoryview(data))
            elif reset:
                self._closing = True
                self._end_soon(ConnectionResetError(errno.ECONNRESET, "reset"))
            elif not self.protocol.eof_received():
                self.close()

    def _feed(self, data):
        if not isinstance(self.protocol, asyncio.BufferedProtocol):
            self.protocol.data_received(bytes(data))
            return
        while len(data) and not self._closing:
            buffer = self.protocol.get_buffer(-1)
            count = min(len(buffer), len(data))
            buffer[:count] = data[:count]
            self.protocol.buffer_updated(count)
            data = data[count:]

    def _end_soon(self, error):
        def end():
            if not self._ended:
                self._ended = True
                self._process.transports.pop(self, None)
                self.protocol.connection_lost(error)

        self._process.world.later(0, lambda: self._process.run(end))


class Stream:
    """Bytes from one host to another arrive in order; while the way is cut they wait."""

    def __init__(self, network, way):
        self._network, self._way = network, way
        self._queue = deque()
        self._pumping = False

    def send(self, arrive):
        self._queue.append(arrive)
        if not self._pumping:
            self._pumping = True
            self._network.world.later(self._network.delay(), self._pump)

    def _pump(self):
        world = self._network.world
        if self._way in self._network.cuts:
            world.later(20, self._pump)
            return
        # What was sent in one go comes in one go, or not.
        for _ in range(world.random.randint(1, len(self._queue))):
            self._queue.popleft()()
        self._pumping = bool(self._queue)
        if self._queue:
            world.later(self._network.delay(), self._pump)


class Network:
    """Hosts by name; `cuts` has the ways (from, to) on which nothing arrives."""

    def __init__(self, world, delay_ms):
        self.world = world
        self.delay_ms = delay_ms
        self.cuts = {}
        self.listeners = {}

    def delay(self):
        return self.world.random.uniform(*self.delay_ms)

    def stream(self, source, target):
        return Stream(self, (source, target))

    async def connect(self, process, factory, place):
        host = place[0]
        made = asyncio.Future(loop=process.loop)

        def give(give_result):
            process.run(lambda: None if made.done() else give_result())

        def refuse():
            error = ConnectionRefusedError(errno.ECONNREFUSED, "refused")
            give(lambda: made.set_exception(error))

        def knock():
            listener = self.listeners.get(place)
            if listener is None:
                self.stream(host, process.host).send(refuse)
            elif listener.factory is None:
                listener.waiting.append(lambda: welcome(listener))
            else:
                welcome(listener)

        def welcome(listener):
            if listener.process.dead:
                return
            ours = SimTransport(self, process, host, (process.host, 1))
            theirs = SimTransport(self, listener.process, process.host, place)
            ours.other, theirs.other = theirs, ours

            def opened():
                if made.done() or process.dead:
                    theirs.arrived(None, reset=True)
                    process.transports.pop(ours, None)
                    return
                ours.protocol = factory()
                ours.protocol.connection_made(ours)
                made.set_result((ours, ours.protocol))
                ours._read()

            def accept():
                theirs.protocol = listener.factory()
                theirs.protocol.connection_made(theirs)
                theirs._stream.send(lambda: process.run(opened))

            listener.process.run(accept)

        self.stream(process.host, host).send(knock)
        return await made
