"""The notation of the schema files, and that the committed codecs are what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kbroker.protocol.schemas.parser import SchemaError, Versions, load_message, parse, snake_case

ROOT = Path(__file__).parents[2]


def test_the_committed_codecs_are_up_to_date():
    command = [sys.executable, str(ROOT / "tools" / "generate_codecs.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_fields_structs_and_attributes():
    (message,) = parse(
        """
# a comment
request ThingRequest key=7 versions=1-5 flexible=4+ listeners=broker,controller
    name: string?       2+   default=null ignorable
    parts: []Part       0-3  null=2-3
        id: int32       0+   default=-1
    first: Shared       4+   tag=0
    struct Shared
        text: string    4+   default="x" inflexible
"""
    )
    assert (message.name, message.key, message.versions) == ("ThingRequest", 7, Versions(1, 5))
    assert message.listeners == ("broker", "controller")
    assert not message.is_flexible(3)
    assert message.is_flexible(4)
    name, parts, first = message.root.fields
    assert (name.versions, name.default_is_null, name.ignorable) == (Versions(2, 5), True, True)
    assert parts.is_array
    assert [parts.is_nullable(v) for v in range(1, 5)] == [False, True, True, False]
    assert parts.struct.fields[0].default == -1
    assert first.is_tagged(4)
    assert first.struct is message.structs["Shared"]
    assert first.struct.fields[0].inflexible


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("thing X versions=0", "1: unknown kind 'thing'"),
        ("data X versions=0 colour=red", "unknown option 'colour'"),
        ("data X versions=0\n    a: int32 0+ loud", "2: unknown attribute 'loud'"),
        ("data X versions=0\n    a int32", "2: not a field"),
        ("data X versions=0\n    a: []T 0+\n        b: int8 0+\n    c: []T 0+\n        b: int8 0+", "twice"),
    ],
)
def test_mistakes_are_named_with_their_line(text, error):
    with pytest.raises(SchemaError, match=error):
        parse(text, "x.schema")


def test_names():
    assert snake_case("leaderEpoch") == "leader_epoch"
    assert snake_case("isKRaftController") == "is_kraft_controller"
    assert snake_case("kRaftVersion") == "kraft_version"
    assert load_message("KRaftVersionRecord").key is None
    with pytest.raises(KeyError):
        load_message("NoSuchRequest")
