"""OAUTHBEARER: tokens without a signature, as for tests, and signed ones with all that can be wrong."""

import hmac
import json
import time
from base64 import urlsafe_b64encode

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from kbroker.client.cluster import Cluster
from kbroker.errors import ConfigError
from kbroker.protocol.generated.metadata_request import MetadataRequest
from kbroker.security.oauth import (
    InvalidToken,
    OAuthClient,
    OAuthServer,
    UnsecuredRules,
    unsecured_rules,
    validate_unsecured,
    write_unsecured,
)
from kbroker.security.sasl import LoginFailed
from kbroker.server.jwks import JwksValidator, JwtRules
from kbroker.testing import Broker
from tests.security.certificates import write
from tests.security.logins import Raw

MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
# Tests run some time after they were collected.
NOW = time.time()
HOUR = 3600
FAILED = 58


def claims(**more):
    return {"sub": "alice", "iat": NOW, "exp": NOW + 10 * HOUR, **more}


def unsecured(header=None, **more):
    parts = [header or {"alg": "none"}, claims(**more)]
    return ".".join(urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=").decode() for p in parts) + "."


# -- signed tokens -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def keys():
    return {
        "rsa": RSAKey.generate_key(2048, {"kid": "rsa"}),
        "ec": ECKey.generate_key("P-256", {"kid": "ec"}),
        "oct": OctKey.generate_key(256, {"kid": "oct"}),
    }


def url_of(folder, *keys):
    content = {
        "keys": [key.as_dict(private=False) if key.key_type != "oct" else key.as_dict() for key in keys]
    }
    return "file://" + write(folder, "keys.json", json.dumps(content))


@pytest.fixture
def validator(tmp_path, keys):
    url = url_of(tmp_path, *keys.values())
    return JwksValidator(JwtRules(url=url, audiences=["kafka"], issuer="me", skew_ms=0), [url])


def signed(key, algorithm, kid=None, header=None, **more):
    head = {"alg": algorithm, "kid": kid or key.kid, **(header or {})}
    return jwt.encode(head, claims(**{"aud": "kafka", "iss": "me", **more}), key, algorithms=[algorithm])


def test_signed_tokens(validator, keys):
    bearer = validator.validate(signed(keys["rsa"], "RS256", aud=["x", "kafka"]))
    assert (bearer.name, bearer.ends_ms) == ("alice", int((NOW + 10 * HOUR) * 1000))
    assert validator.validate(signed(keys["ec"], "ES256")).name == "alice"


def refused(validator, token):
    with pytest.raises(InvalidToken) as caught:
        validator.validate(token)
    assert token.split(".")[0] not in str(caught.value)
    return str(caught.value)


def test_what_is_refused(validator, keys):
    """none, HMAC under a public key, unknown keys, changed bytes, other times, issuers and audiences."""
    rsa = keys["rsa"]
    assert "algorithm" in refused(validator, unsecured())
    assert "algorithm" in refused(validator, unsecured({"alg": "none", "kid": "rsa"}) + "x")
    assert "algorithm" in refused(validator, signed(keys["oct"], "HS256"))
    start = ".".join(unsecured({"alg": "HS256", "kid": "rsa"}).split(".")[:2])
    mac = hmac.digest(rsa.as_pem(private=False), start.encode(), "sha256")
    confused = f"{start}.{urlsafe_b64encode(mac).rstrip(b'=').decode()}"
    assert "algorithm" in refused(validator, confused)
    assert "not known" in refused(validator, signed(rsa, "RS256", kid="other"))
    assert "signature" in refused(validator, signed(rsa, "RS256", kid="ec"))
    head, body, signature = signed(rsa, "RS256").split(".")
    other = signed(rsa, "RS256", sub="mallory").split(".")[1]
    assert "signature" in refused(validator, f"{head}.{other}.{signature}")
    assert "signature" in refused(validator, f"{head}.{body}.")
    stranger = RSAKey.generate_key(2048, {"kid": "rsa"})
    assert "signature" in refused(validator, signed(stranger, "RS256"))
    assert "expired" in refused(validator, signed(rsa, "RS256", exp=NOW - 1))
    assert "not valid yet" in refused(validator, signed(rsa, "RS256", nbf=NOW + 5 * HOUR))
    assert "issuer" in refused(validator, signed(rsa, "RS256", iss="you"))
    assert "audience" in refused(validator, signed(rsa, "RS256", aud="y"))
    assert "claim sub" in refused(validator, signed(rsa, "RS256", sub=""))
    for nonsense in ("", "a", "a.b.c", "..", "e30.e30.e30"):
        with pytest.raises(InvalidToken):
            validator.validate(nonsense)


def test_settings_of_claims(tmp_path, keys):
    """sub.claim.name, scope.claim.name, clock.skew.seconds; `iat` as Kafka has it."""
    url, key = url_of(tmp_path, keys["rsa"]), keys["rsa"]
    rules = JwtRules(url=url, name_claim="who", scope_claim="scp", skew_ms=5000)
    validator = JwksValidator(rules, [url])
    for scopes in ("a", ["a", "b"], [], "", 7, None):
        token = signed(key, "RS256", who="ann", scp=scopes)
        if scopes == "":
            assert "scope that is empty" in refused(validator, token)
        else:
            assert validator.validate(token).name == "ann"
    for scopes, says in ((["a", "a"], "twice"), (["a", " "], "empty"), ([1], "empty")):
        assert says in refused(validator, signed(key, "RS256", who="ann", scp=scopes))
    now = time.time()
    assert validator.validate(signed(key, "RS256", who="ann", exp=now - 1)).name == "ann"
    assert validator.validate(signed(key, "RS256", who="ann", nbf=now + 4)).name == "ann"
    assert validator.validate(signed(key, "RS256", who="ann", iat=now + HOUR)).name == "ann"
    assert "expired" in refused(validator, signed(key, "RS256", who="ann", exp=now - 60))
    assert "not valid yet" in refused(validator, signed(key, "RS256", who="ann", nbf=now + 600))
    assert "claim iat" in refused(validator, signed(key, "RS256", who="ann", iat=None))
    assert "claim who" in refused(validator, signed(key, "RS256"))


def test_keys_are_fetched_again(tmp_path, keys):
    """jwks.endpoint.refresh.ms; retry.backoff.ms and .max.ms after failures; an unknown key asks sooner."""
    url, now, read = url_of(tmp_path, keys["rsa"]), [0.0], []
    rules = JwtRules(url=url, refresh_ms=60_000, retry_ms=1000, retry_max_ms=3000)

    class Counted(JwksValidator):
        def _fetch(self):
            read.append(now[0])
            return super()._fetch()

    validator = Counted(rules, [url], clock_s=lambda: now[0])

    def take(seconds, key="rsa"):
        now[0] = seconds
        try:
            return validator.validate(signed(keys[key], "RS256" if key == "rsa" else "ES256")).name
        except InvalidToken:
            return None

    assert [take(0), take(9, "ec"), take(59)] == ["alice", None, "alice"]
    url_of(tmp_path, *keys.values())
    # The file says more now: whoever shows a new key lets it be read.
    assert take(10, "ec") == "alice"
    assert read == [0, 10]
    (tmp_path / "keys.json").write_text("nonsense")
    # Too old, and not to be read: the keys that there were do, and it is tried again after 1, 2, 3, 3 s.
    assert {take(10 + 60 + step / 4) for step in range(40)} == {"alice"}
    assert read[2:] == [70, 71, 73, 76, 79]
    url_of(tmp_path, keys["ec"])
    assert take(82) is None
    assert take(82, "ec") == "alice"


def test_only_allowed_urls_are_asked(tmp_path, keys):
    """CVE-2025-27817: nothing is read that nobody has allowed."""
    url = url_of(tmp_path, keys["rsa"])
    for other in (url, "file:///etc/passwd", "gopher://x", "http://169.254.169.254/latest"):
        with pytest.raises(ConfigError):
            JwksValidator(JwtRules(url=other), [])


# -- the exchange --------------------------------------------------------------------------------------------


def server():
    return OAuthServer(
        lambda token: validate_unsecured(token, UnsecuredRules(), int(NOW * 1000) + 1), {"scope": "s"}
    )


def test_an_exchange():
    side, client = server(), OAuthClient(unsecured, {"traceId": "1"})
    answer = side.step(client.step(None))()
    assert (answer, client.done, client.step(answer), client.done) == (b"", False, b"", True)
    assert side.login == ("User:alice", False, int((NOW + 10 * HOUR) * 1000))


def test_a_refusal_is_told_in_json_then_closed():
    side, client = server(), OAuthClient(lambda: unsecured(exp=NOW - 1))
    told = side.step(client.step(None))()
    assert json.loads(told) == {"status": "invalid_token", "scope": "s"}
    with pytest.raises(LoginFailed) as caught:
        side.step(client.step(told))
    assert caught.value.told == told.decode()


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"n,,\x01auth=Bearer \x01\x01",
        b"n,,\x01auth=Basic abc\x01\x01",
        b"y,,\x01auth=Bearer abc\x01\x01",
        b"n,,\x01auth=Bearer abc\x01auth=x\x01\x01",
        b"n,,\x01auth=Bearer abc\x01a1=x\x01\x01",
        b"n,,\x01auth=Bearer abc",
    ],
)
def test_malformed_messages(message):
    with pytest.raises(LoginFailed):
        server().step(message)


def test_nobody_logs_in_as_somebody_else():
    token = unsecured()
    work = server().step(b"n,a=bob,\x01auth=Bearer " + token.encode() + b"\x01\x01")
    with pytest.raises(LoginFailed):
        work()


def test_rules_of_unsecured_tokens():
    options = {
        "unsecuredValidatorPrincipalClaimName": "who",
        "unsecuredValidatorRequiredScope": "a b",
        "unsecuredValidatorAllowableClockSkewMs": "1000",
    }
    rules, now = unsecured_rules(options), int(NOW * 1000) + 1
    assert validate_unsecured(unsecured(who="x", scope="b a c", exp=NOW - 0.5), rules, now).name == "x"
    for more in ({"scope": "a"}, {"scope": ["a", "b"], "who": 1}, {"who": "x"}):
        with pytest.raises(InvalidToken):
            validate_unsecured(unsecured(**more), rules, now)
    with pytest.raises(InvalidToken):
        validate_unsecured(unsecured() + "signature", UnsecuredRules(), now)


def test_tokens_that_we_write():
    options = {"unsecuredLoginStringClaim_sub": "admin", "unsecuredLoginListClaim_scope": "|a|b"}
    token = write_unsecured(options, int(NOW * 1000) + 1)
    rules = UnsecuredRules(required_scope=("a", "b"))
    assert validate_unsecured(token, rules, int(NOW * 1000) + 1).name == "admin"
    with pytest.raises(ConfigError):
        write_unsecured({}, 0)


# -- clients -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def brokers(tmp_path_factory, keys):
    url = url_of(tmp_path_factory.mktemp("jwks"), keys["rsa"])
    prefix = "listener.name.signed.oauthbearer."
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,TESTS://127.0.0.1:0,SIGNED://127.0.0.1:0",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,TESTS:SASL_PLAINTEXT,SIGNED:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "kbroker.oauthbearer.allowed.urls": url,
        f"{prefix}sasl.oauthbearer.jwks.endpoint.url": url,
        f"{prefix}sasl.oauthbearer.expected.audience": "kafka",
        f"{prefix}sasl.oauthbearer.expected.issuer": "me",
        "connection.failed.authentication.delay.ms": "1",
    }
    with Broker(config=config) as broker:
        yield broker


def test_a_listener_for_signed_tokens(brokers, keys):
    for token, code in ((signed(keys["rsa"], "RS256"), 0), (unsecured(), FAILED)):
        with Raw(brokers.ports["SIGNED"]) as raw:
            raw.handshake("OAUTHBEARER")
            client = OAuthClient(token.__str__)
            answer = raw.token(client.step(None))
            if code:
                assert (answer.error_code, answer.auth_bytes) == (0, b'{"status":"invalid_token"}')
                answer = raw.token(client.step(answer.auth_bytes))
                assert answer.error_message == '{"status":"invalid_token"}'
            else:
                assert 0 < answer.session_lifetime_ms <= 10 * HOUR * 1000
                assert raw.ask(MetadataRequest(topics=[]), 9).brokers
            assert answer.error_code == code


def test_our_own_client(brokers):
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f'{MODULE} required unsecuredLoginStringClaim_sub="alice";',
    }
    with Cluster(f"127.0.0.1:{brokers.ports['TESTS']}", settings=settings) as cluster:
        assert cluster.brokers()


@pytest.mark.parametrize("lacking", ["expected.issuer", "expected.audience", "jwt.validator.class"])
def test_checks_are_not_left_out_by_accident(lacking, tmp_path, keys):
    url = url_of(tmp_path, keys["rsa"])
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "kbroker.oauthbearer.allowed.urls": url,
        "sasl.oauthbearer.jwks.endpoint.url": url,
        "sasl.oauthbearer.expected.audience": "kafka",
        "sasl.oauthbearer.expected.issuer": "me",
    }
    if config.pop(f"sasl.oauthbearer.{lacking}", None) is None:
        config[f"sasl.oauthbearer.{lacking}"] = "org.example.MoreChecks"
    with pytest.raises(ConfigError, match=lacking):
        Broker(config=config).start()
