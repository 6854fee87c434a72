"""`kbroker-admin shares` against a running broker, ours or (as in test_admin.py) Apache Kafka."""

from __future__ import annotations

import json
import os
import uuid

import pytest

from kbroker.cli.admin import main


@pytest.fixture(scope="module")
def bootstrap(request):
    return os.environ.get("KBROKER_TEST_BOOTSTRAP") or request.getfixturevalue("kafka").bootstrap


@pytest.fixture
def admin(bootstrap, capsys, monkeypatch):
    """Runs a command; stdout is the parsed document."""
    monkeypatch.setenv("KBROKER_BOOTSTRAP", bootstrap)

    def run(*arguments):
        capsys.readouterr()
        got = main([*arguments, "--json"])
        out, err = capsys.readouterr()
        assert got == 0, err
        return json.loads(out)

    return run


def test_a_group_that_does_not_exist(bootstrap, capsys):
    assert main(["-b", bootstrap, "shares", "describe", "no-such-group"]) == 1
    assert "group no-such-group does not exist" in capsys.readouterr().err


def test_a_group_is_moved_listed_and_described(admin):
    name = f"shares-{uuid.uuid4().hex[:8]}"
    admin("topics", "create", name)
    moved = [{"topic": name, "partition": 0, "start": 0}]
    assert admin("shares", "reset", name, f"{name}:0", "--to-offset", "0", "--dry-run") == moved
    assert name not in str(admin("shares", "list"))
    assert admin("shares", "reset", name, f"{name}:0", "--to-offset", "0", "--yes") == moved
    assert name in str(admin("shares", "list"))
    assert admin("shares", "describe", name) == [{"topic": name, "partition": 0, "start": 0, "lag": 0}]
