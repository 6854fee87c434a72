from __future__ import annotations

import asyncio
import os
import socket
from struct import pack

import pytest

from kbroker.errors import ConfigError
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.quotas.connections import UNLIMITED
from kbroker.quotas.windows import Windows
from kbroker.server.kernel_sync import KernelSync
from tests.handlers.node import batch
from tests.server.conftest import Peer
from tests.server.test_bad_input import GOOD, frame, still_serves


def produce(value):
    data = TopicProduceData(name="t", partition_data=[PartitionProduceData(records=batch(value))])
    request = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[data])
    return frame(pack(">hhihB", 0, 9, 1, 0, 0) + request.encode(9))


def fetch(max_bytes=1 << 24, wait=0, replica=-1):
    partition = FetchPartition(partition_max_bytes=max_bytes)
    topics = [FetchTopic(topic="t", partitions=[partition])]
    request = FetchRequest(
        replica_id=replica, max_wait_ms=wait, min_bytes=1, max_bytes=max_bytes, topics=topics
    )
    return frame(pack(">hhih", 1, 4, 2, 0) + request.encode(4))


async def test_a_port_that_is_taken_is_a_config_error(running):
    with pytest.raises(ConfigError, match="cannot listen on"):
        await running.server.listen("OTHER", "127.0.0.1", running.port)


async def test_124_too_many_connections_are_refused(running):
    running.server.limits.connections_max = 2
    peers = [await running.connect() for _ in range(3)]
    assert await peers[2].is_closed()
    peers[0].send(GOOD)
    assert await peers[0].answer()
    assert running.server.connection_count == 2
    peers[0].close()
    while running.server.connection_count > 1:
        await asyncio.sleep(0.001)
    await still_serves(running)


async def test_124_too_many_connections_of_one_address_are_refused(running):
    running.server.limits.connections_max_per_ip_overrides = {"127.0.0.1": 1}
    first, second = await running.connect(), await running.connect()
    assert await second.is_closed()
    first.send(GOOD)
    assert await first.answer()


async def test_124_a_listener_has_limits_of_its_own(running):
    running.server.limits.listener_limits = lambda name: (1, UNLIMITED)
    first, second = await running.connect(), await running.connect()
    assert await second.is_closed()
    first.send(GOOD)
    assert await first.answer()


async def test_124_a_broker_gets_in_where_clients_have_taken_all_places(running):
    client = await running.connect()
    client.send(GOOD)
    assert await client.answer()
    running.server.limits.connections_max = 1
    running.server.limits.protected_listener = "BETWEEN"
    bound = await running.server.listen("BETWEEN", "127.0.0.1", 0)
    broker = Peer(*await asyncio.open_connection("127.0.0.1", bound.port))
    broker.send(GOOD)
    assert await broker.answer()
    assert await client.is_closed()


async def test_124_an_address_that_opens_too_many_is_closed_after_a_moment(running):
    running.server.use_windows(Windows(samples=101, seconds=1))
    running.server.address_rate = lambda address: 0.01  # one in 100 s
    first, second = await running.connect(), await running.connect()
    second.send(GOOD)
    first.send(GOOD)
    assert await first.answer()
    assert await second.is_closed()


async def test_too_many_new_connections_wait_for_their_turn(running):
    running.server.use_windows(Windows(samples=2, seconds=1))
    running.server.limits.creation_rate = 10
    peers = [await running.connect() for _ in range(11)]
    for peer in peers:
        peer.send(GOOD)
    for peer in peers:
        assert await peer.answer()


async def test_127_idle_connections_are_closed_and_busy_ones_not(running):
    running.node.topic("t")
    running.server.limits.idle_ms_max = 60
    idle, busy = await running.connect(), await running.connect()
    busy.send(fetch(wait=10_000_000))
    assert await idle.is_closed()
    assert running.server.connection_count == 1
    assert len(running.node.replicas.fetches) == 1


async def test_a_large_answer_arrives_whole_through_sendfile_and_blocks_nobody(running):
    running.node.topic("t", **{"max.message.bytes": str(1 << 23)})
    peer = await running.connect()
    value = os.urandom(900_000)
    for _ in range(8):
        peer.send(produce(value))
        await peer.answer()
    slow = await running.connect()
    slow.send(fetch() + GOOD)
    await asyncio.sleep(0.02)
    await still_serves(running)
    answer = await slow.answer()
    log = running.node.replicas.get("t", 0).log
    assert len(answer) > 8 * 900_000
    assert log.read(0, 1 << 24, 8).parts[0].read() in answer
    assert (await slow.answer())[:4] == pack(">i", 7)


async def test_small_and_large_answers_of_one_read_keep_their_order(running):
    running.node.topic("t", **{"max.message.bytes": str(1 << 23)})
    peer = await running.connect()
    peer.send(produce(os.urandom(900_000)))
    await peer.answer()
    peer.send((GOOD * 50 + fetch()) * 5 + GOOD)
    for _ in range(5):
        for _ in range(50):
            assert (await peer.answer())[:4] == pack(">i", 7)
        answer = await peer.answer()
        assert answer[:4] == pack(">i", 2)
        assert len(answer) > 900_000
    assert (await peer.answer())[:4] == pack(">i", 7)


async def test_without_sendfile_the_same_bytes_arrive(running, monkeypatch):
    monkeypatch.setattr("kbroker.server.transport._HAS_SENDFILE", False)
    await test_a_large_answer_arrives_whole_through_sendfile_and_blocks_nobody(running)


async def test_what_a_follower_fetches_at_a_time_leaves_in_one_go(running):
    running.node.topic("t", replicas=(1, 2))
    follower = await running.connect()
    follower.send(produce(os.urandom(900_000)) + fetch(replica=2))
    await follower.answer()
    assert len(await follower.answer()) > 900_000
    (protocol,) = running.server._connections
    # Linux names twice what was asked for.
    size = protocol._direct.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    assert size > 2 * running.server.limits.send_buffer_bytes


async def test_a_peer_that_never_reads_is_bounded(running):
    running.node.topic("t", **{"max.message.bytes": str(1 << 23)})
    peer = await running.connect()
    peer.send(produce(os.urandom(900_000)))
    await peer.answer()
    greedy = await running.connect()
    greedy.writer.transport.pause_reading()
    asked = 0
    before = running.node.services.fetch_sessions
    for _ in range(200):
        greedy.send(fetch() * 20)
        asked += 20
        await asyncio.sleep(0)
        if greedy.writer.transport.get_write_buffer_size() > 0:
            break
    (protocol,) = [p for p in running.server._connections if p.core.write_blocked]
    assert len(protocol.core._backlog or b"") < 200_000
    assert len(protocol._queue or ()) <= 3
    assert before is running.node.services.fetch_sessions
    await still_serves(running)


async def test_127_a_peer_that_left_does_not_keep_its_parked_fetch_for_ever(running):
    """It may have closed one direction only, so it keeps its place, but not longer than idle ones."""
    running.node.topic("t")
    running.server.limits.idle_ms_max = 60
    peer = await running.connect()
    peer.send(fetch(wait=10_000_000))
    while not len(running.node.replicas.fetches):
        await asyncio.sleep(0.001)
    peer.writer.transport.abort()
    while len(running.node.replicas.fetches):
        await asyncio.sleep(0.001)
    assert running.server.connection_count == 0


async def test_a_woken_fetch_is_answered_before_the_producer(running):
    running.node.topic("t")
    consumer, producer = await running.connect(), await running.connect()
    consumer.send(fetch(wait=10_000_000))
    while not len(running.node.replicas.fetches):
        await asyncio.sleep(0.001)
    producer.send(produce(b"late"))
    await producer.answer()
    assert b"late" in await asyncio.wait_for(consumer.answer(), 1)


async def test_129_many_idle_connections_cost_little(running):
    peers = [await running.connect() for _ in range(300)]
    for peer in peers:
        peer.send(GOOD)
    for peer in peers:
        await peer.answer()
    assert running.server.connection_count == 300
    assert len(asyncio.all_tasks()) < 5
    for protocol in running.server._connections:
        assert not hasattr(protocol, "__dict__")
        assert protocol.core._backlog is protocol.core._partial is protocol._direct is None
    for peer in peers:
        peer.close()


async def test_answers_that_wait_for_the_disk_leave_by_themselves_and_in_order(running):
    loop = asyncio.get_running_loop()
    kernel, syncs = KernelSync(loop), running.node.replicas.syncs
    syncs._call_soon, syncs._sync_files = loop.call_soon, kernel.sync
    running.node.topic("t", flush_messages="1")
    log = running.node.replicas.get("t", 0).log
    peers = [await running.connect() for _ in range(4)]
    for _ in range(5):
        for peer in peers:
            peer.send(produce(b"alone"))
        for peer in peers:
            assert (await peer.answer())[:4] == pack(">i", 1)
    assert log.durable_end == log.log_end_offset == 20
    for peer in peers:
        peer.send(produce(b"x") * 3 + GOOD + fetch() + produce(b"y"))
        peer.writer.write_eof()
    for peer in peers:
        answers = [(await peer.answer())[3] for _ in range(6)]
        assert answers == [1, 1, 1, 7, 2, 1]
        assert await peer.is_closed()
    assert log.durable_end == log.log_end_offset == 36
    kernel.close()
