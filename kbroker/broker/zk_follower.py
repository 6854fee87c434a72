"""This broker as it obeys its controller where ZooKeeper keeps the cluster.

What the controller's requests come to is published like any metadata, so that logs appear, are led, copied
and go as in a cluster of KRaft. An answer is given when everybody here has been told.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from kbroker.broker.deferred import Deferred
from kbroker.controller.zookeeper import following
from kbroker.controller.zookeeper.following import Followed, Replica, Stop
from kbroker.errors import ErrorCode
from kbroker.metadata.delta import ClusterDelta, TopicDelta
from kbroker.metadata.difference import difference
from kbroker.metadata.image import CONFIG_TOPIC
from kbroker.plain import replace
from kbroker.protocol.generated.leader_and_isr_response import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
from kbroker.protocol.generated.stop_replica_response import StopReplicaPartitionError, StopReplicaResponse
from kbroker.protocol.generated.update_metadata_response import UpdateMetadataResponse
from kbroker.storage.disk import StorageError
from kbroker.types import ZERO_UUID, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.broker.zk_memory import ZkMetadata
    from kbroker.metadata.image import ClusterImage, PartitionImage, TopicImage
    from kbroker.protocol.generated.leader_and_isr_request import LeaderAndIsrRequest
    from kbroker.protocol.generated.stop_replica_request import StopReplicaRequest
    from kbroker.protocol.generated.update_metadata_request import UpdateMetadataRequest
    from kbroker.types import Uuid

T = TypeVar("T")

_log = logging.getLogger(__name__)

#: From this version on LeaderAndIsr is answered by topic ids.
_BY_ID = 5


class ZkFollower:
    """See the module.

    Args:
        metadata: what this broker knows; its epoch is that of the newest controller it has heard of.
        replicas: led and copied as told.
        broker_epoch: of this broker's registration in ZooKeeper; -1: it has none.
        on_newer: told that another controller is active, while this node believes to be it.

    During a migration to KRaft the controller may be one of a quorum, where this broker is registered, too.
    """

    def __init__(
        self,
        node_id: int,
        metadata: ZkMetadata,
        replicas: ReplicaManager,
        broker_epoch: Callable[[], int],
        on_newer: Callable[[], None],
    ) -> None:
        self._node_id = node_id
        self._metadata = metadata
        self._replicas = replicas
        self._broker_epoch = broker_epoch
        self._on_newer = on_newer
        #: Whether the newest controller that was obeyed is a quorum's; told when that changes.
        self.is_kraft = False
        self.on_other_kind: Callable[[], None] = _nothing
        #: The epoch of the registration with the quorum; -1: there is none.
        self.quorum_epoch: Callable[[], int] = _no_epoch
        self._told: Mapping[TopicPartition, Replica] = {}
        self._ahead: Mapping[TopicPartition, PartitionImage] = {}
        #: Neither led nor copied, until LeaderAndIsr names them again.
        self._stopped: set[TopicPartition] = set()
        #: Reads configs of topics, which have to be known before their logs are made.
        self.topic_configs: Callable[[list[str]], Deferred[None]] | None = None
        #: Told that a controller was heard of for the first time.
        self.on_new_controller: Callable[[], None] = _nothing
        #: Topics whose configs were read, though UpdateMetadata has not told of them yet.
        self._configured: dict[str, Uuid] = {}
        #: One request after the other.
        self._line: deque[Callable[[], None]] = deque()
        self._is_at_work = False

    def leader_and_isr(self, request: LeaderAndIsrRequest, version: int) -> Deferred[LeaderAndIsrResponse]:
        """Answered when this broker leads and follows as told."""
        named = [(name, topic_id) for name, topic_id, _ in following.led_topics(request)]
        return self._in_line(named, lambda: self._leader_and_isr(request, version))

    def update_metadata(self, request: UpdateMetadataRequest) -> Deferred[UpdateMetadataResponse]:
        """Answered when everybody here knows of it."""
        named = [
            (name, topic_id)
            for name, topic_id, states in following.told_topics(request)
            if any(each.leader != following.LEADER_DURING_DELETE for each in states)
        ]
        return self._in_line(named, lambda: self._update_metadata(request))

    def stop_replica(self, request: StopReplicaRequest) -> Deferred[StopReplicaResponse]:
        """Answered when what was named is stopped; and is gone, where that was asked for."""
        return self._in_line([], lambda: self._stop_replica(request))

    def topics_are_gone(self, topic_ids: Iterable[Uuid]) -> Deferred[None]:
        """Topics that are in ZooKeeper no more, of which no controller has told this broker: whether they
        were deleted nobody knows, so logs are kept."""

        def work() -> Deferred[None]:
            image = self._metadata.image
            delta = ClusterDelta(image)
            for topic_id in topic_ids:
                topic = image.topics.by_id(topic_id)
                if topic is not None:
                    _log.warning("topic %s is gone from ZooKeeper: logs are kept", topic.name)
                    self.give_up(topic)
                    delta.replay(RemoveTopicRecord(topic_id=topic_id))
            new = delta.image(image.offset + 1, image.epoch)
            return self._publish(Followed(new, self._told, self._ahead), delta, lambda: None)

        return self._in_line([], work)

    def give_up(self, topic: TopicImage) -> None:
        """Have no part of it any more, but for its logs."""
        for index in range(len(topic.partitions)):
            self._replicas.give_up(TopicPartition(topic.name, index))
        self._told = {tp: each for tp, each in self._told.items() if each.topic_id != topic.id}

    def registered(self) -> None:
        """The broker's epoch is known now."""
        self._go_on()

    def awaits(self, topic: str) -> bool:
        """Whether the topic is not known yet, but a request that tells of it is being obeyed."""
        return topic in self._configured

    # -- one after the other ---------------------------------------------------------------------------------

    def _in_line(self, named: list[tuple[str, Uuid]], work: Callable[[], Deferred[T]]) -> Deferred[T]:
        answered: Deferred[T] = Deferred()

        def finished(answer: Deferred[T]) -> None:
            self._is_at_work = False
            if self._configured:
                self._forget_configured()
            answered.follow(answer)
            self._go_on()

        def obey(done: Deferred[None] | None) -> None:
            if done is not None and not done.succeeded:
                # The session is over, or ZooKeeper denies it: the next session reads all configs.
                _log.info("the configs of new topics could not be read")
            try:
                work().then(finished)
            except Exception as error:
                self._is_at_work = False
                answered.fail(error)
                raise

        def begin() -> None:
            new = [
                each
                for each in following.new_topics(self._metadata.image, named)
                if each[1] == ZERO_UUID or self._configured.get(each[0]) != each[1]
            ]
            if not new or self.topic_configs is None:
                obey(None)
                return
            self._configured.update(new)
            self.topic_configs([name for name, _ in new]).then(obey)

        self._line.append(begin)
        self._go_on()
        return answered

    def _forget_configured(self) -> None:
        """A topic that was read of is known by now; or LeaderAndIsr came before UpdateMetadata; or the
        request was refused, and it may be deleted.
        """
        image = self._metadata.image
        ahead = {tp.topic for tp in self._ahead}
        unknown = [name for name in self._configured if name not in image.topics]
        refused = {(CONFIG_TOPIC, name) for name in unknown if name not in ahead}
        self._configured = {name: self._configured[name] for name in unknown if name in ahead}
        if not refused.isdisjoint(image.configs):
            configs = {key: each for key, each in image.configs.items() if key not in refused}
            new = replace(image, offset=image.offset + 1, configs=configs)
            self._metadata.handed_over(new.offset, new, difference(image, new))

    def _go_on(self) -> None:
        # An earlier life may be meant: that is known with the registration. A quorum's controller is obeyed
        # while there is no session with ZooKeeper, too.
        while self._line and not self._is_at_work and max(self._broker_epoch(), self.own_epoch()) >= 0:
            self._is_at_work = True
            self._line.popleft()()

    # -- obeying ---------------------------------------------------------------------------------------------

    def _leader_and_isr(self, request: LeaderAndIsrRequest, version: int) -> Deferred[LeaderAndIsrResponse]:
        code = self._refusal(request)
        if code is not ErrorCode.NONE:
            return _done(_led(request, version, code, lambda tp: code))
        self._set_aside_replicas(request)
        before = self._metadata.image
        known, errors = following.leader_and_isr(self._known(), self._node_id, request, self._is_offline)
        obeyed = [tp for tp, each in errors.items() if each is ErrorCode.NONE]
        again = [tp for tp in obeyed if tp in self._stopped]
        self._stopped.difference_update(again)
        delta = difference(before, known.image)
        _name(delta, known.image, again)

        def answer() -> LeaderAndIsrResponse:
            for tp in obeyed:
                if self._is_offline(tp):
                    errors[tp] = ErrorCode.KAFKA_STORAGE_ERROR
            return _led(request, version, ErrorCode.NONE, errors.__getitem__)

        return self._publish(known, delta, answer)

    def _update_metadata(self, request: UpdateMetadataRequest) -> Deferred[UpdateMetadataResponse]:
        code = self._refusal(request)
        if code is not ErrorCode.NONE:
            return _done(UpdateMetadataResponse(error_code=code))
        before = self._metadata.image
        for topic in following.untold_topics(before, request):
            for index in range(len(topic.partitions)):
                self._replicas.set_aside(TopicPartition(topic.name, index))
        known = following.update_metadata(self._known(), self._node_id, self.own_epoch(), request)
        # Their logs are StopReplica's to delete, if they are to be deleted.
        for topic in following.missing_topics(before, known.image):
            self.give_up(topic)
        return self._publish(known, difference(before, known.image), UpdateMetadataResponse)

    def _stop_replica(self, request: StopReplicaRequest) -> Deferred[StopReplicaResponse]:
        code = self._refusal(request)
        if code is not ErrorCode.NONE:
            return _done(StopReplicaResponse(error_code=code))
        before = self._metadata.image
        known, errors, stops = following.stop_replica(self._known(), self._node_id, request, self._is_offline)

        def answer() -> StopReplicaResponse:
            for stop in stops:
                self._stop(stop)
            return StopReplicaResponse(
                partition_errors=[
                    StopReplicaPartitionError(
                        topic_name=tp.topic, partition_index=tp.partition, error_code=each
                    )
                    for tp, each in errors.items()
                ]
            )

        return self._publish(known, difference(before, known.image), answer)

    # -- parts -----------------------------------------------------------------------------------------------

    def _known(self) -> Followed:
        return Followed(self._metadata.image, self._told, self._ahead)

    def elected(self) -> None:
        """This broker is the controller: whichever was obeyed, it is not any more."""
        if self.is_kraft:
            self.is_kraft = False
            self.on_other_kind()

    def own_epoch(self) -> int:
        """Of this broker's registration with the kind of controller that it obeys; -1: it has none."""
        return self.quorum_epoch() if self.is_kraft else self._broker_epoch()

    def _refusal(
        self, request: LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest
    ) -> ErrorCode:
        image, is_kraft = self._metadata.image, request.is_kraft_controller
        code = following.refusal(
            image,
            self.quorum_epoch() if is_kraft else self._broker_epoch(),
            controller_epoch=request.controller_epoch,
            broker_epoch=request.broker_epoch,
        )
        if code is not ErrorCode.NONE:
            return code
        if is_kraft != self.is_kraft:
            _log.info("the controller is %s now", "a KRaft quorum's" if is_kraft else "a broker's")
            self.is_kraft = is_kraft
            self.on_other_kind()
        if request.controller_epoch > image.epoch:
            if image.controller_id == self._node_id:
                self._on_newer()
            if not is_kraft:
                # What a quorum decides is in ZooKeeper later; it tells of everything anew.
                self.on_new_controller()
        return code

    def _set_aside_replicas(self, request: LeaderAndIsrRequest) -> None:
        """Logs of partitions that this broker is no replica of any more, unheard by it, are kept aside."""
        if not following.is_full(request):
            return
        held = [(tp, log.topic_id) for tp, log in self._replicas.logs.logs.items()]
        for tp in following.untold_replicas(held, request):
            self._replicas.set_aside(tp)

    def _publish(self, known: Followed, delta: ClusterDelta, answer: Callable[[], T]) -> Deferred[T]:
        self._told, self._ahead = known.replicas, known.ahead
        self._metadata.handed_over(known.image.offset, known.image, delta)
        answered: Deferred[T] = Deferred()
        self._metadata.when_told(lambda: answered.resolve(answer()))
        return answered

    def _is_offline(self, tp: TopicPartition) -> bool:
        partition = self._replicas.get(tp.topic, tp.partition)
        return partition is not None and (partition.log is None or partition.log.directory.offline)

    def _stop(self, stop: Stop) -> None:
        tp = stop.topic_partition
        if not stop.delete:
            self._stopped.add(tp)
            self._replicas.stop_replica(tp)
            return
        self._stopped.discard(tp)
        if self._replicas.get(tp.topic, tp.partition) is None and self._replicas.logs.get(tp) is not None:
            # UpdateMetadata came before; or it is from an earlier life, in which the topic was there.
            try:
                self._replicas.logs.delete(tp)
            except StorageError as error:
                _log.error("cannot delete %s: %s", tp, error.text)


def _nothing() -> None:
    """Until somebody asks to be told."""


def _no_epoch() -> int:
    """There is no quorum."""
    return -1


def _name(delta: ClusterDelta, image: ClusterImage, partitions: Iterable[TopicPartition]) -> None:
    """Name partitions in a delta even if nothing of them has changed."""
    for tp in partitions:
        topic, state = image.topics.get(tp.topic), image.topics.partition(*tp)
        if topic is None or state is None:
            continue
        change = delta.topics.get(topic.id) or TopicDelta(topic, topic, {})
        delta.topics[topic.id] = change._replace(partitions={**change.partitions, tp.partition: state})


def _led(
    request: LeaderAndIsrRequest, version: int, code: ErrorCode, of: Callable[[TopicPartition], ErrorCode]
) -> LeaderAndIsrResponse:
    response = LeaderAndIsrResponse(error_code=code)
    for name, topic_id, states in following.led_topics(request):
        errors = [
            LeaderAndIsrPartitionError(
                topic_name=name if version < _BY_ID else "",
                partition_index=each.partition_index,
                error_code=of(TopicPartition(name, each.partition_index)),
            )
            for each in states
        ]
        if version < _BY_ID:
            response.partition_errors += errors
        else:
            response.topics.append(LeaderAndIsrTopicError(topic_id=topic_id, partition_errors=errors))
    return response


def _done(response: T) -> Deferred[T]:
    answered: Deferred[T] = Deferred()
    answered.resolve(response)
    return answered
