"""The pytest plugin: a `kafka` fixture, one broker a run (also under xdist), and a `topic` for each test.

    def test_it(kafka, topic):
        producer = Producer({"bootstrap.servers": kafka.bootstrap})
        producer.produce(topic, b"hello")

`kafka_cluster` is three nodes (`kbroker.testing.Cluster`), whole again before each test that asks for it.

The broker is a process of its own, started when the first test asks for it. Its settings come from the ini
option `kbroker_config`, one name=value a line. Loading the plugin imports nothing of kbroker.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kbroker.testing.broker import RunningBroker
    from kbroker.testing.cluster import Cluster

#: Under xdist: the folder by which the workers share one broker; the controlling process names and ends it.
SHARED = "KBROKER_TEST_SHARED"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini option."""
    parser.addini("kbroker_config", "settings of the kafka fixture's broker, name=value", type="linelist")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Keep pytest from rewriting the broker.

    It rewrites the asserts of every package that comes with a plugin. Here that is a whole broker, whose
    modules a `Broker` of this process imports in its own thread while tests import in theirs: it takes ten
    times as long as an import, and CPython before 3.11.9 and 3.12.3 must not parse in two threads at once
    (gh-106905: "SystemError: AST constructor recursion depth mismatch" out of any import).
    """
    marked = getattr(early_config.pluginmanager.rewrite_hook, "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("kbroker")
        early_config.pluginmanager.rewrite_hook.mark_rewrite()  # forgets what it answered before


def pytest_configure(config: pytest.Config) -> None:
    """Before xdist starts its workers: name the folder that they share."""
    if _controls_workers(config):
        import tempfile
        import uuid

        os.environ[SHARED] = os.path.join(tempfile.gettempdir(), f"kbroker-run-{uuid.uuid4().hex}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """After the workers: end the broker that they shared."""
    if _controls_workers(config):
        folder = os.environ.pop(SHARED, None)
        if folder is not None and os.path.isdir(folder):
            from kbroker.testing.shared import stop_shared

            stop_shared(folder)


def _controls_workers(config: pytest.Config) -> bool:
    return bool(config.getoption("numprocesses", None)) and not hasattr(config, "workerinput")


@pytest.fixture(scope="session")
def kafka(pytestconfig: pytest.Config) -> Iterator[RunningBroker]:
    """A running broker: `.bootstrap` is its address, `.create_topic(name, partitions)` makes topics."""
    from kbroker.config.sources import parse_assignment
    from kbroker.testing.broker import Broker

    settings = dict(parse_assignment(line) for line in pytestconfig.getini("kbroker_config"))
    folder = os.environ.get(SHARED)
    if folder is not None and hasattr(pytestconfig, "workerinput"):
        from kbroker.testing.shared import join_shared

        yield join_shared(folder, settings)
    else:
        with Broker(config=settings, subprocess=True) as broker:
            yield broker


@pytest.fixture(scope="session")
def _kafka_nodes(pytestconfig: pytest.Config) -> Iterator[Cluster]:
    from kbroker.config.sources import parse_assignment
    from kbroker.testing.cluster import Cluster

    settings = dict(parse_assignment(line) for line in pytestconfig.getini("kbroker_config"))
    with Cluster(3, config=settings) as cluster:
        yield cluster


@pytest.fixture
def kafka_cluster(_kafka_nodes: Cluster) -> Iterator[Cluster]:
    """Three running nodes, to be killed, paused and cut off; each worker of pytest-xdist has its own.

    What a test has broken is mended before the next one begins.
    """
    _kafka_nodes.mend()
    yield _kafka_nodes
    _kafka_nodes.heal()


@pytest.fixture
def topic(kafka: RunningBroker, request: pytest.FixtureRequest) -> str:
    """The name of a new topic with one partition, which no other test uses."""
    import re
    import uuid

    name = re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name)[:100]
    return kafka.create_topic(f"{name}-{uuid.uuid4().hex[:8]}")
