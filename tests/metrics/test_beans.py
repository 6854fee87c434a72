"""Beans of Kafka's that dashboards and scripts look for: there, with what is asked of them, and true."""

from __future__ import annotations

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.group_offsets import commit_offsets, delete_offsets
from kbroker.client.records import fetch, produce
from kbroker.protocol.generated.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kbroker.protocol.generated.join_group_response import JoinGroupResponse
from kbroker.protocol.generated.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kbroker.protocol.generated.sync_group_response import SyncGroupResponse
from kbroker.protocol.record_batch import Record
from kbroker.types import TopicPartition

RECORDS = [Record(-1, 1_700_000_000_000, b"k", b"v")]

_MOVES = "kafka.server:type=ReplicaAlterLogDirsManager"
_MARKERS = "kafka.coordinator.transaction:type=TransactionMarkerChannelManager"
#: Name -> an attribute.
BEANS = {
    "kafka.controller:type=ControllerEventManager,name=AvgIdleRatio": "Value",
    "kafka.controller:type=ControllerEventManager,name=EventQueueProcessingTimeMs": "99thPercentile",
    "kafka.controller:type=ControllerEventManager,name=EventQueueTimeMs": "99thPercentile",
    "kafka.controller:type=ControllerStats,name=ElectionFromEligibleLeaderReplicasPerSec": "Count",
    "kafka.controller:type=KafkaController,name=EventQueueOperationsStartedCount": "Value",
    "kafka.controller:type=KafkaController,name=EventQueueOperationsTimedOutCount": "Value",
    "kafka.controller:type=KafkaController,name=NewActiveControllersCount": "Value",
    "kafka.controller:type=KafkaController,name=TimedOutBrokerHeartbeatCount": "Value",
    f"{_MARKERS},name=UnknownDestinationQueueSize": "Value",
    f"{_MARKERS},name=LogAppendRetryQueueSize": "Value",
    "kafka.log:type=LogCleaner,name=DeadThreadCount": "Value",
    "kafka.log:type=LogCleaner,name=max-clean-time-secs": "Value",
    "kafka.log:type=LogCleaner,name=cleaner-recopy-percent": "Value",
    "kafka.log:type=LogCleanerManager,name=time-since-last-run-ms": "Value",
    "kafka.network:type=Acceptor,name=AcceptorBlockedPercent,listener=PLAINTEXT": "Count",
    "kafka.network:type=RequestChannel,name=RequestQueueSize": "Value",
    "kafka.network:type=RequestChannel,name=ResponseQueueSize,processor=0": "Value",
    "kafka.network:type=SocketServer,name=MemoryPoolUsed": "Value",
    "kafka.server:type=AddPartitionsToTxnManager,name=VerificationTimeMs": "Count",
    "kafka.server:type=AddPartitionsToTxnManager,name=VerificationFailureRate": "Count",
    "kafka.server:type=AssignmentsManager,name=QueuedReplicaToDirAssignments": "Value",
    "kafka.server:type=BrokerMetadataListener,name=MetadataBatchSizes": "Max",
    "kafka.server:type=BrokerMetadataListener,name=MetadataBatchProcessingTimeUs": "Max",
    "kafka.server:type=ControllerServer,name=ClusterId": "Value",
    "kafka.server:type=ControllerServer,name=linux-disk-write-bytes": "Value",
    "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=DeleteRecords": "Value",
    "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=ShareFetch": "Value",
    "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=AlterAcls": "Value",
    "kafka.server:type=DelayedProduceMetrics,name=ExpiresPerSec": "Count",
    "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent": "OneMinuteRate",
    "kafka.server:type=MetadataLoader,name=HandleLoadSnapshotCount": "Value",
    "kafka.server:type=ReplicaFetcherManager,name=DeadThreadCount,clientId=Replica": "Value",
    "kafka.server:type=ShareSessionCache,name=ShareSessionEvictionsPerSec": "Count",
    "kafka.server:type=BrokerTopicMetrics,name=ReassignmentBytesInPerSec": "Count",
    "kafka.server:type=BrokerTopicMetrics,name=ReassignmentBytesOutPerSec": "Count",
    f"{_MOVES},name=MaxLag,clientId=ReplicaAlterLogDirs": "Value",
    f"{_MOVES},name=FailedPartitionsCount,clientId=ReplicaAlterLogDirs": "Value",
    "kafka.server:type=ReplicaFetcherManager,name=MinFetchRate,clientId=Replica": "Value",
    "kafka.server:type=SnapshotEmitter,name=LatestSnapshotGeneratedBytes": "Value",
    "kafka.server:type=app-info": "version",
    "kafka.server:type=client-metrics": "unknown-subscription-request-count",
    "kafka.server:type=group-coordinator-metrics": "partition-load-time-max",
    "kafka.server:type=group-coordinator-metrics,state=failed": "num-partitions",
    "kafka.server:type=raft-metrics": "append-records-rate",
    "kafka.server:type=raft-channel-metrics": "request-rate",
    "kafka.server:type=txn-marker-channel-metrics": "incoming-byte-total",
    "kafka.server:type=heartbeat-metrics,BrokerId=1": "connection-count",
    "kafka.server:type=Produce": "queue-size",
    "kafka.server:type=ControllerMutation": "queue-size",
    "kafka.server:type=share-coordinator-metrics,state=active": "num-partitions",
    "kafka.server:type=socket-server-metrics": "broker-connection-accept-rate",
    "kafka.server:type=socket-server-metrics,listener=PLAINTEXT": "connection-accept-rate",
    "kafka.server:type=socket-server-metrics,listener=PLAINTEXT,networkProcessor=0": "incoming-byte-rate",
    "kafka.server:type=transaction-coordinator-metrics": "partition-load-time-avg",
    "kafka.utils:type=Throttler,name=cleaner-io": "Count",
    "kafka:type=kafka.Log4jController": "Loggers",
}


@pytest.fixture
def read(scraped):
    def read(name, attribute=None):
        return scraped.json("/jolokia/read/" + name + (f"/{attribute}" if attribute else ""))["value"]

    return read


def test_all_of_them_are_there(scraped):
    asked = [{"type": "read", "mbean": name, "attribute": attribute} for name, attribute in BEANS.items()]
    answers = scraped.json("/jolokia", asked)
    assert [each for each in answers if each["status"] != 200] == []


def test_what_the_controller_decides_is_counted_and_timed(scraped, read):
    base = "kafka.controller:type="
    started = read(f"{base}KafkaController,name=EventQueueOperationsStartedCount", "Value")
    timed = read(f"{base}ControllerEventManager,name=EventQueueProcessingTimeMs", "Count")
    batches = read("kafka.server:type=BrokerMetadataListener,name=MetadataBatchSizes")
    scraped.broker.create_topic("decided", 9)
    assert read(f"{base}KafkaController,name=EventQueueOperationsStartedCount", "Value") > started
    assert read(f"{base}ControllerEventManager,name=EventQueueProcessingTimeMs", "Count") > timed
    after = read("kafka.server:type=BrokerMetadataListener,name=MetadataBatchSizes")
    assert after["Count"] > batches["Count"]
    # The topic, and its partitions.
    assert after["Max"] >= 10
    assert read(f"{base}KafkaController,name=NewActiveControllersCount", "Value") == 1
    assert read("kafka.server:type=BrokerMetadataListener,name=MetadataBatchProcessingTimeUs", "Max") > 0


def test_a_batch_of_the_controller_takes_its_time(scraped, read):
    scraped.broker.create_topic("committed")
    raft = read("kafka.server:type=raft-metrics")
    assert 0 < raft["commit-latency-avg"] <= raft["commit-latency-max"]
    assert (raft["election-latency-max"], raft["uncommitted-voter-change"]) == (0, 0)
    assert 0 <= raft["poll-idle-ratio-avg"] <= 1


def test_what_coordinators_count_and_how_long_it_takes(scraped, read):
    name = "kafka.server:type=group-coordinator-metrics"
    scraped.broker.create_topic("left", 3)
    before = read(name)
    with Cluster(scraped.broker.bootstrap) as cluster:
        places = [TopicPartition("left", each) for each in range(3)]
        commit_offsets(cluster, "group", dict.fromkeys(places, 0))
        delete_offsets(cluster, "group", places[:1])

        def ask(request, response):
            return cluster.ask_coordinator("joined", request, response, lambda answer: [answer.error_code])

        protocols = [JoinGroupRequestProtocol(name="range", metadata=b"")]
        joined = ask(
            JoinGroupRequest(
                group_id="joined",
                session_timeout_ms=60_000,
                rebalance_timeout_ms=60_000,
                protocol_type="consumer",
                group_instance_id="me",
                protocols=protocols,
            ),
            JoinGroupResponse,
        )
        assignment = SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"all")
        sync = SyncGroupRequest(
            group_id="joined",
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            group_instance_id="me",
            protocol_type="consumer",
            protocol_name="range",
            assignments=[assignment],
        )
        ask(sync, SyncGroupResponse)
    after = read(name)
    grown = {each: after[each] - before[each] for each in after if each.endswith("-count")}
    assert (grown["offset-commit-count"], grown["offset-deletion-count"]) == (3, 1)
    assert (grown["offset-count"], grown["offset-expiration-count"]) == (2, 0)
    assert (grown["group-completed-rebalance-count"], grown["consumer-group-rebalance-count"]) == (1, 0)
    assert 0 < after["event-processing-time-ms-p50"] <= after["event-processing-time-ms-max"]
    assert after["batch-flush-time-ms-max"] > 0
    assert after["event-queue-time-ms-max"] == 0


def test_waiting_fetches_are_of_their_kind(scraped, read):
    with Cluster(scraped.broker.bootstrap) as cluster:
        place = TopicPartition(scraped.broker.create_topic("kinds"), 0)
        produce(cluster, place, RECORDS)
        fetch(cluster, {place: 0})
    base = "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation="
    for kind in ("Fetch", "ShareFetch", "DeleteRecords", "Produce"):
        assert read(base + kind, "Value") == 0


def test_loggers_are_listed_and_no_number(scraped, read):
    assert "kbroker.broker.housekeeping" in read("kafka:type=kafka.Log4jController", "Loggers")
    assert not [name for name, _ in scraped.samples() if "loggers" in name]
