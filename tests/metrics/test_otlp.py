"""Pushing metrics by OTLP."""

from __future__ import annotations

import asyncio
import http.server
import threading

import pytest

from kbroker.errors import ConfigError
from kbroker.metrics.otlp import messages
from kbroker.metrics.registry import GAUGE, Registry
from kbroker.protocol.otlp import decode_metrics
from kbroker.server.otlp_push import _headers, _parse
from kbroker.testing import Broker

RESOURCE = {"service.name": "kbroker"}


def encoded(registry):
    return [each for each in messages(registry, RESOURCE, "1", 1_000_000, 2_000_000_000) if each]


def test_what_is_pushed_can_be_read_again():
    registry = Registry()
    registry.meter("kafka.server", "BrokerTopicMetrics", "BytesInPerSec", topic="t").value = 12
    registry.gauge("kafka.log", "LogManager", "Idle", lambda: 0.5)
    registry.gauge("kafka.server", "KafkaServer", "ClusterId", lambda: "text")
    registry.attributes(
        "kafka.server", "raft-metrics", lambda: {"current-state": "leader", "high-watermark": -1}
    )
    (message,) = encoded(registry)
    found = decode_metrics(message)
    assert found.resource == (("service.name", "kbroker"),)
    points = {point.name: point for point in found.points}
    bytes_in = points["kafka_server_brokertopicmetrics_bytesin"]
    assert (bytes_in.kind, bytes_in.value, bytes_in.attributes) == ("sum", 12, (("topic", "t"),))
    assert (bytes_in.is_delta, bytes_in.time_ms) == (False, 2000)
    assert points["kafka_log_logmanager_idle"].value == 0.5
    assert points["kafka_server_raft_metrics_high_watermark"].value == -1
    assert points["kafka_server_raft_metrics_current_state_info"].attributes == (("state", "leader"),)
    assert len(points) == 4


def test_many_rows_come_in_messages_of_a_bounded_size():
    registry = Registry()
    registry.rows("d", "T", "N", GAUGE, ("k",), lambda: [((str(n),), n) for n in range(9000)])
    parts = encoded(registry)
    assert len(parts) > 4
    assert max(map(len, parts)) < 500_000
    assert sum(point.value for part in parts for point in decode_metrics(part).points) == sum(range(9000))


def test_a_distribution_is_a_summary():
    registry = Registry()
    registry.histogram("kafka.network", "RequestMetrics", "TotalTimeMs").record(5000, times=3)
    (message,) = encoded(registry)
    assert b"kafka_network_requestmetrics_totaltimems" in message
    assert (
        decode_metrics(message).points == []
    )  # our reader, which is for what clients push, knows no summaries


@pytest.fixture
def collector():
    came = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.append((self.path, self.headers["X-Key"], self.headers["Content-Type"], body))
            self.send_response(503 if self.path == "/full" else 200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1], came
    server.shutdown()
    server.server_close()
    thread.join()


def pushed(config):
    """A broker that has pushed once: (rounds that arrived, that did not)."""
    with Broker(config=config) as broker:
        runner = broker._runner
        push = runner.node.metrics.push
        asyncio.run_coroutine_threadsafe(push.push(), runner._loop).result(60)
        return push.pushed, push.failed


def test_a_broker_pushes_to_a_collector(collector):
    port, came = collector
    config = {
        "kbroker.metrics.otlp.endpoint": f"http://127.0.0.1:{port}",
        "kbroker.metrics.otlp.headers": "X-Key=secret",
    }
    assert pushed(config) == (1, 0)
    path, key, kind, body = came[0]
    assert (path, key, kind) == ("/v1/metrics", "secret", "application/x-protobuf")
    names = {point.name for point in decode_metrics(body).points}
    assert "kafka_controller_kafkacontroller_activecontrollercount" in names


def test_a_collector_that_refuses_is_told_of_and_nothing_else_happens(collector, caplog):
    port, _ = collector
    assert pushed({"kbroker.metrics.otlp.endpoint": f"http://127.0.0.1:{port}/full"}) == (0, 1)
    assert "HTTP 503" in caplog.text
    assert pushed({"kbroker.metrics.otlp.endpoint": "http://127.0.0.1:1"}) == (0, 1)


def test_settings_that_are_wrong():
    for text in ("collector:4318", "ftp://x", "http://"):
        with pytest.raises(ConfigError):
            _parse(text)
    with pytest.raises(ConfigError) as caught:
        _headers("Authorization: Bearer hush")
    assert "hush" not in str(caught.value)
    assert _headers("A=b=c, X-Y=1") == {"A": "b=c", "X-Y": "1"}
