"""The first session of a node with ZooKeeper: the chroot, the folders of a new cluster, the cluster's id."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar

from kbroker.broker import flow
from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_memory import read_tree
from kbroker.broker.zk_port import ZkCode, ZkError
from kbroker.broker.zk_session import ZkClient
from kbroker.controller.zookeeper.reading import read
from kbroker.controller.zookeeper.tree import Create, Tree
from kbroker.errors import ConfigError

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.broker.zk_node import ZkSetup
    from kbroker.broker.zk_port import ZkLink
    from kbroker.broker.zk_registration import ZkRegistration
    from kbroker.clock import Clock
    from kbroker.metadata.image import ClusterImage

T = TypeVar("T")

#: Before what a lost connection broke off is tried again.
_AGAIN_MS = 200.0
_PASSING = (ZkCode.CONNECTION_LOST, ZkCode.SESSION_OVER)


class ZkFirstSession:
    """See the module.

    Args:
        open_rootless: a link above the chroot, to make it.
    """

    def __init__(
        self,
        setup: ZkSetup,
        client: ZkClient,
        registration: ZkRegistration,
        open_rootless: Callable[[], ZkLink],
        clock: Clock,
        timer: Timer,
    ) -> None:
        self._setup = setup
        self._client = client
        self._registration = registration
        self._open_rootless = open_rootless
        self._clock = clock
        self._timer = timer
        #: The cluster is there, and `registration.cluster_id` known; fails with ConfigError.
        self.done: Deferred[None] = Deferred()

    def awaited(self) -> None:
        """From now on it has `connect_ms`."""
        self._timer.call_later(self._setup.connect_ms, self._too_late)

    def began(self) -> None:
        """A session has begun: until `done`, any may be the first."""
        if not self.done.done:
            flow.run(self._preparation()).then(self._prepared)

    def _too_late(self) -> None:
        if not self.done.done:
            refusal, setup = self._client.refusal, self._setup
            why = f" ({refusal})" if refusal is not None else ""
            self.done.fail(
                ConfigError(
                    f"no session with ZooKeeper at {setup.servers} within {setup.connect_ms:.0f} ms "
                    f"(zookeeper.connection.timeout.ms){why}"
                )
            )

    def _preparation(self) -> Generator[Deferred[Any], Any, str]:
        if not self._client.root_exists:
            yield self._make_chroot()
            self._client.root_exists = True
        cluster_id: str = yield self._registration.prepare()
        return cluster_id

    def _prepared(self, done: Deferred[str]) -> None:
        if self.done.done:
            return
        try:
            done.result()
            self.done.resolve(None)
        except ConfigError as error:
            self.done.fail(error)
        except ZkError as error:
            # A new session tries again; a connection that was lost within this one, too.
            if error.code is ZkCode.CONNECTION_LOST:
                self._timer.call_later(_AGAIN_MS, self.began)

    def _make_chroot(self) -> Deferred[None]:
        client = ZkClient(self._open_rootless, self._clock, self._timer, self._setup.session_ms)
        made: Deferred[None] = Deferred()
        client.listen(_ChrootMaker(client, self._setup.chroot, made))
        client.start()
        return made


class Reader:
    """Reads what a start needs; whatever breaks that off, a connection or the session, it reads on with the
    next one.

    Args:
        patience_ms: how long: zookeeper.connection.timeout.ms.
    """

    def __init__(self, client: ZkClient, clock: Clock, timer: Timer, patience_ms: float) -> None:
        self._client = client
        self._clock = clock
        self._timer = timer
        self._patience_ms = patience_ms

    def cluster(self) -> Deferred[ClusterImage]:
        """What ZooKeeper has, with the epoch of the last controller. It fails with ConfigError."""
        return self._steadily(lambda: flow.run(read_tree(self._client))).map(_image_of)

    def exists(self, path: str) -> Deferred[bool]:
        """Whether there is a node. It fails with ConfigError."""
        return self._steadily(lambda: self._client.exists(path)).map(lambda stat: stat is not None)

    def _steadily(self, ask: Callable[[], Deferred[T]]) -> Deferred[T]:
        answer: Deferred[T] = Deferred()
        until_ms = self._clock.monotonic_ms() + self._patience_ms

        def begin() -> None:
            ask().then(finish)

        def finish(done: Deferred[T]) -> None:
            try:
                found = done.result()
            except ZkError as error:
                if error.code in _PASSING and self._clock.monotonic_ms() < until_ms:
                    self._timer.call_later(_AGAIN_MS, begin)
                else:
                    answer.fail(ConfigError(f"the cluster cannot be read from ZooKeeper: {error}"))
            else:
                answer.resolve(found)

        begin()
        return answer


def _image_of(tree: Tree) -> ClusterImage:
    found = read(tree)
    image = found.image()
    return image.at(image.offset, found.controller_epoch[0])


class _ChrootMaker:
    """A `SessionListener` of a session above the chroot, which makes it."""

    def __init__(self, client: ZkClient, chroot: str, made: Deferred[None]) -> None:
        self._client = client
        self._chroot = chroot
        self._made = made

    def session_began(self, session_id: int) -> None:
        """See `SessionListener`."""
        flow.run(self._make()).then(self._ended)

    def session_over(self) -> None:
        """See `SessionListener`: the next one begins anew."""

    def _make(self) -> Generator[Deferred[Any], Any, None]:
        path = ""
        for part in self._chroot.strip("/").split("/"):
            path += f"/{part}"
            try:
                yield self._client.multi([Create(path, b"")])
            except ZkError as error:
                if error.code is not ZkCode.NODE_EXISTS:
                    raise

    def _ended(self, done: Deferred[None]) -> None:
        if self._made.done:
            return
        try:
            done.result()
        except ZkError as error:
            if error.code not in (ZkCode.SESSION_OVER, ZkCode.CONNECTION_LOST):
                self._client.close()
                text = f"the chroot {self._chroot} of zookeeper.connect cannot be made: {error}"
                self._made.fail(ConfigError(text))
            return
        self._client.close()
        self._made.resolve(None)
