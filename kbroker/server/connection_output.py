"""What a connection sends: answers in the order of the requests, and the one that all others wait for.

Methods of `ConnectionCore`, which takes them in by name. Nothing here writes: the driver takes what is in
`out`.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from kbroker.errors import ProtocolError

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.server.connection import ConnectionCore
    from kbroker.server.frame_handler import Answer, Segment


def take_output(core: ConnectionCore) -> list[Segment]:
    """What has to be written now, in order."""
    out, core.out = core.out, []
    core.traffic.bytes_out += core.out_bytes
    core.out_bytes = 0
    core.has_files = False
    return out


def take_bytes(core: ConnectionCore) -> bytes:
    """As `take_output`, where there is some and `has_files` is false."""
    out = core.out
    if len(out) == 1:
        data = out.pop()
    else:
        data = b"".join(out)  # type: ignore[arg-type]
        out.clear()
    core.traffic.bytes_out += core.out_bytes
    core.out_bytes = 0
    return data  # type: ignore[return-value]


def release(core: ConnectionCore, answer: bytes) -> None:
    """The `parked` answer came, and is that."""
    core.parked = None
    if core.waiting is not None:
        waiting, core.waiting = core.waiting, None
        waiting.over()
    core.began_s = perf_counter()  # what was kept meanwhile has not waited for us
    if core.send_alone is not None and not core.out:
        core.send_alone(answer)
        return
    core.out.append(answer)
    core.out_bytes += len(answer)
    if core.on_output is not None:
        core.on_output()


def hold(core: ConnectionCore, answer: Deferred[Answer]) -> None:
    """Send nothing more before `answer`, for which others were taken out of `out`."""
    core.out_bytes = sum(len(part) for part in core.out if type(part) is bytes) if core.out else 0
    take_answer(core, answer)


def take_answer(core: ConnectionCore, answer: bytes | list[Segment] | Deferred[Answer]) -> None:
    """What a request has come to, now or later: its turn is after what is in `out`."""
    if type(answer) is bytes:
        core.out.append(answer)
        core.out_bytes += len(answer)
    elif type(answer) is list:
        size = 0
        for part in answer:
            size += len(part) if type(part) is bytes else part.length  # type: ignore[union-attr]
        core.traffic.bytes_out += size
        core.out += answer
        core.has_files = True
    elif answer.done:  # type: ignore[union-attr]
        _settle(core, answer)  # type: ignore[arg-type]
    else:
        core.parked = answer  # type: ignore[assignment]
        answer.then(core._deliver)  # type: ignore[union-attr]


def _settle(core: ConnectionCore, answer: Deferred[Answer]) -> None:
    try:
        value = answer.result()
    except ProtocolError as error:
        core.close(str(error))
        return
    if value is not None:
        take_answer(core, value)


def deliver(core: ConnectionCore, answer: Deferred[Answer]) -> None:
    """A parked answer came."""
    core.parked = None
    if core.waiting is not None:
        waiting, core.waiting = core.waiting, None
        waiting.over()
    core.began_s = perf_counter()  # what was kept meanwhile has not waited for us
    _settle(core, answer)
    if core.on_output is not None:
        core.on_output()
