"""Signed assertions in place of a secret: the grant itself (KIP-1139), or beside a client's id (KIP-1258)."""

import json

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from kbroker.errors import ConfigError
from kbroker.security.sasl import LoginFailed
from kbroker.security.token_assertion import PREFIX, assertions
from kbroker.security.token_endpoint import token_endpoint
from tests.security.certificates import write
from tests.security.test_token_endpoint import CLIENT, URL, fetched, provider  # noqa: F401

RSA, EC = RSAKey.generate_key(2048), ECKey.generate_key("P-256")
RETRIEVER = "sasl.oauthbearer.jwt.retriever.class"
PACKAGE = "org.apache.kafka.common.security.oauthbearer."


def make(settings, now_ms=1_000_000):
    settings = {PREFIX + name: value for name, value in settings.items()}
    return assertions(lambda name: settings.get(name, ""), lambda: "an id", "the test")(now_ms)


def key_file(folder, key, name="key.pem", password=None):
    return write(folder, name, key.as_pem(private=True, password=password))


def test_what_is_signed(tmp_path):
    """Settings, over them the template, over that what is made here."""
    template = {"header": {"kid": "1", "alg": "none"}, "payload": {"iss": "template", "exp": 1, "role": "x"}}
    settings = {
        "private.key.file": key_file(tmp_path, RSA),
        "claim.iss": "me",
        "claim.sub": "kbroker",
        "claim.aud": "idp",
        "claim.jti.include": "true",
        "claim.exp.seconds": "10",
        "claim.nbf.seconds": "5",
        "template.file": write(tmp_path, "template", json.dumps(template)),
    }
    found = jwt.decode(make(settings), RSA)
    assert found.header == {"kid": "1", "alg": "RS256", "typ": "JWT"}
    assert found.claims == {
        "iss": "template",
        "sub": "kbroker",
        "aud": "idp",
        "role": "x",
        "iat": 1000,
        "exp": 1010,
        "nbf": 995,
        "jti": "an id",
    }


def test_other_keys(tmp_path):
    """ES256; a key with a passphrase; what lies ready in a file goes before all."""
    signed = make({"private.key.file": key_file(tmp_path, EC), "algorithm": "es256"})
    assert jwt.decode(signed, EC).claims == {"iat": 1000, "exp": 1300, "nbf": 940}
    locked = {"private.key.file": key_file(tmp_path, RSA, "locked.pem", "a secret")}
    assert jwt.decode(make({**locked, "private.key.passphrase": "a secret"}), RSA).header["alg"] == "RS256"
    assert make({**locked, "file": write(tmp_path, "ready", " a.b.c\n")}) == "a.b.c"
    for changed in ({}, {"private.key.passphrase": "wrong one"}):
        with pytest.raises(ConfigError, match="passphrase") as refused:
            make(locked | changed)
        assert "wrong one" not in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"private.key.file": ""}, "private.key.file"),
        ({"private.key.file": "/nowhere"}, "FileNotFoundError"),
        ({"algorithm": "ES256"}, "none of ES256"),
        ({"algorithm": "HS256"}, "RS256 or ES256"),
        ({"claim.exp.seconds": "86401"}, "exp.seconds"),
        ({"claim.nbf.seconds": "-1"}, "nbf.seconds"),
        ({"template": "[]"}, "template"),
        ({"template": '{"payload": 1}'}, "template"),
    ],
)
def test_settings_that_do_not_do(tmp_path, changed, says):
    settings = {"private.key.file": key_file(tmp_path, RSA), **changed}
    if "template" in settings:
        settings["template.file"] = write(tmp_path, "template", settings.pop("template"))
    with pytest.raises(ConfigError, match=says):
        make(settings)


def test_an_assertion_as_the_grant(provider, tmp_path):  # noqa: F811
    provider.signer = RSA
    settings = {
        URL: provider.url,
        RETRIEVER: f"{PACKAGE}JwtBearerJwtRetriever",
        "sasl.oauthbearer.scope": "a b",
        PREFIX + "private.key.file": key_file(tmp_path, RSA),
        PREFIX + "claim.sub": "node",
    }
    assert fetched(settings).text.count(".") == 2
    ((authorization, form),) = provider.asked
    assert authorization is None
    assert form.pop("assertion")
    assert form == {"grant_type": ["urn:ietf:params:oauth:grant-type:jwt-bearer"], "scope": ["a b"]}
    provider.signer = EC
    with pytest.raises(LoginFailed, match="status 401"):
        fetched(settings)


@pytest.mark.parametrize("way", ["", "ClientCredentialsJwtRetriever"])
def test_an_assertion_in_place_of_a_secret(provider, tmp_path, way):  # noqa: F811
    provider.signer = RSA
    settings = {
        **provider.settings(),
        RETRIEVER: way and PACKAGE + way,
        PREFIX + "private.key.file": key_file(tmp_path, RSA),
        PREFIX + "claim.iss": "node",
    }
    assert fetched(settings).text.count(".") == 2
    ((authorization, form),) = provider.asked
    assert authorization is None
    assert form.pop("client_assertion")
    assert form == {
        "grant_type": ["client_credentials"],
        "client_id": ["node"],
        "client_assertion_type": ["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"],
    }
    # Without an issuer, and no file, it is the secret that counts, as in Kafka.
    del settings[PREFIX + "claim.iss"]
    fetched(settings)
    assert provider.asked[-1][0].startswith("Basic ")


def test_ways_that_do_not_fit(tmp_path):
    for settings, says in (
        ({URL: "http://x", RETRIEVER: "org.example.Mine"}, "none of Kafka's own"),
        ({URL: "http://x", RETRIEVER: f"{PACKAGE}FileJwtRetriever"}, "URL of file"),
        ({URL: "file:///x", RETRIEVER: f"{PACKAGE}JwtBearerJwtRetriever"}, "URL of https or http"),
        ({URL: "http://x", CLIENT + "id": "node", PREFIX + "claim.iss": "node"}, "private.key.file"),
    ):
        with pytest.raises(ConfigError, match=says):
            token_endpoint({}, lambda name, found=settings: found.get(name, ""), "the test", None)
