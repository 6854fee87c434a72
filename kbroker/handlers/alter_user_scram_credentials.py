"""AlterUserScramCredentials (51): set and delete the credentials of SCRAM users (KIP-554).

v0 first. The client has salted the password; the controller keeps the keys made of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.scram import alter_credentials
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.alter_user_scram_credentials_request import (
        AlterUserScramCredentialsRequest,
    )

VERSIONS = (0, 0)
#: Each costs some hashes.
ELEMENTS_MAX = 20_000


def handle(
    services: Services, context: RequestContext, request: AlterUserScramCredentialsRequest
) -> Deferred[AlterUserScramCredentialsResponse]:
    """Answered when the credentials are committed and known here."""
    changed = services.controller.append_records(lambda image: alter_credentials(image, request))
    return changed.map(lambda results: AlterUserScramCredentialsResponse(results=results))


def error_response(
    request: AlterUserScramCredentialsRequest, version: int, code: ErrorCode, message: str | None
) -> AlterUserScramCredentialsResponse:
    """Every user refused alike."""
    names = dict.fromkeys([each.name for each in request.deletions])
    names.update(dict.fromkeys([each.name for each in request.upsertions]))
    return AlterUserScramCredentialsResponse(
        results=[
            AlterUserScramCredentialsResult(user=name, error_code=code, error_message=message)
            for name in names
        ]
    )
