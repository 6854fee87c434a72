"""For all tests."""

from __future__ import annotations

import gc

from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("kbroker", deadline=None)
settings.load_profile("kbroker")


def pytest_sessionfinish() -> None:
    """Close what nobody refers to any more: librdkafka's clients would go on to log behind the summary."""
    gc.collect()
