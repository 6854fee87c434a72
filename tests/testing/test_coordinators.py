"""Coordinators fail over with their partitions: a group and a transaction go on when theirs is killed."""

from __future__ import annotations

import time
from functools import partial

from confluent_kafka import Consumer, KafkaException, Producer

from kbroker.client.cluster import Cluster as Client
from kbroker.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from kbroker.protocol.generated.find_coordinator_response import FindCoordinatorResponse
from kbroker.testing import Cluster

#: librdkafka looks for a lost coordinator or leader once a second.
PATIENCE_S = 50
GROUP, TRANSACTION = 0, 1


def coordinator(cluster: Cluster, key: str, kind: int) -> int:
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    with Client(cluster.bootstrap) as client:
        return client.any().ask(request, FindCoordinatorResponse).coordinators[0].node_id


def until(deadline: float, action):
    """What `action` gives, tried again while it raises or gives None."""
    while True:
        try:
            found = action()
            if found is not None:
                return found
        except KafkaException as error:
            if not (error.args[0].retriable() or error.args[0].code() < 0) or time.monotonic() > deadline:
                raise
        assert time.monotonic() < deadline


def outlive_their_coordinators(cluster: Cluster, times: int = 2) -> None:
    """For clusters in ZooKeeper, too: each coordinator is killed so many times."""
    cluster.create_topic("t")
    where = {"bootstrap.servers": cluster.bootstrap, "log_level": 0}
    producer = Producer({**where, "transactional.id": "x", "transaction.timeout.ms": 60_000})
    producer.init_transactions(PATIENCE_S)
    consumer = Consumer(
        {**where, "group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )
    consumer.subscribe(["t"])
    # A member before anything is killed: librdkafka joins once it has heard of the topic, and asks the broker
    # that it has asked first again and again, also when that one is gone.
    assert until(time.monotonic() + PATIENCE_S, lambda: consumer.poll(0.1) or consumer.assignment() or None)
    for number, (kind, key) in enumerate([(TRANSACTION, "x"), (GROUP, "g")] * times):
        producer.begin_transaction()
        producer.produce("t", b"%d" % number)
        producer.flush(PATIENCE_S)
        victim = coordinator(cluster, key, kind)
        cluster.kill(victim)
        deadline = time.monotonic() + PATIENCE_S
        until(deadline, lambda: producer.commit_transaction(PATIENCE_S) or True)
        message = until(deadline, lambda: consumer.poll(0.1))
        assert message.error() is None
        assert message.value() == b"%d" % number
        (done,) = until(deadline, partial(consumer.commit, message=message, asynchronous=False))
        assert done.error is None
        assert coordinator(cluster, key, kind) != victim
        cluster.restart(victim)
        cluster.wait_for(cluster.all_in_sync)
    consumer.close()
    again = Consumer({**where, "group.id": "g", "auto.offset.reset": "earliest"})
    again.subscribe(["t"])
    assert again.poll(3) is None, "what was committed does not come again"
    again.close()


def test_a_group_and_a_transaction_outlive_their_coordinators():
    with Cluster(3, links=False) as cluster:
        outlive_their_coordinators(cluster)
