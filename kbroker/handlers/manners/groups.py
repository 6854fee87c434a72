"""Groups, as they were kept before 4.0.

Until then version 0 of OffsetCommit and OffsetFetch went by ZooKeeper, and members and generations did not
matter there. Here a group of its own keeps such offsets, called as their folder was in ZooKeeper.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.manners.manner import then

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.handlers.manners.manner import Handle

_UNKNOWN, _ILLEGAL = ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION
_MEMBERS_SINCE = 3
_NEVER = 0x7FFF_FFFF
_FOLDERS, _OFFSETS = "/consumers/", "/offsets"


def commits_of_strangers(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """TxnOffsetCommit: whether a member is one was asked before its generation."""
    answer = handle(services, context, request)
    if request.generation_id_or_member_epoch < 0 or _knows(services, request):
        return answer
    return then(answer, _unknown_instead)


def commits_of_any_strangers(
    handle: Handle, services: Services, context: RequestContext, request: Any
) -> Any:
    """TxnOffsetCommit: and a member was one in no generation, too."""
    named = request.member_id or request.generation_id_or_member_epoch >= 0
    if context.version < _MEMBERS_SINCE or not named or _knows(services, request):
        return handle(services, context, request)
    request = copy(request)
    request.generation_id_or_member_epoch = _NEVER
    return then(handle(services, context, request), _unknown_instead)


def offsets_apart(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """OffsetCommit, OffsetFetch."""
    if context.version > 0:
        return unknown_instances(handle, services, context, request)
    request, context = copy(request), _as_version_1(context)
    known = bool(request.group_id)
    request.group_id = f"{_FOLDERS}{request.group_id}{_OFFSETS}"

    def told(answer: Any) -> Any:
        for topic in answer.topics:
            for partition in topic.partitions:
                if not known and not partition.error_code:
                    partition.error_code = ErrorCode.UNKNOWN_SERVER_ERROR  # a path without a name
        return answer

    return then(handle(services, context, request), told)


def _as_version_1(context: RequestContext) -> RequestContext:
    found = copy(context)
    found.version = 1
    return found


def without_offsets_apart(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """ListGroups."""

    def told(answer: Any) -> Any:
        answer.groups = [
            group
            for group in answer.groups
            if not (group.group_id.startswith(_FOLDERS) and group.group_id.endswith(_OFFSETS))
        ]
        return answer

    return then(handle(services, context, request), told)


def _unknown_instead(answer: Any) -> Any:
    for topic in answer.topics:
        for partition in topic.partitions:
            if partition.error_code == _ILLEGAL:
                partition.error_code = _UNKNOWN
    return answer


def _knows(services: Services, request: Any) -> bool:
    """Whether the member is one, as far as is known here."""
    try:
        group = services.groups.shard_of(request.group_id).shard.groups.get(request.group_id)
    except ApiError:
        return True
    return request.member_id in getattr(group, "members", ())


def unknown_instances(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """SyncGroup, Heartbeat, OffsetCommit: an instance that a group does not have said nothing."""
    answer = handle(services, context, request)
    if getattr(request, "group_instance_id", None) is None:
        return answer

    def refused(answer: Any) -> bool:
        if hasattr(answer, "error_code"):
            return bool(answer.error_code == _UNKNOWN)
        codes = [partition.error_code for topic in answer.topics for partition in topic.partitions]
        return _UNKNOWN in codes

    def again() -> Any:
        without = copy(request)
        without.group_instance_id = None
        return handle(services, context, without)

    if not isinstance(answer, Deferred):
        return again() if refused(answer) else answer
    final: Deferred[Any] = Deferred()
    final.on_cancel = answer.cancel

    def look(done: Deferred[Any]) -> None:
        try:
            found = done.result()
            final.become(again() if refused(found) else found)
        except Exception as error:
            final.fail(error)

    answer.then(look)
    return final
