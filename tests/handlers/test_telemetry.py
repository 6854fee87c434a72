"""GetTelemetrySubscriptions and PushTelemetry through the dispatcher; more is in the transcripts of Kafka."""

from __future__ import annotations

import pytest

from kbroker.broker.client_metrics import ClientMetrics
from kbroker.protocol.compression import compress
from kbroker.server.dispatch import Dispatcher
from tests.protocol.otlp_messages import field, gauge, message, number_point, total

ID = b"0123456789abcdef"
DATA = message(total("sent", number_point(4, topic="t")), gauge("age", number_point(1.5)), client_rack="r")


@pytest.fixture
def keeping(node):
    node.services.client_metrics = ClientMetrics(keeps=True)
    node.dispatcher = Dispatcher(node.services)
    return node


def ask(client):
    return client.ask("GetTelemetrySubscriptions", 0, client_instance_id=ID)


def push(client, data, codec=0, **fields):
    number = ask(client).subscription_id
    return client.ask(
        "PushTelemetry",
        0,
        client_instance_id=ID,
        subscription_id=number,
        compression_type=codec,
        metrics=compress(codec, data),
        **fields,
    ).error_code


def test_a_client_gets_an_id(node):
    answer = node.connect().ask("GetTelemetrySubscriptions", 0)
    assert answer.error_code == 0
    assert answer.client_instance_id != bytes(16)
    assert answer.accepted_compression_types == [4, 3, 1, 2]


@pytest.mark.parametrize("codec", range(5))
def test_a_push_is_kept(keeping, codec):
    client = keeping.connect()
    client.ask("ApiVersions", 3, client_software_name="lib", client_software_version="1")
    assert push(client, DATA, codec) == 0
    (kept,) = keeping.services.client_metrics.store.instances(keeping.clock.now)
    assert (kept.client_id, kept.software, kept.resource) == ("test", "lib", (("client_rack", "r"),))
    assert kept.series["sent", (("topic", "t"),)].value == 4
    assert kept.series["age", ()].value == 1.5


def test_what_cannot_be_read_is_refused_where_it_is_kept(keeping):
    assert push(keeping.connect(), b"not otlp") == 87
    assert not list(keeping.services.client_metrics.store.instances(0))


def test_where_nothing_is_kept_it_is_only_unpacked(node):
    assert push(node.connect(), b"not otlp") == 0
    assert not list(node.services.client_metrics.store.instances(0))


@pytest.mark.parametrize("codec", range(1, 5))
def test_a_small_push_that_would_become_large_is_refused(keeping, codec):
    data = field(15, b"\0" * (9 * 1024 * 1024))
    assert push(keeping.connect(), data, codec) == 118


def test_reading_has_a_thread(keeping):
    waiting = []
    keeping.services.run_blocking = lambda work, done: waiting.append((work, done))
    exported = []
    keeping.services.client_metrics.export = exported.append
    client = keeping.connect()
    number = ask(client).subscription_id
    fields = {"client_instance_id": ID, "subscription_id": number, "metrics": DATA}
    client.send(client.frame("PushTelemetry", 0, **fields))
    assert client.answers() == []
    ((work, done),) = waiting
    work()
    assert not list(keeping.services.client_metrics.store.instances(0))
    assert len(exported[0].points) == 2
    done(None)
    assert client.answers()[0].error_code == 0
    assert len(list(keeping.services.client_metrics.store.instances(0))) == 1


def test_api_versions_names_them_where_pushes_are_kept(node, keeping):
    keys = {api.api_key for api in keeping.connect().ask("ApiVersions", 0).api_keys}
    assert {71, 72} <= keys
    keeping.services.client_metrics = ClientMetrics()
    keys = {api.api_key for api in keeping.connect().ask("ApiVersions", 0).api_keys}
    assert not {71, 72} & keys
