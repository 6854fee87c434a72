"""`kbroker-admin` with brokers that want TLS or a login: what it says when something lacks, and what it does
about security (tests/compat/mixed/test_admin_beside_kafka.py: with Apache Kafka)."""

import io
import json

import pytest

from kbroker.cli.admin import main
from kbroker.testing import Broker
from tests.compat import admin_session
from tests.security.certificates import write
from tests.security.logins import PLAIN_MODULE, client_jaas
from tests.security.secured import LISTENERS, Secured

PLAIN = f"sasl.mechanism=PLAIN\nsasl.jaas.config={client_jaas(PLAIN_MODULE, 'alice', 'alice-secret')}\n"


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    secured = Secured(tmp_path_factory.mktemp("stores"))
    with secured.broker:
        yield secured


@pytest.fixture
def admin(secured, tmp_path, capsys):
    """`admin("SSL", "topics", "list", config="…")` -> (exit code, what was printed, what was complained)."""

    def run(listener, *arguments, config=None):
        options = [] if config is None else ["--command-config", write(tmp_path, "client.properties", config)]
        code = main(["-b", secured.at(listener), *options, *arguments])
        said = capsys.readouterr()
        assert said.err.count("\n") <= 1
        return code, said.out, said.err

    return run


@pytest.mark.parametrize(("listener", "lacks"), [*zip(LISTENERS, ("a login", "TLS", "TLS"), strict=True)])
def test_a_port_that_wants_more(admin, listener, lacks):
    code, _, complaint = admin(listener, "topics", "list")
    assert code == 1
    assert "--command-config names a file with security.protocol" in complaint
    assert f"perhaps it wants {lacks};" in complaint


@pytest.mark.parametrize("listener", ["PLAINTEXT", "SASL_PLAINTEXT"])
@pytest.mark.parametrize(("protocol", "without"), [("SSL", "PLAINTEXT"), ("SASL_SSL", "SASL_PLAINTEXT")])
def test_tls_where_there_is_none(admin, secured, listener, protocol, without):
    trust = f"ssl.truststore.type=PEM\nssl.truststore.location={secured.ca}\n"
    code, _, complaint = admin(
        listener, "topics", "list", config=f"security.protocol={protocol}\n{trust}{PLAIN}"
    )
    assert code == 1
    assert f"{secured.at(listener)} does not answer as TLS does" in complaint
    assert f"(security.protocol={without})" in complaint


def test_a_login_where_there_is_none(admin, secured):
    code, _, complaint = admin(
        "PLAINTEXT", "topics", "list", config=f"security.protocol=SASL_PLAINTEXT\n{PLAIN}"
    )
    assert code == 1
    assert f"{secured.at('PLAINTEXT')} takes no login (security.protocol=PLAINTEXT)" in complaint


def test_a_certificate_of_nobody_whom_we_trust(admin):
    code, _, complaint = admin("SSL", "topics", "list", config="security.protocol=SSL\n")
    assert code == 1
    assert "(ssl.truststore.location names whom to trust)" in complaint


def test_a_mechanism_that_nobody_named(admin):
    code, _, complaint = admin(
        "SASL_PLAINTEXT", "topics", "list", config="security.protocol=SASL_PLAINTEXT\n"
    )
    assert code == 1
    assert "GSSAPI (it is the default of sasl.mechanism) needs sasl.jaas.config" in complaint


@pytest.mark.parametrize("command", ["list", "delete"])
def test_a_user_that_does_not_exist(admin, command):
    code, _, complaint = admin("PLAINTEXT", "users", command, "nobody")
    assert code == 1
    assert complaint == "kbroker-admin: user nobody: there is no such user\n"


def test_a_broker_that_is_alone_is_not_drained(admin):
    code, _, complaint = admin("PLAINTEXT", "drain", "1")
    assert code == 1
    assert complaint == "kbroker-admin: broker 1 is the only one that is up: nobody can lead in its place\n"


def test_a_login_without_tls_where_it_is_wanted(admin):
    code, _, complaint = admin(
        "SASL_SSL", "topics", "list", config=f"security.protocol=SASL_PLAINTEXT\n{PLAIN}"
    )
    assert code == 1
    assert "TLS" in complaint


def test_tls_without_the_login_that_is_wanted(admin, secured):
    config = f"security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location={secured.ca}\n"
    code, _, complaint = admin("SASL_SSL", "topics", "list", config=config)
    assert code == 1
    assert "perhaps it wants a login" in complaint


def test_a_certificate_that_is_wanted(admin, secured):
    trust = f"security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location={secured.ca}\n"
    code, _, complaint = admin("SSL", "topics", "list", config=trust)
    assert code == 1
    assert "wants a certificate (ssl.keystore" in complaint


def test_names_that_no_client_has(admin):
    """A line says so, with what may have been meant; those of other parts of a client are fine."""
    config = (
        f"security.protocol=SASL_PLAINTEXT\n{PLAIN}request.timeout.ms=1\nclient.id=x\n"
        "sasl.mechanisms=PLAIN\nssl.ca.location=ca.pem\n"
    )
    code, said, complaint = admin("SASL_PLAINTEXT", "topics", "list", config=config)
    assert code == 0
    assert complaint.endswith(
        "client.properties: not known, and not used: sasl.mechanisms (sasl.mechanism?), ssl.ca.location\n"
    )
    code, said, complaint = admin("SASL_PLAINTEXT", "--json", "topics", "list", config=config)
    assert json.loads(said) == []
    assert "ssl.ca.location" in json.loads(complaint)["warning"]


def test_a_password_is_not_asked_for_without_a_terminal(admin, monkeypatch):
    for stdin in (io.StringIO("secret\n"), None):
        monkeypatch.setattr("sys.stdin", stdin)
        code, _, complaint = admin("PLAINTEXT", "users", "set", "ann")
        assert code == 2
        assert "--password-file -" in complaint


def test_the_same_session_as_with_kafka(tmp_path, capsys):
    listeners = "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"
    with Broker(config={"listeners": listeners, **admin_session.SETTINGS}) as broker:
        admin = admin_session.Admin(broker.ports["SASL_PLAINTEXT"], tmp_path, capsys)
        admin_session.acls(admin)
        admin_session.users(admin, tmp_path)
        admin_session.tokens(admin)
        admin_session.quotas(admin, is_kafka=False)
