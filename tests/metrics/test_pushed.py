"""What clients push (KIP-714) is in the same output."""

from __future__ import annotations

from kbroker.client import Cluster
from kbroker.protocol.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kbroker.protocol.generated.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kbroker.protocol.generated.push_telemetry_request import PushTelemetryRequest
from kbroker.protocol.generated.push_telemetry_response import PushTelemetryResponse
from tests.protocol.otlp_messages import gauge, message, number_point


def test_a_gauge_that_a_client_pushed(scraped):
    with Cluster(scraped.broker.bootstrap, client_id="pusher") as cluster:
        told = cluster.ask(GetTelemetrySubscriptionsRequest(), GetTelemetrySubscriptionsResponse)
        push = PushTelemetryRequest(
            client_instance_id=told.client_instance_id,
            subscription_id=told.subscription_id,
            metrics=message(
                gauge("org.apache.kafka.producer.record.queue.time.avg", number_point(12, topic="t"))
            ),
        )
        assert cluster.ask(push, PushTelemetryResponse).error_code == 0
        samples = scraped.samples()
    found = {
        labels: value
        for (name, labels), value in samples.items()
        if name == "kafka_client_producer_record_queue_time_avg"
    }
    ((labels, value),) = found.items()
    assert value == 12
    assert dict(labels)["client_id"] == "pusher"
    assert dict(labels)["topic"] == "t"
