"""ControlledShutdown: a broker of a cluster in ZooKeeper wants to stop.

Versions: 1 client id in the header · 2 broker epoch (KIP-380) · 3 flexible. Until Kafka 3.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.controlled_shutdown import shut_down
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.controlled_shutdown_response import (
    ControlledShutdownResponse,
    RemainingPartition,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.controlled_shutdown_request import ControlledShutdownRequest
    from kbroker.types import TopicPartition

VERSIONS = (0, 3)


def handle(
    services: Services, context: RequestContext, request: ControlledShutdownRequest
) -> Deferred[ControlledShutdownResponse]:
    """Answered when it leads nothing that others can lead."""
    rules = services.active_chores.rules

    def answer(remaining: list[TopicPartition]) -> ControlledShutdownResponse:
        return ControlledShutdownResponse(
            remaining_partitions=[
                RemainingPartition(topic_name=each.topic, partition_index=each.partition)
                for each in remaining
            ]
        )

    return services.controller.append_records(
        lambda image: shut_down(image, request.broker_id, request.broker_epoch, rules)
    ).map(answer)


def error_response(
    request: ControlledShutdownRequest, version: int, code: ErrorCode, message: str | None
) -> ControlledShutdownResponse:
    """Nothing but the error; Kafka's word for a node that is not the controller is another one here."""
    if code is ErrorCode.NOT_CONTROLLER:
        code = ErrorCode.STALE_CONTROLLER_EPOCH
    return ControlledShutdownResponse(error_code=code)
