"""SCRAM users of a cluster (KIP-554), also of Apache Kafka's. The password does not leave this process."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError, check
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kbroker.protocol.generated.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
)
from kbroker.protocol.generated.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from kbroker.protocol.generated.describe_user_scram_credentials_response import (
    DescribeUserScramCredentialsResponse,
)
from kbroker.security.scram import ITERATIONS_MIN, MECHANISMS, NAMES, salted_password

_SALT_BYTES = 24


class ScramUser(NamedTuple):
    """A user, and the iterations of each mechanism that it may log in with."""

    name: str
    mechanisms: dict[str, int]


def list_users(cluster: Cluster, names: Sequence[str] = ()) -> list[ScramUser]:
    """The users; all of them if none is named.

    Raises:
        ApiError: one does not exist.
    """
    # No name is everybody. No list would be, too, but Kafka 4.4 never answers that to who may not ask.
    request = DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names])
    answer = cluster.ask(request, DescribeUserScramCredentialsResponse)
    check(answer.error_code, answer.error_message, "users", needs="DESCRIBE")
    found = []
    for result in answer.results:
        if result.error_code == ErrorCode.RESOURCE_NOT_FOUND:
            raise ApiError(ErrorCode.RESOURCE_NOT_FOUND, f"user {result.user}: there is no such user")
        check(result.error_code, result.error_message, f"user {result.user}")
        mechanisms = {
            NAMES.get(info.mechanism, str(info.mechanism)): info.iterations
            for info in result.credential_infos
        }
        found.append(ScramUser(result.user, dict(sorted(mechanisms.items()))))
    return sorted(found)


def set_user(
    cluster: Cluster, name: str, password: str, mechanism: str, iterations: int = ITERATIONS_MIN
) -> None:
    """Make a user, or give it another password.

    Raises:
        ApiError: refused.
        ClientError: there is no such mechanism.
    """
    number = _number(mechanism)
    salt = secrets.token_bytes(_SALT_BYTES)
    upsertion = ScramCredentialUpsertion(
        name=name,
        mechanism=number,
        iterations=iterations,
        salt=salt,
        salted_password=salted_password(mechanism, password, salt, iterations),
    )
    _alter(cluster, name, AlterUserScramCredentialsRequest(upsertions=[upsertion]))


def delete_user(cluster: Cluster, name: str, mechanism: str) -> None:
    """Take a mechanism from a user.

    Raises:
        ApiError: RESOURCE_NOT_FOUND, it has none.
        ClientError: there is no such mechanism.
    """
    deletion = ScramCredentialDeletion(name=name, mechanism=_number(mechanism))
    _alter(cluster, name, AlterUserScramCredentialsRequest(deletions=[deletion]))


def _number(mechanism: str) -> int:
    if mechanism not in MECHANISMS:
        raise ClientError(f"there is no mechanism {mechanism}, only {' and '.join(MECHANISMS)}")
    return MECHANISMS[mechanism][0]


def _alter(cluster: Cluster, name: str, request: AlterUserScramCredentialsRequest) -> None:
    answer = cluster.ask_controller(
        request,
        AlterUserScramCredentialsResponse,
        lambda response: [ErrorCode(result.error_code) for result in response.results],
    )
    for result in answer.results:
        check(result.error_code, result.error_message, f"user {name}", needs="ALTER")
