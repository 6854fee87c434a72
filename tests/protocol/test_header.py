"""Hand-made header parsing against the generated header classes and Kafka's bytes."""

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
from kbroker.protocol.header import (
    parse_request_header,
    parse_response_header,
    peek_request,
    request_header_bytes,
    response_header_bytes,
)

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
        header = parse_request_header(raw + b"body")
        expected = None if request_header_version(key, version) == 0 else client_id
        assert header == (key, version, -7, expected, len(raw))
        assert peek_request(raw) == (key, version, -7)


def test_response_headers_agree_with_the_generated_class():
    for key, version in VERSIONS:
        raw = response_header_bytes(key, version, 77)
        header = message_class("ResponseHeader")(correlation_id=77)
        assert raw == header.encode(response_header_version(key, version))
        assert parse_response_header(raw + b"body", key, version) == (77, len(raw))


def test_api_versions_answers_with_header_0_in_every_version():
    assert {response_header_version(ApiKey.API_VERSIONS, version) for version in range(6)} == {0}


def test_a_client_id_may_be_null_or_no_utf8():
    start = bytes.fromhex("000300090000002a")
    assert parse_request_header(start + b"\xff\xfe\x00").client_id is None
    assert parse_request_header(start + b"\x00\x02\xc3\x28\x00") == (3, 9, 42, "�(", 13)


def test_tags_of_a_header_are_skipped():
    raw = request_header_bytes(ApiKey.METADATA, 12, 1, "c")[:-1] + b"\x01\x05\x03abc"
    assert parse_request_header(raw).body == len(raw)


def test_every_cut_is_refused():
    for key, version in ((ApiKey.METADATA, 0), (ApiKey.METADATA, 9), (ApiKey.CONTROLLED_SHUTDOWN, 0)):
        raw = request_header_bytes(key, version, 1, "client")
        for end in range(len(raw)):
            with pytest.raises(ProtocolError):
                parse_request_header(raw[:end])
    with pytest.raises(ProtocolError):
        parse_response_header(b"\x00\x00\x00", ApiKey.METADATA, 0)
    with pytest.raises(ProtocolError):
        parse_response_header(b"\x00\x00\x00\x01", ApiKey.METADATA, 9)


def test_unknown_keys_are_refused():
    for key in (-1, 999, 32767):
        with pytest.raises(ProtocolError, match="unknown api key"):
            parse_request_header(key.to_bytes(2, "big", signed=True) + bytes(20))


def test_a_client_id_that_is_too_long_is_our_mistake():
    with pytest.raises(ValueError, match="too long"):
        request_header_bytes(ApiKey.METADATA, 0, 1, "x" * 32768)
