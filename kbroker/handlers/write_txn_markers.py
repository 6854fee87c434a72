"""WriteTxnMarkers (27): how transactions ended, told to partitions by a coordinator, or by an administrator.

v0 first (gone from Kafka 4.0 on); v1 flexible; v2 the transaction version (KIP-1228).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.protocol.generated.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.errors import ErrorCode
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.write_txn_markers_request import WriteTxnMarkersRequest

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: WriteTxnMarkersRequest
) -> Deferred[WriteTxnMarkersResponse]:
    """Each partition by itself."""
    return services.txns.markers.write(request)


def error_response(
    request: WriteTxnMarkersRequest, version: int, code: ErrorCode, message: str | None
) -> WriteTxnMarkersResponse:
    """Every partition refused alike."""
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )
