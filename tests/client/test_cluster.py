import pytest

from kbroker.client import Address, ClientError
from kbroker.client.cluster import parse_bootstrap
from kbroker.client.errors import check
from kbroker.errors import ApiError, ErrorCode


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("localhost:9092", [("localhost", 9092)]),
        ("a", [("a", 9092)]),
        ("a:1, b:2,c", [("a", 1), ("b", 2), ("c", 9092)]),
        ("[::1]:99,[fe80::1]", [("::1", 99), ("fe80::1", 9092)]),
        ("SASL_SSL://a:1,PLAINTEXT://[::1]:2,http://b", [("a", 1), ("::1", 2), ("b", 9092)]),
    ],
)
def test_bootstrap_addresses(text, addresses):
    assert parse_bootstrap(text) == [Address(*address) for address in addresses]


@pytest.mark.parametrize(
    "text", ["", "a:", ":9092", "a:b", "a:0", "a:65536", "a:1,", "a:１", "a:1/", "x://a/b:1", "SSL://"]
)
def test_malformed_addresses(text):
    with pytest.raises(ClientError, match="host:port"):
        parse_bootstrap(text)


def test_addresses_print_as_they_are_written():
    assert str(Address("::1", 9092)) == "[::1]:9092"
    assert str(Address("a", 1)) == "a:1"


def test_check():
    check(0)
    with pytest.raises(ApiError, match="topic t: gone") as caught:
        check(3, "gone", "topic t")
    assert caught.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(ApiError, match="does not host this topic-partition"):
        check(3)
    with pytest.raises(ApiError, match="9999") as caught:
        check(9999)
    assert caught.value.code == ErrorCode.UNKNOWN_SERVER_ERROR
