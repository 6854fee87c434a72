from __future__ import annotations

from itertools import chain, repeat

import pytest

from kbroker.broker.client_quotas import QuotaKeeper
from kbroker.config.broker_config import BrokerConfig
from kbroker.protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchTopic
from kbroker.protocol.generated.metadata_request import MetadataRequestTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from tests.handlers.node import Node, batch


@pytest.fixture
def node(tmp_path, monkeypatch):
    node = Node(tmp_path)
    node.now_s = 100.0
    monkeypatch.setattr("kbroker.server.connection.perf_counter", lambda: node.now_s)
    node.clients = []
    node.services.quotas = QuotaKeeper(
        BrokerConfig({"node.id": "1"}),
        node.clock,
        node.timer,
        lambda: node.now_s,
        lambda: [client.core.context for client in node.clients],
    )
    node.cache.subscribe(node.services.quotas.on_metadata)
    node.topic("t", partitions=2)
    return node


def connect(node):
    client = node.connect()
    node.clients.append(client)
    return client


def limit(node, key, value, **entity):
    """Set (None: remove) a quota of `user=` and `client_id=`; "" is the default."""
    parts = [
        EntityData(entity_type=kind.replace("_", "-"), entity_name=name or None)
        for kind, name in entity.items()
    ]
    node.publish(ClientQuotaRecord(entity=parts, key=key, value=value or 0.0, remove=value is None))


def produce(client, size, version=9, acks=1, **more):
    data = [PartitionProduceData(index=0, records=batch(b"x" * size))]
    return client.frame(
        "Produce",
        version,
        acks=acks,
        timeout_ms=1000,
        topic_data=[TopicProduceData(name="t", partition_data=data)],
        **more,
    )


def fetch(client, version=12, offset=0, **fields):
    wanted = [FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=10**6)]
    fields = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 10**6, "session_epoch": -1, **fields}
    return client.frame("Fetch", version, topics=[FetchTopic(topic="t", partitions=wanted)], **fields)


def ask(client, frame):
    client.send(frame)
    return client.answers()


def obeyed(node, client, answer, frame):
    """The first answer to a request that does not say to wait."""
    for _ in range(4):
        node.advance(answer.throttle_time_ms)
        (answer,) = ask(client, frame())
        if not answer.throttle_time_ms:
            break
    return answer


@pytest.mark.parametrize("version", [3, 8, 9, 11])
def test_a_producer_is_answered_at_once_and_then_muted(node, version):
    limit(node, "producer_byte_rate", 1000.0, client_id="test")
    client = connect(node)
    for _ in range(3):  # the general path, then the fast one
        frame = produce(client, 15_000, version)
        (first,) = ask(client, frame)
        assert 5000 < first.throttle_time_ms < 21_000
        assert first.responses[0].partition_responses[0].error_code == 0
        assert client.core.muted
        assert node.services.quotas.waiting == {
            "Produce": 1,
            "Fetch": 0,
            "Request": 0,
            "ControllerMutation": 0,
        }
        assert ask(client, client.frame("ApiVersions", 0)) == []
        node.advance(first.throttle_time_ms - 1)
        assert client.answers() == []
        node.advance(1)
        assert not any(node.services.quotas.waiting.values())
        assert len(client.answers()) == 1
        node.advance(60_000)


def test_frames_of_one_read_wait_behind_the_one_that_was_too_much(node):
    limit(node, "producer_byte_rate", 1000.0, client_id="test")
    client = connect(node)
    client.send(*[produce(client, 6_000) for _ in range(4)])
    first, second = client.answers()
    assert first.throttle_time_ms == 0
    assert 2000 < second.throttle_time_ms < 2300
    node.advance(second.throttle_time_ms)
    (third,) = client.answers()
    assert third.throttle_time_ms > 0


def test_acks_0_is_muted_without_an_answer(node):
    limit(node, "producer_byte_rate", 1000.0, user="ANONYMOUS")
    client = connect(node)
    client.send(produce(client, 15_000, acks=0))
    client._asked.pop()
    assert client.answers() == []
    assert client.core.muted
    node.advance(6_000)
    assert not client.core.muted


def test_all_connections_of_a_client_share_its_quota(node):
    limit(node, "producer_byte_rate", 1000.0, client_id="test")
    one, two = connect(node), connect(node)
    assert ask(one, produce(one, 9_000))[0].throttle_time_ms == 0
    assert ask(two, produce(two, 9_000))[0].throttle_time_ms > 8_000
    assert not one.core.muted


def test_quotas_come_and_go_while_connections_live(node):
    client = connect(node)
    ask(client, produce(client, 10))
    assert client.core.context.meter is None
    limit(node, "producer_byte_rate", 1000.0, client_id="test")
    (answer,) = ask(client, produce(client, 15_000))
    assert answer.throttle_time_ms > 5_000
    limit(node, "producer_byte_rate", None, client_id="test")
    assert client.core.context.meter is None
    node.advance(6_000)
    assert ask(client, produce(client, 15_000))[0].throttle_time_ms == 0


def test_a_consumer_gets_nothing_and_waits(node):
    client = connect(node)
    ask(client, produce(client, 9_000))
    limit(node, "consumer_byte_rate", 1000.0, client_id="test")
    (first,) = ask(client, fetch(client))
    assert len(first.responses[0].partitions[0].records) > 9_000
    (second,) = ask(client, fetch(client))
    assert second.throttle_time_ms > 8_000
    assert second.responses == []
    third = obeyed(node, client, second, lambda: fetch(client))
    assert third.responses[0].partitions[0].records


def test_a_fetch_asks_for_no_more_than_a_window_allows(node):
    client = connect(node)
    for _ in range(4):
        ask(client, produce(client, 6_000))
    limit(node, "consumer_byte_rate", 1000.0, client_id="test")
    (answer,) = ask(client, fetch(client))
    assert 6_000 < len(answer.responses[0].partitions[0].records) < 10_000


def test_a_throttled_session_goes_on(node):
    client = connect(node)
    ask(client, produce(client, 6_000))
    limit(node, "consumer_byte_rate", 1000.0, client_id="test")
    (first,) = ask(client, fetch(client, session_epoch=0))
    (second,) = ask(client, fetch(client, session_id=first.session_id, session_epoch=1))
    assert (second.session_id, second.responses) == (first.session_id, [])
    epoch = 2
    while second.throttle_time_ms and epoch < 12:
        node.advance(second.throttle_time_ms)
        (second,) = ask(client, fetch(client, session_id=first.session_id, session_epoch=epoch))
        epoch += 1
    assert second.throttle_time_ms == 0
    assert second.responses[0].partitions[0].records


def test_a_new_session_that_is_throttled_never_was(node):
    client = connect(node)
    ask(client, produce(client, 6_000))
    limit(node, "consumer_byte_rate", 1000.0, client_id="test")
    ask(client, fetch(client))
    (answer,) = ask(client, fetch(client, session_epoch=0))
    assert answer.throttle_time_ms > 0
    assert answer.session_id == 0
    assert len(node.services.fetch_sessions) == 0


def test_121_followers_are_exempt(node):
    client = connect(node)
    ask(client, produce(client, 9_000))
    limit(node, "consumer_byte_rate", 10.0, client_id="test")
    for _ in range(3):
        (answer,) = ask(client, fetch(client, replica_id=2))
        assert answer.throttle_time_ms == 0


def test_time_that_requests_take(node, monkeypatch):
    limit(node, "request_percentage", 1.0, client_id="test")
    client = connect(node)
    frame = ("Metadata", 8)

    def metadata(took_s):
        sent = client.frame(*frame, topics=[MetadataRequestTopic(name="t")])
        ticks = chain([node.now_s], repeat(node.now_s + took_s))
        node.services.quotas.now_s = lambda: next(ticks)
        return ask(client, sent)[0].throttle_time_ms

    metadata(0.0)
    assert metadata(0.05) == 0  # 5 % seconds of 10
    assert metadata(0.06) == 1000  # 11 of 10: a second, which is also the most
    node.advance(1000)
    assert metadata(0.5) == 1000


def test_an_empty_client_id_has_no_default(node):
    limit(node, "producer_byte_rate", 1000.0, client_id="")
    client = connect(node)
    assert ask(client, produce(client, 15_000, client_id=""))[0].throttle_time_ms == 0
    assert ask(client, produce(client, 15_000))[0].throttle_time_ms > 5000


def test_a_muted_connection_may_be_closed_as_idle_and_keeps_little(node):
    limit(node, "producer_byte_rate", 1000.0, client_id="test")
    client = connect(node)
    ask(client, produce(client, 15_000))
    for _ in range(10):
        client.send(produce(client, 15_000))
    assert client.core.wants_pause
    client.core.abandon()
    node.advance(60_000)
    assert client.core.out == []


def test_what_comes_in_pieces_is_charged_once(node):
    limit(node, "producer_byte_rate", 1000.0, client_id="test")
    client = connect(node)
    frame = produce(client, 9_000)
    client.send(frame[:100])
    assert ask(client, frame[100:])[0].throttle_time_ms == 0
    assert node.services.quotas.quotas.explain("ANONYMOUS", "test", node.clock.monotonic_ms())[0][
        2
    ] == pytest.approx((len(frame) - 4) / 10)


def test_what_is_paid_ahead_is_charged_once(node):
    limit(node, "producer_byte_rate", 1_000_000.0, client_id="test")
    client = connect(node)
    ask(client, produce(client, 100))
    node.advance(5000)  # a client that stays below its quota has something left
    allowance = client.core.context.meter._limits.produce
    before, sent = allowance.done, 0
    for _ in range(300):
        frame = produce(client, 1000)
        sent += len(frame) - 4
        assert ask(client, frame)[0].throttle_time_ms == 0
    assert sent <= allowance.done - before <= sent + 20_000
    # A lower quota holds from the next request on.
    limit(node, "producer_byte_rate", 1000.0, client_id="test")
    assert ask(client, produce(client, 1000))[0].throttle_time_ms > 0


def test_nobody_else_goes_on_what_a_client_has_paid(node):
    limit(node, "producer_byte_rate", 1_000_000.0, client_id="test")
    limit(node, "producer_byte_rate", 1.0, client_id="best")
    client = connect(node)
    for _ in range(3):
        ask(client, produce(client, 100))
        node.advance(1000)
    assert client.core.context.meter.free > 1000
    assert ask(client, produce(client, 100, client_id="best"))[0].throttle_time_ms > 0


def test_nobody_else_goes_on_it_either_once_both_are_known(node):
    limit(node, "producer_byte_rate", 1_000_000.0, client_id="test")
    limit(node, "producer_byte_rate", 300.0, client_id="best")
    client, throttled = connect(node), 0
    for number in range(40):
        assert ask(client, produce(client, 100))[0].throttle_time_ms == 0
        assert client.core.context.meter.free > 100 or not number
        node.advance(1000)
        (answer,) = ask(client, produce(client, 1000, client_id="best"))
        throttled += answer.throttle_time_ms
        node.advance(answer.throttle_time_ms)
    # 40 times 1,100 bytes, of which 40 s and the first window pass without a delay.
    assert throttled / 1000 == pytest.approx(40 * 1100 / 300 - 50, rel=0.2)


def test_time_counts_also_while_bytes_are_paid_for(node, monkeypatch):
    limit(node, "request_percentage", 1.0, client_id="test")
    client = connect(node)
    ask(client, produce(client, 100))
    assert client.core.context.meter.free > 10_000
    del node.services.quotas.now_s
    delays = []
    for _ in range(30):
        # A read of known requests is timed by the connection, any other by the meter.
        for where in (
            "kbroker.server.connection.perf_counter",
            "kbroker.broker.client_quotas.QuotaKeeper.now_s",
        ):
            ticks = chain([node.now_s], repeat(node.now_s + 0.006))
            monkeypatch.setattr(where, lambda *_, ticks=ticks: next(ticks), raising=False)
        delays.append(ask(client, produce(client, 100))[0].throttle_time_ms)
        if delays[-1]:
            break
    # 1 % of 10 s is 0.1 s.
    assert delays[-1] > 0
    assert 16 <= len(delays) <= 20


@pytest.mark.parametrize("acks", [0, 1])
def test_121_a_flood_is_slowed_down_to_the_quota(node, acks):
    limit(node, "producer_byte_rate", 10_000.0, client_id="test")
    client, other = connect(node), connect(node)
    began = node.clock.monotonic_ms()
    log = node.replicas.get("t", 0).log
    while node.clock.monotonic_ms() - began < 120_000:
        # As much as the socket takes: what is read while the client waits is kept, and is little.
        if not client.core.wants_pause:
            client.send(*(produce(client, 2_000, acks=acks) for _ in range(5)))
        node.advance(50)
        client.core.proceed()
        client.core.take_output()
        # Somebody without a quota never waits for it.
        assert ask(other, produce(other, 1, client_id="else"))[0].throttle_time_ms == 0
    waited_s = (node.clock.monotonic_ms() - began) / 1000
    flooded = client.core.context.meter._limits.produce.done
    # A window's worth may come at once, in the beginning.
    assert 10_000 * waited_s * 0.9 <= flooded <= 10_000 * (waited_s + 11)
    assert log.log_end_offset > 0


def test_time_before_there_was_a_quota_of_it_does_not_count(node):
    limit(node, "producer_byte_rate", 1e9, client_id="test")
    client = connect(node)
    ask(client, produce(client, 100))
    node.now_s += 20
    limit(node, "request_percentage", 50.0, client_id="test")
    ask(client, produce(client, 100))
    used = client.core.context.meter._limits.request.observed(node.clock.monotonic_ms())
    assert used == pytest.approx(0, abs=1e-6)  # and not 20 s


@pytest.mark.parametrize("version", [1, 2, 3])
def test_old_consumers_get_their_records_and_wait_afterwards(node, version):
    limit(node, "consumer_byte_rate", 1000.0, client_id="test")
    client = connect(node)
    ask(client, produce(client, 15_000))
    wanted = [FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=10**6)]
    frame = client.frame(
        "Fetch", version, max_wait_ms=0, min_bytes=1, topics=[FetchTopic(topic="t", partitions=wanted)]
    )
    (answer,) = ask(client, frame)
    assert len(answer.responses[0].partitions[0].records) > 15_000
    assert 4000 < answer.throttle_time_ms < 6000
    assert client.core.muted
