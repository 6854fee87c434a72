"""`kbroker-admin tokens`."""

import json

import pytest

from kbroker.cli.admin import main
from kbroker.testing import Broker
from tests.security.logins import PLAIN_MODULE, SCRAM_MODULE, USERS, client_jaas

ALICE = client_jaas(PLAIN_MODULE, "alice", "alice-secret")


@pytest.fixture(scope="module")
def broker():
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
        "delegation.token.secret.key": "shared",
    }
    with Broker(config=config) as broker:
        yield broker


@pytest.fixture
def admin(broker, capsys, tmp_path):
    """`admin("tokens", "list")` as alice -> (exit code, what was printed, what was complained)."""

    def run(*arguments, mechanism="PLAIN", jaas=ALICE):
        file = tmp_path / "client.properties"
        file.write_text(
            f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\nsasl.jaas.config={jaas}\n"
        )
        port = broker.ports["SASL_PLAINTEXT"]
        code = main(["-b", f"127.0.0.1:{port}", "--command-config", str(file), *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_tokens_come_are_shown_and_go(admin):
    code, said, _ = admin("--json", "tokens", "create", "--renewer", "bob", "--hours", "1")
    made = json.loads(said)
    assert (code, made["owner"], made["renewers"]) == (0, "User:alice", ["User:bob"])
    _, table, _ = admin("tokens", "list")
    assert made["id"] in table
    assert made["hmac"] not in table
    jaas = client_jaas(SCRAM_MODULE, made["id"], made["hmac"], " tokenauth=true")
    assert admin("topics", "list", mechanism="SCRAM-SHA-512", jaas=jaas)[0] == 0
    code, _, complaint = admin("tokens", "create", mechanism="SCRAM-SHA-512", jaas=jaas)
    assert code == 1
    assert complaint.count("\n") == 1
    assert admin("tokens", "renew", made["id"])[0] == 0
    code, said, _ = admin("tokens", "expire", made["id"])
    assert (code, said) == (0, f"{made['id']} logs nobody in any more\n")
    assert admin("tokens", "list", "--owner", "alice")[1].count("\n") == 1


def test_what_is_no_token(admin):
    code, _, complaint = admin("tokens", "expire", "no-such-token")
    assert (code, complaint) == (1, "kbroker-admin: there is no token no-such-token that you may see\n")


def test_a_hash_for_the_file_of_users(capsys, tmp_path):
    (tmp_path / "password").write_text("secret\n")
    assert (
        main(["users", "hash", "ann", "--kind", "sha256", "--password-file", str(tmp_path / "password")]) == 0
    )
    assert capsys.readouterr().out.startswith("ann:$pbkdf2-sha256$300000$")
