"""Each case about idempotent producers, transactions, groups and offsets is a test, named by its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PRODUCERS = [35, 36, 37, 39, 40, 41, 42, 43, 44, 46]
TRANSACTIONS = [*range(48, 63), 64]
GROUPS = [66, 67, 68, 69, 70, 71, 72, 74, 75, 76]

_NAME = re.compile(r"def test_((?:\d+_)+)")


@pytest.fixture(scope="module")
def numbers() -> set[int]:
    """Of all tests' names, as in test_51_52_53_what_readers_get."""
    files = Path(__file__).parents[1].rglob("test_*.py")
    found = (name for file in files for name in _NAME.findall(file.read_text(encoding="utf-8")))
    return {int(number) for name in found for number in name.split("_") if number}


@pytest.mark.parametrize("number", [*PRODUCERS, *TRANSACTIONS, *GROUPS])
def test_there_is_one(numbers: set[int], number: int) -> None:
    assert number in numbers
