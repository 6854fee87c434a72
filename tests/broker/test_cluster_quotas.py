from __future__ import annotations

import json

import pytest

from kbroker.broker.client_quotas import QuotaKeeper
from kbroker.broker.cluster_quotas import ClusterQuotas
from kbroker.broker.deferred import Deferred
from kbroker.config.broker_config import BrokerConfig
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.command_quota_shares import run
from kbroker.protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kbroker.protocol.generated.kbroker_command_response import KbrokerCommandResponse
from kbroker.protocol.generated.register_broker_record import RegisterBrokerRecord
from kbroker.quotas.shares import LEASE_MS, REPORT_MS
from tests.handlers.node import Node

CLUSTER = {"kbroker.quota.scope": "cluster"}
KEY = ("producer_byte_rate", "", "c")


class Broker:
    """One of three brokers, whose questions the first answers."""

    def __init__(self, path, number, first=None):
        self.node = node = Node(path)
        services = self.services = node.services
        services.broker_id = number
        services.config = BrokerConfig({"node.id": str(number)})
        keeper = services.quotas = QuotaKeeper(services.config, node.clock, node.timer, lambda: 1.0, list)
        node.cache.subscribe(keeper.on_metadata)
        self.first = first
        self.is_cut = False
        self.shared = services.extras["cluster_quotas"] = ClusterQuotas(services, self.ask)
        for each in (1, 2, 3):
            node.publish(RegisterBrokerRecord(broker_id=each, broker_epoch=1, fenced=False))
        entity = [EntityData(entity_type="client-id", entity_name="c")]
        node.publish(ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=3000.0))
        self.shared.follow_settings()
        services.config.update_dynamic(CLUSTER, {})

    def ask(self, broker_id, request):
        answer = Deferred()
        if self.is_cut:
            answer.fail(ApiError(ErrorCode.NETWORK_EXCEPTION))
        else:
            result = run(self.first.services, None, json.loads(bytes(request.arguments)))
            answer.resolve(KbrokerCommandResponse(result=json.dumps(result).encode()))
        return answer

    @property
    def produce(self):
        return self.services.quotas.limits_of("User:u", "c").produce


@pytest.fixture
def brokers(tmp_path):
    first = Broker(tmp_path / "1", 1)
    return [first, *(Broker(tmp_path / str(number), number, first) for number in (2, 3))]


def advance(brokers, ms=REPORT_MS):
    for broker in brokers:
        broker.node.advance(ms)


def load(broker, times):
    for _ in range(times):
        broker.produce.charge(1000, broker.node.clock.monotonic_ms())


def test_an_even_share_comes_first(brokers):
    assert [broker.produce.limit for broker in brokers] == [1000.0] * 3


def test_who_is_loaded_gets_the_quota(brokers):
    for _ in range(6):
        load(brokers[1], 20)
        advance(brokers)
    assert brokers[1].produce.limit > 2800
    assert sum(broker.produce.limit for broker in brokers[:2]) >= 2800


def test_without_the_collector_there_is_the_even_share_and_it_comes_back(brokers):
    for _ in range(6):
        load(brokers[1], 20)
        advance(brokers)
    brokers[1].is_cut = True
    for _ in range(LEASE_MS // REPORT_MS + 2):
        load(brokers[1], 5)
        advance(brokers)
    assert brokers[1].produce.limit == 1000.0
    brokers[1].is_cut = False
    for _ in range(6):
        load(brokers[1], 20)
        advance(brokers)
    assert brokers[1].produce.limit > 2800


def test_switched_off_each_broker_has_the_quota_by_itself(brokers):
    brokers[1].services.config.update_dynamic({}, {})
    assert brokers[1].produce.limit == 3000.0


def test_a_report_that_is_none_is_refused(brokers):
    with pytest.raises(ApiError, match="no broker"):
        run(brokers[0].services, None, {"node": 9})
    with pytest.raises(ApiError, match="rows"):
        run(brokers[0].services, None, {"node": 1, "demands": [[1]]})
