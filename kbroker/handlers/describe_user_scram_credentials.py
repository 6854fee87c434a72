"""DescribeUserScramCredentials (50): which SCRAM credentials users have (KIP-554); never the keys.

v0 first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode
from kbroker.protocol.generated.describe_user_scram_credentials_response import (
    CredentialInfo,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_user_scram_credentials_request import (
        DescribeUserScramCredentialsRequest,
    )

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    """The users asked for; all of them if none is named."""
    known: dict[str, list[CredentialInfo]] = {}
    for (name, mechanism), record in sorted(services.metadata.image.scram.items()):
        info = CredentialInfo(mechanism=mechanism, iterations=record.iterations)
        known.setdefault(name, []).append(info)
    asked = [user.name for user in request.users or ()] or list(known)
    counts: dict[str, int] = {}
    for name in asked:
        counts[name] = counts.get(name, 0) + 1
    return DescribeUserScramCredentialsResponse(
        results=[_result(name, count, known.get(name)) for name, count in counts.items()]
    )


def _result(name: str, count: int, infos: list[CredentialInfo] | None) -> DescribeUserScramCredentialsResult:
    if count > 1:
        return DescribeUserScramCredentialsResult(
            user=name,
            error_code=ErrorCode.DUPLICATE_RESOURCE,
            error_message="Cannot describe SCRAM credentials for the same user twice in a single request: "
            + name,
        )
    if infos is None:
        return DescribeUserScramCredentialsResult(
            user=name,
            error_code=ErrorCode.RESOURCE_NOT_FOUND,
            error_message=f"Attempt to describe a user credential that does not exist: {name}",
        )
    return DescribeUserScramCredentialsResult(user=name, credential_infos=infos)


def error_response(
    request: DescribeUserScramCredentialsRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeUserScramCredentialsResponse:
    """Nothing but the error."""
    return DescribeUserScramCredentialsResponse(error_code=code, error_message=message)
