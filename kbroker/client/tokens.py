"""Delegation tokens of a cluster (KIP-48, KIP-373), also of Apache Kafka's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check
from kbroker.errors import ErrorCode, default_message
from kbroker.protocol.generated.create_delegation_token_request import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kbroker.protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kbroker.protocol.generated.describe_delegation_token_request import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from kbroker.protocol.generated.describe_delegation_token_response import DescribeDelegationTokenResponse
from kbroker.protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kbroker.protocol.generated.expire_delegation_token_response import ExpireDelegationTokenResponse
from kbroker.protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kbroker.protocol.generated.renew_delegation_token_response import RenewDelegationTokenResponse


class Token(NamedTuple):
    """A token.

    Attributes:
        hmac: its password: base64 of it logs the owner in.
        expiry_ms, max_ms: until when it logs in, and until when it can be renewed; wall clock.
    """

    id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_ms: int
    expiry_ms: int
    max_ms: int
    hmac: bytes


def create_token(
    cluster: Cluster, renewers: Sequence[str] = (), lifetime_ms: int = -1, owner: str | None = None
) -> Token:
    """Make one.

    Args:
        renewers: principals, `User:name`, who may renew it besides the owner.
        lifetime_ms: -1: as long as the cluster allows.
        owner: a principal; None: who asks.

    Raises:
        ApiError: refused.
    """
    kind, name = _split(owner) if owner is not None else ("", "")
    request = CreateDelegationTokenRequest(
        owner_principal_type=kind,
        owner_principal_name=name,
        renewers=[
            CreatableRenewers(principal_type=kind, principal_name=name)
            for kind, name in map(_split, renewers)
        ],
        max_lifetime_ms=lifetime_ms,
    )
    made = cluster.ask(request, CreateDelegationTokenResponse)
    why = None
    if owner is not None and made.error_code == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED:
        text = default_message(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED).rstrip(".")
        why = f'{text}: it needs CREATE_TOKENS permission on User "{kind}:{name}"'
    check(made.error_code, why, "token")
    return Token(
        made.token_id,
        f"{made.principal_type}:{made.principal_name}",
        _joined(made.token_requester_principal_type, made.token_requester_principal_name),
        tuple(renewers),
        made.issue_timestamp_ms,
        made.expiry_timestamp_ms,
        made.max_timestamp_ms,
        bytes(made.hmac),
    )


def list_tokens(cluster: Cluster, owners: Sequence[str] = ()) -> list[Token]:
    """Tokens that the asker may see; of all owners if none is named.

    Raises:
        ApiError: refused.
    """
    named = [
        DescribeDelegationTokenOwner(principal_type=kind, principal_name=name)
        for kind, name in map(_split, owners)
    ]
    answer = cluster.ask(
        DescribeDelegationTokenRequest(owners=named or None), DescribeDelegationTokenResponse
    )
    check(answer.error_code, what="token")
    return [
        Token(
            each.token_id,
            f"{each.principal_type}:{each.principal_name}",
            _joined(each.token_requester_principal_type, each.token_requester_principal_name),
            tuple(f"{one.principal_type}:{one.principal_name}" for one in each.renewers),
            each.issue_timestamp,
            each.expiry_timestamp,
            each.max_timestamp,
            bytes(each.hmac),
        )
        for each in answer.tokens
    ]


def renew_token(cluster: Cluster, hmac: bytes, period_ms: int = -1) -> int:
    """Let it log in for longer; until when. -1: for the cluster's usual time.

    Raises:
        ApiError: refused.
    """
    answer = cluster.ask(
        RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period_ms), RenewDelegationTokenResponse
    )
    check(answer.error_code, what="token")
    return answer.expiry_timestamp_ms


def expire_token(cluster: Cluster, hmac: bytes, after_ms: int = -1) -> int:
    """End it after a time; -1: at once.

    Raises:
        ApiError: refused.
    """
    answer = cluster.ask(
        ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=after_ms), ExpireDelegationTokenResponse
    )
    check(answer.error_code, what="token")
    return answer.expiry_timestamp_ms


def _split(principal: str) -> tuple[str, str]:
    kind, colon, name = principal.partition(":")
    return (kind, name) if colon else ("User", principal)


def _joined(kind: str, name: str) -> str:
    return f"{kind}:{name}" if name else ""
