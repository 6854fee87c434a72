"""The broker that a suite of another project runs against."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from kbroker.testing import Broker


def bootstrap_of(settings: Mapping[str, str]) -> Iterator[str]:
    """That of a broker as the suite wants it, or the one that KBROKER_TEST_BOOTSTRAP names."""
    given = os.environ.get("KBROKER_TEST_BOOTSTRAP")
    if given:
        yield given
        return
    with Broker(config=settings, subprocess=True) as broker:
        yield broker.bootstrap
