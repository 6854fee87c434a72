"""A broker's heartbeats: fenced or not, stopping or not, and which of its disks have failed (KIP-631).

| state | wants | becomes |
|---|---|---|
| fenced | to stop | may stop |
| fenced after its controlled shutdown | to serve | fenced: it has to register anew |
| fenced | to serve, and has read the metadata up to its registration | unfenced: may lead |
| unfenced | to be fenced | fenced; with a wish to stop: may stop |
| unfenced | to stop, leads something | in controlled shutdown: leads nothing, in no ISR |
| unfenced | to stop, leads nothing | fenced: may stop |
| in controlled shutdown | leads nothing, and all others know it | fenced: may stop |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kbroker.controller.brokers import CORDON_LEVEL, fence_broker, registered, unfence_broker
from kbroker.controller.decision import Decision
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.elections import (
    PartitionRef,
    broker_gone,
    elect_anew,
    leads_any,
    move_slice,
)
from kbroker.controller.partitions import DIRECTORY_LEVEL
from kbroker.metadata.image import BrokerImage, ClusterImage
from kbroker.protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kbroker.protocol.primitives import Message
from kbroker.types import Uuid


class Heartbeat(NamedTuple):
    """What a broker tells of itself every two seconds; `metadata_offset` is the last one it has applied."""

    broker_id: int
    broker_epoch: int
    metadata_offset: int
    want_fence: bool = False
    want_shut_down: bool = False
    offline_log_dirs: Sequence[Uuid] = ()
    cordoned_log_dirs: Sequence[Uuid] | None = None


class HeartbeatReply(NamedTuple):
    """What it is told."""

    caught_up: bool
    fenced: bool
    should_shut_down: bool
    in_controlled_shutdown: bool = False


def heartbeat(
    image: ClusterImage,
    beat: Heartbeat,
    rules: ElectionRules,
    *,
    caught_up: bool,
    others_know: bool = True,
    unrivalled: bool = True,
) -> Decision[HeartbeatReply]:
    """What follows from a heartbeat.

    Args:
        caught_up: the broker has read the metadata up to its registration (liveness.py).
        others_know: the other brokers have read that this one leads nothing any more.
        unrivalled: no other controller can have been elected, and have fenced the broker; else it is not
            told that it has read all that matters.

    Raises:
        ApiError: STALE_BROKER_EPOCH.
    """
    broker = registered(image, beat.broker_id, beat.broker_epoch)
    who = beat.broker_id, beat.broker_epoch
    records: list[Message] = []
    fenced, stopping, may_stop = broker.fenced, broker.in_controlled_shutdown, False
    if broker.fenced:
        may_stop = beat.want_shut_down
        stays = beat.want_shut_down or beat.want_fence or broker.in_controlled_shutdown
        if caught_up and not stays:
            records += unfence_broker(image, *who, rules).records
            fenced = False
    elif beat.want_fence:
        fenced, may_stop = True, beat.want_shut_down
    elif beat.want_shut_down or broker.in_controlled_shutdown:
        if leads_any(image, broker.id) or move_slice(image, rules, broker.id):
            records += _leave(image, broker, rules)
            stopping = True
        elif not broker.in_controlled_shutdown or others_know:
            fenced = may_stop = True
    if fenced and not broker.fenced:
        records += fence_broker(image, *who, rules).records
    # Of what changed only the partitions matter, and only to directories that have failed.
    after = image.apply(records) if records and beat.offline_log_dirs else image
    records += _directories(after, beat, rules)
    reply = HeartbeatReply(caught_up and unrivalled, fenced, may_stop, stopping)
    return Decision(reply, records, atomic=False)


def _leave(image: ClusterImage, broker: BrokerImage, rules: ElectionRules) -> list[Message]:
    """Controlled shutdown (KIP-841): others lead, and it is in no ISR, so that nobody waits for it.

    Of many partitions only a slice: the others follow by `move_slice`, and with the next heartbeats.
    """
    records: list[Message] = []
    if not broker.in_controlled_shutdown:
        records.append(
            BrokerRegistrationChangeRecord(
                broker_id=broker.id, broker_epoch=broker.epoch, in_controlled_shutdown=1
            )
        )
    return [*records, *(move_slice(image, rules, broker.id) or broker_gone(image, rules, broker.id))]


def _directories(image: ClusterImage, beat: Heartbeat, rules: ElectionRules) -> list[Message]:
    """KIP-858: what lies in a directory that has failed leaves its ISR; KIP-1066: others are cordoned."""
    broker = image.brokers[beat.broker_id]
    records: list[Message] = []
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch)
    failed = [directory for directory in broker.log_dirs if directory in beat.offline_log_dirs]
    if failed and image.metadata_version >= DIRECTORY_LEVEL:
        change.log_dirs = [directory for directory in broker.log_dirs if directory not in failed]
        records += elect_anew(image, rules, _lying_in(image, broker.id, failed), gone=broker.id)
    cordoned = beat.cordoned_log_dirs if image.metadata_version >= CORDON_LEVEL else None
    if cordoned is not None and sorted(cordoned) != sorted(broker.cordoned_log_dirs or ()):
        change.cordoned_log_dirs = list(cordoned)
    if change.log_dirs or change.cordoned_log_dirs is not None:
        records.append(change)
    return records


def _lying_in(image: ClusterImage, broker_id: int, directories: Sequence[Uuid]) -> list[PartitionRef]:
    return [
        PartitionRef(topic, index)
        for topic in image.topics
        for index, partition in enumerate(topic.partitions)
        if partition.directory_of(broker_id) in directories
    ]
