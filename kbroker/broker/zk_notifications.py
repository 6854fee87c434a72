"""How a node hears of settings that ZooKeeper keeps: configs, quotas, users, access control lists, tokens.

Whoever changes one leaves a notification, a znode with a number; it says where something changed. Finalized
features are watched where they are. Each session begins with reading all. The configs of a new topic are
announced by nobody: they are read when the controller tells of the topic.

The active controller knows what it decides. What it finds otherwise others have written, and it reads
everything again; it also takes away notifications that are a quarter of an hour old.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kbroker.broker import flow
from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_port import WatchEvent, ZkCode, ZkError
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.changes import acl_changes, entity_changes, feature_changes, token_changes
from kbroker.controller.zookeeper.config_znodes import decode_change
from kbroker.controller.zookeeper.node_znodes import decode_cluster_id
from kbroker.controller.zookeeper.reading import read
from kbroker.controller.zookeeper.security_znodes import TYPE_NAMES, decode_acl_change
from kbroker.controller.zookeeper.tree import Delete, Node, Tree
from kbroker.controller.zookeeper.values import ZnodeError
from kbroker.metadata.delta import ClusterDelta
from kbroker.metadata.difference import difference
from kbroker.metadata.image import CONFIG_TOPIC
from kbroker.plain import replace
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.security.acl import PatternType

if TYPE_CHECKING:
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.timer import Timer
    from kbroker.broker.zk_memory import ZkMetadata
    from kbroker.broker.zk_session import ZkClient
    from kbroker.metadata.image import ClusterImage
    from kbroker.metadata.records import MetadataRecord
    from kbroker.types import Uuid

_log = logging.getLogger(__name__)

_AGAIN_MS = 200.0
#: As long as Kafka keeps notifications, for brokers whose connection was lost.
KEPT_MS = 15 * 60 * 1000.0

_FOLDERS = (
    paths.CONFIG_CHANGES,
    paths.ACL_LITERAL_CHANGES,
    paths.ACL_PREFIXED_CHANGES,
    paths.TOKEN_CHANGES,
)


class ZkNotifications:
    """See the module.

    Args:
        metadata: what this node knows; changed as long as it is not the active controller.
        controller: of this node.
        foreign: told that others have written what the active controller on this node does not know.
    """

    def __init__(
        self,
        client: ZkClient,
        metadata: ZkMetadata,
        controller: ControllerDriver,
        timer: Timer,
        foreign: Callable[[], None],
    ) -> None:
        self._client = client
        self._metadata = metadata
        self._controller = controller
        self._timer = timer
        self._foreign = foreign
        #: Counts sessions: what an earlier one still hears does not count.
        self._session = 0
        self._seen: dict[str, set[str]] = {}
        #: Whether a topic that is not known is told of just now, its configs being read before.
        self.is_awaited: Callable[[str], bool] = _nothing_is
        #: Whether this node hears of what is decided before ZooKeeper has it: during a migration to KRaft.
        self.is_late: Callable[[], bool] = _never
        #: Told the ids of topics that were deleted without this node's hearing of it.
        self.topics_are_gone: Callable[[list[Uuid]], object] | None = None

    def begin(self) -> Deferred[None]:
        """A session began: listen, and read everything. It fails with ZkError, which a new session ends."""
        self._session += 1
        self._seen.clear()
        return flow.run(self._steps(self._session))

    def session_over(self) -> None:
        """Nothing is heard until the next one."""
        self._session += 1

    def topic_configs(self, topics: Sequence[str]) -> Deferred[None]:
        """Read the configs of topics that are new. It fails with ZkError."""
        return flow.run(self._read_topics(topics))

    # -- reading ---------------------------------------------------------------------------------------------

    def _steps(self, session: int) -> Generator[Deferred[Any], Any, None]:
        for folder in _FOLDERS:
            names = yield from self._names(folder, session)
            self._seen[folder] = set(names)
            self._forget_later(folder, names)
        folders = yield self._client.children(paths.CONFIG)
        roots = [f"{paths.CONFIG}/{name}" for name in folders if name != "changes"]
        roots += [paths.ACL_LITERAL, paths.ACL_PREFIXED, paths.TOKENS]
        tree = yield from self._read_below(roots)
        if session == self._session and not self._controller.active:
            self._take(tree)
        yield from self._features(session)
        yield from self._deleted_topics()

    def look_for_deleted_topics(self) -> None:
        """Another controller is active: what was deleted before its term it does not tell."""
        session = self._session

        def again(done: Deferred[None]) -> None:
            try:
                done.result()
            except ZkError as error:
                if error.code is not ZkCode.SESSION_OVER and session == self._session:
                    self._timer.call_later(_AGAIN_MS, self.look_for_deleted_topics)

        flow.run(self._deleted_topics()).then(again)

    def _deleted_topics(self) -> Generator[Deferred[Any], Any, None]:
        """Topics that are known and not in ZooKeeper, of this very cluster, any more."""
        known = [(topic.name, topic.id) for topic in self._metadata.image.topics]
        if not known or self.topics_are_gone is None or self.is_late():
            return
        identity = yield self._client.get(paths.CLUSTER_ID)
        names = set((yield self._client.children(paths.TOPICS)))
        if decode_cluster_id(identity.data) != self._metadata.image.cluster_id:
            return
        gone = [topic_id for name, topic_id in known if name not in names]
        if gone and not self._controller.active and not self.is_late():
            self.topics_are_gone(gone)

    def _take(self, tree: Tree) -> None:
        found = read(tree)
        for problem in found.problems:
            if problem.path.startswith((paths.CONFIG, paths.ACL_LITERAL, paths.TOKENS)):
                _log.error("left out: %s", problem)
        known, image = self._metadata.image, found.image()
        new = replace(
            known,
            offset=known.offset + 1,
            configs={key: each for key, each in image.configs.items() if self._concerns(*key)},
            quotas=image.quotas,
            acls=image.acls,
            scram=image.scram,
            tokens=image.tokens,
        )
        self._metadata.handed_over(new.offset, new, difference(known, new))

    def _concerns(self, resource_type: int, name: str) -> bool:
        """Not the configs of a topic that is not known: it is deleted since they were read, or they are read
        when it is told of."""
        return resource_type != CONFIG_TOPIC or name in self._metadata.image.topics or self.is_awaited(name)

    def _read_below(self, roots: Sequence[str]) -> Generator[Deferred[Any], Any, Tree]:
        tree, ahead = Tree(), list(roots)
        while ahead:
            part, ahead = ahead[: self._client.at_once], ahead[self._client.at_once :]
            asked = [(path, self._client.get(path), self._client.children(path)) for path in part]
            for path, data, children in asked:
                try:
                    node = yield data
                    tree.put(path, Node(node.data, node.stat.version, node.stat.czxid, False))
                    ahead += [f"{path}/{name}" for name in (yield children)]
                except ZkError as error:
                    if error.code is not ZkCode.NO_NODE:
                        raise
        return tree

    def _read_topics(self, topics: Sequence[str]) -> Generator[Deferred[Any], Any, None]:
        tree = yield from self._read_below([f"{paths.CONFIG}/topics/{paths.part(name)}" for name in topics])
        for name in topics:
            self._change(paths.config_entity(CONFIG_TOPIC, name), tree, _config_changes(name))

    # -- notifications ---------------------------------------------------------------------------------------

    def _names(self, folder: str, session: int) -> Generator[Deferred[Any], Any, list[str]]:
        """What is in a folder of notifications; a watch tells of the next one, or of the folder's making."""

        def heard(event: WatchEvent) -> None:
            self._heard(partial(self._look, folder), session)

        stat = yield self._client.exists(folder, heard)
        if stat is None:
            return []
        # One watch is enough where both would be armed: hearing twice finds nothing new.
        names: list[str] = yield self._client.children(folder, heard)
        return names

    def _heard(self, look: Look, session: int) -> None:
        """Look, and until it has worked again."""

        def looked(done: Deferred[None]) -> None:
            try:
                done.result()
            except ZkError as error:
                if error.code is ZkCode.SESSION_OVER or session != self._session:
                    return
                _log.info("notifications are looked for again: %s", error)
                self._timer.call_later(_AGAIN_MS, lambda: self._heard(look, session))

        if session == self._session:
            flow.run(look(session)).then(looked)

    def _features(self, session: int) -> Generator[Deferred[Any], Any, None]:
        """The one znode that says itself what has changed."""
        yield self._client.exists(paths.FEATURE, lambda event: self._heard(self._features, session))
        if session == self._session:
            try:
                yield from self._read_change(paths.FEATURE, feature_changes)
            except ZnodeError as error:
                _log.error("left out: %s", error)

    def _look(self, folder: str, session: int) -> Generator[Deferred[Any], Any, None]:
        names = yield from self._names(folder, session)
        seen = self._seen.setdefault(folder, set())
        fresh = sorted(set(names) - seen)
        seen.intersection_update(names)
        self._forget_later(folder, fresh)
        for name in fresh:
            path = f"{folder}/{name}"
            try:
                node = yield self._client.get(path)
            except ZkError as error:
                if error.code is not ZkCode.NO_NODE:
                    raise
                continue
            if session != self._session:
                return
            try:
                yield from self._read_entity(folder, path, node.data)
            except ZnodeError as error:
                _log.error("left out: %s", error)
            seen.add(name)

    def _read_entity(self, folder: str, path: str, data: bytes) -> Generator[Deferred[Any], Any, None]:
        yield from self._read_change(*_meaning(folder, path, data))

    def _read_change(self, where: str, changes: Changes) -> Generator[Deferred[Any], Any, None]:
        tree = yield from self._read_below([where])
        if not self._controller.active:
            self._change(where, tree, changes)
        elif changes(tree, self._controller.speculative_image):
            # It may be decided and not written yet; or written by somebody else.
            session = self._session
            self._timer.call_later(_AGAIN_MS, lambda: self._check(where, changes, session))

    def _change(self, where: str, tree: Tree, changes: Changes) -> None:
        image = self._metadata.image
        try:
            records = changes(tree, image)
        except ZnodeError as error:
            _log.error("left out: %s", error)
            return
        records = [
            each
            for each in records
            if not isinstance(each, ConfigRecord) or self._concerns(each.resource_type, each.resource_name)
        ]
        if records and not self._controller.active:
            delta = ClusterDelta(image)
            for record in records:
                delta.replay(record)
            new = delta.image(image.offset + len(records), image.epoch)
            self._metadata.handed_over(image.offset + 1, new, delta)

    def _check(self, where: str, changes: Changes, session: int) -> None:
        def compare() -> Generator[Deferred[Any], Any, None]:
            tree = yield from self._read_below([where])
            if session != self._session:
                return
            if not self._controller.active:
                self._change(where, tree, changes)
            elif changes(tree, self._controller.speculative_image):
                self._foreign()

        flow.run(compare()).then(_forget)

    def _forget_later(self, folder: str, names: Collection[str]) -> None:
        if names:
            found = [f"{folder}/{name}" for name in names]
            self._timer.call_later(KEPT_MS, lambda: self._remove(found))

    def _remove(self, notes: Sequence[str]) -> None:
        if self._controller.active:
            for path in notes:
                self._client.multi([Delete(path)]).then(_forget)


#: A flow that looks in a session, and arms its watch anew.
Look = Callable[[int], Generator["Deferred[Any]", Any, None]]
#: What the tree says now, as records from an image on.
Changes = Callable[[Tree, "ClusterImage"], "list[MetadataRecord]"]


def _config_changes(topic: str) -> Changes:
    return lambda tree, image: entity_changes(f"topics/{topic}", tree, image)


def _meaning(folder: str, path: str, data: bytes) -> tuple[str, Changes]:
    """What a notification names: its path, and what changes. Raises ZnodeError."""
    if folder == paths.CONFIG_CHANGES:
        text = decode_change(path, data)
        return f"{paths.CONFIG}/{text}", lambda tree, image: entity_changes(text, tree, image)
    if folder == paths.TOKEN_CHANGES:
        token_id = data.decode("utf-8", "replace")
        return paths.token(token_id), lambda tree, image: token_changes(token_id, tree, image)
    resource = decode_acl_change(path, data)
    where = paths.acl(
        TYPE_NAMES[resource.resource_type],
        resource.name,
        prefixed=resource.pattern == PatternType.PREFIXED,
    )
    return where, lambda tree, image: acl_changes(resource, tree, image)


def _never() -> bool:
    """The controller writes to ZooKeeper first."""
    return False


def _nothing_is(topic: str) -> bool:
    """No controller tells this node anything."""
    return False


def _forget(done: Deferred[Any]) -> None:
    """Somebody else was there first, or the session is over: the next one reads all."""
    try:
        done.result()
    except (ZkError, ZnodeError) as error:
        _log.debug("%s", error)
