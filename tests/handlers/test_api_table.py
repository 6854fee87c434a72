from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from kbroker import handlers
from kbroker.handlers.api_table import ADVERTISED_MIN, API_TABLE
from kbroker.protocol.api_keys import FACTS, request_class, response_class


@pytest.mark.parametrize("key", API_TABLE)
def test_the_table_says_what_the_handler_says(key):
    name, low, high = API_TABLE[key]
    module = import_module(f"kbroker.handlers.{name}")
    assert (low, high) == module.VERSIONS
    assert hasattr(module, "raw_path") or callable(module.handle)
    assert module.__doc__
    for message in (request_class(key), response_class(key)):
        assert message.MIN_VERSION <= low <= high <= message.MAX_VERSION
    assert name == "".join("_" + c.lower() if c.isupper() else c for c in FACTS[key].name).lstrip("_")


def test_every_handler_is_in_the_table():
    folder = Path(handlers.__file__).parent
    named = {name for name, _, _ in API_TABLE.values()}
    for path in folder.glob("*.py"):
        if "VERSIONS = (" in path.read_text():
            assert path.stem in named, path.stem


def test_advertised_versions_that_are_not_served_lie_just_beside_those_that_are():
    for key, low in ADVERTISED_MIN.items():
        assert 0 <= low <= API_TABLE[key][2]
        assert request_class(key).MIN_VERSION <= low
