"""This broker in ZooKeeper: /brokers/ids/<id> while its session lasts; the czxid is its epoch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from kbroker.broker import flow
from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_port import ZkCode, ZkError
from kbroker.controller.zookeeper import paths, steps
from kbroker.controller.zookeeper.node_znodes import BrokerZnode, decode_cluster_id, encode_cluster_id
from kbroker.controller.zookeeper.tree import ANY_VERSION, Check, Create, Delete, SetData, Tree, ZkOp
from kbroker.controller.zookeeper.values import ZnodeError
from kbroker.errors import ConfigError

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.broker.zk_port import NodeStat
    from kbroker.broker.zk_session import ZkClient

_log = logging.getLogger(__name__)

#: While an earlier session is waited for.
_LOOK_MS = 50.0
#: While ZooKeeper is not this broker's.
_FOREIGN_MS = 1000.0
#: After so many looks the broker that has the id is asked again whether it lives.
_ASK_EVERY = 40


class ZkRegistration:
    """Registers in each session anew.

    Args:
        describe: what the broker says of itself, with the present time.
        cluster_id: what a new cluster is called.
        patience_ms: how long to wait for another session's registration of this id to end: an earlier
            life's does within its session time-out.
    """

    def __init__(
        self,
        client: ZkClient,
        broker_id: int,
        describe: Callable[[], BrokerZnode],
        cluster_id: str,
        timer: Timer,
        patience_ms: float,
    ) -> None:
        self._client = client
        #: -1: it is still to be given one.
        self.broker_id = broker_id
        self._describe = describe
        self._new_cluster_id = cluster_id
        self._timer = timer
        self._patience_ms = patience_ms
        #: The folders that each broker makes where they are not there.
        self.roots: Sequence[str] = paths.ROOTS
        #: Told that the registration is gone although its session lasts; not within `begin`.
        self.on_lost: Callable[[], object] = _nobody_asked
        #: Of the registration that this broker had before, in a life or session that is certainly over.
        self.earlier_epoch = -1
        #: Whether the broker that is registered there lives, and is not this one.
        self.is_there: Callable[[BrokerZnode], Deferred[bool]] = _not_known
        #: Of the registration in force; -1: none.
        self.epoch = -1
        self.cluster_id = ""
        self._life = 0

    def prepare(self) -> Deferred[str]:
        """Make the folders of a new cluster, and give it its id, or read it; the id. It fails as `begin`."""
        return flow.run(self._preparation())

    def begin(self) -> Deferred[int]:
        """Register in the session that has begun; the broker epoch.

        It fails with ConfigError: another broker has the id, what is there makes no sense, or access is
        denied; with ZkError SESSION_OVER.
        """
        self._life += 1
        return flow.run(self._steps())

    def own_cluster(self) -> Deferred[None]:
        """Resolved when ZooKeeper has the cluster that this broker is in; fails with ZkError SESSION_OVER."""
        return flow.run(self._same_cluster())

    def generate_id(self, reserved_max: int) -> Deferred[int]:
        """An id above `reserved_max` that no broker was given before; fails with ConfigError."""
        return flow.run(self._generation(reserved_max))

    def session_over(self) -> None:
        """See `SessionListener`."""
        self._life += 1
        self.epoch = -1

    def _steps(self) -> Generator[Deferred[Any], Any, int]:
        life = self._life
        try:
            yield from self._prepared()
            epoch: int = yield from self._register()
        except (ZkError, ZnodeError) as error:
            raise _told(error) from None
        if life != self._life:
            raise ZkError(ZkCode.SESSION_OVER)
        self.epoch = self.earlier_epoch = epoch
        self._watch(life)
        return epoch

    def _watch(self, life: int) -> None:
        """Somebody may delete it by hand: the controller then takes this broker for gone."""
        if life == self._life:
            seen = self._client.exists(paths.broker(self.broker_id), lambda event: self._watch(life))
            seen.then(lambda done: self._seen(life, done))

    def _seen(self, life: int, done: Deferred[Any]) -> None:
        if life != self._life:
            return
        try:
            stat = done.result()
        except ZkError as error:
            if error.code is not ZkCode.SESSION_OVER:
                self._timer.call_later(_LOOK_MS, lambda: self._watch(life))
            return
        if stat is None or stat.czxid != self.epoch:
            _log.warning("the registration of this broker was deleted: it registers anew")
            self.session_over()
            self.on_lost()

    def _preparation(self) -> Generator[Deferred[Any], Any, str]:
        try:
            return (yield from self._prepared())
        except (ZkError, ZnodeError) as error:
            raise _told(error) from None

    def _prepared(self) -> Generator[Deferred[Any], Any, str]:
        if not self._client.root_exists:
            raise ConfigError("the chroot of zookeeper.connect does not exist")
        if self.cluster_id:
            yield from self._same_cluster()
            yield from self._make_roots()
        else:
            yield from self._make_roots()
            self.cluster_id = yield from self._make_cluster_id()
        return self.cluster_id

    def _same_cluster(self) -> Generator[Deferred[Any], Any, None]:
        """Wait for this broker's cluster. A ZooKeeper that has lost it knows no topics: whoever believed that
        would drop all logs."""
        told = ""
        while True:
            try:
                found = yield from self._read_cluster_id()
                if found == self.cluster_id:
                    return
                what = (
                    f"is that of cluster {found}" if found else "has lost its data: there is no /cluster/id"
                )
            except ZnodeError as error:
                what = f"has lost its data: {error}"
            if what != told:
                _log.error("ZooKeeper %s; this broker of cluster %s waits for its own", what, self.cluster_id)
            told = what
            yield self._pause(_FOREIGN_MS)

    def _make_roots(self) -> Generator[Deferred[Any], Any, None]:
        asked = [self._client.multi([each]) for each in steps.missing_roots(Tree(), self.roots)]
        for answer in asked:
            try:
                yield answer
            except ZkError as error:
                if error.code is ZkCode.CONNECTION_LOST:
                    # Those that were not made are made by the next try.
                    yield from self._settled(asked)
                    yield self._client.exists("/")
                    yield from self._make_roots()
                    return
                if error.code is not ZkCode.NODE_EXISTS:
                    raise

    @staticmethod
    def _settled(asked: list[Deferred[Any]]) -> Generator[Deferred[Any], Any, None]:
        for answer in asked:
            if not answer.done:
                try:
                    yield answer
                except ZkError:
                    continue

    def _read_cluster_id(self) -> Generator[Deferred[Any], Any, str]:
        """Empty: there is none."""
        try:
            node = yield self._client.get(paths.CLUSTER_ID)
        except ZkError as error:
            if error.code is not ZkCode.NO_NODE:
                raise
            return ""
        return decode_cluster_id(node.data)

    def _make_cluster_id(self) -> Generator[Deferred[Any], Any, str]:
        while True:
            found = yield from self._read_cluster_id()
            if found:
                return found
            for path, data in (
                (paths.parent(paths.CLUSTER_ID), b""),
                (paths.CLUSTER_ID, encode_cluster_id(self._new_cluster_id)),
            ):
                try:
                    yield self._client.multi([Create(path, data)])
                except ZkError as error:
                    if error.code not in (ZkCode.NODE_EXISTS, ZkCode.CONNECTION_LOST, ZkCode.NO_NODE):
                        raise

    def _generation(self, reserved_max: int) -> Generator[Deferred[Any], Any, int]:
        left_ms = self._patience_ms
        while left_ms > 0:
            try:
                (stat,) = yield self._client.multi([SetData(paths.BROKER_SEQUENCE, b"", ANY_VERSION)])
            except ZkError as error:
                # What was counted, and not heard of, nobody gets.
                if error.code not in (ZkCode.SESSION_OVER, ZkCode.CONNECTION_LOST):
                    raise _told(error) from None
                left_ms -= _LOOK_MS
                yield self._pause()
            else:
                self.broker_id = reserved_max + stat.version
                return self.broker_id
        raise ConfigError("ZooKeeper gives no broker.id: the session is over")

    def _register(self) -> Generator[Deferred[Any], Any, int]:
        client, path = self._client, paths.broker(self.broker_id)
        # Time counts by answers: while ZooKeeper or this process stands still, no session ends.
        looks, patience = 0, self._patience_ms / _LOOK_MS
        while looks < patience:
            stat = yield client.exists(path)
            if stat is None:
                try:
                    yield client.multi(steps.registration(self.broker_id, self._describe()))
                except ZkError as error:
                    if error.code is ZkCode.NO_NODE:
                        # Somebody has taken the folder away.
                        looks += 1
                        yield from self._make_roots()
                    elif error.code not in (ZkCode.NODE_EXISTS, ZkCode.CONNECTION_LOST):
                        raise
            elif stat.owner == client.session_id:
                return int(stat.czxid)
            elif stat.czxid == self.earlier_epoch:
                looks += 1
                yield from self._remove_earlier(stat)
            else:
                if looks % _ASK_EVERY == 0:
                    yield from self._ask_other()
                if looks == 0:
                    _log.info("waiting for an earlier session of broker %d to end", self.broker_id)
                looks += 1
                yield self._pause()
        raise ConfigError(f"another broker with broker.id {self.broker_id} is registered")

    def _remove_earlier(self, stat: NodeStat) -> Generator[Deferred[Any], Any, None]:
        """What this broker's session that is over has left, as the servers do when they find that out."""
        client = self._client
        try:
            epoch = yield client.get(paths.CONTROLLER_EPOCH)
            controller = yield client.exists(paths.CONTROLLER)
            ops: list[ZkOp] = [Delete(paths.broker(self.broker_id), stat.version)]
            if controller is not None and controller.owner == stat.owner:
                # Whoever is elected after the epoch was read has another one.
                ops += [Check(paths.CONTROLLER_EPOCH, epoch.stat.version), Delete(paths.CONTROLLER)]
            yield client.multi(ops)
            _log.info("the registration of broker %d from before is removed: it is over", self.broker_id)
        except ZkError as error:
            if error.code in (ZkCode.SESSION_OVER, ZkCode.NO_AUTH, ZkCode.AUTH_FAILED):
                raise
            # The servers, or another controller, were faster: look again.
            yield self._pause()

    def _ask_other(self) -> Generator[Deferred[Any], Any, None]:
        """Raises ConfigError: the broker that has this id lives."""
        path = paths.broker(self.broker_id)
        try:
            node = yield self._client.get(path)
        except ZkError as error:
            if error.code is ZkCode.SESSION_OVER:
                raise
            return
        other = BrokerZnode.decode(path, node.data)
        if (yield self.is_there(other)):
            where = ", ".join(f"{each.host}:{each.port}" for each in other.endpoints)
            raise ConfigError(
                f"another broker with broker.id {self.broker_id} is registered, and answers at {where}"
            )

    def _pause(self, time_ms: float = _LOOK_MS) -> Deferred[None]:
        over: Deferred[None] = Deferred()
        self._timer.call_later(time_ms, lambda: over.resolve(None))
        return over


def _told(error: ZkError | ZnodeError) -> Exception:
    """What is told: a session or connection that was lost as it is, what does not heal as ConfigError."""
    if isinstance(error, ZnodeError):
        return ConfigError(f"what ZooKeeper has is not Kafka's: {error}")
    if error.code in (ZkCode.SESSION_OVER, ZkCode.CONNECTION_LOST):
        return error
    return ConfigError(f"ZooKeeper refuses: {error}")


def _nobody_asked() -> None:
    """Until somebody asks to be told."""


def _not_known(other: BrokerZnode) -> Deferred[bool]:
    known: Deferred[bool] = Deferred()
    known.resolve(False)
    return known
