"""Images for the tests of decisions."""

from __future__ import annotations

import itertools

from kbroker.controller.features import LATEST_METADATA_VERSION, SUPPORTED_FEATURES
from kbroker.controller.topics import TopicRules, create_topics
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import BrokerImage, ClusterImage, Endpoint
from kbroker.protocol.generated.create_topics_request import CreatableTopic


def uuid(number):
    return number.to_bytes(16, "big")


def cluster(*live, fenced=(), level=LATEST_METADATA_VERSION, elr=False):
    """A cluster of these brokers, in epochs 10 times their id; `elr`: with eligible leader replicas."""
    brokers = {
        node: BrokerImage(
            node,
            node * 10,
            uuid(node),
            (Endpoint("PLAINTEXT", f"h{node}", 9092),),
            SUPPORTED_FEATURES,
            fenced=node in fenced,
            log_dirs=(uuid(100 + node),),
        )
        for node in sorted({*live, *fenced})
    }
    features = {"metadata.version": level}
    if elr:
        features["eligible.leader.replicas.version"] = 1
    return ClusterImage("c", 99, 1, 1, brokers=brokers, features=features)


def check_configs(configs):
    for name in configs:
        if not name.startswith("ok."):
            raise ApiError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")


def rules(default_partitions=1, default_replication_factor=1, first_id=1000):
    ids = itertools.count(first_id)
    return TopicRules(
        default_partitions,
        default_replication_factor,
        check_configs,
        lambda: uuid(next(ids)),
        lambda limit: 0,
    )


def with_topic(image, name, partitions=1, factor=1):
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=factor)
    decision = create_topics(image, [topic], False, rules(first_id=1000 + len(image.topics)))
    assert decision.response[0].error_code == 0, decision.response[0].error_message
    return image.apply(decision.records)
