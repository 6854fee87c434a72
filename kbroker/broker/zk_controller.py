"""This node as the controller of a cluster in ZooKeeper: its term begins with reading everything.

A term: elected -> watches armed, tree read -> `ControllerDriver.lead_with` -> brokers that are gone fenced,
partitions without a state born -> decisions, until another claim or the end of the session. A write that
fails for anything but the claim begins the reading anew, with the same claim: who waited is told
NOT_CONTROLLER and asks again.

Who lives, and what follows from it, is for `zk_liveness.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kbroker.broker import flow
from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_liveness import ZkLiveness, made_up, with_absent
from kbroker.broker.zk_memory import ZkMetadata, ZkWriter, read_tree
from kbroker.broker.zk_port import WatchEvent, ZkCode, ZkError
from kbroker.broker.zk_topic_watch import TopicWatch
from kbroker.broker.zk_vanished import Vanished
from kbroker.controller.decision import Decision
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.reading import Reading, broker_records, read
from kbroker.controller.zookeeper.steps import births, feature_znode, with_leader_epochs
from kbroker.controller.zookeeper.tree import Node, Tree, transactions
from kbroker.controller.zookeeper.values import ZnodeError
from kbroker.controller.zookeeper.writing import assignment_operations
from kbroker.errors import ApiError
from kbroker.plain import replace
from kbroker.protocol.generated.register_broker_record import RegisterBrokerRecord

if TYPE_CHECKING:
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.timer import Timer
    from kbroker.broker.zk_election import ZkElection
    from kbroker.broker.zk_requests import Key, Lost
    from kbroker.broker.zk_session import ZkClient
    from kbroker.controller.zookeeper.writing import Claim
    from kbroker.metadata.image import ClusterImage, TopicImage
    from kbroker.types import TopicPartition, Uuid

_log = logging.getLogger(__name__)

#: Before everything is read again after a failure that may last.
_AGAIN_MS = 200.0
#: What a write hears where folders are not as they should be.
_UNEXPECTED = (ZkCode.NOT_EMPTY, ZkCode.NODE_EXISTS, ZkCode.NO_NODE)


class ZkController:
    """See the module; an `ElectionListener`. `election` is set before the first session.

    Args:
        rules: what elections obey.
    """

    def __init__(
        self,
        client: ZkClient,
        controller: ControllerDriver,
        metadata: ZkMetadata,
        timer: Timer,
        rules: ElectionRules,
    ) -> None:
        self._client = client
        self._controller = controller
        self._metadata = metadata
        self._timer = timer
        self._live = ZkLiveness(rules)
        metadata.lost = self._live.offline
        controller.adapt = with_leader_epochs
        self.election: ZkElection | None = None
        self._claim: Claim | None = None
        self._writer: ZkWriter | None = None
        #: Counts readings: what an earlier one still hears does not count.
        self._reading = 0
        self._unborn: list[TopicPartition] = []
        self._told_problems: set[str] = set()
        #: Brokers or topics changed while the tree was being read.
        self._missed = False
        #: There is what this controller did not expect: it reads every folder.
        self._thorough = False
        self._topic_watch: TopicWatch | None = None
        self._vanished = Vanished()
        #: Told of topics that are gone though nobody decided to delete them, before that is published: this
        #: node keeps their logs.
        self.on_vanished: Callable[[TopicImage], object] = _nothing

    # -- ElectionListener ------------------------------------------------------------------------------------

    def elected(self, claim: Claim) -> None:
        """See `ElectionListener`."""
        self._claim = claim
        self._thorough = False
        self._live.begin()
        self._read()

    def resigned(self) -> None:
        """See `ElectionListener`."""
        self._claim = None
        self._live.begin()
        self._reading += 1
        self._stop_leading()

    def controller_is(self, broker_id: int) -> None:
        """See `ElectionListener`."""
        self._metadata.controller_is(broker_id)

    def read_again(self) -> None:
        """Others have written what this controller does not know: everything is read, and who waits is told
        NOT_CONTROLLER."""
        if self._writer is not None:
            _log.info("the cluster is read again from ZooKeeper: somebody else has changed it")
            self._read()

    # -- Suspects --------------------------------------------------------------------------------------------

    def is_suspect(self, broker_id: int, epoch: int) -> bool:
        """See `Suspects`."""
        return self._live.is_suspect(broker_id, epoch)

    def refused(self, broker_id: int, epoch: int) -> None:
        """See `Suspects`."""
        if self._writer is not None and not self.is_suspect(broker_id, epoch):
            _log.info("broker %d refuses connections: it leads nothing until it answers", broker_id)
            self._live.suspects.add((broker_id, epoch))
            self._decide(partial(self._live.fence, broker_id=broker_id, epoch=epoch))

    def answered(self, broker_id: int, epoch: int) -> None:
        """See `Suspects`."""
        if self._writer is not None and self.is_suspect(broker_id, epoch):
            self._live.suspects.discard((broker_id, epoch))
            self._decide(partial(self._live.unfence, broker_id=broker_id, epoch=epoch))

    def offline(self, broker_id: int, partitions: Collection[Key]) -> None:
        """See `Suspects`: others lead these, and the broker is in none of their ISRs."""
        if self._writer is not None:
            self._live.offline.setdefault(broker_id, set()).update(partitions)
            self._metadata.lost_more()
            self._decide(partial(self._live.without, broker_id=broker_id, partitions=partitions))

    def all_offline(self) -> Lost:
        """See `Suspects`."""
        return self._live.offline

    def has_vanished(self, topic_id: Uuid) -> bool:
        """See `Suspects`."""
        return topic_id in self._vanished

    def lost(self, broker_id: int) -> None:
        """A broker refuses connections, in whichever epoch it is registered."""
        broker = self._controller.speculative_image.brokers.get(broker_id)
        if broker is not None and broker.epoch >= 0:
            self.refused(broker_id, broker.epoch)

    # -- a reading -------------------------------------------------------------------------------------------

    def _stop_leading(self) -> None:
        if self._topic_watch is not None:
            self._topic_watch.stop()
            self._topic_watch = None
        if self._writer is not None:
            self._writer.stop()
            self._writer = None
            self._vanished.undecided(self._controller.committed_image, self._controller.speculative_image)
            self._controller.resigned()

    def _read(self) -> None:
        self._stop_leading()
        self._reading += 1
        self._missed = False
        number = self._reading
        flow.run(self._steps(number)).then(lambda done: self._has_read(number, done))

    def _read_again(self, number: int, delay_ms: float) -> None:
        def begin() -> None:
            if number == self._reading and self._claim is not None:
                self._read()

        self._timer.call_later(delay_ms, begin)

    def _steps(self, number: int) -> Generator[Deferred[Any], Any, tuple[Tree, Reading]]:
        yield self._client.children(paths.BROKER_IDS, lambda event: self._brokers_changed(number, event))
        yield self._client.children(paths.TOPICS, lambda event: self._topics_changed(number, event))
        watch = TopicWatch(self._client, self._timer, self._known, self.read_again)
        if number == self._reading:
            self._topic_watch = watch
        tree = yield from read_tree(self._client, thorough=self._thorough, watch=watch.watch)
        yield from self._make_feature_znode(tree)
        found = read(tree)
        yield from self._write_ids(tree, found)
        return tree, found

    def _make_feature_znode(self, tree: Tree) -> Generator[Deferred[Any], Any, None]:
        """As Kafka's controller does when its term begins."""
        if self._claim is None:
            return
        try:
            operations = feature_znode(tree, self._claim)
        except ZnodeError:
            # It is one of the problems that are told when all is read.
            return
        if operations:
            yield self._client.multi(operations)
            tree.apply(operations)

    def _known(self, path: str) -> Node | None:
        return None if self._writer is None else self._writer.node(path)

    def _write_ids(self, tree: Tree, found: Reading) -> Generator[Deferred[Any], Any, None]:
        """Of topics from before 2.8, or that a tool has made: the next controller may make up other ones."""
        if self._claim is None or not found.without_id:
            return
        for part in transactions(assignment_operations(found.without_id, found.image(), tree, self._claim)):
            yield self._client.multi(part)
            tree.apply(part)

    def _has_read(self, number: int, done: Deferred[tuple[Tree, Reading]]) -> None:
        if number != self._reading or self._claim is None:
            return
        try:
            tree, found = done.result()
        except ZkError as error:
            if error.path == paths.CONTROLLER_EPOCH and self.election is not None:
                self.election.refused(self._claim)
            elif error.code is not ZkCode.SESSION_OVER:
                if str(error) not in self._told_problems:
                    self._told_problems.add(str(error))
                    _log.error("the cluster cannot be read from ZooKeeper: %s", error)
                self._read_again(number, 5 * _AGAIN_MS)
            return
        self._lead(number, self._claim, tree, found)

    def _lead(self, number: int, claim: Claim, tree: Tree, found: Reading) -> None:
        for problem in found.problems:
            if str(problem) not in self._told_problems:
                self._told_problems.add(str(problem))
                _log.error("left out: %s", problem)
        if any(problem.path == paths.CONTROLLER_EPOCH for problem in found.problems):
            self._read_again(number, 5 * _AGAIN_MS)
            return
        self._unborn = found.unborn
        image = self._image_of(found, claim)
        for topic in self._vanished.compare(self._metadata.image, image, found.unborn):
            _log.warning("topic %s is gone from ZooKeeper, and was not deleted: logs are kept", topic.name)
            self.on_vanished(topic)
        image = self._vanished.with_formers(image)
        self._metadata.loaded(image)
        writer = self._writer = ZkWriter(
            self._client,
            claim,
            tree,
            image,
            self._timer,
            committed=self._controller.committed,
            failed=lambda error: self._write_failed(number, claim, error),
        )
        self._controller.lead_with(writer, claim.epoch)
        for broker_id in sorted(made_up(image)):
            self._decide(partial(self._live.fence, broker_id=broker_id))
        for broker in image.brokers.values():
            # It may have come while there was no controller.
            if self.is_suspect(broker.id, broker.epoch):
                self._decide(partial(self._live.fence, broker_id=broker.id))
            elif broker.epoch >= 0:
                self._decide(partial(self._live.lead_again, broker_id=broker.id))
        self._decide(self._births)
        self._decide(self._vanished.led_anew)
        if self._topic_watch is not None:
            self._topic_watch.begin()
        if self._missed:
            self._brokers_changed(number, WatchEvent.UNSURE)
            self._topics_changed(number, WatchEvent.UNSURE)

    def _image_of(self, found: Reading, claim: Claim) -> ClusterImage:
        """The cluster, with those brokers that are gone and that partitions still count on, to be fenced."""
        image = replace(with_absent(found.image()), controller_id=self._controller.node_id)
        return image.at(self._metadata.image.offset + 1, claim.epoch)

    def _write_failed(self, number: int, claim: Claim, error: ZkError) -> None:
        assert self.election is not None
        if number != self._reading:
            return
        if error.code is ZkCode.SESSION_OVER:
            # The election hears of it, too.
            self._stop_leading()
        elif error.path == paths.CONTROLLER_EPOCH and error.code in (ZkCode.BAD_VERSION, ZkCode.NO_NODE):
            self.election.refused(claim)
        else:
            _log.info("the cluster is read again from ZooKeeper: %s", error)
            self._thorough = self._thorough or error.code in _UNEXPECTED
            self._stop_leading()
            heals = error.code in (ZkCode.BAD_VERSION, ZkCode.NODE_EXISTS, ZkCode.CONNECTION_LOST)
            self._read_again(number, 0 if heals else _AGAIN_MS)

    # -- what changes beside decisions -----------------------------------------------------------------------

    def _topics_changed(self, number: int, event: WatchEvent) -> None:
        """Where others have made or deleted topics everything is read."""
        if number == self._reading:
            self._missed = self._missed or self._writer is None
            answer = self._client.children(paths.TOPICS, lambda event: self._topics_changed(number, event))
            answer.then(lambda done: self._compare_topics(number, done))

    def _compare_topics(self, number: int, done: Deferred[list[str]]) -> None:
        if number != self._reading or self._writer is None:
            return
        try:
            names = set(done.result())
        except ZkError as error:
            if error.code is not ZkCode.SESSION_OVER:
                self._read_again(number, _AGAIN_MS)
            return
        known = {topic.name for topic in self._controller.speculative_image.topics}
        written = {topic.name for topic in self._controller.committed_image.topics}
        # What was decided and is not written yet is known only here. Others may have deleted what was.
        if names - known or (written & known) - names:
            self._read()
        elif self._topic_watch is not None:
            self._topic_watch.topics_are(names)

    def _brokers_changed(self, number: int, event: WatchEvent) -> None:
        if number == self._reading:
            self._missed = self._missed or self._writer is None
            flow.run(self._look_at_brokers(number)).then(lambda done: self._looked(number, done))

    def _looked(self, number: int, done: Deferred[None]) -> None:
        try:
            done.result()
        except ZkError as error:
            if error.code is not ZkCode.SESSION_OVER:
                self._read_again(number, _AGAIN_MS)

    def _look_at_brokers(self, number: int) -> Generator[Deferred[Any], Any, None]:
        names = yield self._client.children(
            paths.BROKER_IDS, lambda event: self._brokers_changed(number, event)
        )
        there: dict[int, RegisterBrokerRecord] = {}
        for name in names:
            path = f"{paths.BROKER_IDS}/{name}"
            try:
                node = yield self._client.get(path)
                tree = Tree()
                tree.put(path, Node(node.data, node.stat.version, node.stat.czxid, True))
                there.update({each.broker_id: each for each in _registrations(tree, name)})
            except ZnodeError as error:
                _log.error("left out: %s", error)
            except ZkError as error:
                if error.code is not ZkCode.NO_NODE:
                    raise
        if number != self._reading or self._writer is None:
            return
        self._live.suspects &= {(each.broker_id, each.broker_epoch) for each in there.values()}
        for broker in list(self._controller.speculative_image.brokers.values()):
            found = there.get(broker.id)
            if found is None or found.broker_epoch != broker.epoch:
                self._decide(partial(self._live.fence, broker_id=broker.id))
        for record in there.values():
            self._decide(partial(self._live.join, record=record))
        self._decide(self._births)

    # -- decisions -------------------------------------------------------------------------------------------

    def _decide(self, decide: Callable[[ClusterImage], Decision[None]]) -> None:
        self._controller.append_records(decide).then(_forget)

    def _births(self, image: ClusterImage) -> Decision[None]:
        """Partitions that have replicas and no state get their first leader, where one lives."""
        records = births(image, self._unborn, self._vanished.formers)
        if records:
            born = {(record.topic_id, record.partition_id) for record in records}  # type: ignore[attr-defined]
            self._unborn = [
                each
                for each in self._unborn
                if (topic := image.topics.get(each.topic)) is None or (topic.id, each.partition) not in born
            ]
        return Decision(None, records, atomic=False)


def _nothing(topic: TopicImage) -> None:
    """There are no logs."""


def _registrations(tree: Tree, name: str) -> Sequence[RegisterBrokerRecord]:
    return [each for each in broker_records(tree, name) if isinstance(each, RegisterBrokerRecord)]


def _forget(done: Deferred[None]) -> None:
    """A chore: if it could not be written all is read again, and it is found anew."""
    try:
        done.result()
    except ApiError as error:
        _log.debug("a chore of the controller was not done: %s", error.code.name)
