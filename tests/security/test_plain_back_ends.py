"""SASL PLAIN asks a file, LDAP and HTTP, in the order that is set."""

import contextlib
import hashlib
import json
import socketserver
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.quorum import quorum_config
from kbroker.errors import ConfigError
from kbroker.security.password_file import hash_password, parse_hash, parse_password_file
from kbroker.security.plain_chain import BackEndFailed, PlainChain, Verdict
from kbroker.security.sasl import LoginFailed
from kbroker.server import plain_backends
from kbroker.server.ldap_users import LdapUsers
from kbroker.server.node_sockets import NodeSockets
from kbroker.server.plain_backends import FileUsers, HttpUsers
from kbroker.testing import Broker
from tests.security.logins import CLOSED, PLAIN_MODULE, SCRAM_MODULE, Raw


@pytest.mark.parametrize("kind", ["scrypt", "sha256", "sha512"])
def test_hashes(kind):
    text = hash_password("pä:ss", b"salt" * 4, kind)
    assert parse_hash(text).fits("pä:ss")
    assert not parse_hash(text).fits("pä:sS")


def test_a_hash_of_passlib():
    """`passlib.hash.pbkdf2_sha256.using(salt=b"saltsalt", rounds=1000).hash("secret")`, computed by hand."""
    digest = hashlib.pbkdf2_hmac("sha256", b"secret", b"saltsalt", 1000)
    adapted = b64encode(digest).decode().rstrip("=").replace("+", ".")
    assert parse_hash(f"$pbkdf2-sha256$1000$c2FsdHNhbHQ${adapted}").fits("secret")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("alice", "line 1: no `name:hash`"),
        ("# users\n\nalice:secret", "line 3: no hash"),
        ("a:$scrypt$ln=40,r=8,p=1$c2FsdA$c2FsdA", "too long"),
        ("a:$pbkdf2-sha256$9000000$c2FsdA$c2FsdA", "too long"),
        (f"a:{hash_password('x', b's', 'sha256')}\na:{hash_password('y', b's', 'sha256')}", "twice"),
    ],
)
def test_files_that_make_no_sense(text, why):
    with pytest.raises(ConfigError, match=why) as caught:
        parse_password_file(text, "users")
    assert "secret" not in str(caught.value)


class Says:
    def __init__(self, name, verdict):
        self.name, self.verdict, self.asked, self.decoys = name, verdict, 0, 0

    def check(self, user, password):
        self.asked += 1
        if self.verdict is None:
            raise BackEndFailed("gone")
        return self.verdict

    def decoy(self, password):
        self.decoys += 1


def chain(*verdicts, now=lambda: 0):
    back_ends = [Says(str(number), verdict) for number, verdict in enumerate(verdicts)]
    return PlainChain(back_ends, 1000, now, b"s"), back_ends


@pytest.mark.parametrize(
    ("verdicts", "result", "asked", "decoys"),
    [
        ((Verdict.RIGHT, Verdict.WRONG), True, [1, 0], [0, 0]),
        ((Verdict.UNKNOWN, Verdict.RIGHT), True, [1, 1], [0, 0]),
        # Whoever is known to the first is not let in by the second, nor refused sooner than others.
        ((Verdict.WRONG, Verdict.RIGHT), False, [1, 0], [0, 1]),
        ((Verdict.UNKNOWN, Verdict.UNKNOWN), False, [1, 1], [0, 0]),
        ((None, Verdict.RIGHT), LoginFailed, [1, 0], [0, 0]),
    ],
)
def test_the_first_that_knows_the_user_decides(verdicts, result, asked, decoys):
    check, back_ends = chain(*verdicts)
    if result is LoginFailed:
        with pytest.raises(LoginFailed):
            check("alice", "secret")
    else:
        assert check("alice", "secret") is result
    assert ([each.asked for each in back_ends], [each.decoys for each in back_ends]) == (asked, decoys)


def test_right_passwords_are_remembered_for_a_while():
    now = [0]
    check, (back_end,) = chain(Verdict.RIGHT, now=lambda: now[0])
    assert check("alice", "secret")
    assert check("alice", "secret")
    assert back_end.asked == 1
    back_end.verdict = Verdict.WRONG
    assert not check("alice", "other")
    assert check("alice", "secret")
    now[0] = 1001
    assert not check("alice", "secret")
    assert b"secret" not in repr(check._kept).encode()


def test_a_file_that_changes(tmp_path):
    path = tmp_path / "users"
    path.write_text(f"alice:{hash_password('one', b'salt', 'sha256')}\n")
    users = FileUsers(str(path))
    assert users.check("alice", "one") is Verdict.RIGHT
    assert users.check("bob", "one") is Verdict.UNKNOWN
    path.write_text(f"alice:{hash_password('another', b'salt', 'sha256')}\n#\n")
    assert users.check("alice", "one") is Verdict.WRONG
    path.write_text("nonsense")
    assert users.check("alice", "another") is Verdict.RIGHT


class Ldap(socketserver.BaseRequestHandler):
    """Answers one bind."""

    def handle(self):
        data = self.request.recv(4096)
        # Version 3, the name, the password (tag 0x80), each with its length in one byte.
        at = data.index(b"\x02\x01\x03\x04") + 4
        dn = data[at + 1 : at + 1 + data[at]].decode()
        password = data[at + 1 + data[at] + 2 :].decode()
        self.server.seen.append(dn)
        code = 32 if "nobody" in dn else {"right": 0, "busy": 51}.get(password, 49)
        number = data[data.index(b"\x02\x01") :][:3]
        response = b"\x61\x07\x0a\x01" + bytes([code]) + b"\x04\x00\x04\x00"
        self.request.sendall(b"\x30" + bytes([len(number + response)]) + number + response)
        self.request.recv(100)


@pytest.fixture
def ldap():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Ldap) as server:
        server.daemon_threads, server.seen = True, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_ldap(ldap):
    name = "uid={user},dc=example"
    users = LdapUsers(f"ldap://127.0.0.1:{ldap.server_address[1]}", name, "", 60)
    assert users.check("alice", "right") is Verdict.RIGHT
    assert users.check("alice", "wrong") is Verdict.WRONG
    assert users.check("nobody", "right") is Verdict.UNKNOWN
    # Nobody chooses another place in the tree.
    users.check("admin,ou=ops", "right")
    assert ldap.seen[-1] == r"uid=admin\,ou\=ops,dc=example"
    with pytest.raises(BackEndFailed, match="51"):
        users.check("alice", "busy")
    with pytest.raises(BackEndFailed, match="a moment ago"):
        users.check("alice", "right")
    with pytest.raises(ConfigError):
        LdapUsers("http://x", name, "", 1)
    with pytest.raises(ConfigError):
        LdapUsers("ldap://x", "uid=x", "", 1)
    for url in ("ldap://x:99999", "ldap://x:0", "ldaps://x:y"):
        with pytest.raises(ConfigError, match="no ldap://"):
            LdapUsers(url, name, "", 1)
    with pytest.raises(ConfigError, match="No such file"):
        LdapUsers("ldaps://x", name, "/nowhere.pem", 1)
    with pytest.raises(ConfigError, match="no certificate in PEM"):
        LdapUsers("ldaps://x", name, __file__, 1)


def test_a_server_that_is_gone_is_told_of_once_a_minute(monkeypatch, caplog):
    class Ours(plain_backends.Remote):
        name = "ours"

        def _ask(self, user, password):
            if gone[0]:
                raise BackEndFailed("nobody is there")
            return Verdict.RIGHT

    now, gone, users, seen = [0.0], [False], Ours(), []
    monkeypatch.setattr(plain_backends, "monotonic", lambda: now[0])
    for now[0], gone[0] in ((0, 1), (5, 1), (30, 0), (31, 1), (40, 0), (61, 1), (63, 0)):
        with contextlib.suppress(BackEndFailed):
            users.check("alice", "secret")
        seen.append([record.levelname for record in caplog.records])
        caplog.clear()
    assert seen == [["ERROR"], [], ["WARNING"], [], [], ["ERROR"], ["WARNING"]]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_back_ends_that_nobody_asks(tmp_path, caplog, mechanism):
    users = tmp_path / "users"
    users.write_text("")
    settings = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "security.inter.broker.protocol": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": mechanism,
        "sasl.mechanism.inter.broker.protocol": mechanism,
        "sasl.jaas.config": f'{PLAIN_MODULE} required username="a" password="b" user_a="b";',
        "kbroker.plain.backends": "file",
        "kbroker.plain.file": str(users),
    }
    if mechanism != "PLAIN":
        settings["sasl.jaas.config"] = settings["sasl.jaas.config"].replace(PLAIN_MODULE, SCRAM_MODULE)
    config = BrokerConfig({"node.id": "1", "process.roles": "broker,controller", **settings})
    NodeSockets(config, quorum_config(config)).close()
    assert ("kbroker.plain.backends has no effect" in caplog.text) is (mechanism != "PLAIN")


class Http(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {"alice": "right" if asked["password"] == "http-secret" else "wrong"}.get(
            asked["user"], "unknown"
        )
        body = json.dumps({"answer": "maybe" if asked["user"] == "odd" else answer}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def http():
    with ThreadingHTTPServer(("127.0.0.1", 0), Http) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/check"
        server.shutdown()


def test_http(http):
    users = HttpUsers(http, 60)
    assert users.check("alice", "http-secret") is Verdict.RIGHT
    assert users.check("alice", "x") is Verdict.WRONG
    assert users.check("bob", "x") is Verdict.UNKNOWN
    with pytest.raises(BackEndFailed):
        users.check("odd", "x")
    with pytest.raises(ConfigError):
        HttpUsers("file:///etc/passwd", 1)


def test_a_broker_asks_all_and_tells_the_audit_log(tmp_path, http):
    (tmp_path / "users").write_text(f"bob:{hash_password('file-secret', b'salt')}")
    audit, own = tmp_path / "audit", f'{PLAIN_MODULE} required user_own="own-secret";'
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": own,
        "connection.failed.authentication.delay.ms": "1",
        "kbroker.plain.backends": "jaas,file,http",
        "kbroker.plain.file": str(tmp_path / "users"),
        "kbroker.plain.http.url": http,
        "kbroker.audit.log": str(audit),
    }
    logins = [("own", True), ("bob", True), ("alice", True), ("own", False), ("bob", False), ("x\n", False)]
    with Broker(config=config) as broker:
        for user, right in logins:
            password = {"own": "own-secret", "bob": "file-secret"}.get(user, "http-secret")
            with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
                answer = raw.plain(user, password if right else "wrong-secret")
                assert answer != CLOSED
                assert (answer.error_code == 0) is right, user
    text = audit.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert "secret" not in text
    assert [(line["principal"], line["allowed"]) for line in lines if line["operation"] == "LOGIN"] == [
        (f"User:{user}", right) for user, right in logins
    ]
    assert {(line["mechanism"], line["name"]) for line in lines} == {("PLAIN", "SASL_PLAINTEXT")}
