"""Requests at a broker that is not the controller: passed on in an Envelope, answered as if there."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.forwarding import Forwarder, decode_principal, encode_principal
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.protocol.generated.alter_configs_request import (
    AlterableConfig as OldConfig,
    AlterConfigsResource as OldResource,
)
from kbroker.protocol.generated.create_topics_request import CreatableTopic
from kbroker.protocol.generated.envelope_request import EnvelopeRequest
from kbroker.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kbroker.server.dispatch import Dispatcher
from kbroker.server.inner_calls import InnerCalls
from tests.handlers.admin_node import AdminNode


class Standby:
    """What a broker sees of its own controller, which is not active."""

    active = False


class Channel:
    """To the controller, in the same process."""

    def __init__(self, controller):
        self.inner = InnerCalls(Dispatcher(controller.services, "controller"), "kbroker-2")
        controller.services.answer_frame = self.inner.answer_frame
        self.sent = []
        self.answer = None

    def send(self, request, timeout_ms, *, channel):
        self.sent.append(request)
        if self.answer is not None:
            return self.answer
        return self.inner.ask(request)


class World:
    def __init__(self):
        self.controller = AdminNode()
        self.broker = AdminNode()
        self.channel = Channel(self.controller)
        self.broker.services.controller = Standby()
        self.broker.services.broker_id = 2
        self.broker.services.forward = Forwarder(self.channel, 30_000)


@pytest.fixture
def world():
    return World()


@pytest.mark.parametrize("version", [2, 4, 5, 7])
def test_the_controllers_answer_is_relayed_in_every_version(world, version):
    topics = [CreatableTopic(name="t", num_partitions=1, replication_factor=1)]
    response = world.broker.ask("CreateTopics", version, topics=topics)
    assert [(each.name, each.error_code) for each in response.topics] == [("t", 0)]
    assert world.controller.image.topics.get("t") is not None
    again = world.broker.ask("CreateTopics", version, topics=topics)
    assert again.topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS


def test_the_envelope_says_who_asks_and_from_where(world):
    world.broker.client.core.context.principal = "User:alice"
    world.broker.client.core.context.client_address = "10.1.2.3"
    world.broker.ask("DeleteTopics", 6, topics=[])
    (envelope,) = world.channel.sent
    assert decode_principal(envelope.request_principal) == "User:alice"
    assert envelope.client_host_address == bytes([10, 1, 2, 3])


def test_what_every_broker_knows_is_not_passed_on(world):
    world.broker.ask("DescribeCluster", 1)
    world.broker.ask("Metadata", 9, topics=None)
    assert world.channel.sent == []


def test_without_a_controller_the_answer_has_the_requests_own_shape(world):
    world.channel.answer = Deferred()
    world.channel.answer.fail(ApiError(ErrorCode.REQUEST_TIMED_OUT))
    response = world.broker.ask("CreateTopics", 5, topics=[CreatableTopic(name="t")])
    assert response.topics[0].error_code == ErrorCode.REQUEST_TIMED_OUT


def test_a_node_that_is_no_controller_any_more_says_so_to_the_broker_only(world):
    world.controller.services.controller = Standby()
    frame = EnvelopeRequest(request_data=b"", request_principal=b"", client_host_address=bytes(4))
    assert world.channel.inner.ask(frame).result().error_code == ErrorCode.NOT_CONTROLLER


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"request_principal": None}, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        ({"request_principal": b"\0\x63"}, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        ({"request_principal": b"\0\0\xff"}, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        ({"client_host_address": b"abc"}, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        ({"request_data": b""}, ErrorCode.INVALID_REQUEST),
        ({"request_data": bytes([0, 62, 0, 4]) + bytes(20)}, ErrorCode.INVALID_REQUEST),
        ({"request_data": bytes([0, 19, 0, 99]) + bytes(20)}, ErrorCode.UNSUPPORTED_VERSION),
        ({"request_data": bytes([0, 19, 0, 5, 0, 0, 0, 1, 0, 3])}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_envelopes_that_make_no_sense_are_refused(world, fields, code):
    good = {
        "request_data": bytes([0, 19, 0, 5]) + bytes(20),
        "request_principal": encode_principal("User:x"),
        "client_host_address": bytes(4),
    }
    answer = world.channel.inner.ask(EnvelopeRequest(**{**good, **fields})).result()
    assert answer.error_code == code
    assert answer.response_data is None


def test_a_version_that_the_controller_does_not_have_closes_the_connection(world):
    world.channel.answer = Deferred()
    world.channel.answer.fail(ApiError(ErrorCode.UNSUPPORTED_VERSION))
    route = world.broker.dispatcher.find_route(19 << 16 | 5)
    context = SimpleNamespace(principal="User:x", client_address="127.0.0.1")
    with pytest.raises(ProtocolError, match="the controller has no CreateTopicsRequest 5"):
        world.broker.dispatcher._forward(route, b"", 0, context).result()


def test_settings_are_changed_by_the_controller_and_loggers_here(world):
    topics = [CreatableTopic(name="t", num_partitions=1, replication_factor=1)]
    world.broker.ask("CreateTopics", 5, topics=topics)
    logger = logging.getLogger("kbroker.forwarding-test")
    resources = [
        AlterConfigsResource(
            resource_type=2,
            resource_name="t",
            configs=[AlterableConfig(name="retention.ms", config_operation=0, value="5")],
        ),
        AlterConfigsResource(
            resource_type=8,
            resource_name="2",
            configs=[AlterableConfig(name=logger.name, config_operation=0, value="ERROR")],
        ),
        AlterConfigsResource(
            resource_type=4,
            resource_name="9",
            configs=[AlterableConfig(name="log.retention.ms", config_operation=0, value="5")],
        ),
    ]
    response = world.broker.ask("IncrementalAlterConfigs", 1, resources=resources)
    assert [each.error_code for each in response.responses] == [0, 0, ErrorCode.INVALID_REQUEST]
    assert world.controller.image.topic_config("t") == {"retention.ms": "5"}
    assert logger.level == logging.ERROR


def test_a_brokers_own_settings_are_checked_by_it_and_not_again(world):
    resources = [
        OldResource(
            resource_type=4, resource_name="2", configs=[OldConfig(name="log.retention.ms", value="5")]
        )
    ]
    response = world.broker.ask("AlterConfigs", 2, resources=resources)
    assert [each.error_code for each in response.responses] == [0]
    assert world.controller.image.config(4, "2") == {"log.retention.ms": "5"}
