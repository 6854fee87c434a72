"""Asks the controller for changes of in-sync sets (AlterPartition, KIP-497), for all partitions led here.

One request is under way at a time; what is proposed meanwhile makes up the next one. A proposal is sent until
the controller has decided on it, or until its partition does not stand by it any more. Sending one twice does
no harm: it names the partition epoch that it is based on, and comes true once at most.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from kbroker.broker.peer import PeerError
from kbroker.errors import ApiError, error_code
from kbroker.protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kbroker.replication.isr import NOBODY_JOINS_OR_LEAVES, Proposal, Verdict

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.partition import Partition
    from kbroker.broker.timer import Timer
    from kbroker.metadata.cache import MetadataCache
    from kbroker.protocol.generated.alter_partition_response import AlterPartitionResponse
    from kbroker.types import Uuid

_log = logging.getLogger(__name__)

#: After an answer that decided nothing.
RETRY_MS = 50
#: After so many attempts in vain, about a second, the log is told.
_FAILURES_TOLD = 20
REQUEST_TIMEOUT_MS = 10_000

#: (request, timeout in ms) -> the controller's answer; fails with PeerError or ApiError.
SendToController = Callable[[Any, float], "Deferred[Any]"]


class AlterPartitionSender:
    """An `InSyncPort` over the metadata and the controller.

    Args:
        broker_id: this broker.
        broker_epoch: of its registration; asked for each request.
        metadata: who is registered, fenced, shutting down.
        to_controller: sends.
        timer: gathers what is proposed in one go, and waits before the next attempt.
        lag_time_max_ms: `replica.lag.time.max.ms`.
    """

    def __init__(
        self,
        broker_id: int,
        broker_epoch: Callable[[], int],
        metadata: MetadataCache,
        to_controller: SendToController,
        timer: Timer,
        lag_time_max_ms: float,
    ) -> None:
        self.lag_time_max_ms = lag_time_max_ms
        #: How many sets have grown and shrunk, how many proposals were refused: for metrics.
        self.expands = self.shrinks = self.failures = 0
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._metadata = metadata
        self._to_controller = to_controller
        self._timer = timer
        self._unsent: dict[Partition, Proposal] = {}
        self._armed = False
        self._under_way = False
        self._in_vain = 0
        self._closed = False

    def close(self) -> None:
        """Send nothing any more."""
        self._closed = True
        self._unsent.clear()

    # -- the port --

    def may_join(self, replica: int, broker_epoch: int) -> bool:
        """See `InSyncPort`: registered under that epoch (-1: it did not say), not fenced, not leaving."""
        broker = self._metadata.image.brokers.get(replica)
        # Brokers of a cluster in ZooKeeper are not told each other's epochs.
        return (
            broker is not None
            and broker.active
            and (broker_epoch == -1 or broker.epoch in (-1, broker_epoch))
        )

    def has_disk(self, topic_id: Uuid, index: int, replica: int) -> bool:
        """See `InSyncPort`."""
        image = self._metadata.image
        topic, broker = image.topics.by_id(topic_id), image.brokers.get(replica)
        if topic is None or broker is None or index >= len(topic.partitions):
            return True
        directory = topic.partitions[index].directory_of(replica)
        return directory is None or broker.has_online(directory)

    def is_outdated(self, replica: int, broker_epoch: int) -> bool:
        """See `InSyncPort`."""
        broker = self._metadata.image.brokers.get(replica)
        return broker is not None and not broker.fenced and broker.epoch > broker_epoch

    def alive(self) -> Collection[int]:
        """See `InSyncPort`."""
        return {each.id for each in self._metadata.image.brokers.values() if not each.fenced}

    def may_lead(self) -> bool:
        """See `InSyncPort`."""
        broker = self._metadata.image.brokers.get(self._broker_id)
        return broker is not None and broker.epoch == self._broker_epoch()

    def propose(self, partition: Partition, proposal: Proposal) -> None:
        """See `InSyncPort`."""
        self._unsent[partition] = proposal
        self._arm(0)

    # -- sending --

    def _arm(self, delay_ms: float) -> None:
        if not self._armed and not self._under_way and not self._closed:
            self._armed = True
            self._timer.call_later(delay_ms, self._send)

    def _send(self) -> None:
        self._armed = False
        sent = {
            partition: proposal
            for partition, proposal in self._unsent.items()
            if _stands(partition, proposal)
        }
        self._unsent = {}
        if not sent or self._closed:
            return
        self._under_way = True
        self._to_controller(self._request(sent), REQUEST_TIMEOUT_MS).then(
            lambda done: self._answered(sent, done)
        )

    def _request(self, sent: dict[Partition, Proposal]) -> AlterPartitionRequest:
        epoch = self._broker_epoch()
        topics: dict[bytes, TopicData] = {}
        for partition, proposal in sent.items():
            topic = topics.get(partition.topic_id)
            if topic is None:
                topic = topics[partition.topic_id] = TopicData(topic_id=partition.topic_id)
            topic.partitions.append(
                PartitionData(
                    partition_index=partition.topic_partition.partition,
                    leader_epoch=proposal.leader_epoch,
                    new_isr_with_epochs=[
                        BrokerState(broker_id=replica, broker_epoch=self._epoch_of(partition, replica, epoch))
                        for replica in proposal.isr
                    ],
                    partition_epoch=proposal.partition_epoch,
                )
            )
        return AlterPartitionRequest(
            broker_id=self._broker_id, broker_epoch=epoch, topics=list(topics.values())
        )

    def _epoch_of(self, partition: Partition, replica: int, own_epoch: int) -> int:
        """The registration under which `replica` has what we count on (KIP-903); -1: not known."""
        if replica == self._broker_id:
            return own_epoch
        state = partition.leader_state
        progress = state.followers.get(replica) if state is not None else None
        return progress.broker_epoch if progress is not None else -1

    # -- answers --

    def _answered(self, sent: dict[Partition, Proposal], done: Deferred[Any]) -> None:
        self._under_way = False
        decided: dict[tuple[bytes, int], Any] = {}
        try:
            response: AlterPartitionResponse = done.result()
        except (ApiError, PeerError) as error:
            self._asked_in_vain(len(sent), error)
        else:
            if response.error_code:
                self._asked_in_vain(len(sent), error_code(response.error_code).name)
            else:
                self._in_vain = 0
            for topic in response.topics:
                for each in topic.partitions:
                    decided[(bytes(topic.topic_id), each.partition_index)] = each
        again = False
        before = self.expands, self.shrinks, self.failures
        refusals: Counter[str] = Counter()
        for partition, proposal in sent.items():
            answer = decided.get((partition.topic_id, partition.topic_partition.partition))
            if answer is not None and answer.error_code:
                refusals[error_code(answer.error_code).name] += 1
            if answer is None or not self._decided(partition, proposal, answer):
                # What was proposed since replaces it.
                self._unsent.setdefault(partition, proposal)
                again = True
        if (self.expands, self.shrinks, self.failures) != before:
            _log.info(
                "in-sync sets: %d have grown, %d have shrunk, %d stay%s",
                self.expands - before[0],
                self.shrinks - before[1],
                self.failures - before[2],
                _told(refusals),
            )
        if self._unsent:
            self._arm(RETRY_MS if again else 0)

    def _asked_in_vain(self, count: int, why: object) -> None:
        """No answer that decides anything: usual for a moment while the controller changes."""
        self._in_vain += 1
        lasts = self._in_vain == _FAILURES_TOLD
        _log.log(
            logging.INFO if lasts else logging.DEBUG,
            "changes of %d in-sync sets are asked for again: %s",
            count,
            why,
        )

    def _decided(self, partition: Partition, proposal: Proposal, answer: Any) -> bool:
        """Tell the partition; False if it wants to ask again."""
        tp = partition.topic_partition
        if not answer.error_code:
            if partition.isr_accepted(
                proposal, answer.leader_epoch, answer.partition_epoch, tuple(answer.isr)
            ):
                if proposal.joins >= 0:
                    self.expands += 1
                elif proposal.joins != NOBODY_JOINS_OR_LEAVES:
                    self.shrinks += 1
                _log.debug("%s: in sync are %s now", tp, answer.isr)
            return True
        self.failures += 1
        code = error_code(answer.error_code)
        verdict = partition.isr_refused(proposal, code)
        _log.debug("%s: in-sync set %s refused (%s): %s", tp, list(proposal.isr), code.name, verdict.value)
        return verdict is not Verdict.RETRY


def _told(refusals: Counter[str]) -> str:
    """What the controller says to those that stay as they are."""
    return f" ({', '.join(f'{code}: {count}' for code, count in refusals.items())})" if refusals else ""


def _stands(partition: Partition, proposal: Proposal) -> bool:
    state = partition.leader_state
    return state is not None and state.in_sync.proposal is proposal
