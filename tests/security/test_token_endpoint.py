"""Tokens from an identity provider: kept, renewed, refused; between nodes, and for our own client."""

import json
import ssl
import threading
import time
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from kbroker.client.cluster import Cluster as Client
from kbroker.client.errors import NotTrusted
from kbroker.config.broker_config import BrokerConfig
from kbroker.errors import ConfigError
from kbroker.security.sasl import LoginFailed
from kbroker.security.token_endpoint import token_endpoint
from kbroker.security.token_keeper import Token
from kbroker.server.peer_security import Patience, PeerSecurity
from kbroker.testing import Cluster
from tests.security.certificates import Authority, write
from tests.security.test_oauth import MODULE, url_of

KEY, OTHER_KEY = (RSAKey.generate_key(2048, {"kid": "k"}) for _ in range(2))
URL = "sasl.oauthbearer.token.endpoint.url"
CLIENT = "sasl.oauthbearer.client.credentials.client."


class Provider(ThreadingHTTPServer):
    """Gives signed tokens to who knows the secret; `failures` before, `answer` in their place, if set."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.key = KEY
        #: Whose assertions count.
        self.signer = None
        self.url = f"http://127.0.0.1:{self.server_port}/token"
        self.asked, self.answer, self.lifetime_s = [], None, 600
        self.failures = []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def token(self, name):
        now = time.time()
        claims = {"sub": name, "aud": "kafka", "iss": "me", "iat": now, "exp": now + self.lifetime_s}
        return jwt.encode({"alg": "RS256", "kid": "k"}, claims, self.key)

    def settings(self, **more):
        return {URL: self.url, f"{CLIENT}id": "node", f"{CLIENT}secret": "s3cret&", **more}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.asked.append((self.headers["Authorization"], form))
        failure = self.server.failures.pop(0) if self.server.failures else None
        status, headers, body = failure or self.server.answer or self._token(form)
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _token(self, form):
        shown = form.get("assertion") or form.get("client_assertion")
        if shown and self.headers["Authorization"] is None:
            try:
                jwt.decode(shown[0], self.server.signer)
            except JoseError:
                return 401, {}, b"{}"
        elif self.headers["Authorization"] != f"Basic {b64encode(b'node:s3cret&').decode()}":
            return 401, {}, b"{}"
        return 200, {}, json.dumps({"access_token": self.server.token("node"), "expires_in": 600}).encode()

    def log_message(self, *_):
        pass


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider
        provider.shutdown()


def fetched(settings, options=None, allowed=None):
    return token_endpoint(options or {}, lambda name: settings.get(name, ""), "the test", allowed)(0)


def test_credentials_of_a_client(provider):
    """By Kafka's settings of 4.1, and by the options of the login module before them."""
    before = {"clientId": "node", "clientSecret": "s3cret&", "scope": "a b"}
    by_settings = fetched(provider.settings())
    by_options = fetched({URL: provider.url}, before)
    assert by_settings.text.count(".") == by_options.text.count(".") == 2
    assert by_settings.ends_ms == pytest.approx(time.time() * 1000 + 600_000, abs=60_000)
    assert [form for _, form in provider.asked] == [
        {"grant_type": ["client_credentials"]},
        {"grant_type": ["client_credentials"], "scope": ["a b"]},
    ]
    with pytest.raises(LoginFailed, match="status 401"):
        fetched(provider.settings(**{"sasl.oauthbearer.header.urlencode": "true"}))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((500, {}, b"{}"), "status 500"),
        ((200, {}, b"[1]"), "access_token"),
        ((200, {}, b"nonsense"), "JSON"),
        ((200, {}, b'{"access_token": 1}'), "access_token"),
        ((200, {}, b'{"access_token": "a\\u0001b"}'), "none"),
        ((200, {}, b'{"access_token": "' + b"x" * 400_000 + b'"}'), "JSON"),
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), "status 302"),
    ],
)
def test_answers_that_are_no_tokens(provider, answer, says):
    provider.answer = answer
    with pytest.raises(LoginFailed, match=says) as refused:
        fetched(provider.settings())
    assert "s3cret" not in str(refused.value)
    assert len(provider.asked) == 1


def test_a_token_that_says_nothing_of_its_end(provider):
    provider.answer = (200, {}, b'{"access_token": "opaque", "expires_in": 7}')
    assert fetched(provider.settings()) == Token("opaque", 7000)
    provider.answer = (200, {}, b'{"id_token": "a.b.c"}')
    assert fetched(provider.settings()) == Token("a.b.c", None)


def test_nobody_answers(provider):
    provider.shutdown()
    provider.server_close()
    with pytest.raises(LoginFailed, match="refused"):
        fetched(provider.settings())


def test_a_provider_shows_a_certificate(provider, tmp_path):
    """That of an authority that the login module's options name; no other gets the secret."""
    authority = Authority()
    node = authority.sign("node")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(write(tmp_path, "node.pem", node.key_pem() + node.pem))
    provider.socket = context.wrap_socket(provider.socket, server_side=True)
    settings = provider.settings(**{URL: provider.url.replace("http://127.0.0.1", "https://localhost")})
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": write(tmp_path, "ca", authority.pem)}
    assert fetched(settings, trust).ends_ms
    for options in ({}, trust | {"ssl.truststore.location": write(tmp_path, "other", Authority("x").pem)}):
        with pytest.raises(LoginFailed, match="verify failed"):
            fetched(settings, options)
    assert len(provider.asked) == 1


def test_a_file_that_others_renew(tmp_path):
    url = "file://" + write(tmp_path, "token", "opaque\n")
    assert fetched({URL: url}) == Token("opaque", None)
    with pytest.raises(LoginFailed, match="FileNotFoundError"):
        fetched({URL: "file:///nowhere"})


def test_settings_that_do_not_do(provider):
    for settings, allowed, says in (
        (provider.settings(), ["http://other"], "allowed"),
        ({URL: "gopher://x"}, None, "https"),
        ({URL: provider.url}, None, "client.id"),
    ):
        with pytest.raises(ConfigError, match=says):
            fetched(settings, allowed=allowed)


def test_nodes_and_our_client_by_tokens(provider, tmp_path):
    """Brokers and controllers log in to each other with tokens of an endpoint, and again when these end.

    Nodes get them by an assertion (KIP-1139), our client by a secret. At first the provider cannot.
    """
    keys = url_of(tmp_path, provider.key)
    provider.lifetime_s, provider.signer = 2, KEY
    provider.failures = [(503, {}, b"{}")] * 2
    config = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
        "security.inter.broker.protocol": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.mechanism.inter.broker.protocol": "OAUTHBEARER",
        "sasl.mechanism.controller.protocol": "OAUTHBEARER",
        "sasl.jaas.config": f"{MODULE} required;",
        "sasl.oauthbearer.jwks.endpoint.url": keys,
        "sasl.oauthbearer.expected.audience": "kafka",
        "sasl.oauthbearer.expected.issuer": "me",
        "kbroker.oauthbearer.allowed.urls": f"{keys},{provider.url}",
        URL: provider.url,
        "sasl.oauthbearer.jwt.retriever.class": (
            "org.apache.kafka.common.security.oauthbearer.JwtBearerJwtRetriever"
        ),
        "sasl.oauthbearer.assertion.private.key.file": write(tmp_path, "own.key", KEY.as_pem(private=True)),
        "sasl.oauthbearer.assertion.claim.iss": "node",
    }
    client = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f"{MODULE} required;",
        **provider.settings(),
    }
    with Cluster(2, config=config, client=client, links=False, in_process=True) as cluster:
        cluster.create_topic("t", partitions=2, replication_factor=2)
        asked = len(provider.asked)
        cluster.wait_for(lambda: len(provider.asked) > asked + 2, 60)
        assert "assertion" in provider.asked[-1][1]
        cluster.wait_for(cluster.all_in_sync, 60)
        wrong = client | {f"{CLIENT}secret": "wrong"}
        with (
            Client(cluster.bootstrap, settings=wrong) as refused,
            pytest.raises(NotTrusted, match="status 401"),
        ):
            refused.brokers()
        # A token that its receivers do not take: the provider has another key now.
        provider.key = OTHER_KEY
        with (
            Client(cluster.bootstrap, settings=client) as refused,
            pytest.raises(NotTrusted, match="invalid_token"),
        ):
            refused.brokers()


def test_a_node_asks_only_what_is_allowed(provider):
    """CVE-2025-27817."""
    config = BrokerConfig(
        {
            "node.id": "1",
            "listener.name.inside.sasl.jaas.config": f"{MODULE} required;",
            "sasl.mechanism.inter.broker.protocol": "OAUTHBEARER",
            **provider.settings(),
        }
    )
    with pytest.raises(ConfigError, match=r"allowed\.urls"):
        PeerSecurity(
            config,
            "inside",
            "SASL_PLAINTEXT",
            "sasl.mechanism.inter.broker.protocol",
            Patience().outside,
        )
