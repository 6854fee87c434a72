from __future__ import annotations

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


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, -1.0, 1.5, 1e30])
def test_values_that_are_none(value):
    image, errors = changed(ClusterImage("c"), (USER, [("producer_byte_rate", value)]))
    assert errors != [None]
    assert not image.quotas


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
