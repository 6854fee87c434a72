"""BrokerRegistrationResponse, versions 0 to 4.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_unknown_tags,
    write_tags,
)

pack_ihq = Layout(">ihq").pack
unpack_ihq = Layout(">ihq").unpack_from


class BrokerRegistrationResponse(Message):
    """BrokerRegistrationResponse, versions 0 to 4."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "broker_epoch",
        "unknown_tags",
    )
    NAME = "BrokerRegistrationResponse"
    API_KEY = 62
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.broker_epoch = broker_epoch
        self.unknown_tags: UnknownTags = None


def _decode_broker_registration_response_v0(buf: Buffer, pos: int) -> tuple[BrokerRegistrationResponse, int]:
    o = BrokerRegistrationResponse.__new__(BrokerRegistrationResponse)
    o.throttle_time_ms, o.error_code, o.broker_epoch = unpack_ihq(buf, pos)
    pos += 14
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_broker_registration_response_v0(out: bytearray, o: BrokerRegistrationResponse) -> None:
    out += pack_ihq(o.throttle_time_ms, o.error_code, o.broker_epoch)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


BrokerRegistrationResponse.DECODERS = {
    0: _decode_broker_registration_response_v0,
    1: _decode_broker_registration_response_v0,
    2: _decode_broker_registration_response_v0,
    3: _decode_broker_registration_response_v0,
    4: _decode_broker_registration_response_v0,
}
BrokerRegistrationResponse.ENCODERS = {
    0: _encode_broker_registration_response_v0,
    1: _encode_broker_registration_response_v0,
    2: _encode_broker_registration_response_v0,
    3: _encode_broker_registration_response_v0,
    4: _encode_broker_registration_response_v0,
}
