"""SASL PLAIN asks an LDAP server: entries that are looked for, and TLS on the way."""

from __future__ import annotations

import contextlib
import socketserver
import ssl
import threading

import pytest
from ldap3.protocol import rfc4511 as ldap
from pyasn1.codec.ber import decoder, encoder

from kbroker.config.broker_config import BrokerConfig
from kbroker.errors import ConfigError
from kbroker.security.plain_chain import BackEndFailed, Verdict
from kbroker.server.ldap_users import LdapUsers, Search, ldap_users
from tests.security.certificates import Authority

PEOPLE = "ou=people,dc=example"
ENTRIES = {"alice": [f"cn=Alice,{PEOPLE}"], "twin": [f"cn=One,{PEOPLE}", f"cn=Two,{PEOPLE}"]}
SEARCHER = ("cn=kbroker,dc=example", "searcher-secret")
PASSWORDS = dict([SEARCHER]) | {f"cn=Alice,{PEOPLE}": "right"}
START_TLS = "1.3.6.1.4.1.1466.20037"


class Directory(socketserver.BaseRequestHandler):
    """Binds, searches of one equality, StartTLS."""

    def handle(self):
        with contextlib.suppress(OSError):
            while data := self.request.recv(65536):
                message, _ = decoder.decode(data, asn1Spec=ldap.LDAPMessage())
                self.number = message["messageID"]
                kind = message["protocolOp"].getName()
                asked = message["protocolOp"][kind]
                self.server.seen.append((kind, isinstance(self.request, ssl.SSLSocket)))
                getattr(self, f"on_{kind}", lambda asked: None)(asked)

    def answer(self, kind, value):
        message = ldap.LDAPMessage()
        message["messageID"] = self.number
        message["protocolOp"] = ldap.ProtocolOp().setComponentByName(kind, value)
        self.request.sendall(encoder.encode(message))

    def result(self, value, code):
        value["resultCode"], value["matchedDN"], value["diagnosticMessage"] = code, "", ""
        return value

    def on_bindRequest(self, asked):
        name, password = str(asked["name"]), str(asked["authentication"]["simple"])
        code = 0 if not name or PASSWORDS.get(name) == password else 49
        self.answer("bindResponse", self.result(ldap.BindResponse(), code))

    def on_searchRequest(self, asked):
        wanted = str(asked["filter"]["equalityMatch"]["assertionValue"])
        self.server.searched.append((str(asked["baseObject"]), wanted))
        for name in ENTRIES.get(wanted, ()):
            entry = ldap.SearchResultEntry()
            entry["object"], entry["attributes"] = name, ldap.PartialAttributeList()
            self.answer("searchResEntry", entry)
        code = 4 if len(ENTRIES.get(wanted, ())) > 1 else 0
        self.answer("searchResDone", self.result(ldap.SearchResultDone(), code))

    def on_extendedReq(self, asked):
        known = str(asked["requestName"]) == START_TLS and self.server.context is not None
        self.answer("extendedResp", self.result(ldap.ExtendedResponse(), 0 if known else 2))
        if known:
            self.request = self.server.context.wrap_socket(self.request, server_side=True)


@pytest.fixture
def server():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Directory) as server:
        server.daemon_threads, server.context = True, None
        server.seen, server.searched = [], []
        server.url = f"ldap://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_an_entry_is_looked_for(server):
    users = LdapUsers(server.url, "", "", 60, Search(PEOPLE, "(uid={user})", *SEARCHER))
    assert users.check("alice", "right") is Verdict.RIGHT
    assert users.check("alice", "wrong") is Verdict.WRONG
    assert users.check("nobody", "right") is Verdict.UNKNOWN
    assert server.searched[-1] == (PEOPLE, "nobody")
    # Nobody chooses what is looked for.
    assert users.check("*)(uid=alice", "right") is Verdict.UNKNOWN
    assert server.searched[-1] == (PEOPLE, "*)(uid=alice")
    with pytest.raises(BackEndFailed, match="more than one"):
        users.check("twin", "right")


def test_who_searches_is_nobody_or_has_the_right_password(server):
    nobody = LdapUsers(server.url, "", "", 60, Search(PEOPLE, "(uid={user})"))
    assert nobody.check("alice", "right") is Verdict.RIGHT
    wrong = LdapUsers(server.url, "", "", 60, Search(PEOPLE, "(uid={user})", SEARCHER[0], "wrong"))
    with pytest.raises(BackEndFailed, match="who searches: result 49"):
        wrong.check("alice", "right")


def test_nothing_is_said_before_tls(server, tmp_path):
    authority = Authority()
    store, ca = tmp_path / "node.pem", tmp_path / "ca.pem"
    node = authority.sign("node")
    store.write_text(node.key_pem() + node.pem)
    ca.write_text(authority.pem)
    search = Search(PEOPLE, "(uid={user})", *SEARCHER)
    users = LdapUsers(server.url, "", str(ca), 60, search, start_tls=True)
    with pytest.raises(BackEndFailed):
        users.check("alice", "right")
    assert {kind for kind, _ in server.seen} <= {"extendedReq", "unbindRequest"}
    server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.context.load_cert_chain(store)
    server.seen.clear()
    users = LdapUsers(server.url, "", str(ca), 60, search, start_tls=True)
    assert users.check("alice", "right") is Verdict.RIGHT
    # The end of the connection before may come late, and says nothing.
    assert all(tls for kind, tls in server.seen if kind not in ("extendedReq", "unbindRequest"))
    # An authority that is not trusted gets no password.
    ca.write_text(Authority("another").pem)
    server.seen.clear()
    users = LdapUsers(server.url, "", str(ca), 60, search, start_tls=True)
    with pytest.raises(BackEndFailed):
        users.check("alice", "right")
    assert "bindRequest" not in {kind for kind, _ in server.seen}


def test_a_server_of_another_name_gets_no_password(server, tmp_path):
    authority = Authority()
    store, ca = tmp_path / "node.pem", tmp_path / "ca.pem"
    node = authority.sign("node", ["ldap.example.com", "127.0.0.2"])
    store.write_text(node.key_pem() + node.pem)
    ca.write_text(authority.pem)
    server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.context.load_cert_chain(store)
    users = LdapUsers(server.url, "uid={user},dc=x", str(ca), 60, start_tls=True)
    with pytest.raises(BackEndFailed):
        users.check("alice", "right")
    assert "bindRequest" not in {kind for kind, _ in server.seen}


def config_of(given):
    return BrokerConfig(
        {"node.id": "1"} | {f"kbroker.plain.ldap.{name}": text for name, text in given.items()}
    )


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"search.base": PEOPLE, "search.filter": "(uid=*)"}, "search.filter must have"),
        ({"search.base": PEOPLE, "search.user": "cn=x"}, "go together"),
        ({}, r"needs kbroker.plain.ldap.dn"),
        ({"dn": "{user}"}, "ldap.dn is no name of an entry"),
        ({"search.base": "people"}, "search.base is no name of an entry"),
        ({"search.base": PEOPLE, "search.filter": "(uid={user}"}, "search.filter: invalid filter"),
        ({"search.base": PEOPLE, "search.filter": "(uid={user})(x=y)"}, "search.filter: missing boolean"),
        ({"url": "ldaps://x", "dn": "uid={user}", "start.tls": "true"}, "start.tls goes with ldap://"),
    ],
)
def test_what_does_not_go_together(settings, why):
    given = {"url": "ldap://localhost"} | settings
    config = config_of(given)
    with pytest.raises(ConfigError, match=why):
        ldap_users(config, 1)


def test_a_search_by_settings(server):
    given = {
        "url": server.url,
        "search.base": PEOPLE,
        "search.user": SEARCHER[0],
        "search.password": SEARCHER[1],
    }
    config = config_of(given)
    assert ldap_users(config, 60).check("alice", "right") is Verdict.RIGHT
