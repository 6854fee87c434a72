"""Prometheus text, Jolokia's JSON, and the HTTP listener around them."""

from __future__ import annotations

import http.client
import json
import socket

import pytest

from kbroker.errors import ConfigError
from kbroker.metrics.jolokia import Jolokia, of_path
from kbroker.metrics.prometheus import pieces
from kbroker.metrics.registry import COUNTER, GAUGE, METER, Registry
from kbroker.server.metrics_server import parse_address
from tests.metrics.scrape import parse


@pytest.fixture
def registry():
    registry = Registry()
    registry.meter("kafka.server", "BrokerTopicMetrics", "BytesInPerSec", "bytes").value = 10
    registry.rows(
        "kafka.server", "BrokerTopicMetrics", "BytesInPerSec", METER, ("topic",), lambda: [(('a"b\\',), 4)]
    )
    registry.meter("kafka.server", "AddPartitionsToTxnManager", "VerificationFailureRate").value = 2
    registry.gauge("kafka.network", "SocketServer", "NetworkProcessorAvgIdlePercent", lambda: 0.25)
    registry.gauge("kafka.server", "KafkaServer", "ClusterId", lambda: "text")
    registry.gauge("kafka.log", "Log", "Size", lambda: 7, topic="t", partition="0")
    registry.histogram("kafka.network", "RequestMetrics", "TotalTimeMs", request="Fetch").record(3000)
    registry.attributes(
        "kafka.server", "raft-metrics", lambda: {"current-state": "leader", "high-watermark": 5}
    )
    registry.rows(
        "kafka.server",
        "Produce",
        "",
        "attributes",
        ("user", "client-id"),
        lambda: [(("u", "c"), {"byte-rate": 1.5}), (("", "c"), {"byte-rate": 2.0})],
    )
    registry.attributes(
        "kafka.server", "socket-server-metrics", lambda: {"connection-creation-total": 3}, listener="L"
    )
    registry.rows("process", "cpu_seconds", "", COUNTER, (), lambda: [((), 1.25)])
    registry.rows("kafka", "consumergroup", "lag", GAUGE, ("consumergroup",), lambda: [(("g",), 9)])
    return registry


def test_names_are_those_that_the_usual_rules_give(registry):
    found = parse(b"".join(pieces(registry)).decode())
    bytes_in = "kafka_server_brokertopicmetrics_bytesin_total"
    assert found[bytes_in, ()] == 10
    assert found[bytes_in, (("topic", 'a\\"b\\\\'),)] == 4
    assert found["kafka_server_addpartitionstotxnmanager_verificationfailurerate_count", ()] == 2
    assert found["kafka_network_socketserver_networkprocessoravgidlepercent", ()] == 0.25
    assert found["kafka_network_socketserver_networkprocessoravgidle_percent", ()] == 0.25
    assert found["kafka_log_log_size", (("partition", "0"), ("topic", "t"))] == 7
    assert found["kafka_network_requestmetrics_totaltimems_count", (("request", "Fetch"),)] == 1
    quantile = found["kafka_network_requestmetrics_totaltimems", (("quantile", "0.99"), ("request", "Fetch"))]
    assert quantile == pytest.approx(3, rel=0.07)
    assert found["kafka_server_raft_metrics_current_state_info", (("state", "leader"),)] == 1
    assert found["kafka_server_raft_metrics_high_watermark", ()] == 5
    labels = ("clientId", "c"), ("resource", "Produce"), ("user", "u")
    assert found["kafka_server_quota_byte_rate", labels] == 1.5
    assert found["kafka_server_quota_byte_rate", labels[:2]] == 2
    creation = "kafka_server_socket_server_metrics_connection_creation_total"
    assert found[creation, (("listener", "L"),)] == 3
    assert found["process_cpu_seconds_total", ()] == 1.25
    assert found["kafka_consumergroup_lag", (("consumergroup", "g"),)] == 9
    assert not any("clusterid" in name for name, _ in found)


def asked(jolokia, request, now_ms=0):
    steps = jolokia.steps(request, now_ms)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


def read(registry, now_ms=10_000, **request):
    return asked(Jolokia(registry, "1"), {"type": "read", **request}, now_ms)


def test_jolokia_reads_attributes_in_any_order_of_keys(registry):
    name = "kafka.server:name=BytesInPerSec,type=BrokerTopicMetrics"
    assert read(registry, mbean=name, attribute="Count")["value"] == 10
    meter = read(registry, mbean=name)["value"]
    assert meter["MeanRate"] == meter["OneMinuteRate"] == 1
    assert meter["EventType"] == "bytes"
    assert read(registry, mbean="kafka.server:type=KafkaServer,name=ClusterId")["value"] == {"Value": "text"}
    several = read(registry, mbean=name, attribute=["Count", "RateUnit"])["value"]
    assert several == {"Count": 10, "RateUnit": "SECONDS"}


def test_jolokia_reads_by_pattern(registry):
    found = read(registry, mbean="kafka.server:type=BrokerTopicMetrics,*", attribute="Count")["value"]
    assert [value["Count"] for value in found.values()] == [10, 4]
    found = read(registry, mbean="kafka.server:type=BrokerTopicMetrics,name=*,topic=*")["value"]
    assert list(found) == ['kafka.server:name=BytesInPerSec,topic=a"b\\,type=BrokerTopicMetrics']


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"mbean": "kafka.server:type=Nothing"}, 404),
        ({"mbean": "kafka.server:type=KafkaServer,name=ClusterId", "attribute": "x"}, 404),
        ({"mbean": "nonsense"}, 400),
        ({"mbean": "a:b"}, 400),
        ({"mbean": 5}, 400),
        ({"type": "exec", "mbean": "a:b=c"}, 400),
    ],
)
def test_jolokia_says_what_is_wrong(registry, request_, status):
    answer = read(registry, **request_)
    assert answer["status"] == status
    assert answer["error"].startswith(("javax.", "java."))


def test_jolokia_lists_and_searches(registry):
    jolokia = Jolokia(registry, "1")
    tree = asked(jolokia, {"type": "list"})["value"]
    assert tree["kafka.log"]["name=Size,partition=0,topic=t,type=Log"]["attr"] == {
        "Value": {"rw": False, "type": "long"}
    }
    assert asked(jolokia, {"type": "list", "path": "kafka.log"})["value"] == tree["kafka.log"]
    found = asked(jolokia, {"type": "search", "mbean": "kafka.log:*"})["value"]
    assert found == ["kafka.log:name=Size,partition=0,topic=t,type=Log"]
    assert asked(jolokia, {"type": "version"})["value"]["info"]["product"] == "kbroker"


def test_paths_are_requests():
    assert of_path("") == {"type": "version"}
    assert of_path("read/a:b=c!/d/Count") == {"type": "read", "mbean": "a:b=c/d", "attribute": "Count"}
    assert of_path("read/a:b=c/X,Y") == {"type": "read", "mbean": "a:b=c", "attribute": ["X", "Y"]}
    assert of_path("search/kafka.*:*") == {"type": "search", "mbean": "kafka.*:*"}


def test_a_pattern_takes_linear_time(registry):
    registry.gauge("d", "T", "a" * 200, lambda: 1)
    answer = read(registry, mbean="d:type=T,name=" + "*a" * 30 + "b")
    assert answer["status"] == 404


def test_addresses():
    assert parse_address("0.0.0.0:9404") == ("0.0.0.0", 9404)
    assert parse_address("9404") == ("127.0.0.1", 9404)
    assert parse_address("[::1]:1") == ("::1", 1)
    assert parse_address(":9404") == ("", 9404)
    for wrong in ("host:", "host:x", "h:70000"):
        with pytest.raises(ConfigError):
            parse_address(wrong)


def test_the_listener_answers_what_it_knows(scraped):
    assert scraped.ask("/nothing")[0] == 404
    assert scraped.ask("/metrics", "POST", "x")[0] == 405
    status, text = scraped.ask("/ready")
    assert (status, json.loads(text)) == (200, {"ready": True})
    assert json.loads(scraped.ask("/health")[1])["status"] == "ok"
    name = "kafka.server:type=KafkaServer,name=BrokerState"
    assert scraped.json(f"/jolokia/read/{name}/Value")["value"] == 3
    asked = [{"type": "read", "mbean": name}, {"type": "version"}, {"type": "read", "mbean": "x"}]
    answers = scraped.json("/jolokia", asked)
    assert [answer["status"] for answer in answers] == [200, 200, 400]
    assert scraped.ask("/jolokia/", "POST", "[1]")[0] == 400
    assert scraped.ask("/jolokia/", "POST", "no json")[0] == 400
    assert scraped.json("/jolokia/list")["value"]["kafka.server"] is not None


def test_a_connection_is_kept_and_bad_requests_are_closed(scraped):
    connection = http.client.HTTPConnection("127.0.0.1", scraped.port, timeout=60)
    for _ in range(3):
        connection.request("GET", "/health")
        assert connection.getresponse().read()
    connection.close()
    for bad, status in (
        (b"nonsense\r\n\r\n", b"400"),
        (b"DELETE / HTTP/1.1\r\n\r\n", b"405"),
        (b"POST /jolokia HTTP/1.1\r\n\r\n", b"411"),
        (b"POST /jolokia HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"POST /jolokia HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 40_000 + b"\r\n\r\n", b"400"),
    ):
        with socket.create_connection(("127.0.0.1", scraped.port), timeout=60) as sock:
            sock.sendall(bad)
            answer = sock.makefile("rb").read()
        assert answer.split(b" ")[1] == status, bad[:40]


def test_http_1_0_is_answered_until_the_end(scraped):
    with socket.create_connection(("127.0.0.1", scraped.port), timeout=60) as sock:
        sock.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        head, _, body = sock.makefile("rb").read().partition(b"\r\n\r\n")
    assert b"Connection: close" in head
    assert json.loads(body)["status"] == "ok"
