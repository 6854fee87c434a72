"""ZooKeeper as a seeded model: sessions, ephemerals, sequentials, one-shot watches, versions, multi, ACLs.

One linear server stands for an ensemble. Each link is a pair of streams: in order, delayed, cut (what is sent
is held up, and noticed by silence only) or reset (some of what is under way still happens, its answers are
lost). Hosts have a timer of their own and can be paused, with all that their process does.
"""

from __future__ import annotations

from kbroker.broker.zk_port import (
    Children,
    Exists,
    Get,
    Multi,
    NodeStat,
    WatchEvent,
    ZkCode,
    ZkError,
    ZkNode,
)
from kbroker.controller.zookeeper.tree import Check, Create, Delete, SetData


class Host:
    """A process: timer and clock; what is due while it is paused comes when it goes on."""

    def __init__(self, scheduler, name):
        self.scheduler = scheduler
        self.name = name
        self.paused = self.dead = False
        #: Nothing goes between this host and ZooKeeper.
        self.cut = False
        self.links = []
        self._held = []

    def run(self, callback):
        if self.dead:
            return
        if self.paused:
            self._held.append(callback)
        else:
            callback()

    def call_later(self, delay_ms, callback):
        handle = Handle(callback)
        self.scheduler.later(max(delay_ms, 0.0), lambda: self.run(handle.ring))
        return handle

    def now_ms(self):
        return int(self.scheduler.now)

    def monotonic_ms(self):
        return self.scheduler.now

    def pause(self):
        self.paused = True

    def resume(self):
        self.paused = False
        held, self._held = self._held, []
        for callback in held:
            self.scheduler.later(0, lambda callback=callback: self.run(callback))

    def kill(self):
        self.dead = True
        for link in self.links:
            link.died()

    def reset(self):
        """Its connections to ZooKeeper break."""
        for link in self.links:
            link.broken()

    def suffer(self, trouble):
        """0: cut off, or no longer; 1: paused, or going on; 2: reset."""
        if trouble == 0:
            self.cut = not self.cut
        elif trouble == 1:
            self.resume() if self.paused else self.pause()
        else:
            self.reset()

    def heal(self):
        """Connected, and going on."""
        self.cut = False
        self.resume()


class Handle:
    def __init__(self, callback):
        self._callback = callback

    def cancel(self):
        self._callback = None

    def ring(self):
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class Node:
    def __init__(self, data, czxid, owner=0, sensitive=False):
        self.data, self.czxid, self.owner, self.sensitive = data, czxid, owner, sensitive
        self.version = 0
        self.sequence = 0
        self.children = set()

    @property
    def stat(self):
        return NodeStat(self.czxid, self.version, self.owner)


class Session:
    def __init__(self, session_id, timeout_ms, now):
        self.id, self.timeout_ms, self.heard_ms = session_id, timeout_ms, now
        self.link = None


def parent_of(path):
    return path.rpartition("/")[0] or "/"


class ZkModel:
    """The servers."""

    def __init__(self, scheduler, delay_ms=(0.1, 3.0)):
        self.scheduler = scheduler
        self.delay_ms = delay_ms
        self.nodes = {"/": Node(b"", 0)}
        self.sessions = {}
        self.zxid = 0
        self.paused = False
        #: Called with (session id, operations) after each write, before anybody hears of it.
        self.on_write = lambda session_id, operations: None
        #: Paths that nobody may write or read.
        self.denied = set()
        self._next_session = 1
        self._data_watches = {}
        self._child_watches = {}

    # -- sessions --

    def delay(self):
        low, high = self.delay_ms
        return low + self.scheduler.random.random() * (high - low)

    def new_session(self, timeout_ms):
        session = Session(self._next_session, timeout_ms, self.scheduler.now)
        self._next_session += 1
        self.sessions[session.id] = session
        self.scheduler.later(timeout_ms, lambda: self._check(session))
        return session

    def _check(self, session):
        if session.id not in self.sessions:
            return
        left = session.heard_ms + session.timeout_ms - self.scheduler.now
        if left > 0 or self.paused:
            self.scheduler.later(max(left, session.timeout_ms / 10), lambda: self._check(session))
        else:
            self.end_session(session.id)

    def pause(self):
        self.paused = True

    def resume(self):
        """A new leader gives all sessions their whole time-out."""
        self.paused = False
        for session in self.sessions.values():
            session.heard_ms = self.scheduler.now

    def end_session(self, session_id):
        """Expire or close it: its ephemerals go."""
        session = self.sessions.pop(session_id, None)
        if session is None:
            return
        mine = [path for path, node in self.nodes.items() if node.owner == session_id]
        self._forget(session.link)
        for path in mine:
            self.zxid += 1
            self._remove(path)
        if mine:
            self.on_write(session_id, [Delete(path, -1) for path in mine])
        if session.link is not None:
            session.link.tell_over()

    def _forget(self, link):
        for table in (self._data_watches, self._child_watches):
            for path in list(table):
                table[path] = [each for each in table[path] if each[0] is not link]

    # -- requests --

    def perform(self, session, link, request, watch):
        """(value, error) of a request that arrives."""
        try:
            if isinstance(request, Multi):
                return self._multi(session, request.operations), None
            return self._read(link, request, watch), None
        except ZkError as error:
            return None, error

    def _read(self, link, request, watch):
        path = request.path
        self._allowed(path)
        node = self.nodes.get(path)
        if watch is not None and (node is not None or isinstance(request, Exists)):
            table = self._child_watches if isinstance(request, Children) else self._data_watches
            table.setdefault(path, []).append((link, watch))
        if isinstance(request, Exists):
            return None if node is None else node.stat
        if node is None:
            raise ZkError(ZkCode.NO_NODE, path)
        return ZkNode(node.data, node.stat) if isinstance(request, Get) else sorted(node.children)

    def _allowed(self, path, operation=-1):
        if any(path == each or path.startswith(each + "/") for each in self.denied):
            raise ZkError(ZkCode.NO_AUTH, path, operation)

    def _multi(self, session, operations):
        """All or nothing: tried on a copy of what is touched, as operations may build on each other."""
        before = {path: self._copy(node) for path, node in self._touched(operations)}
        made, zxid, self.zxid = [], self.zxid, self.zxid + 1
        results, events = [], []
        try:
            for at, operation in enumerate(operations):
                results.append(self._apply(session, at, operation, made, events))
        except ZkError:
            self.zxid = zxid
            for path in made:
                self.nodes.pop(path, None)
            self.nodes.update(before)
            raise
        self.on_write(session.id, operations)
        for fire, path in events:
            fire(path)
        return results

    def _touched(self, operations):
        paths = {each.path for each in operations} | {parent_of(each.path) for each in operations}
        return [(path, self.nodes[path]) for path in sorted(paths) if path in self.nodes]

    @staticmethod
    def _copy(node):
        copy = Node(node.data, node.czxid, node.owner, node.sensitive)
        copy.version, copy.sequence, copy.children = node.version, node.sequence, set(node.children)
        return copy

    def _apply(self, session, at, operation, made, events):
        path = operation.path
        self._allowed(path, at)
        if isinstance(operation, Create):
            return self._create(session, at, operation, made, events)
        node = self.nodes.get(path)
        if node is None:
            raise ZkError(ZkCode.NO_NODE, path, at)
        if operation.version not in (-1, node.version):
            raise ZkError(ZkCode.BAD_VERSION, path, at)
        if isinstance(operation, Check):
            return None
        if isinstance(operation, SetData):
            node.data = operation.data
            node.version += 1
            events.append((self._changed, path))
            return node.stat
        if node.children:
            raise ZkError(ZkCode.NOT_EMPTY, path, at)
        del self.nodes[path]
        self.nodes[parent_of(path)].children.discard(path.rpartition("/")[2])
        events.append((self._deleted, path))
        return None

    def _create(self, session, at, operation, made, events):
        path = operation.path
        parent = self.nodes.get(parent_of(path))
        if parent is None:
            raise ZkError(ZkCode.NO_NODE, path, at)
        if parent.owner:
            raise ZkError(ZkCode.NO_CHILDREN, path, at)
        if operation.sequence:
            path = f"{path}{parent.sequence:010d}"
        if path in self.nodes:
            raise ZkError(ZkCode.NODE_EXISTS, path, at)
        parent.sequence += 1
        parent.children.add(path.rpartition("/")[2])
        owner = session.id if operation.ephemeral else 0
        self.nodes[path] = Node(operation.data, self.zxid, owner, operation.sensitive)
        made.append(path)
        events.append((self._created, path))
        return path

    def _remove(self, path):
        del self.nodes[path]
        self.nodes[parent_of(path)].children.discard(path.rpartition("/")[2])
        self._deleted(path)

    # -- watches --

    def _created(self, path):
        self._fire(self._data_watches, path, WatchEvent.CREATED)
        self._fire(self._child_watches, parent_of(path), WatchEvent.CHILDREN)

    def _changed(self, path):
        self._fire(self._data_watches, path, WatchEvent.CHANGED)

    def _deleted(self, path):
        self._fire(self._data_watches, path, WatchEvent.DELETED)
        self._fire(self._child_watches, path, WatchEvent.DELETED)
        self._fire(self._child_watches, parent_of(path), WatchEvent.CHILDREN)

    def _fire(self, table, path, event):
        for link, watch in table.pop(path, []):
            link.tell_watch(watch, event)


class Stream:
    """One direction of a link's connection: in order, delayed; what is sent while the host is cut off comes
    when it is not any more, as TCP sends it again, if the connection is still the same by then.
    """

    def __init__(self, link):
        self._link, self._connection = link, link._connection
        self._last = 0.0
        self._held = []

    def send(self, callback):
        scheduler = self._link.model.scheduler
        self._last = max(self._last, scheduler.now + self._link.model.delay())
        scheduler.at(self._last, lambda: self._arrive(callback))

    def _arrive(self, callback):
        if not self._link.host.cut and not self._held:
            callback()
            return
        self._held.append(callback)
        if len(self._held) == 1:
            self._try_again()

    def _try_again(self):
        self._link.model.scheduler.later(10.0, self._flush)

    def _flush(self):
        if self._link._connection != self._connection or self._link.host.dead:
            self._held.clear()
        elif self._link.host.cut:
            self._try_again()
        else:
            held, self._held = self._held, []
            for callback in held:
                callback()


class ModelLink:
    """A `ZkLink` to the model."""

    def __init__(self, model, host, timeout_ms):
        self.model, self.host, self.timeout_ms = model, host, timeout_ms
        self.session = None
        self._events = None
        self._closed = False
        #: Counts connections: what belongs to an earlier one is lost.
        self._connection = 0
        self._up = False
        self._pending = []
        self._watches = []
        self._to_server = self._to_client = Stream(self)
        self._last_answer = 0.0
        host.links.append(self)

    # -- ZkLink --

    def open(self, events):
        self._events = events
        self._connect()

    def submit(self, request, watch, done):
        if self._closed or not self._up:
            self.host.call_later(0, lambda: done(None, ZkError(ZkCode.CONNECTION_LOST)))
            return
        entry = [request, watch, done]
        self._pending.append(entry)
        if watch is not None:
            self._watches.append(watch)
        connection = self._connection
        self._to_server.send(lambda: self._arrive(connection, entry))

    def close(self, then, *, abrupt=False):
        session = None if abrupt else self.session
        self.host.call_later(2 * self.model.delay(), then)
        if not self._closed and self._up and session is not None and not self.host.cut:
            self.model.scheduler.later(self.model.delay(), lambda: self.model.end_session(session.id))
        self._closed = True
        self._pending.clear()

    # -- the wire --

    def _connect(self):
        if self._closed or self._up:
            return
        if self.host.cut or self.model.paused:
            self.host.call_later(self.timeout_ms / 6, self._connect)
            return
        self.model.scheduler.later(self.model.delay(), self._reach)

    def _reach(self):
        model = self.model
        if self._closed or self.host.dead:
            return
        if self.host.cut or model.paused:
            self.host.call_later(self.timeout_ms / 6, self._connect)
            return
        if self.session is None:
            self.session = model.new_session(self.timeout_ms)
            self.session.link = self
        elif self.session.id not in model.sessions:
            self.tell_over()
            return
        self.session.heard_ms = model.scheduler.now
        self._connection += 1
        self._to_server, self._to_client = Stream(self), Stream(self)
        connection = self._connection
        self._deliver(connection, lambda: self._connected(connection))

    def _connected(self, connection):
        self._up = True
        self._last_answer = self.model.scheduler.now
        self._watch_silence(connection)
        self._events.connected(self.session.id, self.timeout_ms)

    def _arrive(self, connection, entry):
        model = self.model
        if model.paused:
            model.scheduler.later(5.0, lambda: self._arrive(connection, entry))
            return
        if self.session.id not in model.sessions:
            self.tell_over()
            return
        if connection != self._connection and len(entry) == 3:
            return
        self.session.heard_ms = model.scheduler.now
        request, watch, done = entry[:3]
        value, error = model.perform(self.session, self, request, watch)

        def answered():
            if entry in self._pending:
                self._pending.remove(entry)
                self._last_answer = model.scheduler.now
                done(value, error)

        self._deliver(connection, answered)

    def _deliver(self, connection, callback):
        """Over the stream from the server, in order; if the connection still is the same by then."""
        self._to_client.send(lambda: self.host.run(lambda: None if self._stale(connection) else callback()))

    def _stale(self, connection):
        return self._closed or connection != self._connection

    def tell_watch(self, watch, event):
        def told():
            if watch in self._watches:
                self._watches.remove(watch)
                watch(event)

        self._deliver(self._connection, told)

    def tell_over(self):
        """The session is no more, if this link can hear it."""
        if self.host.cut or self._closed:
            return

        def over():
            if not self._closed:
                self._closed = True
                self._events.over(ZkError(ZkCode.SESSION_OVER))

        self.model.scheduler.later(self.model.delay(), lambda: self.host.run(over))

    # -- faults --

    def _watch_silence(self, connection):
        def look():
            if self._stale(connection) or not self._up:
                return
            silent = self.model.scheduler.now - self._last_answer
            if self._pending and silent >= self.timeout_ms * 2 / 3:
                self.broken()
            else:
                self.host.call_later(self.timeout_ms / 12, look)

        self.host.call_later(self.timeout_ms / 12, look)

    def broken(self):
        """The connection is reset: of what is under way the server may have got a beginning."""
        if self._closed or not self._up:
            return
        self._up = False
        pending, self._pending = self._pending, []
        for entry in pending:
            if self.model.scheduler.random.random() < 0.5:
                break
            entry.append("still arrives")
        self._connection += 1
        self.model._forget(self)
        watches, self._watches = self._watches, []

        def heard():
            if self._closed:
                return
            self._events.disconnected()
            for watch in watches:
                watch(WatchEvent.UNSURE)
            for _, _, done, *_ in pending:
                done(None, ZkError(ZkCode.CONNECTION_LOST))
            self.host.call_later(1.0, self._connect)

        self.host.run(heard)

    def died(self):
        """The process was killed: the session stays until it times out."""
        self._closed = True
        self._connection += 1
        self.model._forget(self)
