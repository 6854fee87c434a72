"""Decoding what strangers send: a bound on the elements of all arrays of a request together.

Kafka's reader takes a million elements in each array, and a request of a few megabytes has room for many such
arrays. Kafka's broker has other threads meanwhile, this one has not. The generated decoders compare each
array's length with their module's `ELEMENTS_MAX`; a frame that has room for too many elements is decoded by
copies of those functions that find a budget under that name. Other frames pay nothing.
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any, TypeVar

from kbroker.errors import ProtocolError
from kbroker.protocol.primitives import Buffer, Message, too_many

#: A topic, a partition of it, a name, a setting: each is one.
REQUEST_ELEMENTS_MAX = 120_000

M = TypeVar("M", bound=Message)


class _Budget:
    """What `count > ELEMENTS_MAX` asks in the place of a number: the count comes off what is left."""

    __slots__ = ("_all", "left")

    def __init__(self, left: int) -> None:
        self.left = self._all = left

    def __lt__(self, count: int) -> bool:
        self.left -= count
        return self.left < 0

    def error(self, count: int) -> ProtocolError:
        """In the place of `too_many`."""
        if self.left >= 0:
            return too_many(count)
        return ProtocolError(f"more than {self._all} elements in one request")


def decode_request(
    message: type[M], buf: Buffer, version: int, pos: int, elements_max: int = REQUEST_ELEMENTS_MAX
) -> tuple[M, int]:
    """The request at `pos`, and where it ends.

    Raises:
        ProtocolError: malformed bytes, or more than `elements_max` elements.
    """
    # An element has at least one byte.
    if len(buf) - pos <= elements_max or version not in message.DECODERS:
        return message.decode_from(buf, version, pos)
    decoder = _with_budget(message, version, elements_max)
    bounded: type[M] = type(message.__name__, (message,), {"__slots__": (), "DECODERS": {version: decoder}})
    return bounded.decode_from(buf, version, pos)


def _with_budget(message: type[Message], version: int, elements_max: int) -> Any:
    """The decoder of `version` and all that its module has for it to call, with a budget of their own."""
    names = dict(vars(sys.modules[message.__module__]))
    for name, value in list(names.items()):
        if name.startswith("_decode_"):
            names[name] = FunctionType(value.__code__, names, name, value.__defaults__)
    budget = _Budget(elements_max)
    names["ELEMENTS_MAX"], names["too_many"] = budget, budget.error
    return names[message.DECODERS[version].__name__]
