"""What a broker tells of itself is what was done to it."""

from __future__ import annotations

import socket

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.records import fetch, produce
from kbroker.client.topics import delete_topics, list_topics
from kbroker.errors import ApiError
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.types import TopicPartition

RECORDS = [Record(-1, 1_700_000_000_000, b"k%d" % i, b"v" * 50) for i in range(7)]
SIZE = len(build_batch(RECORDS))
_TOPIC = "kafka_server_brokertopicmetrics_"


@pytest.fixture
def cluster(scraped):
    with Cluster(scraped.broker.bootstrap) as cluster:
        yield cluster


def test_records_and_bytes_of_a_topic(scraped, cluster):
    scraped.broker.create_topic("counted", 2)
    before = scraped.samples()
    for index in (0, 1, 1):
        produce(cluster, TopicPartition("counted", index), RECORDS)
    fetch(cluster, {TopicPartition("counted", 0): 0})
    after = scraped.samples()

    def grown(name, **labels):
        key = name, tuple(sorted(labels.items()))
        return after[key] - before.get(key, 0)

    assert grown(f"{_TOPIC}messagesin_total", topic="counted") == 21
    assert grown(f"{_TOPIC}bytesin_total", topic="counted") == 3 * SIZE
    assert grown(f"{_TOPIC}totalproducerequests_total", topic="counted") == 3
    assert grown(f"{_TOPIC}bytesout_total", topic="counted") == SIZE
    assert grown(f"{_TOPIC}messagesin_total") == 21
    assert grown(f"{_TOPIC}bytesin_total") == 3 * SIZE
    for name, index, value in (("logendoffset", "0", 7), ("logendoffset", "1", 14), ("size", "1", 2 * SIZE)):
        assert after["kafka_log_log_" + name, (("partition", index), ("topic", "counted"))] == value
    assert after["kafka_cluster_partition_replicascount", (("partition", "0"), ("topic", "counted"))] == 1


def test_what_is_sent_again_and_again_is_counted_as_well(scraped, cluster):
    scraped.broker.create_topic("repeated")
    name, labels = "kafka_network_requestmetrics_requests_total", {"request": "Produce", "version": "12"}
    before = scraped.value(name, **labels) or 0
    for _ in range(20):
        produce(cluster, TopicPartition("repeated", 0), RECORDS)
    assert scraped.value(name, **labels) == before + 20
    assert scraped.value(f"{_TOPIC}totalproducerequests_total", topic="repeated") == 20
    assert scraped.value(f"{_TOPIC}messagesin_total", topic="repeated") == 140


def test_phases_of_requests_have_a_count_each(scraped, cluster):
    scraped.broker.create_topic("phases")
    produce(cluster, TopicPartition("phases", 0), RECORDS)
    samples = scraped.samples()
    base = "kafka_network_requestmetrics_"
    total = sum(
        value
        for (name, labels), value in samples.items()
        if name == base + "requests_total" and dict(labels)["request"] == "Metadata"
    )
    assert total > 0
    for phase in ("total", "local", "remote", "requestqueue", "responsequeue", "responsesend", "throttle"):
        assert samples[f"{base}{phase}timems_count", (("request", "Metadata"),)] == total, phase
    quantile = samples[f"{base}totaltimems", (("quantile", "0.999"), ("request", "Metadata"))]
    assert 0 < quantile < 60_000


def test_a_fetch_that_waits_has_waited(scraped, cluster):
    scraped.broker.create_topic("waited")
    fetch(cluster, {TopicPartition("waited", 0): 0}, max_wait_ms=120)
    samples = scraped.samples()
    labels = ("quantile", "0.999"), ("request", "FetchConsumer")
    assert samples["kafka_network_requestmetrics_remotetimems", labels] >= 100
    assert samples["kafka_network_requestmetrics_localtimems", labels] < 100_000
    of_fetch = samples["kafka_network_requestmetrics_totaltimems_count", (("request", "Fetch"),)]
    assert (
        of_fetch == samples["kafka_network_requestmetrics_totaltimems_count", (("request", "FetchConsumer"),)]
    )


def test_errors_are_told_by_name(scraped, cluster):
    with pytest.raises(ApiError):
        scraped.broker.create_topic("no such name!")
    errors = scraped.value(
        "kafka_network_requestmetrics_errors_total", request="CreateTopics", error="INVALID_TOPIC_EXCEPTION"
    )
    assert errors >= 1


def test_the_node_tells_of_itself(scraped, cluster):
    list_topics(cluster)
    samples = scraped.samples()
    get = {name: value for (name, labels), value in samples.items() if not labels}
    assert get["kafka_controller_kafkacontroller_activecontrollercount"] == 1
    assert get["kafka_server_kafkaserver_brokerstate"] == 3
    assert get["kafka_server_replicamanager_underreplicatedpartitions"] == 0
    assert get["process_resident_memory_bytes"] > 1_000_000
    assert get["kafka_server_raft_metrics_number_of_voters"] == 1
    assert get["kafka_server_raft_metrics_high_watermark"] > 0
    assert samples["kafka_server_raft_metrics_current_state_info", (("state", "leader"),)] == 1
    assert get["kafka_server_broker_metadata_metrics_last_applied_record_timestamp"] > 1_700_000_000_000
    assert get["kafka_server_broker_metadata_metrics_last_applied_record_lag_ms"] == 0
    partitions = get["kafka_server_replicamanager_partitioncount"]
    assert partitions == get["kafka_controller_kafkacontroller_globalpartitioncount"]
    connections = samples[
        "kafka_server_socket_server_metrics_connection_count",
        (("listener", "PLAINTEXT"), ("networkProcessor", "0")),
    ]
    assert connections >= 1


def test_counts_of_a_topic_that_is_gone_stay_in_the_total(scraped, cluster):
    scraped.broker.create_topic("fleeting")
    produce(cluster, TopicPartition("fleeting", 0), RECORDS)
    before = scraped.value(f"{_TOPIC}messagesin_total")
    delete_topics(cluster, ["fleeting"])
    assert scraped.value(f"{_TOPIC}messagesin_total") == before
    assert scraped.value(f"{_TOPIC}messagesin_total", topic="fleeting") is None


def test_an_answer_that_the_peer_does_not_read_is_being_sent(scraped, cluster):
    place = TopicPartition(scraped.broker.create_topic("slow"), 0)
    for _ in range(16):
        produce(cluster, place, [Record(-1, 0, None, b"v" * 500_000)] * 2)
    request = FetchRequest(
        max_wait_ms=0,
        max_bytes=1 << 26,
        topics=[
            FetchTopic(topic="slow", partitions=[FetchPartition(partition=0, partition_max_bytes=1 << 26)])
        ],
    )
    host, _, port = scraped.broker.bootstrap.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=60) as sock:
        body = b"\0\1\0\x0b\0\0\0\1\xff\xff" + request.encode(11)
        sock.sendall(len(body).to_bytes(4, "big") + body)
        stream = sock.makefile("rb")
        size = int.from_bytes(stream.read(4), "big")
        assert size > 8_000_000
        # Until the answer is on its way as far as buffers go, then for good.
        assert len(stream.read(size)) == size
        sock.sendall(len(body).to_bytes(4, "big") + body)
        assert stream.read(4)
    labels = ("quantile", "0.999"), ("request", "FetchConsumer")
    assert scraped.samples()["kafka_network_requestmetrics_responsesendtimems", labels] > 0


def test_syncs_of_logs_are_timed(scraped, cluster):
    """Those that a Produce waits for, and those of the metadata log, whoever waits for them."""
    name = "kafka_log_logflushstats_logflushrateandtimems"
    # Those of the metadata log: nothing else has been synced.
    before = scraped.value(f"{name}_count")
    assert before > 0
    scraped.broker.create_topic("flushed", config={"flush.messages": "1"})
    for _ in range(3):
        produce(cluster, TopicPartition("flushed", 0), RECORDS)
    assert scraped.value(f"{name}_count") >= before + 3
    bean = scraped.json("/jolokia/read/kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs")["value"]
    assert (bean["EventType"], bean["LatencyUnit"], bean["RateUnit"]) == ("calls", "MILLISECONDS", "SECONDS")
    assert 0 <= bean["Min"] <= bean["Mean"] <= bean["Max"]
    assert bean["MeanRate"] > 0
