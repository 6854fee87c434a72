"""A folder of Kafka's, whole, and a copy for each test to damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.kafka_folder import SINGLE
from tests.compat.data_folders import unpack


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return unpack(SINGLE, tmp_path_factory.mktemp("kafka"))


@pytest.fixture
def data(whole, tmp_path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "data"))
