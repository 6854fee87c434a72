"""Znodes of topics that somebody else changes: tools before 3.0 add partitions there, and tell nobody."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any

from kbroker.broker import flow
from kbroker.broker.zk_port import ZkCode, ZkError
from kbroker.controller.zookeeper import paths

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.timer import Timer
    from kbroker.broker.zk_port import Watch
    from kbroker.broker.zk_session import ZkClient
    from kbroker.controller.zookeeper.tree import Node

_AGAIN_MS = 200.0


class TopicWatch:
    """Watches the znode of each topic during one reading of the cluster.

    Args:
        known: a znode as the controller has decided it, or read it.
        foreign: told that one is not so.
    """

    def __init__(
        self,
        client: ZkClient,
        timer: Timer,
        known: Callable[[str], Node | None],
        foreign: Callable[[], None],
    ) -> None:
        self._client = client
        self._timer = timer
        self._known = known
        self._foreign = foreign
        self._watched: set[str] = set()
        #: Changed, and not looked at yet.
        self._changed: set[str] = set()
        self._looks = False
        self._begun = False
        self._over = False

    def watch(self, path: str) -> Watch:
        """To be armed by who reads the znode now."""
        self._watched.add(path)
        return lambda event: self._look_at([path])

    def begin(self) -> None:
        """All is read, and `known`."""
        self._begun = True
        self._look_at(())

    def topics_are(self, names: Iterable[str]) -> None:
        """Those that are new are watched, too."""
        there = {paths.topic(name) for name in names}
        self._watched &= there
        self._look_at(sorted(there - self._watched))

    def stop(self) -> None:
        """Everything is read again, or this node does not lead any more."""
        self._over = True

    def _look_at(self, changed: Iterable[str]) -> None:
        self._changed.update(changed)
        if self._changed and self._begun and not self._looks and not self._over:
            self._looks = True
            flow.run(self._look()).then(self._looked)

    def _look(self) -> Generator[Deferred[Any], Any, bool]:
        """Whether one is not as it is known."""
        while self._changed and not self._over:
            part = [self._changed.pop() for _ in range(min(len(self._changed), self._client.at_once))]
            asked = [(path, self._client.get(path, self.watch(path))) for path in part]
            for path, answer in asked:
                try:
                    found = yield answer
                except ZkError as error:
                    if error.code is not ZkCode.NO_NODE:
                        self._changed.update(part)
                        raise
                    self._watched.discard(path)
                    continue
                known = self._known(path)
                # What was decided later is not there yet.
                if known is not None and found.stat.version >= known.version and found.data != known.data:
                    return True
        return False

    def _looked(self, done: Deferred[bool]) -> None:
        self._looks = False
        if self._over:
            return
        try:
            if done.result():
                self._foreign()
                return
        except ZkError as error:
            if error.code is not ZkCode.SESSION_OVER:
                self._timer.call_later(_AGAIN_MS, lambda: self._look_at(()))
            return
        self._look_at(())
