"""Who decides: super users, the order of authorizers, addresses, HTTP, the audit log."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kbroker.broker.access import Access, host_text
from kbroker.broker.metric_access import PerMinute
from kbroker.config.broker_config import BrokerConfig
from kbroker.errors import ConfigError
from kbroker.handlers.context import ConnectionContext, RequestContext
from kbroker.security.acl import Acl, Operation, PatternType, Permission, ResourceType
from kbroker.security.acl_index import AclIndex
from kbroker.security.audit import Audit, parse_operations
from kbroker.security.authorizer import Chain, Question, Undecided, parse_super_users
from kbroker.security.authorizer_addresses import AddressAuthorizer
from kbroker.security.authorizer_http import HttpAuthorizer, decode_answers, encode_questions
from kbroker.server.access import open_access
from kbroker.server.audit_file import AuditFile
from kbroker.testing import Broker
from tests.metrics.scrape import Scraped
from tests.security.little_allowed import Asker

TOPIC = ResourceType.TOPIC


def question(principal="User:bob", host="10.0.0.1", operation=Operation.READ, name="t"):
    return Question(principal, host, operation, TOPIC, name)


class Says:
    def __init__(self, answer):
        self.answer, self.asked = answer, 0

    def decide(self, question):
        self.asked += 1
        return self.answer


def context(principal="User:bob", address="10.0.0.1", **more):
    return RequestContext(ConnectionContext("c", address, principal=principal, **more), 3, 1, 1, "me")


# -- the chain --


def test_the_first_opinion_counts_and_nobodys_is_a_denial():
    none, yes, no = Says(None), Says(True), Says(False)
    assert Chain([none, yes, no]).allows(question())
    assert not no.asked
    assert not Chain([none, no, yes]).allows(question())
    assert not Chain([none]).allows(question())
    assert Chain([no], ["User:bob"]).allows(question())


def test_decisions_are_kept_until_they_are_forgotten():
    says = Says(True)
    chain = Chain([says])
    assert chain.allows(question())
    assert chain.allows(question())
    assert says.asked == 1
    says.answer = False
    chain.forget()
    assert not chain.allows(question())


def test_super_users():
    assert parse_super_users("User:a;User:CN=x,OU=y; ;User:c:d") == ["User:a", "User:CN=x,OU=y", "User:c:d"]
    for wrong in ("a", ":a", "User:"):
        with pytest.raises(ConfigError, match=r"super\.users"):
            parse_super_users(wrong)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1%eth0"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8::00ab", "2001:db8:0:0:0:0:0:ab"),
    ],
)
def test_addresses_are_written_as_java_writes_them(address, text):
    assert host_text(address) == text


def test_this_node_asks_nobody():
    access = Access(Chain([Says(False)]))
    assert access.allows(context(trusted=True), Operation.ALTER, TOPIC, "t")
    assert not access.allows(context(), Operation.ALTER, TOPIC, "t")


def test_many_entries_on_one_topic_cost_no_more_than_few():
    index = AclIndex(
        Acl(TOPIC, "t", PatternType.LITERAL, f"User:u{n}", "*", Operation.READ, Permission.ALLOW)
        for n in range(10_000)
    )
    assert index.decide("User:u9999", "h", Operation.DESCRIBE, TOPIC, "t")
    assert index.decide("User:other", "h", Operation.READ, TOPIC, "t") is False
    assert index.decide("User:other", "h", Operation.READ, TOPIC, "x") is None


# -- addresses --


def test_an_address_on_the_list_may_everything():
    listed = AddressAuthorizer(["10.0.0.0/8", "fd00::/8", "192.168.1.7"])
    assert listed.decide(question(host="10.200.1.1")) is True
    assert listed.decide(question(host="fd00:0:0:0:0:0:0:9")) is True
    assert listed.decide(question(host="192.168.1.8")) is None
    assert listed.decide(question(host="unknown")) is None
    with pytest.raises(ConfigError, match=r"kbroker\.authorizer\.addresses"):
        AddressAuthorizer(["10.0.0.1/8"])


# -- HTTP --


def test_answers_hold_for_their_time_and_failures_for_less():
    now = [0]
    http = HttpAuthorizer(lambda: now[0], 60_000, "next")
    with pytest.raises(Undecided) as undecided:
        http.decide(question())
    http.answered(undecided.value.questions, [False])
    assert http.decide(question()) is False
    now[0] = 60_000
    with pytest.raises(Undecided):
        http.decide(question())
    http.failed([question()])
    assert http.decide(question()) is None
    assert http.failures == 1
    now[0] += 6_000
    with pytest.raises(Undecided):
        http.decide(question())


def test_what_is_asked_and_answered_over_http():
    (asked,) = json.loads(encode_questions([question()]))["questions"]
    assert asked == {
        "principal": "User:bob",
        "host": "10.0.0.1",
        "operation": "READ",
        "resource": "TOPIC",
        "pattern": "LITERAL",
        "name": "t",
    }
    assert decode_answers(b'{"answers": ["allow", "deny", "next"]}', 3) == [True, False, None]
    for wrong in (b"", b"[]", b'{"answers": ["allow"]}', b'{"answers": [1, 2]}', b'{"answers": [[], {}]}'):
        with pytest.raises(ValueError):
            decode_answers(wrong, 2)


class _Server(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["questions"]
        self.server.asked.append(asked)
        answers = ["deny" if each["name"] in self.server.denied else "allow" for each in asked]
        body = json.dumps({"answers": answers}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    server.asked, server.denied, server.status = [], {"secret"}, 200
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def http_settings(server, **more):
    return {
        "kbroker.authorizers": "http",
        "kbroker.authorizer.http.url": f"http://127.0.0.1:{server.server_port}/decide",
        **more,
    }


def codes(address):
    asker = Asker(address)
    try:
        topics = [{"name": name} for name in ("open", "secret")]
        answer = asker.ask("Metadata", 12, {"topics": topics, "allowAutoTopicCreation": False})
        return {topic.name: topic.error_code for topic in answer.topics}
    finally:
        asker.close()


def fetch_code(address, topic):
    asker = Asker(address)
    try:
        part = {"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 1000, "currentLeaderEpoch": -1}
        wanted = {"maxWaitMs": 0, "maxBytes": 1000, "topics": [{"topic": topic, "partitions": [part]}]}
        return asker.ask("Fetch", 12, wanted).responses[0].partitions[0].error_code
    finally:
        asker.close()


def test_an_http_server_decides(server):
    with Broker(config=http_settings(server)) as broker:
        assert codes(broker.bootstrap) == {"open": 3, "secret": 29}
        asked = sum(len(each) for each in server.asked)
        assert codes(broker.bootstrap) == {"open": 3, "secret": 29}
        assert sum(len(each) for each in server.asked) == asked  # kept
        assert fetch_code(broker.bootstrap, "secret") == 29
        assert fetch_code(broker.bootstrap, "open") == 3


@pytest.mark.parametrize(("on_failure", "code"), [("deny", 29), ("allow", 3), ("next", 29)])
def test_an_http_server_that_fails(server, on_failure, code):
    server.status = 500
    settings = http_settings(server, **{"kbroker.authorizer.http.on.failure": on_failure})
    with Broker(config=settings) as broker:
        assert codes(broker.bootstrap)["open"] == code


def test_an_allow_list_before_acls():
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "kbroker.authorizers": "addresses,acls",
        "kbroker.authorizer.addresses": "127.0.0.0/8",
    }
    with Broker(config=settings) as broker:
        assert codes(broker.bootstrap) == {"open": 3, "secret": 3}


# -- settings --


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"authorizer.class.name": "com.example.Mine"}, "loads no Java class"),
        ({"kbroker.authorizers": "http"}, "http.url is not set"),
        ({"kbroker.authorizers": "addresses"}, "addresses is empty"),
        ({"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer", "super.users": "x"}, "super"),
    ],
)
def test_settings_that_make_no_sense(settings, why):
    with pytest.raises(ConfigError, match=why):
        open_access(None, BrokerConfig({"node.id": "1", **settings}))


# -- the audit log --


def test_denials_are_told_and_what_changes_the_cluster():
    lines = []
    audit = Audit(lines.append, lambda: 5, parse_operations(["create", "ALTER"]))
    access = Access(Chain([Says(True)]), audit=audit)
    access.allows(context(), Operation.READ, TOPIC, "t")
    access.allows(context(), Operation.CREATE, TOPIC, "new\n\x1b[31m")
    Access(Chain([Says(False)]), audit=audit).allows(context(), Operation.READ, TOPIC, "t")
    assert [json.loads(line)["operation"] for line in lines] == ["CREATE", "READ"]
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert json.loads(lines[1]) == {
        "time_ms": 5,
        "principal": "User:bob",
        "host": "10.0.0.1",
        "api": "Metadata",
        "operation": "READ",
        "resource": "TOPIC",
        "name": "t",
        "allowed": False,
        "client_id": "me",
    }
    with pytest.raises(ValueError, match="fly"):
        parse_operations(["fly"])


def test_the_audit_file_is_rotated(tmp_path):
    path = tmp_path / "audit.log"
    for number in range(4):
        file = AuditFile(str(path), bytes_max=1024, files_max=3)
        file.write(json.dumps({"number": number, "x": "x" * 1100}))
        file.close()
    found = sorted(each.name for each in tmp_path.iterdir())
    assert found == ["audit.log", "audit.log.1", "audit.log.2"]
    assert json.loads(path.read_text())["number"] == 3


def test_a_disk_that_is_too_slow_costs_lines_not_time(tmp_path, monkeypatch):
    monkeypatch.setattr("kbroker.server.audit_file.QUEUE_LINES_MAX", 0)
    file = AuditFile(str(tmp_path / "audit.log"), bytes_max=1 << 20, files_max=2)
    file.write("{}")
    assert file.dropped == 1
    file.close()
    with pytest.raises(ConfigError, match="cannot write"):
        AuditFile(str(tmp_path / "none" / "audit.log"), bytes_max=1, files_max=1)


def test_metrics(tmp_path):
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "kbroker.metrics.listener": "127.0.0.1:0",
        "kbroker.audit.log": str(tmp_path / "audit.log"),
    }
    with Broker(config=settings) as broker:
        assert codes(broker.bootstrap) == {"open": 29, "secret": 29}
        scraped = Scraped(broker)
        labels = (("class", "StandardAuthorizer"), ("config", "authorizer.class.name"), ("role", "broker"))
        assert scraped.samples()["kafka_server_plugins_acls_total_count", labels] == 0
        found = scraped.json("/jolokia/read/kafka.server:type=plugins,*")["value"]
        # One as broker, one as controller.
        assert len(found) == 2
        for attributes in found.values():
            assert set(attributes) == {
                "acls-total-count",
                "authorization-allowed-rate-per-minute",
                "authorization-denied-rate-per-minute",
                "authorization-request-rate-per-minute",
            }


def test_decisions_of_a_minute():
    access = Access(Chain([AddressAuthorizer(["10.0.0.1"])]))
    minute = PerMinute(access)
    assert minute.rates() == (0.0, 0.0)
    for second in range(0, 200, 5):
        minute.tick(second * 1000)
        access.allows(context(), Operation.READ, TOPIC, "t")
        access.allows(context(address="10.0.0.2"), Operation.READ, TOPIC, "t")
        access.allows(context(address="10.0.0.2"), Operation.READ, TOPIC, "t")
    assert minute.rates() == (12.0, 24.0)
