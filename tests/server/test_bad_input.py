"""What strangers and broken clients send: an error or a closed connection, one short line, no traceback."""

from __future__ import annotations

import asyncio
import logging
import random
from struct import pack

import pytest

from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic

GOOD = bytes.fromhex("0000000e") + bytes.fromhex("001200000000000700046e616d65")


def frame(body):
    return pack(">i", len(body)) + body


async def still_serves(running):
    peer = await running.connect()
    peer.send(GOOD)
    assert (await peer.answer())[:6] == bytes.fromhex("000000070000")
    peer.close()


def lines(caplog):
    return [record for record in caplog.records if record.name.startswith("kbroker")]


CLOSED = {
    "negative length": pack(">i", -1),
    "lowest length": pack(">i", -(2**31)),
    "length 0": pack(">i", 0),
    "length 2": pack(">i", 2) + b"\0\3",
    "length 7": pack(">i", 7) + b"\0\3\0\1\0\0\0",
    "huge length": pack(">i", 2**31 - 1) + b"x" * 100,
    "one byte over the limit": pack(">i", 1024 * 1024 + 1),
    "HTTP": b"GET / HTTP/1.1\r\nHost: localhost:9092\r\n\r\n",
    "HTTP post": b"POST /topics HTTP/1.1\r\n\r\n",
    "TLS": bytes.fromhex("1603010200010001fc0303") + bytes(64),
    "unknown key": frame(bytes.fromhex("03e70000000000010003726177")),
    "negative key": frame(bytes.fromhex("ffff0000000000010003726177")),
    "an API that a broker does not take": frame(bytes.fromhex("00340000000000010003726177")),
    "unknown version": frame(bytes.fromhex("0003004d00000001000372617700")),
    "negative version": frame(bytes.fromhex("0013ffff000000010003726177")),
    "old produce without a body": frame(bytes.fromhex("00000002000000010003726177")),
    "header cut in the client id": frame(bytes.fromhex("0012000000000005001473686f7274")),
    "header cut before the client id": frame(bytes.fromhex("001200000000000500")),
    "tags that overrun the header": frame(
        bytes.fromhex("0012000300000005000161010 57f6162".replace(" ", ""))
    ),
    "endless varint of tags": frame(bytes.fromhex("00120003000000050001 61".replace(" ", "")) + b"\xff" * 40),
    "array of 2^31-1": frame(bytes.fromhex("00020001000000040003726177ffffffff7fffffff")),
    "compact array of 2^32-1": frame(
        bytes.fromhex("00020007000000040003726177 00 ffffffff 00 ffffffff0f".replace(" ", ""))
    ),
    "body cut": frame(bytes.fromhex("00020001000000040003726177ffffffff00000001")),
    "null topic name": frame(bytes.fromhex("00020001000000040003726177ffffffff00000001ffff")),
    "string that is not UTF-8": frame(
        bytes.fromhex("00020001000000040003726177ffffffff000000010002fffe00000000")
    ),
    "produce with 2^31-1 topics": frame(bytes.fromhex("00000003000000040003726177ffff0001000003e87fffffff")),
    "produce whose records overrun": frame(
        bytes.fromhex("00000003000000040003726177ffff0001000003e800000001000174000000010000000070000000")
    ),
    "fetch with 2^31-1 topics": frame(
        bytes.fromhex("00010004000000040003726177ffffffff000000000000000100000400007fffffff")
    ),
}


@pytest.mark.parametrize("name", CLOSED)
async def test_126_the_connection_closes_with_one_short_line(running, caplog, name):
    peer = await running.connect()
    peer.send(CLOSED[name])
    assert await peer.is_closed()
    await still_serves(running)
    said = lines(caplog)
    assert len(said) == 1, [record.getMessage() for record in said]
    message = said[0].getMessage()
    assert len(message) < 200
    assert "\n" not in message
    assert said[0].exc_info is None


@pytest.mark.parametrize("version", [6, 0x7FFF, -1])
async def test_an_unknown_version_of_api_versions_is_answered_in_version_0(running, version):
    peer = await running.connect()
    peer.send(frame(pack(">hhih", 18, version, 99, 3) + b"raw"))
    body = await peer.answer()
    assert body[:6] == pack(">ih", 99, 35)
    count = int.from_bytes(body[6:10], "big")
    assert len(body) == 10 + 6 * count
    assert count == 1  # itself (KIP-511)
    peer.send(GOOD)
    assert (await peer.answer())[:4] == pack(">i", 7)


async def test_a_client_id_that_is_null_empty_or_no_utf8_passes(running):
    peer = await running.connect()
    for client_id in (b"\xff\xff", b"\xff\xfe", b"\0\0", b"\0\3\xff\xfe\xfd"):
        peer.send(frame(pack(">hhi", 18, 0, 1) + client_id))
        assert (await peer.answer())[4:6] == b"\0\0"


async def test_bytes_after_the_request_pass(running):
    peer = await running.connect()
    peer.send(frame(bytes.fromhex("001200000000000700046e616d65") + b"more"))
    assert (await peer.answer())[:4] == pack(">i", 7)


async def test_a_peer_that_sends_byte_by_byte_and_half_closes_is_answered(running):
    peer = await running.connect()
    for byte in GOOD * 3:
        peer.send(bytes([byte]))
        await peer.writer.drain()
        await asyncio.sleep(0)
    peer.writer.write_eof()
    for _ in range(3):
        assert (await peer.answer())[:4] == pack(">i", 7)
    assert await peer.is_closed()


async def test_a_half_closed_peer_still_gets_its_parked_answer(running):
    running.node.topic("t")
    request = FetchRequest(
        max_wait_ms=1000,
        min_bytes=1,
        topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition_max_bytes=100)])],
    )
    peer = await running.connect()
    peer.send(frame(pack(">hhih", 1, 4, 5, 0) + request.encode(4)) + GOOD)
    peer.writer.write_eof()
    while not len(running.node.replicas.fetches):
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.005)
    running.node.advance(1001)
    assert (await peer.answer())[:4] == pack(">i", 5)
    assert (await peer.answer())[:4] == pack(">i", 7)
    assert await peer.is_closed()


async def test_a_frame_cut_by_the_end_of_the_connection_is_forgotten(running):
    peer = await running.connect()
    peer.send(GOOD[:-1])
    peer.writer.write_eof()
    assert await peer.is_closed()
    await still_serves(running)


async def test_126_random_bytes_close_or_wait_and_never_raise(running, caplog):
    seed = random.Random(7)
    for _ in range(150):
        peer = await running.connect()
        body = bytearray(pack(">hhi", seed.choice([0, 1, 2, 18, 21, 23, 35, 61]), seed.randrange(14), 1))
        body += seed.randbytes(seed.randrange(60))
        peer.send(frame(bytes(body)))
        peer.writer.write_eof()
        await asyncio.wait_for(peer.reader.read(), 5)
        peer.close()
    await still_serves(running)
    assert not [record for record in lines(caplog) if record.exc_info or record.levelno > logging.INFO]


async def test_lines_about_strangers_are_limited(running, caplog):
    for _ in range(100):
        peer = await running.connect()
        peer.send(CLOSED["HTTP"])
        await peer.is_closed()
        peer.close()
    assert len(lines(caplog)) <= 15
