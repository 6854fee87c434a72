from __future__ import annotations

from math import inf, nan

import pytest

from kbroker.controller.client_quotas import QuotaChange, alter_client_quotas, is_address
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.snapshot import image_records

USER = (("user", "u"),)


def changed(image, *changes):
    decision = alter_client_quotas(image, [QuotaChange(*change) for change in changes])
    errors = [error.message if error else None for _, error in decision.response]
    return image.apply(decision.records), errors


def test_set_change_remove():
    image, errors = changed(
        ClusterImage("c"), (USER, [("producer_byte_rate", 5.0), ("request_percentage", 0.5)])
    )
    assert errors == [None]
    assert image.quotas == {USER: {"producer_byte_rate": 5.0, "request_percentage": 0.5}}
    image, _ = changed(image, (USER, [("producer_byte_rate", 6.0)]))
    assert image.quotas[USER]["producer_byte_rate"] == 6.0
    assert not alter_client_quotas(image, [QuotaChange(USER, [("producer_byte_rate", 6.0)])]).records
    image, errors = changed(image, (USER, [("producer_byte_rate", None), ("request_percentage", None)]))
    assert image.quotas == {}
    assert changed(image, (USER, [("no_such_key", None)])) == (image, [None])


def test_through_a_snapshot_and_back():
    image = ClusterImage("c")
    both = (("user", None), ("client-id", "c"))
    image, _ = changed(
        image, (both, [("consumer_byte_rate", 7.0)]), ((("ip", None),), [("connection_creation_rate", 3.0)])
    )
    assert ClusterImage("c").apply(list(image_records(image))).quotas == image.quotas


LEAST, FINITE = "Quota {key} must be greater than 0", "Quota {key} must be a finite number"
FRACTION, LARGE = "{key} cannot be a fractional value.", "Proposed value for {key} is too large for {type}."
KEYS = ["producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"]
KEYS.append("connection_creation_rate")
#: As Kafka 4.4 answered: of byte rates, of request_percentage and controller_mutation_rate, of
#: connection_creation_rate.
VALUES = [
    (0.0, LEAST, LEAST, LEAST),
    (-0.0, LEAST, LEAST, LEAST),
    (-1.0, LEAST, LEAST, LEAST),
    (-inf, FINITE, FINITE, FINITE),
    (inf, FINITE, FINITE, FINITE),
    (nan, FINITE, FINITE, FINITE),
    (5e-324, None, None, None),
    (1e-7, None, None, None),
    (1e-6, None, None, None),
    (0.5, FRACTION, None, FRACTION),
    (0.9999995, FRACTION, None, FRACTION),
    (0.99999999999, FRACTION, None, FRACTION),
    (1.0, None, None, None),
    (1.0000005, None, None, None),
    (1.0000011, FRACTION, None, FRACTION),
    (1.5, FRACTION, None, FRACTION),
    (2.000001, FRACTION, None, FRACTION),
    (2147483647.0, None, None, None),
    (2147483647.5, FRACTION, None, LARGE),
    (2147483648.0, None, None, LARGE),
    (1000000000000000.5, FRACTION, None, LARGE),
    (9223372036854775807.0, None, None, LARGE),
    (9.3e18, LARGE, None, LARGE),
    (1.7976931348623157e308, LARGE, None, LARGE),
]


@pytest.mark.parametrize(("value", "of_bytes", "of_others", "of_connections"), VALUES)
def test_odd_values_are_answered_as_by_kafka(value, of_bytes, of_others, of_connections):
    for key, expected in zip(KEYS, (of_bytes, of_bytes, of_others, of_others, of_connections)):
        entity = (("ip", "10.0.0.1"),) if key == "connection_creation_rate" else USER
        image, errors = changed(ClusterImage("c"), (entity, [(key, value)]))
        kind = "an INT" if key == "connection_creation_rate" else "a LONG"
        assert errors == [expected and expected.format(key=key, type=kind)]
        assert image.quotas == ({} if expected else {entity: {key: value}})
        # What is removed may have any value.
        image, errors = changed(image, (entity, [(key, None)]))
        assert (image.quotas, errors) == ({}, [None])


def test_of_an_entity_named_twice_the_first_change_is_done_and_an_error_told():
    # As Kafka 4.4.
    image, errors = changed(
        ClusterImage("c"), (USER, [("producer_byte_rate", 5.0)]), (USER, [("consumer_byte_rate", 5.0)])
    )
    assert errors == ["Ignoring duplicate entity ClientQuotaEntity(entries={user=u})"]
    assert [dict(values) for values in image.quotas.values()] == [{"producer_byte_rate": 5.0}]


@pytest.mark.parametrize("text", ["10.0.0.1", "::1", "1.2.3", "127.1", "localhost"])
def test_addresses(text):
    assert is_address(text)


@pytest.mark.parametrize("text", ["300.1.1.1", "1.2.3.4.5", "1.2.3.4/8", "example.invalid", "a b", ""])
def test_no_addresses(text):
    assert not is_address(text)
