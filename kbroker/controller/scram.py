"""Decisions on the credentials of SCRAM users (KIP-554). No password comes here, only what is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.controller.decision import Decision
from kbroker.errors import ErrorCode
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.alter_user_scram_credentials_response import AlterUserScramCredentialsResult
from kbroker.protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kbroker.protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kbroker.security.scram import ITERATIONS_MAX, ITERATIONS_MIN, NAMES, credential_of

if TYPE_CHECKING:
    from kbroker.metadata.records import MetadataRecord
    from kbroker.protocol.generated.alter_user_scram_credentials_request import (
        AlterUserScramCredentialsRequest,
    )

_Problem = tuple[ErrorCode, str]
_TWICE = ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request"


def alter_credentials(
    image: ClusterImage, request: AlterUserScramCredentialsRequest
) -> Decision[list[AlterUserScramCredentialsResult]]:
    """Each user stands alone, and may be changed once."""
    found: dict[str, _Problem | MetadataRecord] = {}
    for deletion in request.deletions:
        problem = _common_problem(deletion)
        if problem is None and (deletion.name, deletion.mechanism) not in image.scram:
            problem = (
                ErrorCode.RESOURCE_NOT_FOUND,
                "Attempt to delete a user credential that does not exist",
            )
        _note(
            found,
            deletion.name,
            problem or RemoveUserScramCredentialRecord(name=deletion.name, mechanism=deletion.mechanism),
        )
    for upsertion in request.upsertions:
        problem = _common_problem(upsertion)
        if problem is None and upsertion.iterations < ITERATIONS_MIN:
            problem = ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"
        if problem is None and upsertion.iterations > ITERATIONS_MAX:
            problem = ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations"
        if problem is None and not upsertion.salted_password:
            # Kafka cannot make keys of it either, and answers -1.
            problem = ErrorCode.UNACCEPTABLE_CREDENTIAL, "Empty salted password"
        _note(found, upsertion.name, problem or _record(upsertion))
    results = []
    for name, outcome in found.items():
        refused = isinstance(outcome, tuple)
        results.append(
            AlterUserScramCredentialsResult(
                user=name,
                error_code=outcome[0] if refused else ErrorCode.NONE,  # type: ignore[index]
                error_message=outcome[1] if refused else None,  # type: ignore[index]
            )
        )
    records: list[Any] = [outcome for outcome in found.values() if not isinstance(outcome, tuple)]
    return Decision(results, records, atomic=False)


def _note(found: dict[str, _Problem | MetadataRecord], name: str, outcome: _Problem | MetadataRecord) -> None:
    """The first problem of a user counts; a second change is one."""
    if name not in found:
        found[name] = outcome
    elif not isinstance(found[name], tuple):
        found[name] = _TWICE


def _common_problem(change: Any) -> _Problem | None:
    if not change.name:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"
    if change.mechanism not in NAMES:
        return ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"
    return None


def _record(upsertion: Any) -> UserScramCredentialRecord:
    return credential_record(
        upsertion.name,
        upsertion.mechanism,
        bytes(upsertion.salted_password),
        bytes(upsertion.salt),
        upsertion.iterations,
    )


def credential_record(
    user: str, mechanism: int, salted: bytes, salt: bytes, iterations: int
) -> UserScramCredentialRecord:
    """What is kept of a salted password."""
    credential = credential_of(NAMES[mechanism], salted, salt, iterations)
    return UserScramCredentialRecord(
        name=user,
        mechanism=mechanism,
        salt=salt,
        stored_key=credential.stored_key,
        server_key=credential.server_key,
        iterations=iterations,
    )
