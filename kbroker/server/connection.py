"""One connection without its socket: bytes in, frames to the dispatcher, answers out in order.

The laws of this file:

* A frame's length is checked before anything is taken for it, and memory grows with what arrived, not with
  what a length promises.
* One request at a time. While an answer is parked, or the peer does not read (`write_blocked`), nothing more
  is parsed; what arrives meanwhile is kept up to a bound, `wants_pause` asks the driver to stop reading.
* Nothing here writes: answers collect in `out`, the driver takes them with `take_output` after each `feed` or
  `proceed`, and is told through `on_output` about those that come at another time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kbroker.errors import ProtocolError
from kbroker.metrics.traffic import NO_LISTENER
from kbroker.server import connection_output
from kbroker.server.large_frame import FrameBuffers

if TYPE_CHECKING:
    from kbroker.handlers.context import ConnectionContext
    from kbroker.metrics.requests import ApiStats, Waiting
    from kbroker.server.frame_handler import FastPath, FrameHandler, Parked, Segment
    from kbroker.server.large_frame import Buffers, LargeFrame

_SIZE = Struct(">i")
_PRODUCE = 0
#: Shared by all connections that stage nothing; Produce and OffsetCommit give theirs a list.
_NOTHING_STAGED: list[Any] = []
_NO_FAST_PATHS: dict[int, FastPath] = {}
#: Unparsed bytes kept for a connection that may not go on, before its socket is left unread.
BACKLOG_BYTES_MAX = 64 * 1024
#: Answer bytes collected before the driver gets a turn to write them.
OUT_BYTES_MAX = 256 * 1024
#: Requests of one read that go through dispatch before the others on the loop get their turn: 64 KiB hold
#: 4,600 of the smallest. What the fast paths know is not counted, it is limited by the bytes of a read.
REQUESTS_PER_TURN = 32


class ConnectionCore:
    """The state of one connection.

    Args:
        context: who is at the other end.
        handler: dispatch.
        request_bytes_max: largest frame (`socket.request.max.bytes`).
        buffers: of the event loop, for large frames.
    """

    __slots__ = (
        "_backlog",
        "_partial",
        "_rest",
        "answered",
        "began_s",
        "buffers",
        "close_reason",
        "commit_cache",
        "context",
        "fast",
        "fetch_cache",
        "frame_size",
        "handler",
        "has_files",
        "in_anteroom",
        "is_follower",
        "is_newcomer",
        "large",
        "muted",
        "on_output",
        "out",
        "out_bytes",
        "parked",
        "produce_cache",
        "request_bytes_max",
        "send_alone",
        "short_frames",
        "staged",
        "staged_key",
        "traffic",
        "waiting",
        "write_blocked",
    )

    def __init__(
        self,
        context: ConnectionContext,
        handler: FrameHandler,
        request_bytes_max: int,
        buffers: FrameBuffers | None = None,
    ) -> None:
        self.context = context
        self.request_bytes_max = request_bytes_max
        self.out: list[Segment] = []
        self.out_bytes = 0
        self.has_files = False
        #: Set when the connection has to close after what is in `out`: why, for the log ("": say nothing).
        self.close_reason: str | None = None
        #: The answer that everything else waits for.
        self.parked: Parked | None = None
        #: Set by the driver while the peer does not read.
        self.write_blocked = False
        #: Its client is throttled: nothing is handled before `unmute`.
        self.muted = False
        self.on_output: Callable[[], None] | None = None
        #: A shorter way for the usual kind of those: takes an answer, while there is nothing in `out`.
        self.send_alone: Callable[[bytes], None] | None = None
        #: For the metrics: when what is handled now was read, the size of the newest known Produce, and what
        #: the parked answer is noted in.
        self.began_s = 0.0
        self.frame_size = 0
        #: Its newest Fetch was a replica's: answers are large, and are read at once.
        self.is_follower = False
        #: The peer has not logged in yet, though it has to.
        self.is_newcomer = False
        #: Its driver calls within a slice of the loop's turn (`anteroom.py`).
        self.in_anteroom = False
        self.waiting: Waiting | None = None
        #: Where the newest kind of request is counted.
        self.answered: ApiStats | None = None
        #: Where its listener's connections are counted.
        self.traffic = NO_LISTENER
        #: These belong to the Produce and OffsetCommit paths, what this connection's frames have staged, and
        #: to them and to the Fetch path, requests seen before.
        self.staged: list[Any] = _NOTHING_STAGED
        #: The API whose requests are staged, while some are: Produce, or OffsetCommit.
        self.staged_key = 0
        self.produce_cache: Any = None
        self.fetch_cache: Any = None
        self.commit_cache: Any = None
        #: By API key, their ways around dispatch for frames that their caches know.
        self.fast: Mapping[int, FastPath] = _NO_FAST_PATHS
        #: What frames go to: a gate until the peer has logged in, then dispatch.
        self.handler = handler
        #: Bare SASL messages may be shorter than any request.
        self.short_frames = False
        #: Where large frames collect; those of the gate until the peer has logged in.
        self.buffers: Buffers = buffers or FrameBuffers()
        #: A frame that collects in a buffer of its own.
        self.large: LargeFrame | None = None
        self._partial: bytearray | None = None
        self._rest: memoryview | None = None
        self._backlog: bytearray | None = None

    @property
    def wants_pause(self) -> bool:
        """Whether the driver should stop reading."""
        return self._backlog is not None and len(self._backlog) >= BACKLOG_BYTES_MAX

    @property
    def has_kept(self) -> bool:
        """Whether there are bytes that wait for `proceed`."""
        return self._rest is not None or self._backlog is not None

    @property
    def may_proceed(self) -> bool:
        """Whether kept bytes wait for `proceed`, and nothing holds them back."""
        return (self._rest is not None or self._backlog is not None) and not self._is_held

    @property
    def is_busy(self) -> bool:
        """Whether something is still to be answered: a parked request, or kept bytes."""
        return self.parked is not None or self._rest is not None or self._backlog is not None

    @property
    def _is_held(self) -> bool:
        return self.parked is not None or self.write_blocked or self.muted or self.close_reason is not None

    def feed(self, data: memoryview) -> None:
        """Take what arrived. `data` may be reused by the caller as soon as this returns."""
        self.traffic.bytes_in += len(data)
        if (
            self.parked is None
            and not self.write_blocked
            and not self.muted
            and self.close_reason is None
            and self._rest is None
            and self._backlog is None
        ):
            self.began_s = perf_counter()
            if self._partial is not None or self.large is not None or not self._take_known(data):
                self._run(self._parse_frames, data)
        else:
            self._keep(data)

    def read_target(self) -> memoryview | None:
        """Where the next bytes may be read to directly; then call `filled`. None: anywhere, for `feed`."""
        if self.large is None or self._is_held or self._backlog is not None:
            return None
        return self.large.room()

    def filled(self, count: int) -> None:
        """So many bytes are in the `read_target`."""
        large = self.large
        if large is None:
            return  # closed meanwhile
        self.traffic.bytes_in += count
        large.filled += count
        if large.is_complete:
            self.large = None
            self.began_s = perf_counter()
            self._run(self._handle_frame, large.frame())
            self.buffers.give(large.buffer)

    def proceed(self) -> None:
        """Go on with kept bytes, as far as the laws allow; the driver calls it after writing."""
        if self._is_held:
            return
        if self._rest is not None:
            rest, self._rest = self._rest, None
            self._run(self._parse_frames, rest)
        elif self._backlog is not None:
            backlog, self._backlog = self._backlog, None
            self._run(self._parse_frames, memoryview(bytes(backlog)))

    # -- answers --

    take_output = connection_output.take_output
    take_bytes = connection_output.take_bytes
    release = connection_output.release
    hold = connection_output.hold
    _take_answer = connection_output.take_answer
    _deliver = connection_output.deliver

    def unmute(self) -> None:
        """Go on after a quota's delay."""
        self.muted = False
        self.began_s = perf_counter()
        if self.on_output is not None:
            self.on_output()

    def forget_known(self) -> None:
        """Check anew what was recognised by its bytes: who may do what has changed.

        Answers that are held back still need the caches themselves.
        """
        if self.produce_cache is not None:
            self.produce_cache.forget()
        for cache in (self.fetch_cache, self.commit_cache):
            if cache is not None:
                cache.by_size.clear()

    def close(self, reason: str) -> None:
        """Close once `out` is written; the first reason counts."""
        self.close_reason = self.close_reason or reason
        self._partial = self._rest = self._backlog = self.large = None

    def abandon(self) -> None:
        """The socket is gone: nobody waits for anything any more."""
        self.close("")
        self.on_output = self.send_alone = None
        parked, self.parked = self.parked, None
        self.waiting = None
        if parked is not None:
            parked.cancel()

    def _keep(self, data: memoryview) -> None:
        if self.close_reason is not None:
            return
        if self._backlog is None:
            self._backlog = bytearray(data)
        else:
            self._backlog += data

    def _run(self, work: Callable[[memoryview], None], data: memoryview) -> None:
        meter = self.context.meter
        if meter is not None and (meter.timed or meter.core is None):
            meter.begin(self)
        try:
            work(data)
        except ProtocolError as error:
            self.close(str(error))
        if self.staged:
            try:
                self.handler.finish_batch(self)
            except ProtocolError as error:
                self.close(str(error))
        if meter is not None and meter.timed:
            meter.end()

    def _take_known(self, data: memoryview) -> bool:
        """What most reads are: one frame that a fast path knows; False: nothing has happened."""
        total = len(data)
        if total < 12 or _SIZE.unpack_from(data)[0] != total - 4 or total - 4 > self.request_bytes_max:
            return False
        key = data[5]
        fast = self.fast.get(key)
        if fast is None or self.out:
            return False
        meter = self.context.meter
        if meter is not None and (key != _PRODUCE or total > meter.free):
            return False
        try:
            answer = fast(self, data, 4, total)
            if answer is None:
                return False
            if meter is not None:
                if self.staged[-1].client == meter.head:
                    meter.free -= total - 4
                else:
                    answer = meter.after(data, 4, total, answer)
            if type(answer) is bytes:
                self.out.append(answer)
                self.out_bytes += len(answer)
            elif answer is not None:
                self._take_answer(answer)
            if self.staged:
                self.handler.finish_batch(self)
        except ProtocolError as error:
            self.close(str(error))
        if meter is not None and meter.timed:
            meter.used_s += perf_counter() - self.began_s
            if meter.used_s > meter.spare_s:
                meter.free = 0.0
        return True

    def _parse_frames(self, data: memoryview) -> None:
        position = 0
        meter = self.context.meter
        if self._partial is not None:
            position = self._complete_partial(self._partial, data)
        elif self.large is not None:
            position = self._complete_large(self.large, data)
        total = len(data)
        request, size_of = self.handler.request, _SIZE.unpack_from
        size_max = self.request_bytes_max
        left = 0 if self.muted else REQUESTS_PER_TURN
        while total - position >= 4:
            if (
                not left
                or self.parked
                or self.has_files
                or self.out_bytes > OUT_BYTES_MAX
                or self.close_reason is not None
            ):
                self._rest = _own(data[position:])
                return
            (size,) = size_of(data, position)
            if size < 8 or size > size_max:
                if not (self.short_frames and 0 <= size < 8):
                    raise ProtocolError(describe_bad_size(size, size_max))
                if total - position - 4 < size:
                    break
                end = position + 4 + size
                self._handle_frame(data[position:end])
                position = end
                continue
            end = position + 4 + size
            if end > total:
                if size >= self.buffers.bytes_min:
                    self.large = self.buffers.begin(4 + size, data[position:])
                    return
                break
            # The key's low byte is enough to ask: what is known is compared with the whole.
            key = data[position + 5]
            if self.staged and key != self.staged_key and self._must_wait_for_staged(data, position):
                return
            fast = self.fast.get(key)
            if fast is None or (meter is not None and meter.is_slow):
                answer = None
            else:
                answer = fast(self, data, position + 4, end)
            if answer is None:
                if self.staged and self._must_wait_for_staged(data, position):
                    return
                left -= 1
                answer = request(self, data[position + 4 : end])
                meter = self.context.meter
                size_max = self.request_bytes_max  # a login raises it
                key = -1
            if meter is not None:
                size = end - position - 4
                if key == _PRODUCE and size <= meter.free and self.staged[-1].client == meter.head:
                    meter.free -= size
                else:
                    answer = meter.after(data, position + 4, end, answer)
                    if self.muted:
                        left = 0
            if type(answer) is bytes:
                self.out.append(answer)
                self.out_bytes += len(answer)
            elif answer is not None:
                self._take_answer(answer)
            position = end
        if position < total:
            self._partial = bytearray(data[position:])

    def _must_wait_for_staged(self, data: memoryview, position: int) -> bool:
        """Write what is staged; True if its answers wait for the disk, and so does what is at `position`."""
        self.handler.finish_batch(self)
        if self.parked is None:
            return False
        self._rest = _own(data[position:])
        return True

    def _complete_partial(self, partial: bytearray, data: memoryview) -> int:
        """Add to the incomplete frame just what belongs to it; how much of `data` that was."""
        used = 0
        if len(partial) < 4:
            used = min(4 - len(partial), len(data))
            partial += data[:used]
            if len(partial) < 4:
                return used
        size: int = _SIZE.unpack_from(partial)[0]
        is_short = self.short_frames and 0 <= size < 8
        if (size < 8 and not is_short) or size > self.request_bytes_max:
            raise ProtocolError(describe_bad_size(size, self.request_bytes_max))
        missing = 4 + size - len(partial)
        taken = min(missing, len(data) - used)
        partial += data[used : used + taken]
        if taken == missing:
            self._partial = None
            self._handle_frame(memoryview(partial))
        return used + taken

    def _complete_large(self, large: LargeFrame, data: memoryview) -> int:
        """As `_complete_partial`, for bytes that did not come through `read_target`."""
        used = large.copy(data)
        if large.is_complete:
            self.large = None
            self._handle_frame(large.frame())
        return used

    def _handle_frame(self, frame: memoryview) -> None:
        fast = self.fast.get(frame[5]) if len(frame) > 5 else None
        meter = self.context.meter
        if fast is None or (meter is not None and meter.is_slow):
            answer = None
        else:
            answer = fast(self, frame, 4, len(frame))
        if answer is None:
            answer = self.handler.request(self, frame[4:])
        if self.context.meter is not None:
            answer = self.context.meter.after(frame, 4, len(frame), answer)
        if answer is not None:
            self._take_answer(answer)


def _own(data: memoryview) -> memoryview:
    """`data` for later; what is read-only has been copied from the receive buffer before."""
    return data if data.readonly else memoryview(bytes(data))


def describe_bad_size(size: int, size_max: int) -> str:
    """What a frame length that cannot be says about the peer, in a few words."""
    head = _SIZE.pack(size)
    if head[0] == 0x16 and head[1] == 3:
        return "TLS handshake on a plaintext port"
    if head.isalpha() or head in (b"GET ", b"PUT "):
        return "HTTP or other text on a Kafka port"
    if size > size_max:
        return f"frame of {size} bytes, more than socket.request.max.bytes ({size_max})"
    return f"frame length {size}"
