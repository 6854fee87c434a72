"""A node with transactions, and a transactional producer without any cleverness, for the handlers' tests."""

from __future__ import annotations

import itertools

from kbroker.broker.coordinator_driver import GroupCoordinatorDriver
from kbroker.broker.deferred import Deferred
from kbroker.broker.transactions import wire_transactions
from kbroker.config.broker_config import BrokerConfig
from kbroker.protocol.generated.add_partitions_to_txn_request import AddPartitionsToTxnTopic
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kbroker.protocol.generated.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kbroker.protocol.record_batch import iter_batches
from tests.handlers.node import batch


class Ids:
    """The controller, as far as it gives out producer ids."""

    def __init__(self):
        self._ids = itertools.count(1000)

    def next_producer_id(self):
        done = Deferred()
        done.resolve(next(self._ids))
        return done


def with_transactions(node):
    """Give the node both coordinators, as after a start."""
    node.services.config = BrokerConfig({"process.roles": "broker,controller", "node.id": "1"})
    services, config = node.services, node.services.config
    services.groups = GroupCoordinatorDriver(
        config, node.clock, node.timer, services.new_uuid, node.cache, node.replicas
    )
    node.replicas.on_leadership(services.groups.on_leadership)
    services.controller = Ids()
    services.transactions = wire_transactions(
        config,
        node.clock,
        node.timer,
        node.cache,
        node.replicas,
        services.groups,
        services.controller.next_producer_id,
    )
    return node


class Producer:
    """A transactional producer of transaction version 1 or 2, without any cleverness."""

    def __init__(self, client, name="x", version=2, timeout_ms=60_000):
        self.client, self.name, self.version = client, name, version
        answer = client.ask("InitProducerId", 4, transactional_id=name, transaction_timeout_ms=timeout_ms)
        assert answer.error_code == 0
        self.id, self.epoch = answer.producer_id, answer.producer_epoch
        self.sequences = {}

    def add(self, *partitions, version=3):
        answer = self.client.ask(
            "AddPartitionsToTxn",
            version,
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=list(partitions))],
        )
        (topic,) = answer.results_by_topic_v3_and_below
        return [result.partition_error_code for result in topic.results_by_partition]

    def produce(self, value, partition=0, produce_version=None, **batch_settings):
        sequence = self.sequences.get(partition, 0)
        settings = {
            "producer_id": self.id,
            "producer_epoch": self.epoch,
            "base_sequence": sequence,
            "transactional": True,
        }
        records = batch(value, **(settings | batch_settings))
        answer = self.client.ask(
            "Produce",
            produce_version or (12 if self.version >= 2 else 9),
            transactional_id=self.name,
            acks=-1,
            timeout_ms=1000,
            topic_data=[
                TopicProduceData(
                    name="t", partition_data=[PartitionProduceData(index=partition, records=records)]
                )
            ],
        )
        code = answer.responses[0].partition_responses[0].error_code
        if code == 0:
            self.sequences[partition] = sequence + 1
        return code

    def end(self, commit=True, version=None):
        return self.client.ask(
            "EndTxn",
            version if version is not None else (5 if self.version >= 2 else 4),
            transactional_id=self.name,
            producer_id=self.id,
            producer_epoch=self.epoch,
            committed=commit,
        )

    def next(self, commit=True):
        """End, and go on with the next epoch."""
        answer = self.end(commit)
        assert answer.error_code == 0
        if self.version >= 2:
            self.epoch, self.sequences = answer.producer_epoch, {}

    def commit_offset(self, offset, version=None, group="g", partition=0, **fields):
        answer = self.client.ask(
            "TxnOffsetCommit",
            version if version is not None else (5 if self.version >= 2 else 3),
            transactional_id=self.name,
            group_id=group,
            producer_id=self.id,
            producer_epoch=self.epoch,
            topics=[
                TxnOffsetCommitRequestTopic(
                    name="t",
                    partitions=[
                        TxnOffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
                    ],
                )
            ],
            **fields,
        )
        return answer.topics[0].partitions[0].error_code


def state_of(client, name="x"):
    return client.ask("DescribeTransactions", 0, transactional_ids=[name]).transaction_states[0]


def fetched(client, partition=0, committed=True, offset=0):
    answer = client.ask(
        "Fetch",
        11,
        max_wait_ms=0,
        min_bytes=0,
        isolation_level=int(committed),
        topics=[
            FetchTopic(
                topic="t",
                partitions=[
                    FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20)
                ],
            )
        ],
    )
    return answer.responses[0].partitions[0]


def offsets_of(found):
    return [header.base_offset for header in iter_batches(bytes(found.records or b""))]


def log_of(node, partition=0):
    return node.replicas.get("t", partition).log
