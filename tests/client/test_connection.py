import socket

import pytest

from kbroker.client import Address, ClientError, Cluster, Connection, Unreachable, Unsupported
from kbroker.client.errors import NotConnected, WantsSecurity
from kbroker.protocol.generated.metadata_request import MetadataRequest
from kbroker.protocol.generated.metadata_response import MetadataResponse, MetadataResponseBroker
from tests.client.fake_broker import FakeBroker, versions


def connect(broker: FakeBroker, timeout_s: float = 5) -> Connection:
    return Connection(Address("127.0.0.1", broker.port), timeout_s=timeout_s)


def test_the_newest_common_version_is_used():
    def answer(header, body):
        if header.request_api_key == 18:
            return versions(header.request_api_version, (3, 0, 7), (18, 0, 4), (1, 90, 95))
        assert header.request_api_version == 7
        return MetadataResponse(brokers=[MetadataResponseBroker(node_id=5)], controller_id=5).encode(7)

    with FakeBroker(answer) as broker:
        connection = connect(broker)
        assert connection.ask(MetadataRequest(topics=[]), MetadataResponse).brokers[0].node_id == 5
        assert connection.version(3, limit=4) == 4
        assert not connection.has(1)
        with pytest.raises(Unsupported, match="Fetch"):
            connection.version(1)
        with pytest.raises(Unsupported, match="LeaderAndIsr"):
            connection.version(4)
        connection.close()


@pytest.mark.parametrize("newest", [0, 2, 3])
def test_a_broker_older_than_the_question_is_asked_again(newest):
    """KIP-511: it answers UNSUPPORTED_VERSION in a body of version 0."""

    def answer(header, body):
        if header.request_api_version > newest:
            return versions(0, (18, 0, newest), error=35)
        assert (b"kbroker" in body) is (newest >= 3)
        return versions(header.request_api_version, (18, 0, newest), (3, 0, 8))

    with FakeBroker(answer) as broker:
        connection = connect(broker)
        assert connection.version(3) == 8
        assert [header.request_api_version for header in broker.requests] == [4, newest]
        connection.close()


def test_a_field_that_the_broker_lacks_is_unsupported():
    def answer(header, body):
        return versions(header.request_api_version, (3, 0, 3), (18, 0, 4))

    with FakeBroker(answer) as broker:
        connection = connect(broker)
        with pytest.raises(Unsupported, match="Metadata 3"):
            connection.ask(MetadataRequest(topics=[], allow_auto_topic_creation=False), MetadataResponse)
        connection.close()


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", ClientError, "speaks HTTP, not Kafka's protocol"),
        (b"\x15\x03\x03\x00\x02\x02\x28", WantsSecurity, "speaks TLS"),
        (b"\x00\x00\x00\x02xx", ClientError, "no Kafka broker"),
        (b"\xff\xff\xff\xff", ClientError, "no Kafka broker"),
        (b"\x00\x00\x00\x06\x00\x00\x00\x63\x00\x00", ClientError, "answered request 99"),
        (b"\x00\x00\x00\x05\x00\x00\x00\x01\x00", ClientError, "cannot be read"),
        (b"\x00\x00\x00\x06\x00\x00\x00\x01\x00\x07", ClientError, "cannot be read"),
        (lambda header, body: None, Unreachable, "closed the connection"),
        (lambda header, body: versions(4, error=42), ClientError, "error 42"),
        (lambda header, body: versions(0, error=35), ClientError, "does not tell"),
    ],
)
def test_odd_answers_are_told_in_words(answer, error, text):
    with FakeBroker(answer) as broker, pytest.raises(error, match=text):
        connect(broker)


def test_no_answer_in_time():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = Address("127.0.0.1", silent.getsockname()[1])
        with pytest.raises(Unreachable, match=r"did not answer within 0\.05 s"):
            Connection(address, timeout_s=0.05)


def test_nothing_listens():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(NotConnected, match="cannot connect"):
        Cluster(f"127.0.0.1:{port},127.0.0.1:{port}").any()


def test_the_next_bootstrap_address_is_tried():
    def answer(header, body):
        return versions(header.request_api_version, (18, 0, 4))

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with FakeBroker(answer) as broker, Cluster(f"127.0.0.1:{port},{broker.bootstrap}") as cluster:
        assert cluster.any().address.port == broker.port


def test_a_port_of_http_is_passed_over_and_the_next_address_tried():
    def answer(header, body):
        return versions(header.request_api_version, (18, 0, 4))

    with (
        FakeBroker(b"HTTP/1.1 400 Bad Request\r\n\r\n") as web,
        FakeBroker(answer) as broker,
        Cluster(f"{web.bootstrap},{broker.bootstrap}") as cluster,
    ):
        assert cluster.any().address.port == broker.port


def test_a_broker_that_is_not_where_it_says():
    """What has to be mended is its advertised.listeners, not the bootstrap address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        nowhere = server.getsockname()[1]

    def answer(header, body):
        if header.request_api_key == 18:
            return versions(header.request_api_version, (3, 0, 9), (18, 0, 4))
        told = MetadataResponseBroker(node_id=7, host="127.0.0.1", port=nowhere)
        return b"\x00" + MetadataResponse(brokers=[told], controller_id=7).encode(9)

    told = rf"{nowhere} .*broker 7 says to be \(advertised.listeners\)"
    with (
        FakeBroker(answer) as broker,
        Cluster(broker.bootstrap) as cluster,
        pytest.raises(NotConnected, match=told),
    ):
        cluster.node(7)


def test_a_connection_that_died_is_replaced():
    questions = 0

    def answer(header, body):
        nonlocal questions
        if header.request_api_key == 18:
            return versions(header.request_api_version, (3, 0, 9), (18, 0, 4))
        questions += 1
        if questions == 2:
            return None
        return b"\x00" + MetadataResponse(controller_id=questions).encode(9)

    with FakeBroker(answer) as broker, Cluster(broker.bootstrap) as cluster:
        assert cluster.metadata([]).controller_id == 1
        assert cluster.metadata([]).controller_id == 3
