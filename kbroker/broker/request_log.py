"""A line for each of every so many requests: who, what, how large, how long (logger `kbroker.requests`).

Off unless `kbroker.log.requests.every` is set, which can be done while running; then requests that come
together through a fast path count as one line.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.broker.clients import Connected
    from kbroker.broker.services import Services

_log = logging.getLogger("kbroker.requests")
SETTING = "kbroker.log.requests.every"


class RequestLog:
    """Writes one of `every` requests.

    Args:
        every: 1 means all.
    """

    __slots__ = ("_every", "_left")

    def __init__(self, every: int) -> None:
        self._every = every
        self._left = 1

    def note(
        self,
        connection: Connected,
        name: str,
        version: int,
        size: int,
        began_s: float,
        now_s: float,
        *,
        times: int = 1,
        is_parked: bool = False,
    ) -> None:
        """Requests were handled."""
        self._left -= times
        if self._left > 0:
            return
        self._left = self._every
        fields = {
            "request": name,
            "version": version,
            "bytes": size,
            "ms": round((now_s - began_s) * 1000, 3),
            "requests": times,
            "parked": is_parked,
            "client_id": connection.client_id,
            "address": connection.client_address,
            "listener": connection.listener_name,
            "principal": connection.principal,
            "software": f"{connection.client_software_name} {connection.client_software_version}",
        }
        _log.info(
            "%s v%d of %s from %s (%s): %d bytes, %.3f ms%s%s",
            name,
            version,
            connection.client_id,
            fields["address"],
            connection.principal,
            size,
            fields["ms"],
            f", {times} of them" if times > 1 else "",
            ", then parked" if is_parked else "",
            extra={"fields": fields},
        )


def open_request_log(services: Services) -> None:
    """Let the setting decide, now and when it changes."""

    def obey(_: object) -> None:
        every = services.config.get_int(SETTING)
        services.request_log = RequestLog(every) if every > 0 else None
        if every > 0:
            services.requests.timed = True

    obey(None)
    services.config.subscribe(obey, (SETTING,))
