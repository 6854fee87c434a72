"""The broker under test, and what every client's test needs.

KBROKER_TEST_BOOTSTRAP=host:port runs this suite against that broker instead of a kbroker of its own, say
against a real Apache Kafka; KBROKER_TEST_DATA then names its data folder, if the tests may look inside.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.compat.javatools import JavaTools
from tests.needs import cache_folder, need_java


@dataclass(frozen=True)
class BrokerUnderTest:
    """Where the broker listens, and where its data is (None: somebody else's, not to be looked at)."""

    bootstrap: str
    data: Path | None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.compat)


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest) -> BrokerUnderTest:
    """One broker process for all tests of this folder."""
    given = os.environ.get("KBROKER_TEST_BOOTSTRAP")
    if given:
        data = os.environ.get("KBROKER_TEST_DATA")
        return BrokerUnderTest(given, Path(data) if data else None)
    ours = request.getfixturevalue("kafka")
    return BrokerUnderTest(ours.bootstrap, Path(ours.data))


@pytest.fixture
def bootstrap(broker: BrokerUnderTest) -> str:
    return broker.bootstrap


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name for a topic or group that no other test, and no earlier run against the same broker, has."""
    return f"{request.node.originalname.removeprefix('test_')[:60]}-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="session")
def java() -> Iterator[JavaTools]:
    """A JVM that runs Apache Kafka's tools."""
    need_java()
    with JavaTools.start(cache_folder()) as tools:
        yield tools
