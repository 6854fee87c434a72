"""Kafka's tools print the same of three kbrokers as of three nodes of Apache Kafka 4.4.

tests/data/tools/cluster holds what they printed there (`python -m tests.compat.cluster_sessions`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.cluster_sessions import RECORDED, SESSIONS, SETTINGS, hold, hold_voters
from tests.compat.javatools import JavaTools
from tests.compat.mixed.mixed_cluster import KBROKER, MixedCluster
from tests.needs import need_java

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MixedCluster]:
    need_java()
    with MixedCluster(tmp_path_factory.mktemp("cluster"), [KBROKER] * 3, settings=SETTINGS) as cluster:
        yield cluster


@pytest.mark.parametrize("session", SESSIONS)
def test_the_tools_print_of_a_cluster_what_they_print_with_kafka(
    session: str, java: JavaTools, cluster: MixedCluster, tmp_path: Path
) -> None:
    printed = hold(session, java, cluster.bootstrap, tmp_path, 0)
    assert printed.splitlines() == (RECORDED / f"{session}.txt").read_text().splitlines()


def test_the_tools_print_of_voters_that_come_and_go_what_they_print_with_kafka(
    java: JavaTools, tmp_path: Path
) -> None:
    need_java()
    printed = hold_voters(java, KBROKER, tmp_path)
    assert printed.splitlines() == (RECORDED / "voters.txt").read_text().splitlines()
