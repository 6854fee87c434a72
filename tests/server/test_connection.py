from __future__ import annotations

from itertools import pairwise
from struct import pack, unpack

import pytest
from hypothesis import given, strategies as st

from kbroker.broker.deferred import Deferred
from kbroker.errors import ProtocolError
from kbroker.handlers.context import ConnectionContext
from kbroker.server.connection import (
    BACKLOG_BYTES_MAX,
    OUT_BYTES_MAX,
    REQUESTS_PER_TURN,
    ConnectionCore,
    describe_bad_size,
)
from kbroker.storage.log_reader import FileSlice


class Echo:
    """Answers a frame with itself; `park` frames later, `bad` ones never."""

    def __init__(self):
        self.parked = []
        self.batches = []
        self.handled = []

    def request(self, connection, frame):
        body = bytes(frame)
        self.handled.append(body)
        if body.startswith(b"staged"):
            return self.known(connection, frame, 0, len(frame))
        if body.startswith(b"park"):
            self.parked.append((Deferred(), body))
            return self.parked[-1][0]
        if body.startswith(b"bad"):
            raise ProtocolError("bad frame")
        if body.startswith(b"quiet"):
            return None
        return pack(">i", len(body)) + body

    def known(self, connection, data, start, end):
        body = bytes(data[start:end])
        connection.staged = [*connection.staged, body]
        return pack(">i", len(body)) + body

    def finish_batch(self, connection):
        self.batches.append(list(connection.staged))
        connection.staged = []

    def release(self):
        deferred, body = self.parked.pop(0)
        deferred.resolve(pack(">i", len(body)) + body)


def connect(handler, limit=1000):
    core = ConnectionCore(ConnectionContext("c", "127.0.0.1"), handler, limit)
    core.on_output = lambda: None
    return core


def frames(*bodies):
    return b"".join(pack(">i", len(body)) + body for body in bodies)


def answers(core):
    data = b"".join(core.take_output())
    found = []
    while data:
        (size,) = unpack(">i", data[:4])
        found.append(data[4 : 4 + size])
        data = data[4 + size :]
    return found


BODIES = st.lists(st.binary(min_size=8, max_size=60).map(lambda body: b"x" + body), max_size=12)


@given(BODIES, st.lists(st.integers(0, 700), max_size=8))
def test_how_the_bytes_are_cut_does_not_matter(bodies, cuts):
    data = frames(*bodies)
    core = connect(Echo())
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in pairwise(edges):
        core.feed(memoryview(bytearray(data[start:end])))
    assert answers(core) == bodies
    assert not core.is_busy


@given(BODIES, st.sets(st.integers(0, 11)), st.integers(1, 40))
def test_120_answers_keep_their_order_whatever_is_parked(bodies, parked, step):
    bodies = [b"park" + body if index in parked else body for index, body in enumerate(bodies)]
    handler = Echo()
    core = connect(handler)
    data = frames(*bodies)
    got = []
    for start in range(0, len(data), step):
        core.feed(memoryview(bytearray(data[start : start + step])))
        got += answers(core)
        if handler.parked and start % 3 == 0:
            handler.release()
            got += answers(core)
        while core.may_proceed:
            core.proceed()
            got += answers(core)
    while handler.parked:
        assert len(handler.parked) == 1
        handler.release()
        while core.may_proceed:
            core.proceed()
        got += answers(core)
    assert got == bodies
    assert handler.handled == bodies


def test_nothing_behind_a_parked_request_is_looked_at():
    handler = Echo()
    core = connect(handler)
    core.feed(memoryview(frames(b"park....", b"bad.....")))
    assert handler.handled == [b"park...."]
    assert core.close_reason is None
    handler.release()
    core.proceed()
    assert core.close_reason == "bad frame"
    assert answers(core) == [b"park...."]


def test_a_parked_connection_asks_for_a_pause_once_enough_is_kept():
    handler = Echo()
    core = connect(handler)
    core.feed(memoryview(frames(b"park....")))
    chunk = memoryview(frames(*[b"x" * 100] * 100))
    while not core.wants_pause:
        core.feed(chunk)
    assert BACKLOG_BYTES_MAX <= len(core._backlog) < BACKLOG_BYTES_MAX + len(chunk)
    handler.release()
    while core.may_proceed:
        core.proceed()
    assert not core.wants_pause
    assert len(answers(core)) > 600


def test_what_comes_before_kept_bytes_were_looked_at_stays_behind_them():
    handler = Echo()
    core = connect(handler)
    core.feed(memoryview(frames(b"park....")))
    core.feed(memoryview(frames(b"first...")))
    handler.release()
    core.feed(memoryview(frames(b"second..")))
    while core.may_proceed:
        core.proceed()
    assert answers(core) == [b"park....", b"first...", b"second.."]


def test_a_peer_that_does_not_read_is_not_served():
    handler = Echo()
    core = connect(handler)
    core.write_blocked = True
    core.feed(memoryview(frames(b"x.......")))
    assert handler.handled == []
    assert not core.may_proceed
    core.write_blocked = False
    assert core.may_proceed
    core.proceed()
    assert answers(core) == [b"x......."]


def test_file_slices_leave_before_the_next_request_is_looked_at():
    class Files(Echo):
        def request(self, connection, frame):
            super().request(connection, frame)
            return [b"head", FileSlice(None, 0, 50_000), b"tail"]

    handler = Files()
    core = connect(handler)
    core.feed(memoryview(frames(b"first...", b"second..")))
    assert handler.handled == [b"first..."]
    assert len(core.take_output()) == 3
    core.proceed()
    assert handler.handled == [b"first...", b"second.."]


def test_much_output_is_handed_over_before_more_is_made():
    class Large(Echo):
        def request(self, connection, frame):
            self.handled.append(bytes(frame))
            return bytes(OUT_BYTES_MAX * 6 // 10)

    handler = Large()
    core = connect(handler)
    core.feed(memoryview(frames(*[b"x......."] * 6)))
    assert len(handler.handled) == 2
    core.take_output()
    core.proceed()
    assert len(handler.handled) == 4


def test_staged_work_is_finished_once_for_all_frames_of_a_read():
    handler = Echo()
    core = connect(handler)
    core.fast = {0: handler.known}
    core.feed(memoryview(frames(b"s\0taged1", b"s\0taged2") + b"\0\0"))
    assert handler.batches == [[b"s\0taged1", b"s\0taged2"]]


def test_staged_work_is_finished_before_a_bad_frame_closes():
    handler = Echo()
    core = connect(handler)
    core.feed(memoryview(frames(b"staged.1", b"bad.....", b"x.......")))
    assert handler.batches == [[b"staged.1"]]
    assert answers(core) == [b"staged.1"]
    assert handler.handled == [b"staged.1", b"bad....."]


def test_no_answer_is_no_answer():
    core = connect(Echo())
    core.feed(memoryview(frames(b"quiet...", b"x.......")))
    assert answers(core) == [b"x......."]


def test_125_a_large_frame_takes_memory_as_it_arrives():
    core = connect(Echo(), limit=100 * 1024 * 1024)
    core.feed(memoryview(pack(">i", 100 * 1024 * 1024) + bytes(1000)))
    assert len(core.large.buffer) <= 2 * 1004
    for _ in range(100):
        target = core.read_target()
        count = min(len(target), 5000)
        core.filled(count)
        assert len(core.large.buffer) <= 2 * core.large.filled


@pytest.mark.parametrize("size", [-1, 0, 7, 1001, 2**31 - 1])
@pytest.mark.parametrize("step", [1, 3, 100])
def test_125_sizes_that_cannot_be_close(size, step):
    core = connect(Echo())
    data = pack(">i", size) + bytes(50)
    for start in range(0, len(data), step):
        core.feed(memoryview(data[start : start + step]))
    assert core.close_reason == describe_bad_size(size, 1000)
    assert core._partial is None


def test_what_strangers_speak_is_recognised():
    number = lambda head: int.from_bytes(head, "big", signed=True)  # noqa: E731
    assert "HTTP" in describe_bad_size(number(b"GET "), 1000)
    assert "HTTP" in describe_bad_size(number(b"POST"), 1000)
    assert "TLS" in describe_bad_size(number(b"\x16\x03\x01\x02"), 1000)


def test_an_abandoned_connection_cancels_what_it_waits_for():
    handler = Echo()
    core = connect(handler)
    core.feed(memoryview(frames(b"park....")))
    cancelled = []
    handler.parked[0][0].on_cancel = lambda: cancelled.append(True)
    core.abandon()
    assert cancelled == [True]
    handler.release()
    assert core.take_output() == []


def test_one_read_is_served_a_little_at_a_time_in_order():
    handler = Echo()
    core = connect(handler)
    bodies = [b"request %d" % i for i in range(3 * REQUESTS_PER_TURN + 1)]
    core.feed(memoryview(bytearray(frames(*bodies))))
    assert handler.handled == bodies[:REQUESTS_PER_TURN]
    core.feed(memoryview(bytearray(frames(b"the last"))))
    turns = 1
    while core.may_proceed:
        core.proceed()
        turns += 1
    assert answers(core) == [*bodies, b"the last"]
    assert turns == 5
    assert not core.is_busy


def test_known_requests_are_not_counted():
    handler = Echo()
    core = connect(handler)
    core.fast = {ord("a"): handler.known}
    bodies = [b"xa%06d" % i for i in range(3 * REQUESTS_PER_TURN)]
    core.feed(memoryview(bytearray(frames(*bodies))))
    assert answers(core) == bodies
    assert not core.may_proceed


def test_answers_that_wait_are_what_they_were():
    """CVE-2026-35554: all share the buffer that is read into, so what waits must not lie in it."""
    echo = Echo()
    core = connect(echo)
    bodies = [b"park" + bytes([number]) * 40 for number in range(3)] + [
        b"x" + b"%02d" % n * 30 for n in range(9)
    ]
    data, shared = frames(*bodies), bytearray(64)
    for start in range(0, len(data), 64):
        piece = data[start : start + 64]
        shared[: len(piece)] = piece
        core.feed(memoryview(shared)[: len(piece)])
        shared[:] = b"\xff" * 64
    found = []
    while echo.parked:
        echo.release()
        while core.may_proceed:
            core.proceed()
        found += answers(core)
    assert found == bodies
