"""PLAIN's messages, and settings in JAAS form."""

import pytest

from kbroker.errors import ConfigError
from kbroker.security.jaas import parse_jaas
from kbroker.security.sasl import LoginFailed
from kbroker.security.sasl_plain import PlainServer, check_users, users_of

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def server():
    return PlainServer(check_users({"alice": b"secret", "empty": b""}))


def test_a_user_logs_in():
    side = server()
    assert side.step(b"\0alice\0secret") == b""
    assert side.login.principal == "User:alice"
    assert server().step(b"alice\0alice\0secret") == b""


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (b"\0alice\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0nobody\0secret", "Authentication failed: Invalid username or password"),
        (b"\0nobody\0secretx", "Authentication failed: Invalid username or password"),
        (b"\0\0secret", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (b"alice\0secret", "Invalid SASL/PLAIN response: expected 3 tokens, got 2"),
        (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"\0a\0b\0c\0d", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (
            b"bob\0alice\0secret",
            "Authentication failed: Client requested an authorization id that is different from username",
        ),
        (b"\xff\0a\0b", None),
    ],
)
def test_what_a_client_is_told(message, told):
    side = server()
    with pytest.raises(LoginFailed) as caught:
        side.step(message)
    assert caught.value.told == told
    assert side.login is None
    assert "secret" not in str(caught.value)


def test_slow_back_ends_are_asked_elsewhere():
    side = PlainServer(lambda user, password: password == "p", slow=True)
    work = side.step(b"\0u\0p")
    assert side.login is None
    assert work() == b""
    assert side.login.principal == "User:u"


def test_jaas_with_quotes_escapes_and_lines():
    entry = parse_jaas(
        f'{MODULE} required\n username="admin" password="a;\\"b=c" user_alice=\'x y\' user_bob=plain ;'
    )
    assert entry.mechanisms == ("PLAIN",)
    assert users_of(entry.options) == {"alice": b"x y", "bob": b"plain"}
    assert entry.options["password"] == 'a;"b=c'
    assert "x y" not in repr(entry)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        f"{MODULE} required user_a=secret",
        f"{MODULE} perhaps user_a=secret;",
        f'{MODULE} required user_a="secret;',
        f"{MODULE} required user_a=;",
        f"{MODULE} required user_a secret;",
        f"{MODULE} required a=secret; {MODULE} required b=secret;",
        "com.sun.security.auth.module.JndiLoginModule required user.provider.url=secret;",
        "com.sun.security.auth.module.LdapLoginModule required userProvider=secret;",
    ],
)
def test_other_jaas_is_refused_without_showing_it(text):
    """CVE-2023-25194, CVE-2025-27818: nothing is loaded by name, and secrets are not shown."""
    with pytest.raises(ConfigError) as caught:
        parse_jaas(text)
    assert "secret" not in str(caught.value)
