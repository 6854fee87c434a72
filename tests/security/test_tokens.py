"""Delegation tokens (KIP-48, KIP-373), as Apache Kafka 4.4 answers."""

from base64 import b64encode

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.users import set_user
from kbroker.controller.delegation_tokens import TokenRules, create_token, remove_expired, renew_token
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.delta import full_delta
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.snapshot import image_records
from kbroker.protocol.generated.create_delegation_token_request import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kbroker.protocol.generated.describe_delegation_token_request import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from kbroker.protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kbroker.protocol.generated.metadata_request import MetadataRequest
from kbroker.protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kbroker.testing import Broker
from tests.security.logins import USERS, Raw

DISABLED, NOT_FOUND, NOT_OWNER, NOT_ALLOWED, EXPIRED, BAD_KIND, FAILED = 61, 62, 63, 64, 66, 67, 58
RULES = TokenRules(1000, 100, b"secret")


@pytest.fixture(scope="module")
def broker():
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
        "delegation.token.secret.key": "shared",
        "connection.failed.authentication.delay.ms": "1",
    }
    with Broker(config=config) as broker, Cluster(broker.bootstrap) as cluster:
        set_user(cluster, "alice", "alice-secret", "SCRAM-SHA-256")
        yield broker


@pytest.fixture
def alice(broker):
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        assert raw.plain("alice", "alice-secret").error_code == 0
        yield raw


def create(raw, version=3, **what):
    return raw.ask(CreateDelegationTokenRequest(**{"max_lifetime_ms": -1, **what}), version)


def log_in(raw, token):
    return raw.scram(token.token_id, b64encode(token.hmac).decode(), extensions={"tokenauth": "true"})


def described(raw, owners=None):
    answer = raw.ask(DescribeDelegationTokenRequest(owners=owners), 3)
    return [token.token_id for token in answer.tokens]


def test_a_token_logs_in_and_makes_no_others(broker, alice):
    token = create(alice)
    assert (token.error_code, token.principal_name) == (0, "alice")
    assert token.expiry_timestamp_ms - token.issue_timestamp_ms == 86_400_000
    assert token.max_timestamp_ms - token.issue_timestamp_ms == 604_800_000
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        answer = log_in(raw, token)
        assert answer.error_code == 0
        assert 0 < answer.session_lifetime_ms <= 86_400_000
        assert raw.ask(MetadataRequest(topics=[]), 9).brokers
        assert create(raw).error_code == NOT_ALLOWED
        assert raw.ask(DescribeDelegationTokenRequest(owners=None), 3).error_code == NOT_ALLOWED
    # It is no user.
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        assert raw.scram(token.token_id, b64encode(token.hmac).decode()).error_code == FAILED


def test_an_expired_token_logs_nobody_in(broker, alice):
    token = create(alice)
    answer = alice.ask(ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=0), 2)
    assert answer.error_code == 0
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        assert log_in(raw, token).error_code == FAILED
    answer = alice.ask(ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1), 2)
    assert answer.error_code == 0
    answer = alice.ask(RenewDelegationTokenRequest(hmac=token.hmac, renew_period_ms=-1), 2)
    assert answer.error_code == NOT_FOUND


def test_nobody_unknown_has_tokens(broker):
    with Raw(broker.ports["PLAINTEXT"]) as raw:
        answer = create(raw)
        assert (answer.error_code, answer.expiry_timestamp_ms) == (NOT_ALLOWED, -1)
        assert raw.ask(RenewDelegationTokenRequest(hmac=b"x"), 2).expiry_timestamp_ms == -1


def test_renewers_and_owners(broker, alice):
    renewer = CreatableRenewers(principal_type="User", principal_name="bob")
    shared, own = create(alice, renewers=[renewer]), create(alice)
    other = CreatableRenewers(principal_type="Group", principal_name="bob")
    assert create(alice, renewers=[other]).error_code == BAD_KIND
    for_bob = create(alice, owner_principal_type="User", owner_principal_name="bob")
    assert (for_bob.principal_name, for_bob.token_requester_principal_name) == ("bob", "alice")
    with Raw(broker.ports["SASL_PLAINTEXT"]) as bob:
        bob.plain("bob", "bob-secret")
        for token, code in ((shared, 0), (own, NOT_OWNER), (for_bob, 0)):
            assert bob.ask(RenewDelegationTokenRequest(hmac=token.hmac), 2).error_code == code
        mine = [DescribeDelegationTokenOwner(principal_type="User", principal_name="bob")]
        assert sorted(described(bob, mine)) == sorted([for_bob.token_id, shared.token_id])
        assert described(bob, []) == []
        assert {shared.token_id, for_bob.token_id} <= set(described(bob))


def test_who_asked_for_a_token_of_another_may_not_change_it(alice):
    token = create(alice, owner_principal_type="User", owner_principal_name="bob")
    for request in (
        RenewDelegationTokenRequest(hmac=token.hmac, renew_period_ms=-1),
        ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1),
    ):
        answer = alice.ask(request, 2)
        assert (answer.error_code, answer.expiry_timestamp_ms) == (NOT_OWNER, 0)


def test_an_owner_without_a_kind_is_refused(alice):
    answer = create(alice, owner_principal_type=None, owner_principal_name="bob")
    assert (answer.error_code, answer.principal_name) == (BAD_KIND, "alice")


def test_tokens_survive_a_restart(broker, alice):
    token = create(alice)
    broker.restart()
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        assert log_in(raw, token).error_code == 0


def test_without_a_secret_there_are_no_tokens():
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
    }
    with Broker(config=config) as broker:
        with Raw(broker.ports["PLAINTEXT"]) as raw:
            assert raw.ask(RenewDelegationTokenRequest(hmac=b"x"), 2).error_code == NOT_ALLOWED
        with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
            raw.plain("alice", "alice-secret")
            for request in (RenewDelegationTokenRequest(hmac=b"x"), ExpireDelegationTokenRequest(hmac=b"x")):
                answer = raw.ask(request, 2)
                assert (answer.error_code, answer.expiry_timestamp_ms) == (DISABLED, 0)
            assert raw.ask(DescribeDelegationTokenRequest(owners=None), 3).error_code == DISABLED
            answer = create(raw)
            assert (answer.error_code, answer.principal_name, answer.issue_timestamp_ms) == (
                DISABLED,
                "alice",
                0,
            )
            other = CreatableRenewers(principal_type="Group", principal_name="bob")
            assert create(raw, renewers=[other]).error_code == BAD_KIND


def made(now_ms=0, lifetime_ms=-1):
    image = ClusterImage("c")
    decision = create_token(
        image, RULES, now_ms, "id", owner="User:a", requester="User:a", renewers=[], lifetime_ms=lifetime_ms
    )
    return image.apply(decision.records), decision.response


def test_times_of_a_token():
    image, token = made(lifetime_ms=150)
    assert (token.record.expiration_timestamp, token.record.max_timestamp) == (100, 150)
    assert renew_token(image, RULES, 20, token.mac, "User:a", 30).response == 50
    assert renew_token(image, RULES, 90, token.mac, "User:a", -1).response == 150
    with pytest.raises(ApiError) as caught:
        renew_token(image, RULES, 101, token.mac, "User:a", -1)
    assert caught.value.code is ErrorCode.DELEGATION_TOKEN_EXPIRED
    with pytest.raises(ApiError) as caught:
        renew_token(image, RULES, 1, token.mac[:-1] + b"x", "User:a", -1)
    assert caught.value.code is ErrorCode.DELEGATION_TOKEN_NOT_FOUND


def test_tokens_whose_time_is_over_are_removed():
    image, _ = made()
    assert remove_expired(image, 100).response == 0
    decision = remove_expired(image, 101)
    assert decision.response == 1
    assert not image.apply(decision.records).tokens


def test_snapshots_hold_tokens():
    image, _ = made()
    copy = ClusterImage("c").apply(list(image_records(image)))
    assert copy.tokens == image.tokens
    assert full_delta(image).tokens_changed
