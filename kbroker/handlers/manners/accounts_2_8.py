"""Quotas, SCRAM credentials and ACLs, as Kafka 2.8.2 with ZooKeeper speaks of them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kbroker.broker.deferred import Deferred
from kbroker.errors import ErrorCode
from kbroker.handlers.manners.manner import Around, Rule, then
from kbroker.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.handlers.manners.manner import Handle

_MALFORMED = ErrorCode.INVALID_REQUEST
_UNEXPECTED = ErrorCode.UNKNOWN_SERVER_ERROR
_DESCRIBE, _ALTER = ApiKey.DESCRIBE_CLIENT_QUOTAS, ApiKey.ALTER_CLIENT_QUOTAS
_EXACT = 0

RULES = (
    Rule(
        ErrorCode.UNSUPPORTED_VERSION,
        "Unsupported entity type (.*)",
        text="Custom entity type '{1}' not supported",
        api=_DESCRIBE,
    ),
    Rule(
        _MALFORMED,
        r"Invalid empty entity type\.",
        text="Unexpected empty filter component entity type",
        api=_DESCRIBE,
    ),
    Rule(_MALFORMED, "Unknown match type .*", _UNEXPECTED, None, _DESCRIBE),
    Rule(_MALFORMED, ".*set match string to null.*", _UNEXPECTED, None, _DESCRIBE),
    Rule(
        _MALFORMED,
        "Entity type (.*) cannot appear more than once .*",
        text="Duplicate {1} filter component entity type",
        api=_DESCRIBE,
    ),
    Rule(
        _MALFORMED,
        r"(Invalid entity filter component combination)\.(.*)",
        text="{1},{2}",
        api=_DESCRIBE,
    ),
    Rule(
        _MALFORMED,
        r"(\S+) cannot be a fractional value\.",
        text="Configuration {1} must be a LONG value",
        api=_ALTER,
    ),
    Rule(
        _MALFORMED,
        "Invalid quota entity combination, .*",
        text="Invalid quota entity combination, IP entity should not be used with user/client ID entity.",
        api=_ALTER,
    ),
    Rule(
        _MALFORMED,
        "(.*) is not a valid IP or resolvable host.",
        text=lambda match, _: f"{quote(match[1], safe='')} is not a valid IP or resolvable host.",
        api=_ALTER,
    ),
    Rule(
        ErrorCode.RESOURCE_NOT_FOUND,
        "Attempt to describe a user credential that does not exist: ",
        text="Username must not be empty",
        api=ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    ),
    *(
        Rule(
            ErrorCode.SECURITY_DISABLED,
            r"No Authorizer is configured\.",
            text="No Authorizer is configured on the broker.",
            api=key,
        )
        for key in (ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS)
    ),
)


def _matches(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """DescribeClientQuotas: a name did not matter where any, or the default, is meant."""
    for component in request.components:
        if component.match_type > _EXACT:
            component.match = None
    return handle(services, context, request)


def _quotas(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """AlterClientQuotas: what is less than nothing was no whole number. (Nothing was a quota.)"""

    def told(answer: Any) -> Any:
        for entry, asked in zip(answer.entries, request.entries):
            below = next((op.key for op in asked.ops if not op.remove and op.value < 0), None)
            if below is not None and entry.error_code == _MALFORMED and below in (entry.error_message or ""):
                entry.error_message = f"Configuration {below} must be a LONG value"
        return answer

    return then(handle(services, context, request), told)


def _credentials(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """AlterUserScramCredentials: a user could be changed with each mechanism; success had a text."""
    first, rest = copy(request), copy(request)
    seen: set[str] = set()
    named = [(each.name, each.mechanism) for each in (*request.deletions, *request.upsertions)]
    may_split = len(set(named)) == len(named)
    kept: dict[str, tuple[list[Any], list[Any]]] = {}
    for kind in ("deletions", "upsertions"):
        kept[kind] = ([], [])
        for each in getattr(request, kind):
            kept[kind][each.name in seen and may_split].append(each)
            seen.add(each.name)
        setattr(first, kind, kept[kind][0])
        setattr(rest, kind, kept[kind][1])

    def told(answer: Any) -> Any:
        for result in answer.results:
            if not result.error_code:
                result.error_message = ""
        return answer

    if not (rest.deletions or rest.upsertions):
        return then(handle(services, context, request), told)
    whole: Deferred[Any] = Deferred()

    def go_on(done: Deferred[Any]) -> None:
        try:
            answer = done.result()
        except Exception as error:
            whole.fail(error)
            return
        failed = {result.user for result in answer.results if result.error_code}
        for kind in kept:
            setattr(rest, kind, [each for each in getattr(rest, kind) if each.name not in failed])
        if rest.deletions or rest.upsertions:
            handle(services, context, rest).map(lambda more: _joined(answer, more)).then(whole.follow)
        else:
            whole.resolve(answer)

    handle(services, context, first).then(go_on)
    return whole.map(told)


def _joined(answer: Any, more: Any) -> Any:
    later = {result.user: result for result in more.results}
    answer.results = [later.get(result.user, result) for result in answer.results]
    return answer


AROUND: Mapping[int, Around] = {
    _DESCRIBE: _matches,
    _ALTER: _quotas,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _credentials,
}
