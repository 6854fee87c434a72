"""Figures of a listener's logins and of its certificate, beside those that Kafka has (docs/metrics.md)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kbroker.errors import ConfigError

if TYPE_CHECKING:
    from kbroker.metrics.registry import Registry
    from kbroker.server.listener_security import ListenerSecurity


def add_login_metrics(registry: Registry, listener: str, security: ListenerSecurity) -> None:
    """Register them."""
    registry.gauge(
        "kbroker.server",
        "Logins",
        "UnderWay",
        lambda: security.under_way,
        "TLS handshakes and logins that have begun and are not over",
        listener=listener,
    )
    registry.gauge(
        "kbroker.server",
        "Logins",
        "CrowdedOut",
        lambda: security.crowded_out,
        "of those, that had to make room for others",
        listener=listener,
    )
    registry.gauge(
        "kbroker.server",
        "Logins",
        "EarlyBytes",
        lambda: security.early.total,
        "bytes held for those who are not in, on all listeners",
        listener=listener,
    )
    if security.encrypted:
        ends = CertificateEnd(security)
        registry.gauge(
            "kbroker.server",
            "Tls",
            "CertificateSecondsLeft",
            ends.seconds_left,
            "until the listener's certificate is over; -1: unknown",
            listener=listener,
        )


class CertificateEnd:
    """When the certificate in use is over; looked up once for each that there is."""

    def __init__(self, security: ListenerSecurity) -> None:
        self._security = security
        self._of: object = None
        self._ends_s: float | None = None

    def seconds_left(self) -> float:
        """-1 if that cannot be said."""
        context = self._security.context()
        if context is not self._of:
            self._of = context
            try:
                self._ends_s = self._security.certificate_ends_s()
            except ConfigError:
                self._ends_s = None
        return -1.0 if self._ends_s is None else round(self._ends_s - time.time())
