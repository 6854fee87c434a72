from __future__ import annotations

import pytest

from kbroker.quotas.request_limits import BUCKETS_MAX, Asked, RequestLimits, parse_rules

KEYS = {"Metadata": 3, "Produce": 0}
ME = Asked(3, "u", "c", "10.0.0.1")


def limits(*texts):
    return RequestLimits(parse_rules(list(texts), KEYS.get))


def test_what_is_too_much_is_refused_and_does_not_count():
    rules = limits("api=Metadata rate=10 action=refuse")
    assert [rules.refused_by(ME, 0) for _ in range(20)] == [None] * 20
    rule, wait_ms = rules.refused_by(ME, 0)
    assert (rule.rate, wait_ms) == (10, 100)
    assert rules.refused_by(ME, 100) is None
    assert rules.refused_by(ME._replace(api=0), 100) is None


def test_what_is_too_much_waits():
    rules = limits("rate=10")
    assert [rules.delay_ms(ME, 0) for _ in range(20)] == [0] * 20
    assert [rules.delay_ms(ME, 0) for _ in range(3)] == [100, 200, 300]


def test_each_address_by_itself():
    rules = limits("ip=* rate=1 action=refuse")
    for _ in range(2):
        assert rules.refused_by(ME, 0) is None
    assert rules.refused_by(ME, 0)
    assert rules.refused_by(ME._replace(address="10.0.0.2"), 0) is None


@pytest.mark.parametrize(
    ("text", "meets"),
    [
        ("ip=10.0.0.0/8 rate=1", True),
        ("ip=10.0.0.2 rate=1", False),
        ("user=u client-id=c rate=1", True),
        ("user=v rate=1", False),
        ("api=Produce+Metadata rate=1", True),
    ],
)
def test_who_is_meant(text, meets):
    assert parse_rules([text], KEYS.get)[0].meets(ME) is meets


@pytest.mark.parametrize(
    "text",
    [
        "rate=0",
        "rate=x",
        "rate=inf",
        "api=Nothing rate=1",
        "colour=red rate=1",
        "rate=1 rate=2",
        "ip=x rate=1",
        "rate=1 action=run",
        "rate",
        "user= rate=1",
    ],
)
def test_what_is_no_rule(text):
    with pytest.raises(ValueError, match=r"."):
        parse_rules([text], KEYS.get)


def test_buckets_are_bounded():
    (rule,) = parse_rules(["client-id=* rate=1"], KEYS.get)
    for number in range(BUCKETS_MAX + 10):
        rule.wait_ms(ME._replace(client_id=str(number)), 0)
    assert len(rule._buckets) == BUCKETS_MAX
