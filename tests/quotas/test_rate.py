from __future__ import annotations

import pytest

from kbroker.quotas.rate import Rate
from kbroker.quotas.token_bucket import TokenBucket


def test_the_delays_are_kafkas():
    # As Kafka 4.4 answered: 15,108 bytes against 1,000 a second, and again when the first delay was over.
    rate = Rate(11, 1000)
    rate.record(15_108, 0)
    assert round(rate.delay_ms(1000, 0)) == 5108
    rate.record(15_108, 5128)
    assert rate.delay_ms(1000, 5128) == pytest.approx(20_088, abs=1)
    rate.record(15_108, 25_263)
    assert round(rate.delay_ms(1000, 25_263)) == 5108


def test_a_rate_at_its_limit_does_not_wait():
    rate = Rate(11, 1000)
    rate.record(10_000, 0)
    assert rate.delay_ms(1000, 0) == 0
    rate.record(1, 0)
    assert round(rate.delay_ms(1000, 0)) == 1


def test_what_is_taken_back_was_never_there():
    rate = Rate(11, 1000)
    rate.record(20_000, 100)
    rate.record(-20_000, 100)
    assert rate.value(100) == 0


def test_old_samples_do_not_count_and_are_not_kept():
    rate = Rate(11, 1000)
    for second in range(100):
        rate.record(1000, second * 1000)
    assert len(rate._kept) <= 12
    assert rate.value(99_000) == pytest.approx(1100, rel=0.01)
    assert rate.value(120_000) == 0


def test_a_bucket_starts_full_and_gets_into_debt():
    bucket = TokenBucket(1.0, 11, 0)
    assert bucket.take_if_solvent(8, 0) == 0
    assert bucket.take_if_solvent(8, 0) == 0  # what makes the debt passes
    assert bucket.take_if_solvent(8, 0) == 5000
    assert bucket.take_if_solvent(8, 5000) == 0
    assert bucket.take(1, 5000) == 9000
    assert bucket.refill(1_000_000) == 11


def test_a_lower_rate_makes_the_bucket_smaller():
    bucket = TokenBucket(10.0, 11, 0)
    bucket.change_rate(1.0, 0)
    assert bucket.tokens == 11
