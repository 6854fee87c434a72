"""Asks an identity provider over HTTP, with a limit for connecting and one for each wait for an answer.

What is asked is an address that was set (and is allowed): an answer that points elsewhere is none.
"""

from __future__ import annotations

from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from kbroker.security.sasl import LoginFailed
from kbroker.security.token_keeper import MayPass

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

#: Of Kafka (HttpJwtRetriever): asking again does not change these. All others may pass.
_FINAL = frozenset((*range(400, 408), *range(409, 416), 501, 505))
#: Our own: the address was set, and no other one is asked.
_ELSEWHERE = range(300, 400)


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *arguments: object) -> None:
        return None


class _TwoLimits(HTTPConnection):
    """`timeout` is what reading may take."""

    def __init__(self, host: str, *, connect_s: float, **more: Any) -> None:
        super().__init__(host, **more)
        self._connect_s = connect_s

    def connect(self) -> None:
        read_s, self.timeout = self.timeout, self._connect_s
        super().connect()
        self.sock.settimeout(read_s)


class _TwoLimitsSecured(_TwoLimits, HTTPSConnection):
    """With TLS, whose handshake belongs to connecting."""


def opened(
    request: Request, tls: ssl.SSLContext | None, connect_s: float, read_s: float
) -> HTTPResponse:  # of http and https; that of a file has `read` and `close` as well
    """The answer, to be read and closed.

    Raises:
        OSError: there is none (HTTPError: a status that is no success).
        HTTPException: nobody understands it.
    """

    class Plain(HTTPHandler):
        def http_open(self, request: Request) -> HTTPResponse:
            return self.do_open(partial(_TwoLimits, connect_s=connect_s), request)

    class Secured(HTTPSHandler):
        def https_open(self, request: Request) -> HTTPResponse:
            return self.do_open(partial(_TwoLimitsSecured, connect_s=connect_s, context=tls), request)

    handlers = [_Stay, Plain] if tls is None else [_Stay, Plain, Secured(context=tls)]
    answer: HTTPResponse = build_opener(*handlers).open(request, timeout=read_s)
    return answer


def token_answer(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    tls: ssl.SSLContext | None,
    limits_s: tuple[float, float],
    bytes_max: int,
) -> bytes:
    """What a token endpoint says.

    Args:
        limits_s: for connecting, and for each wait for bytes.

    Raises:
        MayPass: it does not answer, or not now.
        LoginFailed: it refuses.
    """
    import ssl

    request = Request(url, data=body, headers=dict(headers), method="POST")
    try:
        with opened(request, tls, *limits_s) as answer:
            data = answer.read(bytes_max)
            status = answer.status
    except HTTPError as error:
        with error:
            final = error.code in _FINAL or error.code in _ELSEWHERE
            kind = LoginFailed if final else MayPass
            raise kind(f"no token from {url}: status {error.code}") from None
    except (OSError, HTTPException) as error:
        why = getattr(error, "reason", None) or type(error).__name__
        # Who shows the wrong certificate does so again.
        kind = LoginFailed if isinstance(why, ssl.SSLCertVerificationError) else MayPass
        raise kind(f"no token from {url}: {why}") from None
    if status not in (200, 201) or not data:
        raise MayPass(f"no token from {url}: status {status} and {len(data)} bytes")
    return data
