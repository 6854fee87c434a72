"""One TCP connection to one broker: framing, headers, version negotiation; one request at a time."""

from __future__ import annotations

import socket
from itertools import count
from struct import Struct
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kbroker import __version__
from kbroker.client.errors import (
    ClientError,
    NotConnected,
    NotTrusted,
    Unreachable,
    Unsupported,
    WantsSecurity,
)
from kbroker.errors import ErrorCode, ProtocolError
from kbroker.protocol.api_keys import FACTS, ApiKey, request_header_version, response_header_version
from kbroker.protocol.generated.api_versions_request import ApiVersionsRequest
from kbroker.protocol.generated.api_versions_response import ApiVersionsResponse
from kbroker.protocol.generated.request_header import RequestHeader
from kbroker.protocol.generated.response_header import ResponseHeader
from kbroker.protocol.primitives import Message

if TYPE_CHECKING:
    from kbroker.client.security import ClientSecurity

R = TypeVar("R", bound=Message)

#: Larger answers are refused before they are read, in bytes.
MAX_RESPONSE_BYTES = 256 * 1024 * 1024

_SIZE = Struct(">i")
_ERROR = Struct(">h")
#: How a TLS alert and a handshake begin.
_TLS_RECORDS = (b"\x15\x03", b"\x16\x03")
#: 4 tells features whose lowest version is 0 too (KAFKA-17011).
_NEGOTIATION_VERSION = 4


class Address(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Connection:
    """Sends a request, waits for its answer. Opening it asks for the broker's versions (KIP-35, KIP-511).

    Args:
        timeout_s: for connecting, and for each answer.
        security: TLS and login.

    Raises:
        NotTrusted: TLS or the login fails.
        NotConnected: refused, unknown host, or timed out.
        WantsSecurity: what listens there seems to want what `security` would give.
        Unreachable: the broker closes, or does not answer.
        ClientError: what listens there is no Kafka broker.
    """

    def __init__(
        self,
        address: Address,
        *,
        client_id: str = "kbroker",
        timeout_s: float = 10.0,
        security: ClientSecurity | None = None,
    ) -> None:
        self.address = address
        self._client_id = client_id
        self._timeout_s = timeout_s
        self._correlation = count(1)
        self._security = security
        #: It has answered something; and another question than the first one, for its versions.
        self._speaks = self._serves = False
        try:
            self._socket = socket.create_connection(address, timeout=timeout_s)
        except TimeoutError:
            raise NotConnected(f"{address} does not answer (no connection within {timeout_s:g} s)") from None
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise NotConnected(f"cannot connect to {address} ({reason})") from None
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if security is not None:
                self._socket = security.secure(self._socket, address)
            self.api_versions = self._negotiate()
            self._ranges = {
                api.api_key: (api.min_version, api.max_version) for api in self.api_versions.api_keys
            }
            self._log_in_at: float | None = None
            if security is not None:
                self._log_in_at = security.log_in(self)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the socket; more than once is fine."""
        self._socket.close()

    def has(self, key: int) -> bool:
        """Does the broker serve this API at a version we know?"""
        return self._common_range(key) is not None

    def version(self, key: int, limit: int | None = None) -> int:
        """The newest version that both sides know, at most `limit`.

        Raises:
            Unsupported: there is none.
        """
        common = self._common_range(key)
        if common is None or (limit is not None and common[0] > limit):
            what = f"at {self.address} does not support {FACTS[key].name}"
            if ApiKey.METADATA in self._ranges:
                raise Unsupported(f"the broker {what}")
            raise Unsupported(f"the controller {what}: give the address of a broker")
        return common[1] if limit is None else min(common[1], limit)

    def _common_range(self, key: int) -> tuple[int, int] | None:
        theirs = self._ranges.get(key)
        if theirs is None or key not in FACTS:
            return None
        low, high = max(theirs[0], FACTS[key].min_version), min(theirs[1], FACTS[key].max_version)
        return (low, high) if low <= high else None

    def ask(self, request: Message, response: type[R], *, version: int | None = None) -> R:
        """Send a request and return its answer, of class `response`.

        Args:
            version: None for the newest that both know.

        Raises:
            Unreachable: the connection broke, or no answer came in time; do not use it again.
            Unsupported: the broker lacks the API, or its version lacks a field that is set.
            ClientError: the answer cannot be read.
        """
        key = _key(request)
        if self._log_in_at is not None and monotonic() >= self._log_in_at and self._security is not None:
            self._log_in_at = None
            self._log_in_at = self._security.log_in(self)
        if version is None:
            version = self.version(key)
        body = self._exchange(request, version)
        self._serves = True
        try:
            header = ResponseHeader.decode_from(body, response_header_version(key, version), 0)
            return response.decode(body, version, header[1])
        except ProtocolError as error:
            raise ClientError(f"cannot read the answer of {self.address}: {error}") from None

    def _exchange(self, request: Message, version: int) -> memoryview:
        key = _key(request)
        correlation = next(self._correlation)
        header = RequestHeader(
            request_api_key=key,
            request_api_version=version,
            correlation_id=correlation,
            client_id=self._client_id,
        )
        frame = bytearray(4)
        header.encode_into(frame, request_header_version(key, version))
        try:
            request.encode_into(frame, version)
        except ValueError as error:
            name = FACTS[key].name
            raise Unsupported(
                f"{name} {version}, all that {self.address} has, cannot do this: {error}"
            ) from None
        _SIZE.pack_into(frame, 0, len(frame) - 4)
        deadline = monotonic() + self._timeout_s
        try:
            self._socket.settimeout(self._timeout_s)
            self._socket.sendall(frame)
            head = self._receive(4, deadline)
            if bytes(head[:2]) in _TLS_RECORDS:
                raise WantsSecurity(f"{self.address} speaks TLS")
            if bytes(head) == b"HTTP":
                self.close()
                raise Unreachable(
                    f"{self.address} speaks HTTP, not Kafka's protocol: give the port of a listener"
                )
            (size,) = _SIZE.unpack(head)
            if not 4 <= size <= MAX_RESPONSE_BYTES:
                raise ClientError(
                    f"{self.address} is no Kafka broker: it answers with a frame of {size} bytes"
                )
            body = self._receive(size, deadline)
        except TimeoutError:
            self.close()
            raise Unreachable(f"{self.address} did not answer within {self._timeout_s:g} s") from None
        except OSError as error:
            self.close()
            alert = str(getattr(error, "reason", ""))
            if "ALERT_CERTIFICATE_REQUIRED" in alert:
                raise WantsSecurity(f"{self.address} wants a certificate (ssl.keystore.…)") from None
            if "_ALERT_" in alert:
                why = alert.lower().replace("_", " ")
                raise NotTrusted(f"no TLS connection to {self.address}: {why}") from None
            raise self._gone(f"the connection to {self.address} broke ({error.strerror or error})") from None
        self._speaks = True
        (answered,) = _SIZE.unpack_from(body)
        if answered != correlation:
            self.close()
            raise ClientError(f"{self.address} answered request {answered}, not {correlation}")
        return body

    def _receive(self, size: int, deadline: float) -> memoryview:
        chunks = bytearray()
        while len(chunks) < size:
            remaining = deadline - monotonic()
            if remaining <= 0:
                raise TimeoutError
            self._socket.settimeout(remaining)
            data = self._socket.recv(min(size - len(chunks), 1 << 20))
            if not data:
                self.close()
                raise self._gone(f"{self.address} closed the connection without an answer")
            chunks += data
        return memoryview(chunks)

    def _gone(self, text: str) -> Unreachable:
        """What to say of a broker that has gone: what it seems to miss, if it has not served anything yet."""
        security = self._security
        if self._speaks:
            # Versions are told to anybody who comes as the port wants it.
            lacks = "" if self._serves or (security is not None and security.logs_in) else "a login"
        elif security is None or not security.encrypts:
            lacks = "TLS"
        else:
            lacks = "" if security.has_certificate else "a certificate (ssl.keystore.…)"
        return WantsSecurity(f"{text}: perhaps it wants {lacks}") if lacks else Unreachable(text)

    def _negotiate(self) -> ApiVersionsResponse:
        """Ask with a new version; an older broker answers 35 in a body of version 0, and is asked again."""
        request = ApiVersionsRequest(client_software_name="kbroker", client_software_version=__version__)
        version = _NEGOTIATION_VERSION
        for _ in range(2):
            body = self._exchange(request, version)
            try:
                if len(body) < 6 or _ERROR.unpack_from(body, 4)[0] != ErrorCode.UNSUPPORTED_VERSION:
                    answer = ApiVersionsResponse.decode(body, version, 4)
                    break
                theirs = ApiVersionsResponse.decode(body, 0, 4).api_keys
            except ProtocolError:
                raise ClientError(
                    f"{self.address} is no Kafka broker: its first answer cannot be read"
                ) from None
            version = max(
                (api.max_version for api in theirs if api.api_key == ApiKey.API_VERSIONS), default=0
            )
            version = min(version, _NEGOTIATION_VERSION)
            if version < 3:
                request = ApiVersionsRequest()
        else:
            raise ClientError(f"{self.address} does not tell which versions it supports")
        if answer.error_code:
            raise ClientError(
                f"{self.address} does not tell which versions it supports: error {answer.error_code}"
            )
        return answer


def _key(request: Message) -> int:
    if request.API_KEY is None:
        raise TypeError(f"{request.NAME} is no request")
    return request.API_KEY
