"""FindCoordinator: which broker coordinates a group, a transactional id or a share partition.

v0 groups only; v1 key type, message, throttle time; v2 throttling before the answer; v3 flexible; v4 many
keys (KIP-699); v5 as v4; v6 share partitions (KIP-932).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kbroker.broker.auto_topics import (
    GROUP_OFFSETS,
    SHARE_STATE,
    TRANSACTION_STATE,
    create_automatic_topics,
)
from kbroker.broker.deferred import Deferred
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.coordinator.partitioner import partition_for
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kbroker.types import uuid_from_string

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.find_coordinator_request import FindCoordinatorRequest

VERSIONS = (0, 6)

_MANY_SINCE, _SHARE_SINCE = 4, 6
_TOPICS = {0: GROUP_OFFSETS, 1: TRANSACTION_STATE, 2: SHARE_STATE}
_SHARE = 2
_SHARE_FEATURE = "share.version"
_SHARE_KEY = re.compile(r"[^:]*\S[^:]*:([^:]+):[+-]?[0-9]+", re.ASCII)
_INVALID = (
    "This most likely occurs because of a request being malformed by the client library or the message was"
    " sent to an incompatible broker. See the broker logs for more details."
)
_NOT_AVAILABLE = "The coordinator is not available."


class _Found(NamedTuple):
    """Where a coordinator is, or why it cannot be named."""

    code: ErrorCode
    message: str | None = None
    node_id: int = -1
    host: str = ""
    port: int = -1


def handle(
    services: Services, context: RequestContext, request: FindCoordinatorRequest
) -> FindCoordinatorResponse | Deferred[FindCoordinatorResponse]:
    """The internal topic behind it is made on first use; the answer waits for that (Kafka's is
    COORDINATOR_NOT_AVAILABLE until then)."""
    version = context.version
    name = _TOPICS.get(request.key_type)
    keys = request.coordinator_keys if version >= _MANY_SINCE else [request.key]
    if name is None or (request.key_type == _SHARE and version < _MANY_SINCE):
        return _response(version, keys, [_Found(ErrorCode.INVALID_REQUEST, _INVALID)] * len(keys))
    if request.key_type == _SHARE:
        valid = [version >= _SHARE_SINCE and _is_share_key(key) for key in keys]
    else:
        valid = [True] * len(keys)
    if request.key_type == _SHARE and not _has_share_groups(services):
        refused = [ErrorCode.COORDINATOR_NOT_AVAILABLE if ok else ErrorCode.INVALID_REQUEST for ok in valid]
        return _response(version, keys, [_Found(code) for code in refused])
    if services.metadata.image.topics.get(name) is not None or not any(valid):
        return _answer(services, context, name, keys, valid)
    answer: Deferred[FindCoordinatorResponse] = Deferred()
    create_automatic_topics(services, [name]).then(
        lambda _: answer.resolve(_answer(services, context, name, keys, valid))
    )
    return answer


def _has_share_groups(services: Services) -> bool:
    """Without `share.version` they have no coordinators, and no topic is made for them."""
    features = services.metadata.image.finalized_features()
    return _SHARE_FEATURE in SUPPORTED_FEATURES and features.get(_SHARE_FEATURE, 0) > 0


def _is_share_key(key: str) -> bool:
    match = _SHARE_KEY.fullmatch(key)
    if match is None:
        return False
    try:
        uuid_from_string(match.group(1))
    except ValueError:
        return False
    return True


def _answer(
    services: Services, context: RequestContext, topic: str, keys: list[str], valid: list[bool]
) -> FindCoordinatorResponse:
    found = [
        _locate(services, context, topic, key) if ok else _Found(ErrorCode.INVALID_REQUEST)
        for key, ok in zip(keys, valid)
    ]
    return _response(context.version, keys, found)


def _locate(services: Services, context: RequestContext, name: str, key: str) -> _Found:
    image = services.metadata.image
    topic = image.topics.get(name)
    if topic is None:
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE, _NOT_AVAILABLE)
    leader = topic.partitions[partition_for(key, len(topic.partitions))].leader
    broker = image.brokers.get(leader)
    endpoint = None if broker is None or broker.fenced else broker.endpoint(context.listener_name)
    if endpoint is None:
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE, _NOT_AVAILABLE)
    return _Found(ErrorCode.NONE, None, leader, endpoint.host, endpoint.port)


def _response(version: int, keys: list[str], found: list[_Found]) -> FindCoordinatorResponse:
    """Texts as Kafka's: "NONE" for success before version 4, empty after."""
    if version >= _MANY_SINCE:
        return FindCoordinatorResponse(
            coordinators=[
                Coordinator(
                    key=key,
                    node_id=each.node_id,
                    host=each.host,
                    port=each.port,
                    error_code=each.code,
                    error_message=each.message or "",
                )
                for key, each in zip(keys, found)
            ]
        )
    (only,) = found
    return FindCoordinatorResponse(
        error_code=only.code,
        error_message=only.message if only.code else "NONE",
        node_id=only.node_id,
        host=only.host,
        port=only.port,
    )


def error_response(
    request: FindCoordinatorRequest, version: int, code: ErrorCode, message: str | None
) -> FindCoordinatorResponse:
    """Every key refused alike."""
    keys = request.coordinator_keys if version >= _MANY_SINCE else [request.key]
    return _response(version, keys, [_Found(code, message)] * len(keys))
