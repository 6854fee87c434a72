"""Quotas that code of the operator's own decides (KIP-257)."""

from __future__ import annotations

import math

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.quotas import alter_quotas
from kbroker.errors import ConfigError
from kbroker.quotas.callback import CALLBACK, CallbackTable, changes
from kbroker.quotas.client_quotas import ClientQuotas
from kbroker.quotas.table import CLIENT_ID, PRODUCER_BYTE_RATE, USER
from kbroker.quotas.windows import Windows
from kbroker.testing import Broker
from tests.quotas.tenants import Tenants

_PATH = "tests.quotas.tenants:Tenants"


def table(quotas=()):
    callback = Tenants({})
    callback.limits[PRODUCER_BYTE_RATE, "red"] = 1000
    return CallbackTable(callback, dict(quotas)), callback


def test_clients_of_a_tenant_share():
    found, callback = table()
    one, two = (found.find(PRODUCER_BYTE_RATE, "u", f"red.{name}") for name in "ab")
    assert one == two
    assert (one.limit, one.level, one.sharers) == (1000, CALLBACK, ("tenant=red", ""))
    assert found.find(PRODUCER_BYTE_RATE, "u", "blue.a") is None
    callback.sharers = lambda kind, user, client_id: {USER: user}
    callback.limit = lambda kind, sharers: 5
    assert found.find(PRODUCER_BYTE_RATE, "u", "c").sharers == ("u", "")


def test_where_it_fails_kafkas_levels_hold(caplog):
    found, callback = table([(((CLIENT_ID, "bad"),), {PRODUCER_BYTE_RATE: 7.0})])
    assert found.find(PRODUCER_BYTE_RATE, "u", "bad").limit == 7
    for limit in (0, -1, math.nan, math.inf, "many"):
        callback.limits[PRODUCER_BYTE_RATE, "red"] = limit
        assert found.find(PRODUCER_BYTE_RATE, "u", "red.a") is None
    assert caplog.text.count("kbroker.quota.callback failed") == 6


def test_sharers_have_one_allowance():
    found, _ = table()
    quotas = ClientQuotas(Windows(11, 1), Windows(11, 1))
    quotas.table_of = lambda _: found
    quotas.apply({})
    assert quotas.has_any
    first, second = (quotas.of("u", f"red.{name}", 0).produce for name in "ab")
    assert first is second
    assert quotas.of("u", "blue", 0).produce is None


def test_what_became_of_quotas():
    red, blue = ((CLIENT_ID, "red"),), ((CLIENT_ID, "blue"),)
    old = {red: {"a": 1.0, "b": 2.0}, blue: {"a": 5.0}}
    assert changes(old, {red: {"a": 1.0, "b": 3.0}}) == [("b", red, 3.0), ("a", blue, None)]
    assert changes({}, old) == [("a", red, 1.0), ("b", red, 2.0), ("a", blue, 5.0)]


def test_a_broker_asks_it():
    Tenants.made = ()
    with Broker(config={"kbroker.quota.callback": _PATH}) as broker, Cluster(broker.bootstrap) as cluster:
        (callback,) = Tenants.made
        assert callback.settings["node.id"] == "1"
        entity = ((CLIENT_ID, "red"),)
        alter_quotas(cluster, entity, {PRODUCER_BYTE_RATE: 100.0})
        assert callback.limits == {(PRODUCER_BYTE_RATE, "red"): 100.0}
        before = callback.clusters
        broker.create_topic("t")
        assert callback.clusters > before
        alter_quotas(cluster, entity, {PRODUCER_BYTE_RATE: None})
        assert callback.limits == {}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("tests.quotas.nowhere:Tenants", "ModuleNotFoundError"),
        ("tests.quotas.tenants:Nothing", "AttributeError"),
        ("tests.quotas.tenants.Tenants", "is package.module:Class"),
        ("tests.quotas.tenants:Unfinished", r"has no sharers\(\)"),
    ],
)
def test_what_is_no_callback_is_told_at_the_start(path, why):
    with pytest.raises(ConfigError, match=why), Broker(config={"kbroker.quota.callback": path}):
        pass
