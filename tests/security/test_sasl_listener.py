"""A listener with SASL, as Apache Kafka 4.4 answers it (asked with the same bytes), and its limits."""

import contextlib
import random
import socket
import struct
import types

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.client.cluster import Cluster
from kbroker.client.errors import NotTrusted
from kbroker.errors import ConfigError, ProtocolError
from kbroker.protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kbroker.protocol.generated.api_versions_request import ApiVersionsRequest
from kbroker.protocol.generated.metadata_request import MetadataRequest
from kbroker.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kbroker.protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kbroker.security.scram import MECHANISMS, ScramClient, salted_password
from kbroker.server.sasl_door import Door
from kbroker.server.sasl_gate import SaslGate
from kbroker.server.turns import SLICE_S_MIN, Slices
from kbroker.testing import Broker
from tests.broker.peer_world import ManualTimer
from tests.security.logins import CLOSED, PLAIN_MODULE, SCRAM_MODULE, USERS, Raw, client_jaas

ALICE = b"\0alice\0alice-secret"
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")
FAILED, ILLEGAL, UNKNOWN_MECHANISM = 58, 34, 33


def settings(**more):
    return {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
        "connection.failed.authentication.delay.ms": "1",
        **more,
    }


def sasl_port(broker):
    with Cluster(broker.bootstrap) as cluster:
        command_port = cluster.metadata([]).brokers[0].port
    del command_port
    return broker.ports["SASL_PLAINTEXT"]


@pytest.fixture(scope="module")
def broker():
    with Broker(config=settings()) as broker:
        for mechanism in MECHANISMS:
            set_user(broker, "alice", "alice-secret", mechanism)
        yield broker


@pytest.fixture
def raw(broker):
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        yield raw


def change(broker, **what):
    with Raw(broker.ports["PLAINTEXT"]) as raw:
        answer = raw.ask(AlterUserScramCredentialsRequest(**what), 0)
    assert [result.error_code for result in answer.results] == [0]


def set_user(broker, user, password, mechanism="SCRAM-SHA-256"):
    salted = salted_password(mechanism, password, b"salt", 4096)
    upsertion = ScramCredentialUpsertion(
        name=user, mechanism=MECHANISMS[mechanism][0], iterations=4096, salt=b"salt", salted_password=salted
    )
    change(broker, upsertions=[upsertion])


def serves(raw):
    answer = raw.ask(MetadataRequest(topics=[]), 9)
    return answer != CLOSED and len(answer.brokers) == 1


# -- logins --------------------------------------------------------------------------------------------------


def test_plain(raw):
    assert raw.ask(VERSIONS, 3).error_code == 0
    answer = raw.handshake("PLAIN")
    assert (answer.error_code, sorted(answer.mechanisms)) == (0, ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
    answer = raw.token(ALICE)
    assert (answer.error_code, answer.auth_bytes, answer.session_lifetime_ms) == (0, b"", 0)
    assert serves(raw)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_scram(raw, mechanism):
    assert raw.scram("alice", "alice-secret", mechanism).error_code == 0
    assert serves(raw)


def test_bare_messages_of_old_clients(raw):
    """Handshake v0; the empty message at the end has a length of its own, and is shorter than any request."""
    assert raw.handshake("PLAIN", 0).error_code == 0
    assert raw.raw(ALICE) == b""
    assert serves(raw)


def test_a_whole_login_and_a_request_in_one_packet(raw):
    parts = [
        raw.encode(VERSIONS, 3),
        raw.encode(SaslHandshakeRequest(mechanism="PLAIN"), 1),
        raw.encode(SaslAuthenticateRequest(auth_bytes=ALICE), 2),
        raw.encode(MetadataRequest(topics=[]), 9),
    ]
    raw.socket.sendall(b"".join(struct.pack(">i", len(part)) + part for part in parts))
    assert [raw.frame() != CLOSED for _ in parts] == [True] * 4


# -- failures: rows of correctness.md, section 4 -------------------------------------------------------------


@pytest.mark.parametrize(("user", "password"), [("alice", "wrong"), ("nobody", "wrong")])
def test_a_failed_login_is_told_and_closed(raw, user, password):
    """KIP-152."""
    answer = raw.plain(user, password)
    assert answer.error_code == FAILED
    assert answer.error_message == "Authentication failed: Invalid username or password"
    assert raw.frame() == CLOSED


def test_bare_messages_fail_without_a_word(raw):
    raw.handshake("PLAIN", 0)
    assert raw.raw(b"\0alice\0wrong") == CLOSED


def test_unknown_users_and_wrong_passwords_of_scram_look_alike(broker):
    """CVE-2021-38153: same steps, same answers."""
    told = []
    for user in ("alice", "nobody"):
        with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
            answer = raw.scram(user, "wrong")
            told.append((answer.error_code, answer.error_message, raw.frame()))
    text = (
        "Authentication failed during authentication due to invalid credentials with SASL mechanism "
        "SCRAM-SHA-256"
    )
    assert told == [(FAILED, text, CLOSED)] * 2


def test_an_unknown_mechanism(raw):
    answer = raw.handshake("scram-sha-256")
    assert answer.error_code == UNKNOWN_MECHANISM
    assert len(answer.mechanisms) == 3
    assert raw.frame() == CLOSED


def test_nothing_is_served_before_the_login(raw):
    assert raw.ask(MetadataRequest(topics=[]), 9) == CLOSED


@pytest.mark.parametrize(
    ("requests", "last"),
    [
        ([VERSIONS, VERSIONS], CLOSED),
        ([VERSIONS, MetadataRequest(topics=[])], CLOSED),
        ([SaslAuthenticateRequest(auth_bytes=ALICE)], CLOSED),
        ([SaslHandshakeRequest(mechanism="PLAIN"), MetadataRequest(topics=[])], CLOSED),
        ([SaslHandshakeRequest(mechanism="PLAIN"), VERSIONS], ILLEGAL),
        ([SaslHandshakeRequest(mechanism="PLAIN")] * 2, ILLEGAL),
    ],
)
def test_requests_out_of_turn(raw, requests, last):
    versions = {
        ApiVersionsRequest: 3,
        SaslHandshakeRequest: 1,
        SaslAuthenticateRequest: 2,
        MetadataRequest: 9,
    }
    answers = [raw.ask(request, versions[type(request)]) for request in requests]
    found = answers[-1] if answers[-1] == CLOSED else answers[-1].error_code
    assert found == last
    assert raw.frame() == CLOSED


def test_versions_may_be_asked_anew_after_a_refusal(raw):
    assert raw.raw(struct.pack(">hhih", 18, 99, 1, -1))[4:6] == b"\0\x23"
    assert (
        raw.ask(ApiVersionsRequest(client_software_name="!", client_software_version="1"), 3).error_code == 42
    )
    assert raw.ask(VERSIONS, 3).error_code == 0


@pytest.mark.parametrize("version", [3, 99])
def test_versions_of_the_login_that_do_not_exist(raw, version):
    raw.handshake("PLAIN")
    assert raw.raw(struct.pack(">hhih", 36, version, 1, -1) + b"\0\5PLAIN") == CLOSED


@pytest.mark.parametrize("head", [524_289, 2**31 - 1, -1, 0])
def test_125_what_comes_before_a_login_is_small(raw, head):
    """CVE-2022-34917: at most 512 KiB, refused by its length."""
    raw.socket.sendall(struct.pack(">i", head))
    assert raw.frame() == CLOSED


@pytest.mark.parametrize("data", [b"abc", b"GET / HTTP/1.1", bytes(64)])
def test_what_is_no_request(raw, data):
    assert raw.raw(data) == CLOSED


def test_after_the_login_there_is_no_other(raw):
    assert raw.plain("alice", "alice-secret").error_code == 0
    answer = raw.token(ALICE)
    assert (answer.error_code, answer.error_message) == (
        ILLEGAL,
        "SaslAuthenticate request received after successful authentication",
    )
    assert raw.handshake("PLAIN").error_code == ILLEGAL
    assert serves(raw)


def test_131_a_user_who_is_deleted_while_connected(broker, raw):
    """As with Kafka, the connection goes on; the next login fails."""
    set_user(broker, "gone", "secret")
    assert raw.scram("gone", "secret").error_code == 0
    change(broker, deletions=[ScramCredentialDeletion(name="gone", mechanism=1)])
    assert serves(raw)
    with Raw(broker.ports["SASL_PLAINTEXT"]) as other:
        assert other.scram("gone", "secret").error_code == FAILED


def test_131_credentials_survive_a_restart_and_a_new_password_counts(broker):
    set_user(broker, "kept", "old")
    set_user(broker, "kept", "new")
    broker.restart()
    for password, code in (("old", FAILED), ("new", 0)):
        with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
            assert raw.scram("kept", password).error_code == code


# -- sessions (KIP-368) --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def brief():
    more = {
        "listener.name.sasl_plaintext.plain.connections.max.reauth.ms": "60000",
        "listener.name.sasl_plaintext.scram-sha-512.connections.max.reauth.ms": "1",
    }
    with Broker(config=settings(**more)) as broker:
        for mechanism in MECHANISMS:
            set_user(broker, "alice", "alice-secret", mechanism)
        yield broker


def test_a_session_has_a_lifetime_and_is_renewed(brief):
    with Raw(brief.ports["SASL_PLAINTEXT"]) as raw:
        assert raw.plain("alice", "alice-secret").session_lifetime_ms == 60_000
        assert serves(raw)
        assert raw.plain("alice", "alice-secret").session_lifetime_ms == 60_000
        assert serves(raw)
        # Not twice within a second.
        assert raw.handshake("PLAIN").error_code == ILLEGAL
        assert serves(raw)


def test_clients_before_kip_368_are_not_told_of_it(brief):
    with Raw(brief.ports["SASL_PLAINTEXT"]) as raw:
        assert raw.plain("alice", "alice-secret", 0).session_lifetime_ms == 0


def test_the_principal_may_not_change(brief):
    with Raw(brief.ports["SASL_PLAINTEXT"]) as raw:
        raw.plain("alice", "alice-secret")
        answer = raw.plain("bob", "bob-secret")
        assert answer.error_code == FAILED
        assert answer.error_message == (
            "Cannot change principals during re-authentication from User.alice: User.bob"
        )
        assert raw.frame() == CLOSED


def test_the_mechanism_may_not_change(brief):
    with Raw(brief.ports["SASL_PLAINTEXT"]) as raw:
        raw.plain("alice", "alice-secret")
        assert raw.handshake("SCRAM-SHA-256").error_code == 0
        answer = raw.token(b"n,,n=alice,r=abc")
        assert answer.error_code == FAILED
        assert "'SCRAM-SHA-256' requested by client is not supported" in answer.error_message
        assert raw.frame() == CLOSED


def test_a_session_that_is_over_closes_the_connection(brief):
    with Raw(brief.ports["SASL_PLAINTEXT"]) as raw:
        assert raw.scram("alice", "alice-secret", "SCRAM-SHA-512").session_lifetime_ms == 1
        # At the latest the timer of the session has come, a few requests later.
        assert any(raw.ask(MetadataRequest(topics=[]), 9) == CLOSED for _ in range(10_000))


# -- settings, and our own client ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"sasl.enabled.mechanisms": "FOO"}, "FOO"),
        (
            {"listener.name.sasl_plaintext.plain.sasl.jaas.config": "x.JndiLoginModule required x=secret;"},
            "only",
        ),
        ({"listener.name.sasl_plaintext.plain.sasl.jaas.config": ""}, "users"),
        ({"inter.broker.listener.name": "SASL_PLAINTEXT"}, "gssapi"),
    ],
)
def test_settings_that_do_not_do(more, says):
    with pytest.raises(ConfigError, match=says) as caught:
        Broker(config=settings(**more)).start()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("mechanism", ["PLAIN", *MECHANISMS])
def test_our_own_client(broker, mechanism):
    module = PLAIN_MODULE if mechanism == "PLAIN" else SCRAM_MODULE
    client = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": client_jaas(module, "alice", "alice-secret"),
    }
    bootstrap = f"127.0.0.1:{broker.ports['SASL_PLAINTEXT']}"
    with Cluster(bootstrap, settings=client) as cluster:
        assert cluster.brokers()
    client["sasl.jaas.config"] = client_jaas(module, "alice", "wrong")
    with Cluster(bootstrap, settings=client) as cluster, pytest.raises(NotTrusted):
        cluster.brokers()


def test_secrets_are_not_described(broker, capsys):
    """CVE-2019-12399 and after: DescribeConfigs never shows them."""
    from kbroker.cli.admin import main

    assert (
        main(["--bootstrap", broker.bootstrap, "--json", "configs", "describe", "broker", "1", "--all"]) == 0
    )
    shown = capsys.readouterr().out
    assert "sasl.jaas.config" in shown
    assert "-secret" not in shown


def test_messages_that_are_cut_short_or_come_again(broker):
    """Wherever the last message of a login ends too soon; and one overheard, on another connection."""
    set_user(broker, "cut", "secret")

    def last(raw, client):
        raw.handshake("SCRAM-SHA-256")
        return client.step(raw.token(client.step(None)).auth_bytes)

    def refused(message, mechanism="SCRAM-SHA-256"):
        with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
            if mechanism == "PLAIN":
                raw.handshake(mechanism)
            else:
                message = message(last(raw, ScramClient(mechanism, "cut", "secret", "nonce")))
            answer = raw.token(message)
            return answer.error_code == FAILED and raw.frame() == CLOSED

    plain = b"\0alice\0alice-secret"
    assert all(refused(plain[:end], "PLAIN") for end in range(len(plain)))
    assert all(refused(lambda whole, end=end: whole[:-end]) for end in (1, 2, 3, 4, 20, 47, 60))
    assert refused(lambda whole: b"")
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        overheard = last(raw, ScramClient("SCRAM-SHA-256", "cut", "secret", "nonce"))
        assert raw.token(overheard).error_code == 0
        # Now it is the login of nobody any more, here or elsewhere.
        assert raw.token(overheard).error_code == ILLEGAL
    assert refused(lambda whole: overheard)


def test_damaged_logins_hurt_nobody(broker):
    """Login messages with bytes changed, cut and repeated (fuzz by seed): the broker answers, or closes."""
    chance = random.Random(5)
    requests = [(VERSIONS, 3), (SaslHandshakeRequest(mechanism="PLAIN"), 0)]
    requests += [(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)]
    requests += [(SaslAuthenticateRequest(auth_bytes=b"n,,n=alice,r=abc"), 2)]
    for _ in range(150):
        with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
            for request, version in chance.sample(requests, 3):
                data = bytearray(raw.encode(request, version))
                if chance.random() < 0.7:
                    for _ in range(chance.randrange(3)):
                        data[chance.randrange(len(data))] = chance.randrange(256)
                    del data[chance.randrange(len(data)) + 1 :]
                with contextlib.suppress(ConnectionError):
                    raw.send(bytes(data))
            with contextlib.suppress(OSError):
                raw.socket.shutdown(socket.SHUT_WR)
            while raw.frame() != CLOSED:
                pass
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        assert raw.plain("alice", "alice-secret").error_code == 0
        assert serves(raw)


def test_salts_of_unknown_users_look_like_others(broker):
    """As long, and of the same letters; always the same."""

    def salt(user):
        with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
            raw.handshake("SCRAM-SHA-512")
            answer = raw.token(ScramClient("SCRAM-SHA-512", user, "wrong", "nonce").step(None))
            return answer.auth_bytes.split(b",s=")[1].split(b",")[0]

    assert salt("nobody-at-all") == salt("nobody-at-all")
    assert len(salt("nobody-at-all")) == len(salt("alice"))


def test_a_job_of_who_has_gone_is_left_out():
    """Else a storm of logins that nobody waits for would keep the threads from others."""
    jobs, asked = [], []

    class Exchange:
        login = None

        def step(self, message):
            return lambda: asked.append(message) or b""

    door = Door(
        ["PLAIN"],
        lambda mechanism: Exchange(),
        lambda mechanism: 0,
        lambda mechanism: lambda work, done: jobs.append(work),
        ManualTimer(),
        None,
        login_bytes_max=1000,
        failure_delay_ms=1,
        slices=Slices(lambda soon: None, lambda: 0.0),
    )
    for gone in (False, True):
        raw = Raw.__new__(Raw)
        raw._correlation = 0
        connection = types.SimpleNamespace(
            close_reason=None, short_frames=False, buffers=None, in_anteroom=False
        )
        gate = SaslGate(door, None, 1000)
        gate.admit(connection)
        gate.request(connection, memoryview(raw.encode(SaslHandshakeRequest(mechanism="PLAIN"), 1)))
        token = SaslAuthenticateRequest(auth_bytes=b"gone" if gone else b"here")
        gate.request(connection, memoryview(raw.encode(token, 2)))
        connection.close_reason = "" if gone else None
    for job in jobs:
        job()
    assert asked == [b"here"]


def test_logins_share_a_slice_of_each_turn():
    """Hundreds that say something at once are not answered in one turn of the loop; others come between."""
    now_s, soon = [0.0], []

    def clock():
        now_s[0] += SLICE_S_MIN * 0.6
        return now_s[0]

    slices = Slices(soon.append, clock)
    door = Door(
        ["PLAIN"], None, None, None, ManualTimer(), None, login_bytes_max=1, failure_delay_ms=1, slices=slices
    )
    raw = Raw.__new__(Raw)
    raw._correlation = 0
    handshake = raw.encode(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    door.make = lambda mechanism: None

    def ask(data=handshake):
        connection = types.SimpleNamespace(
            close_reason=None, short_frames=False, buffers=None, in_anteroom=False
        )
        gate = SaslGate(door, None, 1000)
        gate.admit(connection)
        return connection, gate.request(connection, memoryview(data))

    answers = [ask()[1] for _ in range(4)]
    assert [type(each) for each in answers] == [bytes, bytes, Deferred, Deferred]
    _, wrong = ask(handshake[:12])
    gone, of_gone = ask()
    gone.close_reason = ""
    while soon:
        soon.pop(0)()
    assert answers[3].result() == answers[0]
    assert not of_gone.done
    with pytest.raises(ProtocolError):
        wrong.result()
    assert type(ask()[1]) is bytes
