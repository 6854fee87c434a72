from __future__ import annotations

from struct import pack
from unittest.mock import patch

from hypothesis import given, strategies as st

from kbroker.handlers.context import ConnectionContext
from kbroker.server.connection import ConnectionCore
from kbroker.server.large_frame import LARGE_BYTES_MIN, SPARE_BYTES_MAX, FrameBuffers
from tests.server.test_connection import Echo, answers, connect, frames


class Socket:
    """Hands bytes to a connection as the driver does: into the target if there is one."""

    def __init__(self, core, data):
        self.core = core
        self.data = memoryview(data)

    def read(self, most):
        target = self.core.read_target()
        if target is None:
            part, self.data = self.data[:most], self.data[most:]
            self.core.feed(memoryview(bytearray(part)))
            return
        count = min(len(target), most, len(self.data))
        target[:count] = self.data[:count]
        self.data = self.data[count:]
        self.core.filled(count)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(8, 400)), max_size=10),
    st.lists(st.integers(1, 300), min_size=1, max_size=20),
    st.data(),
)
def test_large_and_small_frames_are_whole_and_in_order(kinds, reads, data):
    """However they are cut, whatever is parked, and whether or not the peer reads its answers."""
    bodies = [(b"park" if parks else b"x") + bytes([i]) * size for i, (parks, size) in enumerate(kinds)]
    handler, got = Echo(), []
    with patch.object(FrameBuffers, "bytes_min", 64):
        core = connect(handler)
        sock = Socket(core, frames(*bodies))
        turn = 0
        while sock.data:
            core.write_blocked = data.draw(st.booleans())
            sock.read(reads[turn % len(reads)])
            turn += 1
            core.write_blocked = False
            if handler.parked and data.draw(st.booleans()):
                handler.release()
            got += answers(core)
            if core.may_proceed and data.draw(st.booleans()):
                core.proceed()
        while core.may_proceed or handler.parked:
            if handler.parked:
                handler.release()
            core.proceed()
        got += answers(core)
    assert got == bodies
    assert not core.is_busy


def test_a_finished_frame_leaves_its_buffer_to_the_next():
    buffers, seen = FrameBuffers(), []

    class Handler(Echo):
        def request(self, connection, frame):
            seen.append(frame.obj)
            return super().request(connection, frame[:20])

    def new():
        core = ConnectionCore(ConnectionContext("c", "127.0.0.1"), Handler(), 10 * SPARE_BYTES_MAX, buffers)
        core.on_output = lambda: None
        return core

    def send(core, size):
        sock = Socket(core, pack(">i", size) + bytes(size))
        while sock.data:
            sock.read(65536)
        core.take_output()

    first, second = new(), new()
    send(first, 1_000_000)
    send(second, 900_000)
    assert seen[1] is seen[0]
    half = Socket(first, pack(">i", 1_000_000) + bytes(1_000_000))
    half.read(65536)
    send(second, 500_000)
    while half.data:
        half.read(65536)
    assert seen[2] is not seen[0]
    assert seen[3] is seen[0]
    send(first, 2 * SPARE_BYTES_MAX)
    assert buffers._spare is not seen[4]


def test_records_that_somebody_still_holds_do_not_hinder_the_next_frame():
    core = connect(Echo(), limit=10 * SPARE_BYTES_MAX)
    held = []
    for size in (LARGE_BYTES_MIN, 3 * LARGE_BYTES_MIN, 9 * LARGE_BYTES_MIN):
        sock = Socket(core, frames(bytes(size)))
        while sock.data:
            sock.read(65536)
            if core.large is not None:
                held.append(core.large.room()[:1])
        assert [len(body) for body in answers(core)] == [size]
