from __future__ import annotations

import pytest

from kbroker.controller.scram import alter_credentials
from kbroker.errors import ErrorCode
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)

SHA_256, SHA_512 = 1, 2


def user(name="u", mechanism=SHA_512, iterations=8192, password=b"p" * 64):
    return ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=b"s", salted_password=password
    )


def altered(image, *upsertions, delete=()):
    deletions = [ScramCredentialDeletion(name=name, mechanism=mechanism) for name, mechanism in delete]
    request = AlterUserScramCredentialsRequest(deletions=deletions, upsertions=list(upsertions))
    decision = alter_credentials(image, request)
    return image.apply(decision.records), [(each.user, each.error_code) for each in decision.response]


def test_made_and_deleted():
    image, told = altered(ClusterImage("c"), user(), user("v", SHA_256))
    assert told == [("u", 0), ("v", 0)]
    assert set(image.scram) == {("u", SHA_512), ("v", SHA_256)}
    image, told = altered(image, delete=[("u", SHA_512), ("v", SHA_512)])
    assert told == [("u", 0), ("v", ErrorCode.RESOURCE_NOT_FOUND)]
    assert set(image.scram) == {("v", SHA_256)}


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"name": ""}, ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ({"mechanism": 0}, ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ({"iterations": 4095}, ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ({"iterations": 16385}, ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ({"password": b""}, ErrorCode.UNACCEPTABLE_CREDENTIAL),
    ],
)
def test_what_is_refused_changes_nothing(wrong, code):
    image, told = altered(ClusterImage("c"), user(**wrong), user("other"))
    assert told == [(wrong.get("name", "u"), code), ("other", 0)]
    assert set(image.scram) == {("other", SHA_512)}


def test_a_user_is_changed_once_and_the_first_problem_counts():
    before, _ = altered(ClusterImage("c"), user(), user("v"))
    image, told = altered(
        before, user(mechanism=SHA_256), user("v"), user("v"), delete=[("u", SHA_512), ("x", SHA_512)]
    )
    twice = ErrorCode.DUPLICATE_RESOURCE
    assert told == [("u", twice), ("x", ErrorCode.RESOURCE_NOT_FOUND), ("v", twice)]
    assert image.scram == before.scram
