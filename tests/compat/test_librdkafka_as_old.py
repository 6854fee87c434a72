"""librdkafka, today's and 1.9.2 of 2022, when it takes the broker for one of 0.8 to 0.10."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.compat.environments import interpreter_with, run
from tests.needs import find_python

_PROGRAM = Path(__file__).with_name("librdkafka_as_old.py")


def test_todays_librdkafka(bootstrap: str, name: str) -> None:
    assert run(sys.executable, _PROGRAM, bootstrap, name).endswith("ok")


def test_librdkafka_1_9_2(bootstrap: str, name: str) -> None:
    python = find_python("3.10", "3.9", "3.8")
    if python is None:  # no failure in CI: Debian has none of them
        pytest.skip("needs a Python 3.8 to 3.10, the newest that confluent-kafka 1.9.2 was built for")
    assert run(interpreter_with(python, ["confluent-kafka==1.9.2"]), _PROGRAM, bootstrap, name).endswith("ok")
