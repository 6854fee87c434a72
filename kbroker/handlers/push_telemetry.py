"""PushTelemetry: the metrics of a client, OTLP in protobuf (KIP-714).

v0 first. Unpacking and decoding take milliseconds for a large push, so they have a thread, where there is
one. Where pushes are not kept they are unpacked all the same, as Kafka does, and nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.client_metrics_store import Push
from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.get_telemetry_subscriptions import caller_of
from kbroker.protocol.compression import CompressionError, DecompressedTooLarge, decompress
from kbroker.protocol.generated.push_telemetry_response import PushTelemetryResponse
from kbroker.protocol.otlp import OtlpError, decode_metrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.push_telemetry_request import PushTelemetryRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: PushTelemetryRequest
) -> PushTelemetryResponse | Deferred[PushTelemetryResponse]:
    """Answered when the push has been understood."""
    client_metrics, caller = services.client_metrics, caller_of(context)
    try:
        client_metrics.check_push(
            request.client_instance_id,
            caller,
            services.clock.monotonic_ms(),
            subscription_id=request.subscription_id,
            terminating=request.terminating,
            compression=request.compression_type,
            size=len(request.metrics),
        )
    except ApiError as error:
        return PushTelemetryResponse(error_code=error.code)
    if not len(request.metrics):
        return PushTelemetryResponse()
    packed, now_ms = bytes(request.metrics), services.clock.now_ms()

    def read() -> Push | None:
        data = decompress(request.compression_type, packed, client_metrics.unpacked_bytes_max)
        if not client_metrics.keeps:
            return None
        metrics = decode_metrics(data)
        push = Push(
            request.client_instance_id,
            caller.client_id,
            caller.software,
            caller.software_version,
            caller.address,
            request.terminating,
            now_ms,
            metrics.resource,
            metrics.points,
        )
        if client_metrics.export is not None:
            client_metrics.export(push)
        return push

    return _run(services, read)


def _run(
    services: Services, read: Callable[[], Push | None]
) -> PushTelemetryResponse | Deferred[PushTelemetryResponse]:
    """Do it, in a thread if there is one, and keep what comes of it."""
    read_push: list[Push | None] = []

    def answer(error: BaseException | None) -> PushTelemetryResponse:
        if isinstance(error, DecompressedTooLarge):
            return PushTelemetryResponse(error_code=ErrorCode.TELEMETRY_TOO_LARGE)
        if isinstance(error, (CompressionError, OtlpError)):
            return PushTelemetryResponse(error_code=ErrorCode.INVALID_RECORD)
        if error is not None:
            raise error
        for push in read_push:
            if push is not None:
                services.client_metrics.store.add(push)
        return PushTelemetryResponse()

    if services.run_blocking is None:
        try:
            read_push.append(read())
        except (CompressionError, OtlpError) as error:
            return answer(error)
        return answer(None)
    done: Deferred[BaseException | None] = Deferred()
    services.run_blocking(lambda: read_push.append(read()), done.resolve)
    return done.map(answer)
