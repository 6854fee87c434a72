"""ControlledShutdown: a broker asks to lead nothing any more, so that it may stop (until Kafka 3.9).

Where there is a metadata quorum it asks by its heartbeats instead (heartbeats.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.decision import Decision
from kbroker.controller.elections import broker_gone
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kbroker.types import TopicPartition

if TYPE_CHECKING:
    from kbroker.controller.election_rules import ElectionRules
    from kbroker.metadata.image import ClusterImage
    from kbroker.metadata.records import MetadataRecord

#: Versions 0 and 1 do not say it.
EPOCH_NOT_SAID = -1


def shut_down(
    image: ClusterImage, broker_id: int, broker_epoch: int, rules: ElectionRules
) -> Decision[list[TopicPartition]]:
    """Others lead, and the broker is in no ISR; what it leads still, though there are other replicas.

    It may ask again: somebody may have come meanwhile who can lead those.

    Raises:
        ApiError: BROKER_NOT_AVAILABLE, it is not there; STALE_BROKER_EPOCH, an earlier life of it asks.
    """
    broker = image.brokers.get(broker_id)
    if broker is None or broker.fenced:
        raise ApiError(ErrorCode.BROKER_NOT_AVAILABLE)
    if broker_epoch != EPOCH_NOT_SAID and broker_epoch < broker.epoch:
        raise ApiError(ErrorCode.STALE_BROKER_EPOCH)
    records: list[MetadataRecord] = []
    if not broker.in_controlled_shutdown:
        records.append(
            BrokerRegistrationChangeRecord(
                broker_id=broker_id, broker_epoch=broker.epoch, in_controlled_shutdown=1
            )
        )
    # Elections skip who is shutting down only once the image says so.
    after = image.apply(records)
    records += broker_gone(after, rules, broker_id)
    after = image.apply(records)
    remaining = [
        TopicPartition(topic.name, index)
        for topic in after.topics
        for index, partition in enumerate(topic.partitions)
        if partition.leader == broker_id and len(partition.replicas) > 1
    ]
    return Decision(remaining, records, atomic=False)
