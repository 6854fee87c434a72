"""TLS to other servers than brokers: a directory, a back end of passwords, a collector of metrics."""

from __future__ import annotations

import ssl
from http.client import HTTPConnection, HTTPSConnection
from urllib.parse import SplitResult


def trusting(ca_file: str | None = None) -> ssl.SSLContext:
    """Trusts these authorities, and only if none are given those of the system.

    From Python 3.13 on a default context refuses certificates that lack an extension RFC 5280 wants. Many of
    a firm's own authorities issue such, and neither Java nor an older Python minds.

    Raises:
        OSError: the file cannot be read.
        ssl.SSLError: it holds no certificate.
    """
    context = ssl.create_default_context(cafile=ca_file)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def http_connection(url: SplitResult, timeout_s: float) -> HTTPConnection:
    """To where an http:// or https:// address points; nothing is sent yet."""
    if url.scheme != "https":
        return HTTPConnection(url.hostname or "", url.port, timeout=timeout_s)
    context = trusting()
    context.set_alpn_protocols(["http/1.1"])
    return HTTPSConnection(url.hostname or "", url.port, timeout=timeout_s, context=context)
