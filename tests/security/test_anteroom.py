"""A whole broker with many newcomers: who is in goes on, who comes gets in, and first requests are large."""

import socket
import struct
import threading
import time

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.users import set_user
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kbroker.protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.testing import Broker
from tests.security.certificates import Authority, pem_settings, trusting
from tests.security.logins import CLOSED, SCRAM_MODULE, USERS, Raw

VALUE = bytes(range(256)) * 1_000
BATCHES = 12


@pytest.fixture(scope="module", params=["auto", "asyncio"])
def broker(request):
    authority = Authority()
    name = "listener.name.{}.{}.sasl.jaas.config"
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0,"
        "SSL://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        "kbroker.event.loop": request.param,
        **{name.format(each, "plain"): USERS for each in ("sasl_plaintext", "sasl_ssl")},
        **{
            name.format(each, "scram-sha-256"): f"{SCRAM_MODULE} required;"
            for each in ("sasl_plaintext", "sasl_ssl")
        },
        **pem_settings(authority, authority.sign("node")),
    }
    with Broker(config=config) as broker:
        broker.authority = authority
        with Cluster(broker.bootstrap) as cluster:
            set_user(cluster, "ann", "ann-secret", "SCRAM-SHA-256")
        broker.create_topic("large", config={"max.message.bytes": "1000000"})
        broker.create_topic("small")
        with Raw(int(broker.bootstrap.rpartition(":")[2])) as raw:
            for _ in range(BATCHES):
                produced = raw.ask(produce("large", VALUE), 9)
                assert not produced.responses[0].partition_responses[0].error_code
        yield broker


def produce(topic, value):
    batch = build_batch([Record(-1, 1_700_000_000_000, b"k", value)])
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch)])
    return ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[data])


def fetch(topic):
    partition = FetchPartition(partition=0, partition_max_bytes=1 << 25)
    topics = [FetchTopic(topic=topic, partitions=[partition])]
    return FetchRequest(replica_id=-1, max_wait_ms=1000, min_bytes=1, max_bytes=1 << 25, topics=topics)


def come(broker, listener):
    """Connected, and in as far as TLS goes."""
    if not listener.endswith("SSL"):
        return Raw(broker.ports[listener])
    context = trusting(broker.authority.pem)
    return Raw(broker.ports[listener], lambda sock: context.wrap_socket(sock, server_hostname="localhost"))


def log_in(raw, listener):
    if listener.startswith("SASL"):
        assert raw.scram("ann", "ann-secret").error_code == 0


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL", "SSL"])
def test_first_requests_may_be_large_and_many(broker, listener):
    """Answers of megabytes, by sendfile and not, whose reader comes late, and small ones behind them."""
    with come(broker, listener) as raw:
        log_in(raw, listener)
        asked = [fetch("large"), produce("small", b"x"), fetch("large"), fetch("small")] * 2
        for request in asked:
            raw.send(raw.encode(request, 9))
        for request in asked:
            answer = raw.answer(request, 9)
            assert answer != CLOSED
            if isinstance(request, FetchRequest):
                found = answer.responses[0].partitions[0]
                assert not found.error_code
                if request.topics[0].topic == "large":
                    assert bytes(found.records).count(VALUE) == BATCHES


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_those_who_are_in_go_on_and_those_who_come_get_in(broker, listener):
    """Both ask for all there is; a hundred who say nothing are no hindrance either."""
    silent = [socket.create_connection(("127.0.0.1", broker.ports[listener])) for _ in range(100)]
    done, rounds, problems = threading.Event(), [], []

    def stream():
        try:
            with Raw(broker.ports["PLAINTEXT"]) as raw:
                while not done.is_set():
                    for _ in range(20):
                        raw.send(raw.encode(produce("small", b"x"), 9))
                    for _ in range(20):
                        answer = raw.answer(produce("small", b"x"), 9)
                        assert not answer.responses[0].partition_responses[0].error_code
                    rounds.append(1)
        except BaseException as error:
            problems.append(error)
            raise

    streams = [threading.Thread(target=stream) for _ in range(2)]
    for thread in streams:
        thread.start()
    try:
        while len(rounds) < 3 and not problems:
            time.sleep(0.001)
        before = len(rounds)
        for _ in range(3):
            crowd = [come(broker, listener) for _ in range(10)]
            for raw in crowd:
                log_in(raw, listener)
                raw.socket.close()
        assert len(rounds) > before
    finally:
        done.set()
        for thread in streams:
            thread.join()
        for sock in silent:
            sock.close()
    assert not problems


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_a_large_request_may_come_with_the_login(broker, listener):
    """In one write, nothing awaited: the limit of those who are not in ends within what is read at once."""
    with come(broker, listener) as raw:
        asked = [
            (SaslHandshakeRequest(mechanism="PLAIN"), 1),
            (SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret"), 2),
            (produce("large", bytes(range(256)) * 3_000), 9),
        ]
        frames = [raw.encode(*each) for each in asked]
        raw.socket.sendall(b"".join(struct.pack(">i", len(frame)) + frame for frame in frames))
        answers = [raw.answer(*each) for each in asked]
        assert CLOSED not in answers
        assert not answers[2].responses[0].partition_responses[0].error_code
