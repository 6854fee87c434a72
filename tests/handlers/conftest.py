from __future__ import annotations

import pytest

from tests.handlers.node import Node


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path / "data")
