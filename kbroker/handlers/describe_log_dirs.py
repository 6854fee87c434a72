"""DescribeLogDirs (35): what lies in which log directory, and how large it is (KIP-113).

Versions: 1 same as 0 · 2 flexible · 3 error code on top · 4 total and usable bytes (KIP-827) · 5 cordoned
directories (KIP-1066).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode
from kbroker.protocol.generated.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_log_dirs_request import DescribeLogDirsRequest
    from kbroker.storage.log_manager import LogDirStats

VERSIONS = (0, 5)


def handle(
    services: Services, context: RequestContext, request: DescribeLogDirsRequest
) -> DescribeLogDirsResponse:
    """Every directory, with the partitions asked for (null: all)."""
    wanted = None
    if request.topics is not None:
        wanted = {(topic.topic, index) for topic in request.topics for index in topic.partitions}
    cordoned = {log_dir.path for log_dir in services.replicas.logs.dirs if log_dir.cordoned}
    results = [_directory(services, stats, wanted) for stats in services.replicas.logs.dir_stats()]
    for result in results:
        result.is_cordoned = result.log_dir in cordoned
    return DescribeLogDirsResponse(results=results)


def _directory(
    services: Services, stats: LogDirStats, wanted: set[tuple[str, int]] | None
) -> DescribeLogDirsResult:
    if stats.offline:
        return DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=stats.path)
    topics: dict[str, DescribeLogDirsTopic] = {}
    for log in stats.logs:
        name, index = log.topic_partition
        if wanted is not None and (name, index) not in wanted:
            continue
        topic = topics.get(name)
        if topic is None:
            topic = topics[name] = DescribeLogDirsTopic(name=name)
        partition = services.replicas.get(name, index)
        high_watermark = partition.high_watermark if partition is not None else log.high_watermark
        topic.partitions.append(
            DescribeLogDirsPartition(
                partition_index=index,
                partition_size=log.size,
                offset_lag=max(high_watermark - log.log_end_offset, 0),
            )
        )
    for move in services.log_mover.moves.values() if services.log_mover is not None else ():
        name, index = move.log.topic_partition
        if move.target.path != stats.path or (wanted is not None and (name, index) not in wanted):
            continue
        topics.setdefault(name, DescribeLogDirsTopic(name=name)).partitions.append(
            DescribeLogDirsPartition(
                partition_index=index,
                partition_size=move.copied_bytes,
                offset_lag=move.lag,
                is_future_key=True,
            )
        )
    return DescribeLogDirsResult(
        log_dir=stats.path,
        topics=list(topics.values()),
        total_bytes=stats.total_bytes,
        usable_bytes=stats.usable_bytes,
    )
