from __future__ import annotations

import pytest

from kbroker.broker.client_quotas import QuotaKeeper
from kbroker.broker.restrictions import LOOK_MS, PRODUCE_DELAY_MS, Restrictions
from kbroker.config.broker_config import BrokerConfig
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.metadata_request import MetadataRequestTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kbroker.quotas.protection import CALM_MS
from tests.handlers.node import Node, batch


@pytest.fixture
def node(tmp_path):
    node = Node(tmp_path)
    services = node.services
    services.config = BrokerConfig({"node.id": "1"})
    node.clients = []
    keeper = services.quotas = QuotaKeeper(
        services.config,
        node.clock,
        node.timer,
        lambda: 1.0,
        lambda: [each.core.context for each in node.clients],
    )
    node.figures = {}
    services.restrictions = Restrictions(services, lambda: node.figures)

    def changed():
        keeper.restrict(services.restrictions)
        services.refusal = services.restrictions.refusal if services.restrictions.may_refuse else None

    services.restrictions.on_changed = changed
    services.restrictions.follow_settings()
    node.topic("t")
    node.topic("other")
    return node


@pytest.fixture
def client(node):
    client = node.connect()
    node.clients.append(client)
    return client


def switch(node, **settings):
    texts = {name.replace("_", "."): value for name, value in settings.items()}
    assert not node.services.config.update_dynamic(texts, {})


def produce(client, topic="t", **fields):
    data = [PartitionProduceData(index=0, records=batch(b"x"))]
    topics = [TopicProduceData(name=topic, partition_data=data)]
    answer = client.ask("Produce", 9, acks=1, timeout_ms=1000, topic_data=topics, **fields)
    return answer.responses[0].partition_responses[0].error_code, answer.throttle_time_ms


def metadata(client):
    return client.ask("Metadata", 8, topics=[MetadataRequestTopic(name="t")])


def test_a_broker_that_is_read_only_and_is_not_any_more(node, client):
    assert [produce(client)[0] for _ in range(3)] == [0, 0, 0]  # known by now
    switch(node, kbroker_read_only="true")
    assert [produce(client)[0] for _ in range(3)] == [ErrorCode.POLICY_VIOLATION] * 3
    assert metadata(client).topics[0].error_code == 0
    switch(node)
    assert produce(client) == (0, 0)
    assert client.core.context.meter is None


def test_a_topic_that_is_read_only(node, client):
    produce(client)
    switch(node, kbroker_read_only_topics="t")
    assert produce(client)[0] == ErrorCode.POLICY_VIOLATION
    assert produce(client, "other")[0] == 0


def test_limits_that_delay(node, client):
    switch(node, kbroker_request_limits="api=Metadata client-id=* rate=1")
    assert [metadata(client).throttle_time_ms for _ in range(3)] == [0, 0, 1000]
    assert client.core.muted
    node.advance(1000)
    assert not client.core.muted


def test_limits_that_refuse(node, client):
    switch(node, kbroker_request_limits="api=Produce rate=1 action=refuse")
    codes = [produce(client)[0] for _ in range(3)]
    assert codes == [0, 0, ErrorCode.THROTTLING_QUOTA_EXCEEDED]
    assert node.services.restrictions.describe()["refused"] == 1


def test_a_bad_limit_leaves_the_old_ones(node, client, caplog):
    switch(node, kbroker_request_limits="api=Metadata rate=1")
    switch(node, kbroker_request_limits="api=Nonsense rate=1")
    assert "Nonsense" in caplog.text
    assert len(node.services.restrictions.limits.rules) == 1


def test_a_broker_protects_itself_and_recovers(node, client):
    switch(node, kbroker_protect_cpu_percent="80,95")
    node.figures = {"cpu": 85.0}
    node.advance(LOOK_MS)
    assert produce(client) == (0, PRODUCE_DELAY_MS)
    node.advance(PRODUCE_DELAY_MS)
    node.figures = {"cpu": 99.0}
    node.advance(LOOK_MS)
    code, _ = produce(client)
    assert code == ErrorCode.NOT_ENOUGH_REPLICAS
    node.advance(PRODUCE_DELAY_MS)
    assert metadata(client).throttle_time_ms == 0
    assert node.services.restrictions.describe()["level"] == "REFUSED"
    node.figures = {"cpu": 5.0}
    for _ in range(CALM_MS // LOOK_MS + 3):
        node.advance(LOOK_MS)
    assert produce(client) == (0, 0)


def test_without_thresholds_nobody_looks(node):
    switch(node, kbroker_protect_cpu_percent="80")
    switch(node)
    node.figures = {"cpu": 100.0}
    node.advance(LOOK_MS)
    node.advance(LOOK_MS)
    assert node.services.restrictions.describe()["level"] == "OPEN"


def test_the_first_look_is_not_late_because_nobody_looked_before(node):
    asked = []
    node.services.restrictions._figures = lambda: asked.append(1) or {"loop": 69_054.0}
    assert "loop" not in node.services.restrictions.describe()["figures"]
    switch(node, kbroker_protect_loop_delay_ms="100,500")
    assert len(asked) == 2  # the clock begins here
    assert node.services.restrictions.describe()["level"] == "OPEN"
