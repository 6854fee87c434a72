"""GSSAPI with tickets of a real KDC, where there is one; and rules for names."""

import importlib.util

import pytest

from kbroker.client.cluster import Cluster as Client
from kbroker.client.errors import NotTrusted
from kbroker.errors import ConfigError
from kbroker.protocol.generated.metadata_request import MetadataRequest
from kbroker.security.kerberos_rules import KerberosRules, NoLocalName
from kbroker.testing import Broker, Cluster
from tests.security.kdc import REALM, Kdc, find
from tests.security.logins import CLOSED, Raw

JAAS = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true"


@pytest.fixture(scope="module")
def kdc(tmp_path_factory):
    """Skipped without Debian's krb5-kdc and python-gssapi; `.ci/run` installs both where that is possible."""
    missing = [each for each in ("krb5kdc", "kadmin.local", "kdb5_util") if find(each) is None]
    if importlib.util.find_spec("gssapi") is None or missing:
        pytest.skip("python-gssapi or MIT's KDC is not installed")
    kdc = Kdc(tmp_path_factory.mktemp("kdc"), ["kafka/localhost", "kafka/127.0.0.1", "alice", "bob/host"])
    kdc.start()
    yield kdc
    kdc.stop()


@pytest.fixture(scope="module")
def broker(kdc):
    patch = pytest.MonkeyPatch()
    for name, value in kdc.environment.items():
        patch.setenv(name, value)
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "listener.name.sasl_plaintext.gssapi.sasl.jaas.config": (
            f'{JAAS} keyTab="{kdc.keytab}" principal="kafka/localhost@{REALM}";'
        ),
        "sasl.kerberos.service.name": "kafka",
        "connection.failed.authentication.delay.ms": "1",
    }
    with Broker(config=config) as broker:
        yield broker
    patch.undo()


def context(kdc, user):
    import gssapi

    name = gssapi.Name(f"{user}@{REALM}", gssapi.NameType.kerberos_principal)
    store = {"client_keytab": kdc.keytab, "ccache": f"FILE:{kdc.folder}/{user.replace('/', '-')}"}
    credentials = gssapi.Credentials(name=name, usage="initiate", store=store)
    target = gssapi.Name("kafka@localhost", gssapi.NameType.hostbased_service)
    return gssapi.SecurityContext(name=target, creds=credentials, usage="initiate")


@pytest.mark.parametrize("way", ["requests", "bare", "at once"])
def test_a_ticket_logs_in(broker, kdc, way):
    """In SaslAuthenticate; bare after a handshake v0; as clients of 0.9, whose first bytes are the token."""
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        if way != "at once":
            assert raw.handshake("GSSAPI", 1 if way == "requests" else 0).error_code == 0

        def say(token):
            if way != "requests":
                return raw.raw(token)
            answer = raw.token(token)
            assert answer.error_code == 0, answer.error_message
            return answer.auth_bytes

        side = context(kdc, "alice")
        token = side.step(None)
        while not side.complete:
            token = side.step(say(token))
        offer = side.unwrap(say(token or b"")).message
        assert offer[0] == 1
        last = side.wrap(b"\x01\0\0\0", False).message
        if way == "requests":
            assert say(last) == b""
        else:
            raw.send(last)
        assert raw.ask(MetadataRequest(topics=[]), 9).brokers


def test_tokens_that_are_none(broker, kdc):
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        raw.handshake("GSSAPI")
        answer = raw.token(b"nonsense")
        assert answer.error_code == 58
        assert answer.error_message == (
            "Authentication failed during authentication due to invalid credentials with SASL mechanism "
            "GSSAPI"
        )
        assert raw.frame() == CLOSED


def test_nodes_and_our_client_by_tickets(kdc, broker):
    """Brokers and controllers log in to each other with GSSAPI; so do kbroker-admin's connections."""
    own = f'{JAAS} keyTab="{kdc.keytab}" principal="kafka/127.0.0.1@{REALM}";'
    config = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
        "security.inter.broker.protocol": "SASL_PLAINTEXT",
        "sasl.kerberos.service.name": "kafka",
        "listener.name.plaintext.gssapi.sasl.jaas.config": own,
        "listener.name.controller.gssapi.sasl.jaas.config": own,
        # Nodes log in again after 0.9 of each session.
        "listener.name.controller.gssapi.connections.max.reauth.ms": "1500",
    }
    client = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.kerberos.service.name": "kafka",
        "sasl.jaas.config": f'{JAAS} keyTab="{kdc.keytab}" principal="alice@{REALM}";',
    }
    with Cluster(2, config=config, client=client, links=False, in_process=True) as cluster:
        cluster.create_topic("t", partitions=2, replication_factor=2)
        cluster.wait_for(cluster.all_in_sync, 60)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"sasl.kerberos.service.name": ""}, "service.name"),
        ({"sasl.jaas.config": f"{JAAS};"}, "useTicketCache"),
        ({"sasl.jaas.config": f'{JAAS} keyTab="/nowhere" principal="a@{REALM}";'}, "cannot be read"),
        ({"sasl.jaas.config": f'{JAAS} keyTab="/etc/passwd";'}, "principal"),
    ],
)
def test_clients_that_lack_something(kdc, changed, says):
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.kerberos.service.name": "kafka",
        "sasl.jaas.config": f'{JAAS} keyTab="{kdc.keytab}" principal="alice@{REALM}";',
    }
    with pytest.raises(ConfigError, match=says):
        Client("127.0.0.1:1", settings=settings | changed)


def test_a_client_whose_key_the_kdc_does_not_know(kdc, broker):
    """Told with Kerberos' own reason, and without any key."""
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.kerberos.service.name": "other",
        "sasl.jaas.config": f'{JAAS} keyTab="{kdc.keytab}" principal="alice@{REALM}";',
    }
    with (
        Client(f"127.0.0.1:{broker.ports['SASL_PLAINTEXT']}", settings=settings) as client,
        pytest.raises(NotTrusted, match=f"Server other.*{REALM} not found"),
    ):
        client.brokers()


def test_a_key_that_is_not_there(kdc):
    for principal, keytab in ((f"nobody@{REALM}", kdc.keytab), (f"kafka/localhost@{REALM}", "/nowhere")):
        config = {
            "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
            "listener.name.sasl_plaintext.gssapi.sasl.jaas.config": (
                f'{JAAS} keyTab="{keytab}" principal="{principal}";'
            ),
        }
        with pytest.raises(ConfigError, match="cannot be read"):
            Broker(config=config).start()


RULES = [
    "RULE:[1:$1](App\\..*)s/App\\.(.*)/$1/g/L",
    "RULE:[2:$1;$2](^.*;admin$)s/;admin$//",
    "RULE:[2:$1](root)s/.*/kafka/U",
    "DEFAULT",
]


@pytest.mark.parametrize(
    ("principal", "name"),
    [
        ("alice@TEST", "alice"),
        ("kafka/host@TEST", "kafka"),
        ("johndoe/admin@TEST", "johndoe"),
        ("root/x@OTHER", "KAFKA"),
        ("alice", "alice"),
    ],
)
def test_rules(principal, name):
    assert KerberosRules(RULES, "TEST").name_of(principal) == name


def test_names_that_no_rule_fits():
    for principal in ("alice@OTHER", "a/b/c@TEST", "", "@TEST"):
        with pytest.raises(NoLocalName):
            KerberosRules(["DEFAULT"], "TEST").name_of(principal)
    for text in ("RULE:", "x", "RULE:[1:$1]((", "RULE:[1:$1](a(?=b))"):
        with pytest.raises(ConfigError):
            KerberosRules([text], "TEST")
