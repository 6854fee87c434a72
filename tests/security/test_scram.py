"""SCRAM: held against another implementation (scramp), and what an attacker may try."""

import hashlib
import hmac
from base64 import b64decode, b64encode

import pytest
import scramp
from hypothesis import given, strategies as st

from kbroker.security.sasl import LoginFailed
from kbroker.security.scram import (
    MECHANISMS,
    ScramClient,
    ScramCredential,
    ScramServer,
    TokenCredential,
    credential_of,
    salted_password,
)
from kbroker.security.scram_nobody import Nobodies, shape_of, shared_secret

SALT = b"salt-of-twelve-bytes"
SECRET = b"s" * 32


def credential(mechanism, password, iterations=4096, salt=SALT):
    return credential_of(mechanism, salted_password(mechanism, password, salt, iterations), salt, iterations)


def no_users(mechanism):
    return ()


def server(mechanism="SCRAM-SHA-256", users=None, tokens=None, nonce="servernonce", shapes=no_users):
    users = {"alice": credential(mechanism, "secret")} if users is None else users
    return ScramServer(mechanism, users.get, tokens, nonce=nonce, nobodies=Nobodies(SECRET, shapes))


def talk(client, side):
    challenge = side.step(client.step(None))
    if not isinstance(challenge, bytes):
        challenge = challenge()
    client.step(side.step(client.step(challenge)))
    return client.done


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("user", ["alice", "a,b=c", "Zoë"])
def test_both_sides_agree(mechanism, user):
    side = server(mechanism, {user: credential(mechanism, "pass,=wörd")})
    assert talk(ScramClient(mechanism, user, "pass,=wörd", "clientnonce"), side)
    assert side.login.principal == f"User:{user}"
    assert not side.login.by_token


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_our_server_and_another_client(mechanism):
    side = server(mechanism)
    client = scramp.ScramClient([mechanism], "alice", "secret")
    client.set_server_first(side.step(client.get_client_first().encode()).decode())
    client.set_server_final(side.step(client.get_client_final().encode()).decode())
    assert side.login.principal == "User:alice"


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_our_client_and_another_server(mechanism):
    other = scramp.ScramMechanism(mechanism)
    info = other.make_auth_info("secret", iteration_count=4096, salt=SALT)
    side = other.make_server({"alice": info}.get)
    client = ScramClient(mechanism, "alice", "secret", "clientnonce")
    side.set_client_first(client.step(None).decode())
    side.set_client_final(client.step(side.get_server_first().encode()).decode())
    client.step(side.get_server_final().encode())
    assert client.done


@pytest.mark.parametrize("salt", [b"", b"x"])
def test_short_salts_that_kafka_takes(salt):
    side = server(users={"alice": credential("SCRAM-SHA-256", "secret", salt=salt)})
    assert talk(ScramClient("SCRAM-SHA-256", "alice", "secret", "n"), side)


def failure(side, *messages):
    *before, last = messages
    for message in before:
        side.step(message)
    with pytest.raises(LoginFailed) as caught:
        side.step(last)
    assert side.login is None
    return caught.value


def test_unknown_users_fail_where_wrong_passwords_do_with_a_steady_salt():
    """CVE-2021-38153 and its kind: nothing tells who exists."""
    seen = []
    for user in ("nobody", "nobody", "alice"):
        side, client = server(), ScramClient("SCRAM-SHA-256", user, "wrong", "clientnonce")
        challenge = side.step(client.step(None))
        seen.append(challenge)
        error = failure(side, client.step(challenge))
        assert error.told is None
        assert error.reason == "wrong user or password"
    assert seen[0] == seen[1]
    assert seen[0].endswith(b",i=4096")


def test_a_fake_credential_fits_nothing():
    """Whoever knows how salts of unknown users are made gets in no more than others."""
    side = server()
    challenge = side.step(b"n,,n=nobody,r=abc").decode()
    salt = b64decode(challenge.split(",s=")[1].split(",")[0])
    final = "c=biws,r=abcservernonce"
    for fake in (salt, bytes(32)):
        signature = hmac.digest(fake, f"n=nobody,r=abc,{challenge},{final}".encode(), "sha256")
        side = server()
        assert side.step(b"n,,n=nobody,r=abc").decode() == challenge
        failure(side, f"{final},p={b64encode(signature).decode()}".encode())


def test_unknown_users_look_like_those_that_there_are():
    """As Kafka's tools make them, as ours do, or both; each unknown user always the same."""
    ours, theirs = credential("SCRAM-SHA-256", "x", 8192, bytes(24)), b"1iv5ccifqdaor6kkzcm9fsx5m"
    kafkas = credential("SCRAM-SHA-256", "x", 4096, theirs)
    shapes = [shape_of(each.salt, each.iterations) for each in (ours, kafkas)]
    seen = {}
    for present in (shapes[:1], shapes[1:], shapes):
        for number in range(40):
            side = server(shapes=lambda mechanism: present)  # noqa: B023
            text = side.step(f"n,,n=nobody{number},r=abc".encode()).decode()
            _, salt, iterations = text.split(",")
            shape = shape_of(b64decode(salt[2:]), int(iterations[2:]))
            assert shape in present
            seen.setdefault(number, []).append((shape, text))
    assert {found[2][0] for found in seen.values()} == set(shapes)
    # Who had the one that is still there keeps it.
    assert all(found[2] in found[:2] for found in seen.values())


def test_nodes_with_one_secret_show_the_same():
    one, two, other = (Nobodies(shared_secret(text), no_users) for text in ("a", "a", "b"))
    assert one.salt("SCRAM-SHA-256", "x") == two.salt("SCRAM-SHA-256", "x")
    assert one.salt("SCRAM-SHA-256", "x") != other.salt("SCRAM-SHA-256", "x")
    assert one.salt("SCRAM-SHA-256", "x") != one.salt("SCRAM-SHA-512", "x")


def final_of(side, change):
    client = ScramClient("SCRAM-SHA-256", "alice", "secret", "clientnonce")
    message = client.step(side.step(client.step(None))).decode()
    return failure(side, change(message).encode())


def test_the_final_message_is_checked_whole():
    """CVE-2024-56128: the combined nonce, and the header of the first message."""
    assert "nonce" in final_of(server(), lambda m: m.replace("clientnonce", "clientnoncX")).reason
    assert "nonce" in final_of(server(), lambda m: m.replace("servernonce", "")).reason
    assert "binding" in final_of(server(), lambda m: m.replace("c=biws", "c=eSws")).reason
    assert "proof" not in final_of(server(), lambda m: m[:-8] + "AAAAAAA=").reason
    assert final_of(server(), lambda m: m.split(",p=")[0]).reason == "malformed final message"


def test_the_nonce_of_librdkafka_before_2_6_1():
    """It repeats its own part, under its proof; Kafka took that until 4.0."""

    class Old(ScramClient):
        def step(self, challenge):
            if challenge is None or b"s=" not in challenge:
                return super().step(challenge)
            match = challenge.decode().partition(",")
            nonce = match[0][2:]
            message = super().step(challenge).decode()
            without_proof = message.partition(",p=")[0].replace(f"r={nonce}", f"r=clientnonce{nonce}")
            salted = salted_password("SCRAM-SHA-256", "secret", SALT, 4096)
            text = f"{self._first_bare},{challenge.decode()},{without_proof}".encode()
            key = hmac.digest(salted, b"Client Key", "sha256")
            signature = hmac.digest(hashlib.sha256(key).digest(), text, "sha256")
            proof = b64encode(bytes(a ^ b for a, b in zip(key, signature))).decode()
            return f"{without_proof},p={proof}".encode()

    side, client = server(), Old("SCRAM-SHA-256", "alice", "secret", "clientnonce")
    side.step(client.step(side.step(client.step(None))))
    assert side.login.principal == "User:alice"


def test_one_exchange_is_one_login():
    side = server()
    client = ScramClient("SCRAM-SHA-256", "alice", "secret", "n")
    final = client.step(side.step(client.step(None)))
    side.step(final)
    with pytest.raises(LoginFailed):
        side.step(final)


def test_a_replayed_final_message_fails():
    first, second = server(nonce="one"), server(nonce="two")
    client = ScramClient("SCRAM-SHA-256", "alice", "secret", "n")
    start = client.step(None)
    final = client.step(first.step(start))
    second.step(start)
    failure(second, final)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"hello",
        b"y,,n=alice,r=abc",
        b"p=tls-unique,,n=alice,r=abc",
        b"n,,n=,r=abc",
        b"n,,n=alice",
        b"n,,n=al=ice,r=abc",
        b"n,,r=abc,n=alice",
        b"n,,n=alice,r=",
        b"\xff\xfe",
        b"n,,n=alice\0,r=abc",
    ],
)
def test_malformed_first_messages(message):
    failure(server(), message)


def test_nobody_logs_in_as_somebody_else():
    assert "authorization id" in failure(server(), b"n,a=bob,n=alice,r=abc").told


def test_too_few_iterations_are_no_credential():
    weak = ScramCredential(SALT, *credential("SCRAM-SHA-256", "secret", 1000)[1:3], 1000)
    side, client = server(users={"alice": weak}), ScramClient("SCRAM-SHA-256", "alice", "secret", "n")
    challenge = side.step(client.step(None))
    assert challenge.endswith(b"i=4096")
    failure(side, client.step(challenge))


def test_the_client_does_not_work_for_a_server_that_asks_too_much():
    client = ScramClient("SCRAM-SHA-256", "alice", "secret", "n")
    client.step(None)
    with pytest.raises(LoginFailed):
        client.step(b"r=nx,s=c2FsdA==,i=999999999")


def test_the_client_checks_the_server():
    client = ScramClient("SCRAM-SHA-256", "alice", "secret", "n")
    client.step(server().step(client.step(None)))
    with pytest.raises(LoginFailed):
        client.step(b"v=" + b64encode(bytes(32)))


def test_a_delegation_token_logs_its_owner_in():
    """KIP-48: the token's id is the user, its HMAC the password."""
    mac = hashlib.sha512(b"x").digest()
    tokens = {"token-1": TokenCredential(mac, "User:owner", 1234)}
    side = server(tokens=tokens.get)
    client = ScramClient("SCRAM-SHA-256", "token-1", b64encode(mac).decode(), "n", {"tokenauth": "true"})
    assert talk(client, side)
    assert side.login == ("User:owner", True, 1234)


def test_a_token_that_does_not_exist():
    side = server(tokens={}.get)
    client = ScramClient("SCRAM-SHA-256", "token-1", "x", "n", {"tokenauth": "true"})
    challenge = side.step(client.step(None))()
    failure(side, client.step(challenge))


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_no_bytes_break_the_server(first, second):
    side = server(users={"a": ScramCredential(b"s", b"k" * 32, b"k" * 32, 4096)})
    for message in (first, second):
        try:
            side.step(message)
        except LoginFailed:
            break
    assert side.login is None
