"""Decisions on delegation tokens (KIP-48, KIP-373): made, renewed, expired, removed when their time is over.

A token is an id and the HMAC of it under a secret that all nodes share; the HMAC is the password, and is kept
nowhere.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Any, NamedTuple

from kbroker.controller.decision import MAX_RECORDS_PER_REQUEST, Decision
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import ClusterImage
from kbroker.plain import plain
from kbroker.protocol.generated.delegation_token_record import DelegationTokenRecord
from kbroker.protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord

_LONG_MAX = 2**63 - 1


class TokenRules(NamedTuple):
    """delegation.token.max.lifetime.ms, .expiry.time.ms, and the secret."""

    lifetime_ms_max: int
    expiry_ms: int
    secret: bytes

    def mac(self, token_id: str) -> bytes:
        """The HMAC of a token."""
        return hmac.digest(self.secret, token_id.encode(), hashlib.sha512)


@plain(frozen=True)
class Token:
    """A token, and its HMAC."""

    record: Any
    mac: bytes


def create_token(
    image: ClusterImage,
    rules: TokenRules,
    now_ms: int,
    token_id: str,
    *,
    owner: str,
    requester: str,
    renewers: Sequence[str],
    lifetime_ms: int,
) -> Decision[Token]:
    """A new token; without a lifetime of its own it gets the longest."""
    longest = rules.lifetime_ms_max if lifetime_ms <= 0 else min(lifetime_ms, rules.lifetime_ms_max)
    last_ms = now_ms + longest
    record = DelegationTokenRecord(
        owner=owner,
        requester=requester,
        renewers=list(renewers),
        issue_timestamp=now_ms,
        max_timestamp=last_ms,
        expiration_timestamp=min(last_ms, now_ms + rules.expiry_ms),
        token_id=token_id,
    )
    return Decision(Token(record, rules.mac(token_id)), [record])


def renew_token(
    image: ClusterImage, rules: TokenRules, now_ms: int, mac: bytes, asker: str, period_ms: int
) -> Decision[int]:
    """Give a token more time, within its lifetime; when it ends now.

    Raises:
        ApiError: DELEGATION_TOKEN_NOT_FOUND, _EXPIRED, or _OWNER_MISMATCH.
    """
    record = _own_token(image, rules, now_ms, mac, asker)
    period = rules.expiry_ms if period_ms <= 0 else period_ms
    ends_ms = min(record.max_timestamp, now_ms + period)
    return Decision(ends_ms, [_changed(record, ends_ms)])


def expire_token(
    image: ClusterImage, rules: TokenRules, now_ms: int, mac: bytes, asker: str, period_ms: int
) -> Decision[int]:
    """Let a token end sooner, or now with a negative period; when it ends.

    Raises:
        ApiError: DELEGATION_TOKEN_NOT_FOUND, _EXPIRED, or _OWNER_MISMATCH.
    """
    if period_ms < 0:
        record = _own_token(image, rules, None, mac, asker)
        return Decision(now_ms, [RemoveDelegationTokenRecord(token_id=record.token_id)])
    record = _own_token(image, rules, now_ms, mac, asker)
    ends_ms = min(record.max_timestamp, now_ms + period_ms)
    return Decision(ends_ms, [_changed(record, ends_ms)])


def remove_expired(image: ClusterImage, now_ms: int) -> Decision[int]:
    """Forget the tokens whose time is over; how many."""
    over = [token_id for token_id, record in image.tokens.items() if record.expiration_timestamp < now_ms]
    over = over[:MAX_RECORDS_PER_REQUEST]
    return Decision(
        len(over), [RemoveDelegationTokenRecord(token_id=token_id) for token_id in over], atomic=False
    )


def _own_token(image: ClusterImage, rules: TokenRules, now_ms: int | None, mac: bytes, asker: str) -> Any:
    """The token with that HMAC, which the asker owns or may renew; `now_ms`: and that has not ended."""
    found = None
    for token_id, record in image.tokens.items():
        if hmac.compare_digest(rules.mac(token_id), mac):
            found = record
    if found is None:
        raise ApiError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
    if now_ms is not None and found.expiration_timestamp < now_ms:
        raise ApiError(ErrorCode.DELEGATION_TOKEN_EXPIRED)
    if asker != found.owner and asker not in found.renewers:
        raise ApiError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
    return found


def _changed(record: Any, ends_ms: int) -> DelegationTokenRecord:
    return DelegationTokenRecord(
        owner=record.owner,
        requester=record.requester,
        renewers=list(record.renewers),
        issue_timestamp=record.issue_timestamp,
        max_timestamp=record.max_timestamp,
        expiration_timestamp=ends_ms,
        token_id=record.token_id,
    )
