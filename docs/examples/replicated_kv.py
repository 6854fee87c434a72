"""A highly available key-value store on `kbroker.raft`: every node has all keys, a majority keeps it running.

`Node` is all there is to it. What it needs of the outside is handed in (a disk, a network, a clock), so that
the same code runs in the simulator of kbroker's tests. `python docs/examples/replicated_kv.py` plays three
nodes in one process, kills the leader and goes on.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque

from kbroker.plain import replace
from kbroker.raft.election_state import ElectionState
from kbroker.raft.messages import (
    Answered,
    Appended,
    AppendFetched,
    AppendLeaderChange,
    AppendNoOp,
    BarrierPassed,
    BecomeLeader,
    Commit,
    ElectionStored,
    EpochStart,
    Flushed,
    FlushLog,
    PeerGone,
    ReadBarrier,
    Received,
    Reply,
    Resign,
    Send,
    SendFailed,
    ServeFetch,
    ShutDown,
    Started,
    StoreElection,
    Tick,
    Truncate,
)
from kbroker.raft.node import RaftNode
from kbroker.raft.voter_set import QuorumVoter, VoterSet


class Node:
    """One node of the store.

    Args:
        node_id, voters: this node, and all of them.
        disk: election and log of earlier lives; see `MemoryDisk`.
        outside: `now_ms()`, `wake_at(ms)`, `send(to, request)`, `reply(token, response)`, `sync(done)`.
        below: random numbers, `below(n)` from 0 to n - 1.
    """

    def __init__(self, node_id, voters, disk, outside, below=random.randrange):
        self.disk, self.outside = disk, outside
        self.raft = RaftNode(node_id, VoterSet(map(QuorumVoter, voters)), disk.election, random=below)
        self.state = {}
        self.applied = 0
        self.leads = None
        self._waiting = {}
        self._events = deque()
        self.feed(Started(len(disk.log), epochs=_epochs(disk.log)))

    # -- for users: `done` hears what came of it -------------------------------------------------------------

    def put(self, key, value, done):
        """Set a key. done(True): for good; done(False): not done; done(None): nobody knows."""
        if self.leads is None:
            done(False)
            return
        self._append((self.leads, key, value))
        self._waiting[len(self.disk.log) - 1] = done

    def get(self, key, done):
        """Read what was last put, whoever put it where. done(True, value), or done(False, None)."""
        self.feed(ReadBarrier((key, done)))

    # -- for the outside: what happened ----------------------------------------------------------------------

    def tick(self):
        """`wake_at` has come."""
        self.feed(Tick())

    def received(self, token, request):
        """A node asks."""
        self.feed(Received(token, request))

    def answered(self, peer, request, response):
        """A node answered; None: it did not."""
        self.feed(Answered(peer, request, response) if response else SendFailed(peer, request))

    def peer_gone(self, peer):
        """That node's port refuses."""
        self.feed(PeerGone(peer))

    def stop(self):
        """Hand over to the others."""
        self.feed(ShutDown())

    # -- the driver ------------------------------------------------------------------------------------------

    def feed(self, event):
        """Tell the core, and do what it says, in order."""
        self._events.append(event)
        if len(self._events) > 1:
            return
        while self._events:
            for effect in self.raft.step(self.outside.now_ms(), self._events[0]):
                self._perform(effect)
            self._events.popleft()
        self.outside.wake_at(self.raft.deadline())

    def _perform(self, effect):
        match effect:
            case StoreElection(state):
                self.disk.store_election(state)
                self.feed(ElectionStored(state.epoch))
            case Send(to, request):
                self.outside.send(to, request)
            case Reply(token, response):
                self.outside.reply(token, response)
            case ServeFetch(token, response, offset, end):
                records = tuple(self.disk.log[offset : min(end, offset + 100)])
                self.outside.reply(token, replace(response, records=records))
            case AppendFetched(_, response):
                self._append(*response.records)
            case AppendLeaderChange(epoch):
                self._append((epoch, None, None))
            case AppendNoOp(epoch):
                self._append((epoch, None, None), no_op=True)
            case FlushLog():
                end = len(self.disk.log)
                self.outside.sync(lambda: self.feed(Flushed(end)))
            case Truncate(end):
                self.disk.truncate(end)
            case Commit(end):
                self._apply(end)
            case BecomeLeader(epoch):
                self.leads = epoch
            case Resign():
                self.leads = None
                for offset in [*self._waiting]:
                    self._waiting.pop(offset)(None)
            case BarrierPassed((key, done), end):
                done(end is not None, self.state.get(key) if end is not None else None)

    def _append(self, *entries, no_op=False):
        start = len(self.disk.log)
        last = self.disk.log[-1][0] if start else None
        self.disk.append(entries)
        self.feed(Appended(len(self.disk.log), _epochs(entries, start, last), no_op=no_op))

    def _apply(self, end):
        for offset in range(self.applied, end):
            _, key, value = self.disk.log[offset]
            if key is not None:
                self.state[key] = value
            self.applied = offset + 1
            if offset in self._waiting:
                self._waiting.pop(offset)(True)


def _epochs(entries, start=0, last=None):
    """Where epochs begin in these entries, the last one before them being `last`."""
    found = []
    for offset, (epoch, _, _) in enumerate(entries, start):
        if epoch != last:
            found.append(EpochStart(epoch, offset))
            last = epoch
    return tuple(found)


class MemoryDisk:
    """What has to be durable. A real one writes `election` at once and syncs `log` when asked to."""

    def __init__(self):
        self.election = ElectionState()
        self.log = []

    def store_election(self, state):
        """Durable before it returns."""
        self.election = state

    def append(self, entries):
        """Durable after the next sync."""
        self.log.extend(entries)

    def truncate(self, end):
        """Cut back."""
        del self.log[end:]


# -- three nodes in one process ------------------------------------------------------------------------------


class _Loop:
    """The outside of one node: the event loop of asyncio for all of them."""

    def __init__(self, node_id, nodes):
        self.node_id, self.nodes = node_id, nodes
        self.loop, self.timer = asyncio.get_running_loop(), None

    def now_ms(self):
        return int(time.monotonic() * 1000)

    def wake_at(self, ms):
        if self.timer is not None:
            self.timer.cancel()
        wait = max(ms - self.now_ms(), 1) / 1000 if ms is not None else 3600
        self.timer = self.loop.call_later(wait, self._to_me, "tick")

    def _to_me(self, method, *arguments):
        if self.node_id in self.nodes:
            getattr(self.nodes[self.node_id], method)(*arguments)

    def send(self, to, request):
        def deliver():
            if to in self.nodes:
                self.nodes[to].received((self, to, request), request)
            else:
                self._to_me("answered", to, request, None)

        self.loop.call_soon(deliver)

    def reply(self, token, response):
        asker, to, request = token
        self.loop.call_soon(asker._to_me, "answered", to, request, response)

    def sync(self, done):
        self.loop.call_soon(done)


async def main():
    """Put, kill the leader, get."""
    nodes = {}
    for node_id in (1, 2, 3):
        nodes[node_id] = Node(node_id, (1, 2, 3), MemoryDisk(), _Loop(node_id, nodes))

    async def leader():
        while not (found := [node for node in nodes.values() if node.leads is not None]):
            await asyncio.sleep(0.01)
        return found[0]

    first, answer = await leader(), asyncio.Future()
    first.put("greeting", "hello", answer.set_result)
    print(f"node {first.raft.node_id} leads; put: {await answer}")
    del nodes[first.raft.node_id]
    for node in nodes.values():
        node.peer_gone(first.raft.node_id)
    second, answer = await leader(), asyncio.Future()
    second.get("greeting", lambda known, value: answer.set_result(value))
    print(f"node {second.raft.node_id} leads now; get: {await answer}")


if __name__ == "__main__":
    asyncio.run(main())
