"""A little of `python -m tests.fuzz`: damaged requests of all APIs, in the process of the test."""

from __future__ import annotations

import itertools
import logging
import math
from random import Random

from kbroker.testing import Broker
from tests.fuzz import SETTINGS, fuzz_broker, requests


def test_126_damaged_requests_of_all_apis_are_answered_or_close(caplog):
    caplog.set_level(logging.ERROR, logger="kbroker")
    with Broker(config=SETTINGS) as broker:
        for name in ("a", "topic-1"):
            broker.create_topic(name)
        ends = fuzz_broker(("127.0.0.1", broker.port), itertools.islice(requests(Random(11)), 1500), math.inf)
    assert ends["answered"] > 300
    assert not [record.getMessage() for record in caplog.records]
