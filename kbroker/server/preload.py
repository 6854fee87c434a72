"""Imports what nobody has asked for yet, soon after the start and bit by bit.

Handlers and codecs are imported when they are first needed, which makes the start quick. But a broker may
outlive its files: after `pip install --upgrade` under a running broker a late import would mix two releases,
or find nothing. Costs about 7 MB, and half a millisecond of the event loop at a time. Guards only come with
an authorizer, as without one no request reaches them.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING

from kbroker.handlers.api_table import (
    API_TABLE,
    CONTROLLER_TABLE,
    LEGACY_TABLE,
    OWN_TABLE,
    TELEMETRY_TABLE,
    ZOOKEEPER_TABLE,
)
from kbroker.handlers.guards import GUARDS
from kbroker.handlers.kbroker_command import COMMANDS
from kbroker.protocol.api_keys import request_class, response_class

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbroker.broker.timer import Timer, TimerHandle

_log = logging.getLogger(__name__)

FIRST_MS, NEXT_MS = 1_000, 20
_HANDLERS = "kbroker.handlers."
#: What other modules import when they first meet it.
BESIDES = (
    # Consumer groups: the last one is imported first.
    *(
        f"kbroker.coordinator.group.{name}"
        for name in (
            "consumer_part",
            "consumer_classic",
            "consumer_requests",
            "consumer_migration",
            "consumer_draft",
            "consumer_group",
            "consumer_records",
            "topic_view",
            "assignors",
        )
    ),
    *(f"kbroker.handlers.command_{name}" for name in sorted(COMMANDS)),
    "kbroker.handlers.log_levels",
    "kbroker.protocol.legacy_messages",
    "kbroker.protocol.lz4_frame",
    "kbroker.protocol.zstd_frame",
    "cramjam",
)
#: Where there is an authorizer.
WITH_AUTHORIZER = tuple(sorted({_HANDLERS + module for module, _ in GUARDS.values()}))


def preload(timer: Timer, *, guards: bool = False, zookeeper: bool = False) -> Callable[[], None]:
    """Begin a while after now, also with guards if there is an authorizer, and with what a controller in
    ZooKeeper asks of brokers; the way to stop it.
    """
    return _Preload(timer, WITH_AUTHORIZER if guards else (), ZOOKEEPER_TABLE if zookeeper else {}).stop


class _Preload:
    def __init__(
        self, timer: Timer, more: tuple[str, ...], own_mode: dict[int, tuple[str, int, int]]
    ) -> None:
        tables = (API_TABLE, CONTROLLER_TABLE, LEGACY_TABLE, OWN_TABLE, TELEMETRY_TABLE, own_mode)
        apis = [(key, row[0]) for table in tables for key, row in table.items()]
        self._left: list[tuple[int | None, str]] = [(None, name) for name in (*more, *BESIDES)]
        self._left += [(key, _HANDLERS + name) for key, name in reversed(apis)]
        self._timer = timer
        self._next: TimerHandle = timer.call_later(FIRST_MS, self._import_one)

    def stop(self) -> None:
        self._next.cancel()

    def _import_one(self) -> None:
        key, name = self._left.pop()
        try:
            import_module(name)
            if key is not None:
                request_class(key)
                response_class(key)
        except Exception as error:
            _log.warning("%s cannot be imported: %s", name, error)
        if self._left:
            self._next = self._timer.call_later(NEXT_MS, self._import_one)
