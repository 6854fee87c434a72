"""Stores of all kinds, and rules for names of certificates."""

import contextlib
import ssl
import subprocess
import time

import pytest

from kbroker.errors import ConfigError
from kbroker.security.principal_rules import NoMatchingRule, PrincipalRules, distinguished_name
from kbroker.security.ssl_context import TlsSource, client_context, server_context, store_paths
from kbroker.security.ssl_stores import read_store
from tests.needs import need_command
from tests.security.certificates import PASSWORD, Authority, pem_settings, write


@pytest.fixture(scope="module")
def authority():
    return Authority()


def both(settings):
    """A handshake in memory between contexts of these settings; the client's view of the server."""
    own = server_context(lambda name: settings.get(name, ""), "L", asks_clients=True)
    other = client_context(lambda name: settings.get(name, ""), "L")
    a_in, a_out, b_in, b_out = (ssl.MemoryBIO() for _ in range(4))
    client = other.wrap_bio(a_in, a_out, server_hostname="localhost")
    server = own.wrap_bio(b_in, b_out, server_side=True)
    for _ in range(6):
        for engine in (client, server):
            with contextlib.suppress(ssl.SSLWantReadError):
                engine.do_handshake()
            b_in.write(a_out.read())
            a_in.write(b_out.read())
    return client, server


def test_pem_inline_with_an_encrypted_key(authority):
    own = authority.sign("node")
    settings = pem_settings(authority, own)
    settings["ssl.keystore.key"] = own.key_pem("key-secret")
    settings["ssl.key.password"] = "key-secret"
    settings["ssl.client.auth"] = "required"
    client, server = both(settings)
    assert client.version() == "TLSv1.3"
    name = distinguished_name(server.getpeercert()["subject"])
    assert name == "CN=node,OU=brokers,O=Tests\\, Inc.,C=DE"
    settings["ssl.key.password"] = "wrong"
    with pytest.raises(ConfigError, match="password"):
        both(settings)


def test_stores_in_files(authority, tmp_path):
    own = authority.sign("node")
    settings = {
        "ssl.keystore.location": write(tmp_path, "own.p12", own.pkcs12(authority.certificate)),
        "ssl.keystore.password": PASSWORD,
        "ssl.keystore.type": "JKS",
        "ssl.truststore.location": write(tmp_path, "trust.pem", authority.pem),
        "ssl.truststore.type": "PEM",
        "ssl.enabled.protocols": "TLSv1.2",
    }
    client, _ = both(settings)
    assert client.version() == "TLSv1.2"
    assert store_paths(settings.get) == [str(tmp_path / "own.p12"), str(tmp_path / "trust.pem")]


def test_java_makes_the_stores(authority, tmp_path):
    """keytool's JKS, and its PKCS12 of trusted certificates."""
    need_command("keytool")
    own = authority.sign("node")
    source, trusted = write(tmp_path, "own.p12", own.pkcs12()), write(tmp_path, "ca.pem", authority.pem)

    def keytool(*arguments):
        subprocess.run(["keytool", *arguments], check=True, capture_output=True)

    jks, trust = str(tmp_path / "own.jks"), str(tmp_path / "trust.p12")
    key = ["-importkeystore", "-srcstoretype", "PKCS12", "-deststoretype", "JKS", "-noprompt"]
    keytool(
        *key, "-srckeystore", source, "-srcstorepass", PASSWORD, "-destkeystore", jks,
        "-deststorepass", "jks-secret", "-destkeypass", "key-secret",
        "-srcalias", "own", "-srckeypass", PASSWORD,
    )  # fmt: skip
    keytool("-importcert", "-noprompt", "-alias", "ca", "-file", trusted, "-keystore", trust,
            "-storetype", "PKCS12", "-storepass", "trust-secret")  # fmt: skip
    keytool("-importcert", "-noprompt", "-alias", "ca", "-file", trusted, "-keystore", jks,
            "-storetype", "JKS", "-storepass", "jks-secret")  # fmt: skip
    settings = {
        "ssl.keystore.location": jks,
        "ssl.keystore.password": "jks-secret",
        "ssl.key.password": "key-secret",
        "ssl.truststore.location": trust,
        "ssl.truststore.password": "trust-secret",
    }
    both(settings)
    both({**settings, "ssl.truststore.location": jks, "ssl.truststore.password": "jks-secret"})
    for name, wrong in (("ssl.keystore.password", "x"), ("ssl.key.password", "x")):
        with pytest.raises(ConfigError):
            both({**settings, name: wrong})


@pytest.mark.parametrize("data", [b"", b"\xfe\xed\xfe\xed", b"\xfe\xed\xfe\xed" + bytes(40), b"nonsense"])
@pytest.mark.parametrize("kind", ["JKS", "PKCS12", "PEM", "BKS"])
def test_damaged_stores_are_told_of(data, kind):
    with pytest.raises(ConfigError):
        read_store(data, kind, "hidden", None, "the store")


def test_a_listener_needs_a_certificate(authority):
    with pytest.raises(ConfigError, match="needs a certificate"):
        both(pem_settings(authority, None))


def test_files_that_change_are_read_anew(authority, tmp_path):
    now = [0.0]
    settings = {
        "ssl.keystore.location": write(tmp_path, "own.p12", authority.sign("one").pkcs12()),
        "ssl.keystore.password": PASSWORD,
    }
    source = TlsSource(
        lambda: server_context(lambda name: settings.get(name, ""), "L", asks_clients=True),
        lambda: store_paths(lambda name: settings.get(name, "")),
        lambda: now[0],
    )
    first = source.context()
    now[0] = 2
    assert source.context() is first
    write(tmp_path, "own.p12", b"broken")
    now[0] = 4
    assert source.context() is first
    write(tmp_path, "own.p12", authority.sign("two").pkcs12())
    now[0] = 6
    second = source.context()
    assert second is not first
    source.renew()
    assert source.context() is not second


RULES = r"RULE:^CN=(.*?),OU=Users.*$/$1/,RULE:^CN=(.*?),OU=(.*?),.*$/$1@$2/L,RULE:^cn=(.*?)$/x-$1/U,DEFAULT"


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("CN=kafka,OU=Users,O=x", "kafka"),
        ("CN=Adam,OU=Admin,O=x", "adam@admin"),
        ("cn=small", "X-SMALL"),
        ("O=other", "O=other"),
    ],
)
def test_rules(name, user):
    assert PrincipalRules(RULES).name_of(name) == user


def test_no_rule_fits():
    with pytest.raises(NoMatchingRule):
        PrincipalRules("RULE:^CN=a$/a/").name_of("CN=b")


@pytest.mark.parametrize("text", ["RULE:", "x", "RULE:(a/b/", "RULE:a/$1/", "RULE:(?=a)/b/", "RULE:a/b/X"])
def test_bad_rules_are_refused(text):
    with pytest.raises(ConfigError):
        PrincipalRules(text)


def test_no_name_takes_long():
    """A pattern that would backtrack for ever elsewhere."""
    rules = PrincipalRules("RULE:^(CN=)?((a+)+)+$/$2/,DEFAULT")
    begun = time.process_time()
    assert rules.name_of("a" * 8000 + "!") == "a" * 8000 + "!"
    assert time.process_time() - begun < 5
    with pytest.raises(NoMatchingRule):
        rules.name_of("a" * 10_000)


def test_names_as_java_writes_them():
    subject = (
        (("countryName", "DE"),),
        (("organizationName", 'a"b+c'),),
        (("commonName", "#x"), ("userId", " y ")),
        (("emailAddress", "a@b"),),
    )
    assert distinguished_name(subject) == (
        '1.2.840.113549.1.9.1=#1603614062,CN=\\#x+UID=\\ y\\ ,O=a\\"b\\+c,C=DE'
    )
