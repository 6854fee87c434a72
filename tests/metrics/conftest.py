from __future__ import annotations

import pytest

from kbroker.testing import Broker
from tests.metrics.scrape import Scraped


@pytest.fixture(scope="module")
def scraped():
    """A broker whose metrics can be asked for."""
    with Broker(config={"kbroker.metrics.listener": "127.0.0.1:0", "kbroker.client.metrics": True}) as broker:
        yield Scraped(broker)
