"""For all tests."""

from __future__ import annotations

import gc


def pytest_sessionfinish() -> None:
    """Close what nobody refers to any more: librdkafka's clients would go on to log behind the summary."""
    gc.collect()
