"""Consumer groups of the new protocol (KIP-848) with clients of today: Java's, and librdkafka's beside it."""

from __future__ import annotations

import pytest

from tests.compat.javatools import JavaTools


@pytest.mark.jvm
def test_java_groups_of_the_new_protocol(java: JavaTools, bootstrap: str, name: str) -> None:
    assert java.run("newgroups", bootstrap, name).ok() == "ok"
