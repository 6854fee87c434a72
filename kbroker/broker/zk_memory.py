"""ZooKeeper as the controller's memory: what is read when a node takes over, and what makes decisions true.

`ZkWriter` stands where KRaft's log does for `ControllerDriver`: a batch of records becomes operations on
znodes (controller/zookeeper/writing.py), these one transaction, or a few where ZooKeeper takes none so large,
and the batch is committed when ZooKeeper has answered. Offsets only count here, so that the driver can tell
what is committed.

Batches follow each other without waiting: a session's writes are done in order. Once one is refused, or its
answer is lost, nobody builds on what was guessed: the writer fails, and whoever owns it reads everything
again. So a write that failed is never forgotten, nor is one that was done taken for failed for long.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_port import ZkCode, ZkError
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.topic_znodes import Assignment
from kbroker.controller.zookeeper.tree import Node, OpFailed, Tree, transactions
from kbroker.controller.zookeeper.values import ZnodeError
from kbroker.controller.zookeeper.writing import Claim, operations
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.delta import ClusterDelta, full_delta
from kbroker.metadata.difference import difference
from kbroker.metadata.image import DIRECTORY_LOST, DIRECTORY_UNASSIGNED
from kbroker.metadata.records import decode_record
from kbroker.plain import replace

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.broker.zk_port import Watch, ZkNode
    from kbroker.broker.zk_requests import Key, Lost
    from kbroker.broker.zk_session import ZkClient
    from kbroker.metadata.cache import MetadataCache
    from kbroker.metadata.image import ClusterImage, TopicImage
    from kbroker.types import Uuid

#: What a controller has to know.
_READ = (
    paths.CLUSTER_ID,
    paths.CONTROLLER_EPOCH,
    paths.BROKER_IDS,
    paths.DELETE_TOPICS,
    paths.PRODUCER_IDS,
    paths.FEATURE,
    paths.ACL_LITERAL,
    "/kafka-acl-extended",
    paths.TOKENS,
    paths.ACL_LITERAL_CHANGES,
    paths.ACL_PREFIXED_CHANGES,
    paths.TOKEN_CHANGES,
)


def read_tree(
    client: ZkClient, *, thorough: bool = False, watch: Callable[[str], Watch] | None = None
) -> Generator[Deferred[Any], Any, Tree]:
    """All znodes that the cluster is made of; a `flow`. Whoever wants to hear of changes has armed watches.

    Of a topic whose partitions all have a state the folders between are not asked for: that saves two thirds
    of all requests. `thorough`: they are, as there may be what nobody expects. `watch` makes what is armed on
    the znode of a topic.

    Raises:
        ZkError: SESSION_OVER, or access is denied.
    """
    tree = Tree()
    folders = yield client.children(paths.CONFIG)
    ahead = [*_READ, *(f"{paths.CONFIG}/{name}" for name in folders if name != "changes")]
    ahead += [paths.CONFIG, paths.CONFIG_CHANGES]
    if thorough:
        yield from _walk(client, tree, [*ahead, paths.TOPICS], watch)
    else:
        yield from _walk(client, tree, ahead)
        yield from _read_topics(client, tree, watch)
    for path in _PARENTS:
        if path not in tree and tree.children(path):
            tree.put(path, Node())
    return tree


_PARENTS = ("/brokers", "/admin", "/cluster", "/delegation_token")
#: Below these nothing is read; below a topic's config, as below a partition's state, is nothing.
_LEAVES = frozenset(
    {
        paths.CONFIG,
        paths.CONFIG_CHANGES,
        paths.ACL_LITERAL_CHANGES,
        paths.ACL_PREFIXED_CHANGES,
        paths.TOKEN_CHANGES,
    }
)
_TOPIC_CONFIGS = f"{paths.CONFIG}/topics/"


def _walk(
    client: ZkClient, tree: Tree, ahead: list[str], watch: Callable[[str], Watch] | None = None
) -> Generator[Deferred[Any], Any, None]:
    """Read these and all below them."""
    while ahead:
        part, ahead = ahead[: client.at_once], ahead[client.at_once :]
        asked = [
            (
                path,
                client.get(path, watch(path) if watch is not None and _is_topic(path) else None),
                None if _is_leaf(path) else client.children(path),
            )
            for path in part
        ]
        for path, data, names in asked:
            try:
                tree.put(path, _node((yield data)))
                if names is not None:
                    ahead += [f"{path}/{name}" for name in (yield names)]
            except ZkError as error:
                if error.code is not ZkCode.NO_NODE:
                    raise


def _is_leaf(path: str) -> bool:
    return path in _LEAVES or path.endswith("/state") or path.startswith(_TOPIC_CONFIGS)


def _is_topic(path: str) -> bool:
    return paths.parent(path) == paths.TOPICS


def _read_topics(
    client: ZkClient, tree: Tree, watch: Callable[[str], Watch] | None
) -> Generator[Deferred[Any], Any, None]:
    names: list[str] = []
    yield from _read_each(client, tree, [paths.TOPICS])
    if paths.TOPICS in tree:
        names = yield client.children(paths.TOPICS)
    yield from _read_each(client, tree, [paths.topic(name) for name in names], watch)
    counts = {name: _partition_count(tree, name) for name in names if paths.topic(name) in tree}
    states = [paths.state(name, index) for name, count in counts.items() for index in range(count)]
    yield from _read_each(client, tree, states)
    odd = []
    for name, count in counts.items():
        if not count or any(paths.state(name, index) not in tree for index in range(count)):
            odd.append(paths.topic(name))
            continue
        tree.put(paths.partitions(name), Node())
        for index in range(count):
            tree.put(paths.parent(paths.state(name, index)), Node())
    yield from _walk(client, tree, odd)


def _read_each(
    client: ZkClient, tree: Tree, wanted: list[str], watch: Callable[[str], Watch] | None = None
) -> Generator[Deferred[Any], Any, None]:
    """Read these, where they are."""
    for start in range(0, len(wanted), client.at_once):
        part = wanted[start : start + client.at_once]
        asked = [(path, client.get(path, None if watch is None else watch(path))) for path in part]
        for path, data in asked:
            try:
                tree.put(path, _node((yield data)))
            except ZkError as error:
                if error.code is not ZkCode.NO_NODE:
                    raise


def _partition_count(tree: Tree, topic: str) -> int:
    """How many partitions its znode names; 0 where it makes no sense."""
    path = paths.topic(topic)
    try:
        return len(Assignment.decode(path, tree.data(path)).replicas)
    except ZnodeError:
        return 0


def _node(answer: ZkNode) -> Node:
    return Node(answer.data, answer.stat.version, answer.stat.czxid, answer.stat.owner != 0)


class ZkMetadata:
    """The committed image of a node whose cluster is kept in ZooKeeper, and its publication."""

    def __init__(self, cache: MetadataCache, image: ClusterImage) -> None:
        self.image = image
        self._cache = cache
        self._publishing = False
        #: As the controller: replicas of live brokers in log directories that have failed, by broker. It is
        #: published, and kept in memory only: no znode says it.
        self.lost: Lost = {}
        #: Told of each image, published or not.
        self.on_image: Callable[[ClusterImage], None] = _nobody_asked

    def handed_over(self, first_offset: int, image: ClusterImage, delta: ClusterDelta) -> None:
        """What the controller on this node has decided is true now."""
        self._set(image, delta)

    def loaded(self, image: ClusterImage) -> None:
        """All was read anew."""
        self._set(image, difference(self.image, image))

    def lost_more(self) -> None:
        """`lost` has changed."""
        if self._publishing:
            image = with_lost(self.image, self.lost)
            self._cache.publish(image, difference(self._cache.image, image))

    def controller_is(self, node_id: int) -> None:
        """Another controller is known; -1: none."""
        if self.image.controller_id != node_id:
            self._set(replace(self.image, controller_id=node_id), ClusterDelta(self.image))

    def publish_from_now(self) -> None:
        """Publish the image with all it holds, and every one after it."""
        if not self._publishing:
            self._publishing = True
            self._cache.publish(self.image, full_delta(self.image))

    def publish_no_more(self) -> None:
        """The node stops."""
        self._publishing = False
        self._cache.stop()

    def when_told(self, then: Callable[[], None]) -> None:
        """Call `then` when all that is committed so far has been told to those it concerns."""
        self._cache.when_told(then)

    def _set(self, image: ClusterImage, delta: ClusterDelta) -> None:
        self.image = image
        if self._publishing:
            self._cache.publish(with_lost(image, self.lost), delta)
        self.on_image(image)


def _nobody_asked(image: ClusterImage) -> None:
    """Until somebody asks to be told."""


def with_lost(image: ClusterImage, lost: Lost) -> ClusterImage:
    """The same, where these replicas are offline."""
    gone: dict[Key, list[int]] = {}
    for broker_id, keys in lost.items():
        for key in keys:
            gone.setdefault(key, []).append(broker_id)
    changed: dict[Uuid, TopicImage] = {}
    for (topic_id, index), brokers in gone.items():
        topic = changed.get(topic_id) or image.topics.by_id(topic_id)
        if topic is not None and index < len(topic.partitions):
            partitions = list(topic.partitions)
            directories = tuple(
                DIRECTORY_LOST if each in brokers else DIRECTORY_UNASSIGNED
                for each in partitions[index].replicas
            )
            partitions[index] = partitions[index]._replace(directories=directories)
            changed[topic_id] = topic._replace(partitions=tuple(partitions))
    return replace(image, topics=image.topics.changed([], list(changed.values()))) if changed else image


class ZkWriter:
    """A `MetadataWriter` on ZooKeeper, of one reading of the tree.

    Args:
        tree: as it was read; owned from now on.
        image: what the tree comes to.
        committed: told the offset after the last one that is true.
        failed: told once: read again. With the claim's own check (`/controller_epoch`) if it was that.
    """

    def __init__(
        self,
        client: ZkClient,
        claim: Claim,
        tree: Tree,
        image: ClusterImage,
        timer: Timer,
        *,
        committed: Callable[[int], None],
        failed: Callable[[ZkError], None],
    ) -> None:
        self._client = client
        self._claim = claim
        self._tree = tree
        self._image = image
        self._timer = timer
        self._committed = committed
        self._failed = failed
        self._next_offset = image.offset + 1
        #: Ends of batches that are not true yet, with the transactions that each still waits for.
        self._waiting: list[list[int]] = []
        self._over = False

    @property
    def end_offset(self) -> int:
        """See `MetadataWriter`."""
        return self._next_offset

    def unrivalled(self) -> bool:
        """See `MetadataWriter`: brokers ask ZooKeeper, not the controller, whether their session lasts."""
        return not self._over

    def append(self, values: Sequence[bytes]) -> int:
        """See `MetadataWriter`.

        Raises:
            ApiError: NOT_CONTROLLER, all is being read again; or the records cannot be znodes.
        """
        if self._over:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        records = [decode_record(value) for value in values]
        try:
            ops = operations(records, self._image, self._tree, self._claim)
            self._tree.apply(ops)
        except (ZnodeError, OpFailed) as error:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from None
        self._image = self._image.apply(records)
        self._next_offset += len(values)
        parts = transactions(ops)
        entry = [self._next_offset, len(parts)]
        self._waiting.append(entry)
        for part in parts:
            self._client.multi(part).then(partial(self._answered, entry))
        if not parts:
            # Never from within the append, like an answer.
            self._timer.call_later(0, self._commit)
        return self._next_offset - 1

    def node(self, path: str) -> Node | None:
        """A znode as it is when all is written that was decided."""
        return self._tree.get(path)

    def stop(self) -> None:
        """Nothing is told any more."""
        self._over = True

    def _answered(self, entry: list[int], done: Deferred[Any]) -> None:
        if self._over:
            return
        try:
            done.result()
        except ZkError as error:
            self._over = True
            self._failed(error)
            return
        entry[1] -= 1
        self._commit()

    def _commit(self) -> None:
        if self._over:
            return
        end = 0
        while self._waiting and self._waiting[0][1] == 0:
            end = self._waiting.pop(0)[0]
        if end:
            self._committed(end)
