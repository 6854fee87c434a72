"""Requests of clients that only the active controller decides, passed on to it as they came (KIP-590).

An Envelope carries the client's whole frame, who the client is and its address; the controller's answer goes
back to the client byte by byte.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode, error_code
from kbroker.protocol.api_keys import ApiKey, request_header_version, response_class, response_header_version
from kbroker.protocol.generated.default_principal_data import DefaultPrincipalData
from kbroker.protocol.generated.envelope_request import EnvelopeRequest
from kbroker.protocol.primitives import read_unknown_tags

if TYPE_CHECKING:
    from kbroker.broker.controller_channel import ControllerChannel
    from kbroker.protocol.generated.envelope_response import EnvelopeResponse
    from kbroker.protocol.primitives import Message

#: What a broker passes on as it is. AlterConfigs and IncrementalAlterConfigs are looked at first: settings of
#: loggers are this node's own; and so is who asks for delegation tokens, over which kind of listener.
FORWARDED = frozenset(
    {
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_TOPICS,
        ApiKey.CREATE_ACLS,
        ApiKey.DELETE_ACLS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.ELECT_LEADERS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.UPDATE_FEATURES,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
        ApiKey.UNREGISTER_CONTROLLER,
    }
)
#: What an Envelope may carry.
IN_ENVELOPE = FORWARDED | {
    ApiKey.ALTER_CONFIGS,
    ApiKey.INCREMENTAL_ALTER_CONFIGS,
    ApiKey.CREATE_DELEGATION_TOKEN,
    ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.EXPIRE_DELEGATION_TOKEN,
}


class Forwarder:
    """Passes requests on.

    Args:
        channel: to the controller.
        timeout_ms: how long to look for one.
    """

    def __init__(self, channel: ControllerChannel, timeout_ms: float) -> None:
        self._channel = channel
        self._timeout_ms = timeout_ms

    def frame(self, frame: bytes, principal: str, client_address: str) -> Deferred[bytes]:
        """The controller's answer to a request's frame, header and all, both without their lengths.

        It fails with ApiError: REQUEST_TIMED_OUT, there is no controller; UNSUPPORTED_VERSION, the controller
        does not know this version, so that the connection has to close; UNKNOWN_SERVER_ERROR, the controller
        refuses this broker.
        """
        request = EnvelopeRequest(
            request_data=frame,
            request_principal=encode_principal(principal),
            client_host_address=_packed(client_address),
        )
        sent = self._channel.send(request, self._timeout_ms, channel="forward")
        return sent.map(_unwrapped)

    def request(self, request: Message, version: int, principal: str, client_address: str) -> Deferred[Any]:
        """The controller's answer to a request that is not just what the client sent. Fails as `frame`."""
        key = request.API_KEY
        assert key is not None
        frame = bytearray(key.to_bytes(2, "big") + version.to_bytes(2, "big") + bytes(4) + b"\xff\xff")
        if request_header_version(key, version) >= 2:
            frame.append(0)
        request.encode_into(frame, version)

        def decode(answer: bytes) -> Message:
            position = 4
            if response_header_version(key, version) >= 1:
                _, position = read_unknown_tags(answer, position)
            return response_class(key).decode(answer, version, position)

        return self.frame(bytes(frame), principal, client_address).map(decode)


def _unwrapped(response: EnvelopeResponse) -> bytes:
    if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
    if response.error_code or response.response_data is None:
        code = error_code(response.error_code)
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, f"The controller refused to answer: {code.name}.")
    return bytes(response.response_data)


def encode_principal(principal: str) -> bytes:
    """A principal as DefaultPrincipalData behind its version, as Kafka's own principals are."""
    kind, _, name = principal.partition(":")
    return bytes(2) + DefaultPrincipalData(type=kind, name=name).encode(0)


def decode_principal(data: bytes | memoryview | None) -> str:
    """The text of an encoded principal.

    Raises:
        ApiError: PRINCIPAL_DESERIALIZATION_FAILURE.
        ProtocolError: the bytes are no DefaultPrincipalData.
    """
    if data is None:
        raise ApiError(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE)
    version = int.from_bytes(data[:2], "big")
    if len(data) < 2 or version > DefaultPrincipalData.MAX_VERSION:
        raise ApiError(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE)
    found = DefaultPrincipalData.decode(data, version, 2)
    return f"{found.type}:{found.name}"


def _packed(address: str) -> bytes:
    try:
        return ip_address(address.partition("%")[0]).packed
    except ValueError:
        return bytes((127, 0, 0, 1))
