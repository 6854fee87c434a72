"""Damaged messages of every API in every version, for as long as one likes; memory must stay flat.

    python -m tests.fuzz --seconds 600 --seed 1 [--codecs]

Requests go to a broker in a process of its own, which must answer or close, go on serving, tell of no failure
of its own, and not grow. With `--codecs` the decoders are called here, for requests, responses and records,
and what one takes is compared with the bytes that it got.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import socket
import struct
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from kbroker.errors import ApiError, ProtocolError
from kbroker.handlers.api_table import served_apis
from kbroker.protocol.api_keys import FACTS, message_class, request_header_version
from kbroker.protocol.compression import Codec
from kbroker.protocol.legacy_messages import build_message_set
from kbroker.protocol.record_batch import Record, build_batch, check_crc, decode_records, iter_batches
from kbroker.protocol.schemas.parser import load_all
from kbroker.testing.broker import RunningBroker
from kbroker.testing.process import ProcessRunner
from tests.protocol.random_messages import random_message

_WORDS = (
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
    b"\x80\0\0\0",
    b"\0\x0f\x42\x40",
    b"\xff\xff\xff\xff\x0f",
    b"\x7f\xff",
    b"\0\0",
)
#: A random value there would make topics by the thousand, for which memory is due.
_NOT_SENT = frozenset(("CreateTopics", "CreatePartitions", "DeleteTopics"))
_ANSWER_S = 0.03
SETTINGS = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
}
#: What a decoder may take of memory for each byte of a message: objects of elements of a byte each.
_BYTES_A_BYTE = 700
_GROWTH_KB = 40 * 1024
_ENDS = ("answered", "closed", "no answer yet")
_GOOD = struct.pack(">ihhih", 10, 18, 0, 7, -1)


def damaged(raw: bytes, rng: Random) -> bytes:
    """With up to four changes, each of a kind that breaks lengths, counts or numbers."""
    out = bytearray(raw)
    for _ in range(rng.choice((0, 0, 0, 1, 1, 1, 2, 4))):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(5):
            case 0 if at < len(out):
                out[at] ^= 1 << rng.randrange(8)
            case 1:
                word = rng.choice(_WORDS)
                out[at : at + len(word)] = word
            case 2:
                del out[at : at + rng.choice((1, 2, 4, 40))]
            case 3:
                out[at:at] = rng.randbytes(rng.choice((1, 4, 30)))
            case _:
                del out[at:]
    return bytes(out)


def requests(rng: Random) -> Iterator[tuple[str, bytes]]:
    """Frames with the name of their API, without end: of all APIs and versions that a broker serves."""
    served = served_apis("all")
    choices = [
        (key, version)
        for key, facts in FACTS.items()
        for low, high in [served.versions(key)]
        for version in range(low, high + 1)
        if facts.name not in _NOT_SENT
    ]
    while True:
        key, version = rng.choice(choices)
        name = f"{FACTS[key].name}Request"
        header = struct.pack(">hhih", key, version, rng.randrange(1 << 31), 4) + b"fuzz"
        if request_header_version(key, version) == 2:
            header += b"\0"
        with contextlib.suppress(ValueError):  # a value that this version cannot say
            body = damaged(random_message(name, version, rng).encode(version), rng)
            frame = header + body if rng.random() < 0.9 else damaged(header + body, rng)
            yield FACTS[key].name, struct.pack(">i", len(frame)) + frame


def fuzz_broker(address: tuple[str, int], frames: Iterator[tuple[str, bytes]], until: float) -> Counter[str]:
    """Send frames, each on a connection that is used until it is closed; how they ended.

    Raises:
        AssertionError: the broker does not serve any more.
    """
    ends: Counter[str] = Counter()
    connection: socket.socket | None = None
    for name, frame in frames:
        if time.monotonic() > until:
            break
        if connection is None:
            connection = socket.create_connection(address, 10)
        end = _sent(connection, frame)
        ends[end] += 1
        ends[f"{name} {end}"] += 1
        if end != "answered":
            connection.close()
            connection = None
        if ends.total() % 2000 == 0:
            check_serves(address)
    check_serves(address)
    if connection is not None:
        connection.close()
    return ends


def _sent(connection: socket.socket, frame: bytes) -> str:
    try:
        connection.settimeout(10)
        connection.sendall(frame)
        connection.settimeout(_ANSWER_S)
        head = connection.recv(4)
        if not head:
            return "closed"
        connection.settimeout(10)
        left = struct.unpack(">i", head + (connection.recv(4 - len(head)) if len(head) < 4 else b""))[0]
        while left:
            got = connection.recv(min(left, 1 << 20))
            if not got:
                return "closed"
            left -= len(got)
    except TimeoutError:
        return "no answer yet"
    except OSError:
        return "closed"
    return "answered"


def check_serves(address: tuple[str, int]) -> None:
    """Ask for the versions.

    Raises:
        AssertionError: no answer.
    """
    with socket.create_connection(address, 30) as connection:
        connection.sendall(_GOOD)
        assert len(connection.recv(10)) > 4


def fuzz_codecs(rng: Random, until: float) -> int:
    """Decode damaged messages and records; how many.

    Raises:
        AssertionError: one took more memory than its bytes allow.
    """
    messages = [
        (name, version)
        for name, schema in sorted(load_all().items())
        for version in range(schema.versions.first, schema.versions.last + 1)
    ]
    for name, _ in messages:
        message_class(name)
    count = 0
    while time.monotonic() < until:
        count += 1
        name, version = rng.choice(messages)
        traced = count // 100 % 10 == 0  # starting and stopping takes memory that does not come back
        if count % 5 == 0:
            name, raw = "records", damaged(_records(rng), rng)
        else:
            with contextlib.suppress(ValueError):
                raw = damaged(random_message(name, version, rng).encode(version), rng)
        if traced != tracemalloc.is_tracing():
            (tracemalloc.start if traced else tracemalloc.stop)()
        if traced:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
        if name == "records":
            _read_records(bytearray(raw))
        else:
            with contextlib.suppress(ProtocolError):
                message_class(name).decode(raw, version)
        if traced:
            peak = tracemalloc.get_traced_memory()[1] - before
            bound = 2_000_000 if name == "records" else 20_000 + _BYTES_A_BYTE * len(raw)
            assert peak < bound, (name, version, peak, raw[:2000].hex())
    tracemalloc.stop()
    return count


def _records(rng: Random) -> bytes:
    keys = (None, b"k", b"key" * 40)
    records = [
        Record(index, rng.randrange(1 << 40), rng.choice(keys), rng.randbytes(rng.choice((0, 5, 300))), [])
        for index in range(rng.randrange(1, 30))
    ]
    magic = rng.randrange(3)
    if magic == 2:
        return build_batch(records, codec=rng.choice(list(Codec)))
    return build_message_set(magic, records, rng.choice((0, 1, 2, 3)))


def _read_records(buf: bytearray) -> None:
    with contextlib.suppress(ApiError):
        for header in iter_batches(memoryview(buf)):
            check_crc(buf, header)
            with contextlib.suppress(ApiError):
                decode_records(buf, header, max_bytes=100_000)


def _resident_kb(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0])


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--codecs", action="store_true", help="the decoders alone")
    arguments = parser.parse_args()
    rng, end = Random(arguments.seed), time.monotonic() + arguments.seconds
    if not arguments.codecs:
        return _fuzz_a_broker(rng, end)
    while time.monotonic() < end:
        count = fuzz_codecs(rng, min(end, time.monotonic() + arguments.seconds / 6))
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{count} messages, {most} MB at most", flush=True)
    return 0


def _fuzz_a_broker(rng: Random, end: float) -> int:
    with tempfile.TemporaryDirectory() as folder:
        settings = {**SETTINGS, "log.dirs": f"{folder}/data", "listeners": "PLAINTEXT://127.0.0.1:0"}
        runner = ProcessRunner(settings, "production", keeps_log=True)
        bootstrap = runner.start()
        host, _, port = bootstrap.rpartition(":")
        try:
            for name in ("a", "topic-1"):  # of `random_message`
                RunningBroker(bootstrap, folder).create_topic(name)
            frames, ends, sizes = requests(rng), Counter[str](), []
            part_s = (end - time.monotonic()) / 6
            while time.monotonic() < end:
                ends += fuzz_broker((host, int(port)), frames, min(end, time.monotonic() + part_s))
                sizes.append(_resident_kb(runner.pid))
                counts = {name: count for name, count in ends.items() if name in _ENDS}
                print(counts, f"{sizes[-1] // 1024} MB", flush=True)
        finally:
            runner.stop()
        log = Path(runner.log_path).read_text(encoding="utf-8", errors="replace")
    told = [line for line in log.splitlines() if "Traceback" in line or " ERROR " in line]
    print(f"{len(told)} failures told")
    if told:
        print(log[log.index(told[0]) :][:12_000])
    return 1 if told or sizes[-1] - sizes[0] > _GROWTH_KB else 0


if __name__ == "__main__":
    sys.exit(main())
