"""Who is the controller, by ZooKeeper: whoever makes the ephemeral /controller, and counts /controller_epoch
up in the same transaction.

The claim of a controller is the epoch with its znode's version; every write of it is checked against that,
so one that was followed by another writes nothing, however late it learns it. A claim is only ever read back
while the same /controller is this session's, before and after: a lost answer loses nothing and doubles
nothing. A controller resigns when its session is over by this node's own clock, when /controller is not its
own any more, and when a write was refused for its epoch.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Protocol

from kbroker.broker import flow
from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_port import WatchEvent, ZkCode, ZkError
from kbroker.controller.zookeeper import paths, steps
from kbroker.controller.zookeeper.node_znodes import ControllerZnode
from kbroker.controller.zookeeper.tree import Check, Delete
from kbroker.controller.zookeeper.values import ZnodeError, number_of
from kbroker.controller.zookeeper.writing import Claim

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.broker.zk_session import ZkClient
    from kbroker.clock import Clock

_log = logging.getLogger(__name__)

#: Before an election is tried again that failed for another reason than another controller.
_AGAIN_MS = 1000.0
#: Refused, because another one was first, or it is not known whether it was refused.
_LOST_RACE = (ZkCode.NODE_EXISTS, ZkCode.BAD_VERSION, ZkCode.NO_NODE, ZkCode.CONNECTION_LOST)


class ElectionListener(Protocol):
    """Who is concerned (broker/zk_node.py)."""

    def elected(self, claim: Claim) -> None:
        """This node is the controller, by this claim."""
        ...

    def resigned(self) -> None:
        """It is not any more. Not told where `elected` was not."""
        ...

    def controller_is(self, broker_id: int) -> None:
        """That broker is; -1: nobody, or it is not known."""
        ...


class ZkElection:
    """See the module; a `SessionListener`, but `begin` says when to stand for election in a session."""

    def __init__(
        self, client: ZkClient, broker_id: int, clock: Clock, timer: Timer, listener: ElectionListener
    ) -> None:
        self._client = client
        self._broker_id = broker_id
        self._clock = clock
        self._timer = timer
        self._listener = listener
        #: While this node is the controller.
        self.claim: Claim | None = None
        self._czxid = -1
        #: Told that the controller is a KRaft quorum's (KIP-866).
        self.on_quorum: Callable[[], None] = _nobody_asked
        #: Counts rounds: what an earlier one still hears does not count.
        self._round = 0
        self._standing = False
        #: The claim was refused: it is not to be read back from a /controller that is still there.
        self._refused = False
        #: Why there is no election; it is tried each second, and said once.
        self._told = ""

    def begin(self) -> None:
        """Stand for election, in the session that has begun."""
        self._standing = True
        self._refused = False
        self._told = ""
        self._look()

    def session_over(self) -> None:
        """See `SessionListener`."""
        self._standing = False
        self._round += 1
        self._resign()
        self._listener.controller_is(-1)

    def refused(self, claim: Claim) -> None:
        """A write was refused for the epoch: there was another controller since."""
        if self.claim == claim:
            self._refused = True
            self._resign()
            self._look()

    def depose(self, broker_id: int) -> None:
        """The controller is that broker, and cannot be reached: there is an election without it, before its
        session ends. It writes nothing more, should it live."""
        if self._standing and self.claim is None:
            flow.run(self._depose(broker_id)).then(_forget)

    def _resign(self) -> None:
        if self.claim is not None:
            _log.info("this broker is not the controller any more (epoch %d)", self.claim.epoch)
            self.claim = None
            self._listener.resigned()

    def _look(self) -> None:
        """Begin a round: the only one."""
        if self._standing:
            self._round += 1
            number = self._round
            flow.run(self._rounds(number)).then(lambda done: self._ended(number, done))

    def _ended(self, number: int, done: Deferred[None]) -> None:
        try:
            done.result()
        except (ZkError, ZnodeError) as error:
            if number != self._round or not self._standing:
                return
            if isinstance(error, ZkError) and error.code is ZkCode.SESSION_OVER:
                return
            self._resign()
            if str(error) != self._told:
                self._told = str(error)
                _log.error("no controller can be elected: %s", error)
            self._timer.call_later(_AGAIN_MS, lambda: self._look() if number == self._round else None)

    def _rounds(self, number: int) -> Generator[Deferred[Any], Any, None]:
        client = self._client

        def watched(event: WatchEvent) -> None:
            if number == self._round:
                self._look()

        while number == self._round:
            seen = yield client.exists(paths.CONTROLLER, watched)
            if number != self._round:
                return
            if seen is None or seen.owner != client.session_id:
                self._refused = False
            if seen is None:
                self._resign()
                yield from self._stand()
            elif seen.owner != client.session_id:
                self._resign()
                if (yield from self._learn(number)):
                    return
            elif self._refused:
                yield from self._step_down()
            elif self.claim is not None and self._czxid == seen.czxid:
                return
            else:
                self._resign()
                claim = yield from self._own_claim(seen.czxid)
                if claim is not None and number == self._round:
                    self._take(claim, seen.czxid)
                    return

    def _take(self, claim: Claim, czxid: int) -> None:
        self.claim, self._czxid = claim, czxid
        _log.info("this broker is the controller now, of epoch %d", claim.epoch)
        self._listener.controller_is(self._broker_id)
        self._listener.elected(claim)

    def _stand(self) -> Generator[Deferred[Any], Any, None]:
        """Try to be the controller; whether it worked is read."""
        client = self._client
        try:
            node = yield client.get(paths.CONTROLLER_EPOCH)
            epoch = number_of(paths.CONTROLLER_EPOCH, node.data)
            _, ops = steps.claim(self._broker_id, self._clock.now_ms(), epoch, node.stat.version)
            yield client.multi(ops)
        except ZkError as error:
            if error.code not in _LOST_RACE:
                raise
            if error.code is ZkCode.NO_NODE:
                yield from self._make_epoch()

    def _make_epoch(self) -> Generator[Deferred[Any], Any, None]:
        try:
            yield self._client.multi([steps.first_epoch()])
        except ZkError as error:
            if error.code not in _LOST_RACE:
                raise

    def _learn(self, number: int) -> Generator[Deferred[Any], Any, bool]:
        """Whether it is known who the controller is; False: it has just gone."""
        try:
            node = yield self._client.get(paths.CONTROLLER)
        except ZkError as error:
            if error.code is ZkCode.NO_NODE:
                return False
            raise
        if number == self._round:
            found = ControllerZnode.decode(node.data)
            self._listener.controller_is(found.broker_id)
            if found.kraft_epoch >= 0:
                self.on_quorum()
        return True

    def _own_claim(self, czxid: int) -> Generator[Deferred[Any], Any, Claim | None]:
        """The claim that came with this session's /controller; None: it is another one by now."""
        node = yield self._client.get(paths.CONTROLLER_EPOCH)
        again = yield self._client.exists(paths.CONTROLLER)
        if again is None or again.czxid != czxid:
            return None
        return Claim(number_of(paths.CONTROLLER_EPOCH, node.data), node.stat.version)

    def _depose(self, broker_id: int) -> Generator[Deferred[Any], Any, None]:
        # In this order: whoever is elected after the epoch was read has another one.
        epoch = yield self._client.get(paths.CONTROLLER_EPOCH)
        node = yield self._client.get(paths.CONTROLLER)
        if self._standing and self.claim is None and ControllerZnode.decode(node.data).broker_id == broker_id:
            _log.info("the controller, broker %d, refuses connections: another one is elected", broker_id)
            check = Check(paths.CONTROLLER_EPOCH, epoch.stat.version)
            yield self._client.multi([check, Delete(paths.CONTROLLER)])

    def _step_down(self) -> Generator[Deferred[Any], Any, None]:
        """Somebody has changed the epoch by hand: begin anew."""
        try:
            yield self._client.multi([Delete(paths.CONTROLLER)])
        except ZkError as error:
            if error.code not in _LOST_RACE:
                raise


def _nobody_asked() -> None:
    """Until somebody asks to be told."""


def _forget(done: Deferred[None]) -> None:
    """Another node was first, or its session ends in its own time."""
    try:
        done.result()
    except (ZkError, ZnodeError) as error:
        _log.debug("the controller stays: %s", error)
