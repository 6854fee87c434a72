"""Which header a message has; those that tools and tests make by hand against the generated classes."""

from __future__ import annotations

import pytest

from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import (
    FACTS,
    ApiKey,
    message_class,
    request_header_version,
    response_header_version,
)
from tools.frame_headers import parse_response_header, request_header_bytes

VERSIONS = [(key, version) for key, f in FACTS.items() for version in range(f.min_version, f.max_version + 1)]


def generated_request_header(key, version, correlation_id, client_id):
    header_version = request_header_version(key, version)
    header = message_class("RequestHeader")(
        request_api_key=key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id if header_version else "",
    )
    return header.encode(header_version)


@pytest.mark.parametrize("client_id", [None, "", "client-é", "x" * 300])
def test_request_headers_agree_with_the_generated_class(client_id):
    for key, version in VERSIONS:
        raw = request_header_bytes(key, version, -7, client_id)
        assert raw == generated_request_header(key, version, -7, client_id)


def test_response_headers_agree_with_the_generated_class():
    for key, version in VERSIONS:
        raw = message_class("ResponseHeader")(correlation_id=77).encode(response_header_version(key, version))
        assert parse_response_header(raw + b"body", key, version) == (77, len(raw))


def test_api_versions_answers_with_header_0_in_every_version():
    assert {response_header_version(ApiKey.API_VERSIONS, version) for version in range(6)} == {0}


def test_the_generated_header_takes_a_null_client_id_and_tags():
    header = message_class("RequestHeader")
    raw = request_header_bytes(ApiKey.METADATA, 12, 1, None)[:-1] + b"\x01\x05\x03abc"
    decoded, end = header.decode_from(raw, 2, 0)
    assert (decoded.client_id, end) == (None, len(raw))


def test_a_response_that_is_cut_is_refused():
    for frame, version in ((b"\x00\x00\x00", 0), (b"\x00\x00\x00\x01", 9)):
        with pytest.raises(ProtocolError):
            parse_response_header(frame, ApiKey.METADATA, version)
