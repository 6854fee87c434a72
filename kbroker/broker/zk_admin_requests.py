"""What tools ask of the controller by znodes: deletion, other replicas, preferred leaders; and changed ISRs.

The requests of tools of before KIP-455 and KIP-460, and of `kafka-topics --zookeeper`. Each is decided like
the request of the same meaning that comes over the wire. A znode is taken away when what it asks for is done,
as these tools look for that.

Brokers of before Kafka 2.7 write ISRs themselves and notify the controller, which then reads the cluster
again. All brokers notify it of log directories that have failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from kbroker.broker import flow
from kbroker.broker.zk_port import WatchEvent, ZkCode, ZkError
from kbroker.controller.decision import Decision
from kbroker.controller.elections import ElectionType, elect_leaders
from kbroker.controller.reassignment import Reassignment, ReassignmentOutcome, alter_reassignments
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.node_znodes import decode_log_dir_event
from kbroker.controller.zookeeper.topic_znodes import decode_partitions, decode_reassignments
from kbroker.controller.zookeeper.tree import Delete
from kbroker.controller.zookeeper.values import ZnodeError
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord

if TYPE_CHECKING:
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.timer import Timer
    from kbroker.broker.zk_session import ZkClient
    from kbroker.controller.election_rules import ElectionRules
    from kbroker.metadata.image import ClusterImage
    from kbroker.types import TopicPartition

_log = logging.getLogger(__name__)

_AGAIN_MS = 200.0

#: A flow that looks at one znode, and arms its watch anew.
Look = Callable[[int], Generator["Deferred[Any]", Any, None]]


class ZkAdminRequests:
    """A `ControllerWatcher` that obeys such znodes while this node is the active controller.

    Args:
        rules: what elections obey.
        read_again: reads the whole cluster again (`ZkController.read_again`).
        directory_failed: told the id of a broker one of whose log directories has failed.
    """

    def __init__(
        self,
        client: ZkClient,
        controller: ControllerDriver,
        timer: Timer,
        rules: ElectionRules,
        read_again: Callable[[], None],
        directory_failed: Callable[[int], None] | None = None,
    ) -> None:
        self._client = client
        self._controller = controller
        self._timer = timer
        self._rules = rules
        self._read_again = read_again
        self._directory_failed = directory_failed
        #: Counts terms: what an earlier one still hears does not count.
        self._term = 0
        #: The partitions that /admin/reassign_partitions names, once that has begun.
        self._reassigned: set[TopicPartition] = set()

    def activated(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`."""
        self.resigned()
        looks = [self._isr_changes, self._deletions, self._reassignments, self._elections]
        for look in [*looks, self._directory_failures]:
            # Not from within the activation: one of them may end it.
            self._later(look, self._term, 0)

    def committed(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`: a reassignment may be complete."""
        if self._reassigned and not any(_is_reassigned(image, tp) for tp in self._reassigned):
            self._reassigned.clear()
            self._remove(paths.REASSIGN_PARTITIONS)

    def resigned(self) -> None:
        """See `ControllerWatcher`."""
        self._term += 1
        self._reassigned.clear()

    # -- looking ---------------------------------------------------------------------------------------------

    def _later(self, look: Look, term: int, delay_ms: float) -> None:
        self._timer.call_later(delay_ms, lambda: self._look(look, term))

    def _look(self, look: Look, term: int) -> None:
        def looked(done: Deferred[None]) -> None:
            try:
                done.result()
            except ZnodeError as error:
                _log.error("not obeyed: %s", error)
            except ZkError as error:
                if error.code is not ZkCode.SESSION_OVER:
                    self._later(look, term, _AGAIN_MS)

        if term == self._term:
            flow.run(look(term)).then(looked)

    def _watch(self, look: Look, term: int) -> Callable[[WatchEvent], None]:
        return lambda event: self._look(look, term)

    def _remove(self, path: str) -> None:
        self._client.multi([Delete(path)]).then(_removed)

    def _request(self, path: str, look: Look, term: int) -> Generator[Deferred[Any], Any, bytes | None]:
        """What a znode asks for; None: there is none. A watch tells of the next one."""
        if (yield self._client.exists(path, self._watch(look, term))) is None:
            return None
        data = yield from self._read(path)
        return data if term == self._term else None

    def _read(self, path: str) -> Generator[Deferred[Any], Any, bytes | None]:
        try:
            node = yield self._client.get(path)
        except ZkError as error:
            if error.code is ZkCode.NO_NODE:
                return None
            raise
        data: bytes = node.data
        return data

    # -- kinds -----------------------------------------------------------------------------------------------

    def _isr_changes(self, term: int) -> Generator[Deferred[Any], Any, None]:
        watch = self._watch(self._isr_changes, term)
        names = yield self._client.children(paths.ISR_CHANGES, watch)
        if names and term == self._term:
            for name in names:
                self._remove(f"{paths.ISR_CHANGES}/{name}")
            self._read_again()

    def _directory_failures(self, term: int) -> Generator[Deferred[Any], Any, None]:
        watch = self._watch(self._directory_failures, term)
        names = yield self._client.children(paths.LOG_DIR_EVENTS, watch)
        for name in names:
            path = f"{paths.LOG_DIR_EVENTS}/{name}"
            data = yield from self._read(path)
            if term != self._term:
                return
            self._remove(path)
            if data is None or self._directory_failed is None:
                continue
            try:
                self._directory_failed(decode_log_dir_event(path, data))
            except ZnodeError as error:
                _log.error("not obeyed: %s", error)

    def _deletions(self, term: int) -> Generator[Deferred[Any], Any, None]:
        names = yield self._client.children(paths.DELETE_TOPICS, self._watch(self._deletions, term))
        if term != self._term:
            return
        for name in names:
            if name in self._controller.speculative_image.topics:
                self._decide(lambda image, name=name: _deletion(image, name))  # type: ignore[misc]
            elif name not in self._controller.committed_image.topics:
                _log.info("topic %s, which is to be deleted, does not exist", name)
                self._remove(paths.topic_deletion(name))

    def _reassignments(self, term: int) -> Generator[Deferred[Any], Any, None]:
        data = yield from self._request(paths.REASSIGN_PARTITIONS, self._reassignments, term)
        if data is None:
            return
        wanted = [Reassignment(*tp, replicas) for tp, replicas in decode_reassignments(data).items()]
        named = set(decode_reassignments(data))

        def begun(outcomes: list[ReassignmentOutcome]) -> None:
            for asked, outcome in zip(wanted, outcomes):
                if outcome.code is not ErrorCode.NONE:
                    _log.warning(
                        "%s-%d is not reassigned to %s: %s (%s)",
                        asked.topic,
                        asked.partition,
                        asked.replicas,
                        outcome.code.name,
                        outcome.message,
                    )
            if term == self._term:
                self._reassigned = named
                self.committed(self._controller.committed_image)

        self._decide(lambda image: alter_reassignments(image, wanted, self._rules), begun)

    def _elections(self, term: int) -> Generator[Deferred[Any], Any, None]:
        data = yield from self._request(paths.PREFERRED_ELECTION, self._elections, term)
        if data is None:
            return
        by_topic: dict[str, list[int]] = {}
        for topic, index in decode_partitions(paths.PREFERRED_ELECTION, data):
            by_topic.setdefault(topic, []).append(index)
        self._decide(
            lambda image: elect_leaders(image, self._rules, ElectionType.PREFERRED, list(by_topic.items())),
            lambda outcomes: self._remove(paths.PREFERRED_ELECTION),
        )

    def _decide(
        self, decide: Callable[[ClusterImage], Decision[Any]], then: Callable[[Any], None] | None = None
    ) -> None:
        def decided(done: Deferred[Any]) -> None:
            try:
                outcome = done.result()
            except ApiError as error:
                # Whoever reads everything again finds the znode again.
                _log.info("what a znode asks for was not done: %s", error.text)
                return
            if then is not None:
                then(outcome)

        self._controller.append_records(decide).then(decided)


def _is_reassigned(image: ClusterImage, tp: TopicPartition) -> bool:
    partition = image.topics.partition(*tp)
    return partition is not None and partition.reassigning


def _deletion(image: ClusterImage, name: str) -> Decision[None]:
    topic = image.topics.get(name)
    return Decision(None, [] if topic is None else [RemoveTopicRecord(topic_id=topic.id)], atomic=False)


def _removed(done: Deferred[Any]) -> None:
    """Somebody else was there first; or the session is over, and the next controller finds it."""
    try:
        done.result()
    except ZkError as error:
        _log.debug("%s", error)
