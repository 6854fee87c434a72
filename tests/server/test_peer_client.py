"""The client side of connections between nodes, over real sockets of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys

import pytest
import pytest_asyncio

from kbroker.broker.peer import PeerAddress, PeerError, PeerFailure
from kbroker.protocol.api_keys import ApiKey, request_header_version, response_header_version
from kbroker.protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kbroker.protocol.generated.fetch_request import FetchRequest
from kbroker.protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kbroker.protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kbroker.protocol.generated.metadata_response import MetadataResponse
from kbroker.protocol.generated.request_header import RequestHeader
from kbroker.protocol.generated.vote_request import VoteRequest
from kbroker.server import peer_socket, peer_watch
from kbroker.server.peer_client import PeerClient
from kbroker.server.peer_connection import login_again_ms
from kbroker.server.peer_socket import ReceiveBuffers
from kbroker.server.runtime import LoopTimer

FETCH_VERSION = 12


class Peer:
    """A node that answers what the test says."""

    def __init__(self) -> None:
        self.connections = 0
        self.asked: list[tuple[int, int]] = []
        self.silent: set[int] = set()
        self.refused_versions: set[int] = set()
        self.records = b""
        self.topics: list[str] = []
        #: Whether it takes what comes.
        self.reads = asyncio.Event()
        self.reads.set()
        self.writers: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def die(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self.writers:
            writer.transport.abort()
        self.writers.clear()
        await asyncio.sleep(0)

    @property
    def address(self) -> PeerAddress:
        return PeerAddress(7, "127.0.0.1", self.port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self.reads.wait()
                (size,) = struct.unpack(">i", await reader.readexactly(4))
                frame = await reader.readexactly(size)
                key, version, correlation_id = struct.unpack_from(">hhi", frame)
                self.asked.append((key, version))
                if key == ApiKey.METADATA:
                    start = RequestHeader.decode_from(frame, request_header_version(key, version), 0)[1]
                    topics = MetadataRequest.decode(frame, version, start).topics
                    self.topics += [topic.name for topic in topics or ()]
                if key not in self.silent:
                    self._answer(writer, key, version, correlation_id)
        writer.close()

    def _answer(self, writer: asyncio.StreamWriter, key: int, version: int, correlation_id: int) -> None:
        if key == ApiKey.API_VERSIONS:
            response, version = self._versions(version)
        elif key == ApiKey.FETCH:
            partition = PartitionData(partition_index=0, high_watermark=5, records=self.records)
            response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])
        else:
            response = MetadataResponse(cluster_id=f"asked {correlation_id}")
        header = struct.pack(">i", correlation_id)
        if response_header_version(key, version):
            header += b"\0"
        body = header + response.encode(version)
        writer.write(struct.pack(">i", len(body)) + body)

    def _versions(self, version: int) -> tuple[ApiVersionsResponse, int]:
        if version in self.refused_versions:
            return ApiVersionsResponse(error_code=35), 0
        keys = [
            ApiVersion(api_key=ApiKey.FETCH, min_version=4, max_version=FETCH_VERSION),
            ApiVersion(api_key=ApiKey.METADATA, min_version=0, max_version=9),
            ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=0, max_version=3),
        ]
        return ApiVersionsResponse(api_keys=keys), version


class World:
    """A peer and a client of it, inside one event loop."""

    async def __aenter__(self) -> World:
        self.peer = Peer()
        await self.peer.start()
        self.client = PeerClient("kbroker-1", LoopTimer(asyncio.get_running_loop()))
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.client.close()
        await self.peer.die()

    async def ask(self, request=None, timeout_ms=5000.0, channel="raft", version=None):
        deferred = self.client.send(
            self.peer.address,
            request or MetadataRequest(),
            timeout_ms=timeout_ms,
            channel=channel,
            version=version,
        )
        return await wait(deferred)


async def wait(deferred):
    future = asyncio.get_running_loop().create_future()
    deferred.then(lambda _: future.done() or future.set_result(None))
    await asyncio.wait_for(future, 10)
    return deferred.result()


async def reason_of(awaitable) -> PeerFailure:
    with pytest.raises(PeerError) as caught:
        await awaitable
    return caught.value.reason


@pytest_asyncio.fixture
async def world():
    async with World() as world:
        yield world


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


async def test_versions_are_asked_once_and_the_highest_common_one_is_used(world):
    for _ in range(3):
        await world.ask()
    assert world.peer.asked == [(18, 3)] + [(3, 9)] * 3
    assert (await world.ask(version=4)).cluster_id.startswith("asked")
    assert world.peer.asked[-1] == (3, 4)


async def test_what_goes_over_a_channel_is_counted(world):
    await world.ask()
    await world.ask()
    (figures,) = world.client.figures
    assert (figures.address, figures.channel) == (world.peer.address, "raft")
    assert (figures.opened, figures.closed, figures.requests, figures.responses) == (1, 0, 3, 3)
    assert 0 < figures.bytes_out < figures.bytes_in
    world.client.close_channel(world.peer.address, "raft")
    await world.ask()
    assert world.client.figures == [figures]
    assert (figures.opened, figures.closed, figures.requests) == (2, 1, 5)


async def test_requests_are_pipelined_and_answered_in_order(world):
    deferreds = [
        world.client.send(world.peer.address, MetadataRequest(), timeout_ms=5000, channel="c")
        for _ in range(50)
    ]
    answers = [(await wait(deferred)).cluster_id for deferred in deferreds]
    assert answers == [f"asked {n}" for n in range(2, 52)]
    assert world.peer.connections == 1


async def test_channels_have_connections_of_their_own(world):
    world.peer.silent.add(ApiKey.FETCH)
    parked = world.client.send(world.peer.address, FetchRequest(), timeout_ms=9000, channel="fetch-0")
    await world.ask(channel="raft")
    assert not parked.done
    assert world.peer.connections == 2
    world.client.close_channel(world.peer.address, "fetch-0")
    assert await reason_of(wait(parked)) is PeerFailure.CLOSED


async def test_a_version_that_the_peer_does_not_know(world):
    assert await reason_of(world.ask(VoteRequest())) is PeerFailure.UNSUPPORTED_VERSION
    assert await reason_of(world.ask(version=12)) is PeerFailure.UNSUPPORTED_VERSION
    assert (await world.ask()).cluster_id


async def test_a_peer_that_knows_only_the_first_api_versions(world):
    world.peer.refused_versions = {3}
    await world.ask()
    assert world.peer.asked == [(18, 3), (18, 0), (3, 9)]


@pytest.mark.parametrize("size", [10, 70_000, 3_000_000])
async def test_records_of_an_answer_are_a_view_of_its_frame(world, size):
    world.peer.records = bytes(range(256)) * (size // 256 + 1)
    kept = []
    for _ in range(4):
        response = await world.ask(FetchRequest(), channel="fetch-0")
        records = response.responses[0].partitions[0].records
        assert isinstance(records, memoryview)
        kept.append(records)
    # What somebody still looks at is not written over by the frames behind it.
    assert all(records == world.peer.records for records in kept)


async def test_a_large_frame_leaves_its_buffer_to_the_next_one(world, monkeypatch):
    world.peer.records = b"x" * 1_000_000
    buffers, seen = [], []
    take = ReceiveBuffers.take
    monkeypatch.setattr(
        ReceiveBuffers, "take", lambda self, size: buffers.append(take(self, size)) or buffers[-1]
    )
    for number in range(1, 4):
        world.client.send(world.peer.address, FetchRequest(), timeout_ms=5000, channel="fetch-0").then(
            lambda done: seen.append(done.result().responses[0].topic)
        )
        await until(lambda number=number: len(seen) == number)
    assert len(buffers) == 3
    assert buffers[0] is buffers[1] is buffers[2]


async def test_a_port_that_refuses_is_told_at_once_to_all_that_wait(world):
    await world.peer.die()
    started = asyncio.get_running_loop().time()
    deferreds = [
        world.client.send(world.peer.address, MetadataRequest(), timeout_ms=60_000, channel="c")
        for _ in range(3)
    ]
    for deferred in deferreds:
        assert await reason_of(wait(deferred)) is PeerFailure.REFUSED
    assert asyncio.get_running_loop().time() - started < 1


async def test_a_name_with_two_addresses_that_both_refuse(world):
    address = PeerAddress(1, "localhost", free_port())
    deferred = world.client.send(address, MetadataRequest(), timeout_ms=5000, channel="c")
    assert await reason_of(wait(deferred)) is PeerFailure.REFUSED


async def test_a_name_that_does_not_exist(world):
    address = PeerAddress(1, "no-such-host.invalid", 1)
    deferred = world.client.send(address, MetadataRequest(), timeout_ms=5000, channel="c")
    assert await reason_of(wait(deferred)) is PeerFailure.UNREACHABLE


async def test_a_peer_that_comes_back_is_reached_again(world):
    await world.ask()
    await world.peer.die()
    assert await reason_of(world.ask()) in (PeerFailure.CLOSED, PeerFailure.REFUSED)
    assert await reason_of(world.ask()) is PeerFailure.REFUSED
    await world.peer.start()
    assert (await world.ask()).cluster_id


async def test_a_request_without_an_answer_times_out_and_those_behind_it_are_told(world):
    await world.ask()
    world.peer.silent.add(ApiKey.FETCH)
    parked = world.client.send(world.peer.address, FetchRequest(), timeout_ms=30, channel="raft")
    behind = world.client.send(world.peer.address, FetchRequest(), timeout_ms=60_000, channel="raft")
    assert await reason_of(wait(parked)) is PeerFailure.TIMED_OUT
    assert await reason_of(wait(behind)) is PeerFailure.CLOSED
    assert (await world.ask()).cluster_id
    assert world.peer.connections == 2


async def test_a_peer_that_accepts_and_says_nothing(world):
    world.peer.silent.add(ApiKey.API_VERSIONS)
    assert await reason_of(world.ask(timeout_ms=30)) is PeerFailure.TIMED_OUT
    world.peer.silent.clear()
    # The connection still waits for its first answer; closing it is what a new attempt begins with.
    world.client.close_channel(world.peer.address, "raft")
    assert (await world.ask()).cluster_id


async def test_a_connection_whose_time_is_over_just_when_it_is_there(world, monkeypatch):
    """The loop closes it without a word: nobody may go on with it."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    create_connection = loop.create_connection

    async def late(make, *where, **more):
        transport, _ = await create_connection(make, *where, **more)
        await over.wait()
        transport.set_protocol(asyncio.Protocol())
        transport.abort()
        raise TimeoutError

    world.peer.silent.add(ApiKey.FETCH)
    with monkeypatch.context() as patched:
        patched.setattr(loop, "create_connection", late)
        await world.ask()
        parked = world.client.send(world.peer.address, FetchRequest(), timeout_ms=60_000, channel="raft")
        over.set()
        assert await reason_of(wait(parked)) is PeerFailure.CLOSED
    assert (await world.ask()).cluster_id
    assert world.peer.connections == 2


async def test_a_transport_that_is_closed_before_it_says_so_takes_nothing(world):
    """As uvloop's: whoever sends must not hear of it but by its answer."""

    class Closed:
        def write(self, data):
            raise RuntimeError("the handler is closed")

    sock = peer_socket.PeerSocket(ReceiveBuffers(1000), None, None, None)
    sock.transport = Closed()
    sock.write(b"x")


async def test_an_answer_that_is_no_frame_closes_the_connection(world):
    await world.ask()
    world.peer.silent.add(ApiKey.METADATA)
    waiting = world.client.send(world.peer.address, MetadataRequest(), timeout_ms=5000, channel="raft")
    await asyncio.sleep(0.01)
    world.peer.writers[0].write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    assert await reason_of(wait(waiting)) is PeerFailure.CLOSED


async def test_frames_that_come_in_pieces(world):
    await world.ask()
    world.peer.silent.add(ApiKey.METADATA)
    asked = [
        world.client.send(world.peer.address, MetadataRequest(), timeout_ms=5000, channel="raft")
        for _ in range(2)
    ]
    while len(world.peer.asked) < 4:
        await asyncio.sleep(0.001)
    data = b""
    for correlation_id in (3, 4):
        body = struct.pack(">ib", correlation_id, 0) + MetadataResponse(cluster_id="x").encode(9)
        data += struct.pack(">i", len(body)) + body
    for byte in data:
        world.peer.writers[0].write(bytes([byte]))
        await asyncio.sleep(0)
    assert [(await wait(deferred)).cluster_id for deferred in asked] == ["x", "x"]


class _Socket:
    family = socket.AF_INET

    def __init__(self):
        self.options = {}

    def setsockopt(self, level, name, value):
        self.options[name] = value


class _Transport:
    def __init__(self, sock, tls):
        self.known = {"socket": sock, "ssl_object": tls}

    def get_extra_info(self, name):
        return self.known[name]


@pytest.mark.skipif(sys.platform != "linux", reason="others wake for each packet")
@pytest.mark.parametrize("tls", [None, "TLS keeps bytes that the socket does not have any more"])
def test_the_rest_of_a_large_frame_wakes_us_once(tls):
    frames, plain = [], _Socket()
    sock = peer_socket.PeerSocket(
        ReceiveBuffers(1 << 20), lambda _: None, lambda frame: frames.append(len(frame)), None
    )
    sock.connection_made(_Transport(plain, tls))

    def feed(data):
        sock.get_buffer(-1)[: len(data)] = data
        sock.buffer_updated(len(data))
        return plain.options.get(socket.SO_RCVLOWAT)

    wakes = peer_socket.WAKE_BYTES
    size = wakes + 200_000
    seen = [feed(struct.pack(">i", size) + bytes(50_000)), feed(bytes(wakes - 50_000))]
    seen += [feed(bytes(150_000)), feed(bytes(50_000)), feed(struct.pack(">i", 4) + bytes(4))]
    assert seen == ([wakes, 200_000, 1, 1, 1] if tls is None else [None] * 5)
    assert frames == [size, 4]


async def test_what_waits_for_the_socket_is_what_was_asked(world):
    """CVE-2026-35554: a buffer that is used again before it is sent brings somebody else's bytes."""
    await world.ask()
    world.peer.reads.clear()
    wanted, asked = [], []
    for number in range(300):
        wanted.append(f"{number}-" + "x" * 20_000)
        request = MetadataRequest(topics=[MetadataRequestTopic(name=wanted[-1])])
        asked.append(world.client.send(world.peer.address, request, timeout_ms=30_000, channel="raft"))
        # What becomes of a request after it was sent is nobody's concern.
        request.topics[0].name = "somebody else's"
    await asyncio.sleep(0)
    world.peer.reads.set()
    for deferred in asked:
        await wait(deferred)
    assert world.peer.topics == wanted


async def test_after_close_nothing_is_sent(world):
    await world.ask()
    await world.client.close()
    assert await reason_of(world.ask()) is PeerFailure.UNREACHABLE


async def test_a_watch_tells_at_once_that_a_process_is_gone_and_that_it_is_back(world):
    told = []
    watch = world.client.watch(world.peer.address, lambda: told.append("gone"), lambda: told.append("back"))
    await until(lambda: world.peer.connections == 1)
    started = asyncio.get_running_loop().time()
    await world.peer.die()
    await until(lambda: told == ["gone"])
    assert watch.gone
    assert asyncio.get_running_loop().time() - started < 1
    await world.peer.start()
    await until(lambda: told == ["gone", "back"])
    assert not watch.gone


async def test_a_watch_does_not_call_gone_what_only_closed_the_connection(world):
    told = []
    world.client.watch(world.peer.address, lambda: told.append("gone"))
    await until(lambda: world.peer.connections == 1)
    world.peer.writers[0].transport.abort()
    await until(lambda: world.peer.connections == 2)
    assert not told


async def test_a_watch_renews_its_connection_before_it_is_closed_as_idle(world, monkeypatch):
    monkeypatch.setattr(peer_watch, "RENEWAL_MS", 20)
    told = []
    tell = [lambda word=word: told.append(word) for word in ("gone", "back", "lost")]
    watch = world.client.watch(world.peer.address, *tell)
    await until(lambda: world.peer.connections >= 4)
    assert not told
    watch.cancel()


async def test_a_watch_renews_its_connection_earlier_where_it_may_be_idle_for_less_or_has_to_log_in(world):
    client = PeerClient("kbroker-1", LoopTimer(asyncio.get_running_loop()), idle_ms=60)
    watch = client.watch(world.peer.address, lambda: None)
    await until(lambda: world.peer.connections >= 4)
    watch.cancel()
    await client.close()
    assert world.client._renewal_ms(world.peer.address) == peer_watch.RENEWAL_MS
    world.client._security = lambda address: object()
    assert world.client._renewal_ms(world.peer.address) == peer_watch.RENEWAL_MS_SECURED


async def test_a_watch_tells_that_a_connection_has_ended_and_when_another_one_has_lasted(world):
    told = []
    tell = [lambda word=word: told.append(word) for word in ("gone", "back", "lost")]
    world.client.watch(world.peer.address, *tell)
    await until(lambda: world.peer.connections == 1)
    world.peer.writers[0].transport.abort()
    await until(lambda: told == ["lost", "back"])


async def test_a_watch_does_not_call_gone_what_was_never_there(world):
    told = []
    watch = world.client.watch(PeerAddress(9, "127.0.0.1", free_port()), lambda: told.append("gone"))
    await asyncio.sleep(0.05)
    assert not told
    assert not watch.gone
    watch.cancel()


async def until(condition) -> None:
    for _ in range(5000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it did not come to that")


@pytest.mark.parametrize(
    ("address", "text"),
    [((3, "h", 9), "node 3 at h:9"), ((2, "::1", 9), "node 2 at [::1]:9"), ((-1, "h", 9), "h:9")],
)
def test_an_address_in_words(address, text):
    assert str(PeerAddress(*address)) == text


@pytest.mark.parametrize(
    ("lifetime_ms", "again_ms"), [(60_000, 54_000), (2000, 1800), (1200, None), (1, None)]
)
def test_a_session_that_is_nearly_over_is_left_to_end(lifetime_ms, again_ms):
    """KIP-368: brokers refuse logins within a second of each other."""
    assert login_again_ms(lifetime_ms) == again_ms
