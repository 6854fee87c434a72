"""The contract of the codecs: bytes decode, or are refused with ProtocolError; nothing else escapes."""

from __future__ import annotations

import struct
import tracemalloc
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import message_class
from kbroker.protocol.json_converter import from_json, to_json
from kbroker.protocol.schemas.parser import load_all
from tests.protocol import golden_wire as golden
from tests.protocol.random_messages import random_message

MESSAGES = [
    (name, version)
    for name, schema in sorted(load_all().items())
    for version in range(schema.versions.first, schema.versions.last + 1)
]
#: The runs are replayable: no database, no clock, a fixed seed.
REPEATABLE = settings(derandomize=True, database=None, deadline=None, max_examples=400)


def decodes_or_refuses(name: str, version: int, data: bytes) -> None:
    cls = message_class(name)
    try:
        message, end = cls.decode_from(data, version, 0)
    except ProtocolError:
        return
    assert end <= len(data)
    # What was accepted can be written again, and means the same. (Not the same bytes: nulls and varints have
    # more than one form.)
    again = message.encode(version)
    assert cls.decode(again, version).encode(version) == again


@REPEATABLE
@given(st.sampled_from(MESSAGES), st.binary(max_size=200))
def test_random_bytes(message, data):
    decodes_or_refuses(*message, data)


@REPEATABLE
@given(st.sampled_from(golden.all_lines()), st.data())
def test_mutated_messages(line, data):
    raw = bytearray.fromhex(line["hex"])
    for _ in range(data.draw(st.integers(1, 4))):
        if raw:
            position = data.draw(st.integers(0, len(raw) - 1))
            raw[position] = data.draw(st.sampled_from((0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF)))
    decodes_or_refuses(line["name"], line["version"], bytes(raw))


def test_every_cut_of_a_message_is_refused():
    for line in golden.all_lines():
        if line["case"] != "full":
            continue
        cls, raw = message_class(line["name"]), bytes.fromhex(line["hex"])
        for end in {0, 1, 2, 3, 5, len(raw) // 3, len(raw) // 2, len(raw) - 2, len(raw) - 1}:
            if 0 <= end < len(raw):
                with pytest.raises(ProtocolError):
                    cls.decode(raw[:end], line["version"])


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(b"\xff", id="all ones"),
        pytest.param(b"\x7f", id="large positive"),
        pytest.param(b"\x80", id="endless varint"),
        pytest.param(b"\x7f\xff\xff\xff", id="int32 max"),
        pytest.param(b"\x00\x0f\x42\x40", id="a million elements"),
        pytest.param(b"\xff\xff\xff\xff\x07", id="varint int32 max"),
        pytest.param(b"\x00", id="zeros"),
        pytest.param(b"\x01", id="ones"),
    ],
)
def test_hostile_patterns_take_little_memory(pattern):
    data = (pattern * 1024)[:1024]
    for name, _ in MESSAGES:
        message_class(name)
    tracemalloc.start()
    for name, version in MESSAGES:
        for prefix in (b"", b"\x00\x00", b"\x00\x00\x00\x01"):
            with suppress(ProtocolError):
                message_class(name).decode(prefix + data, version)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Objects of a few hundred bytes for each byte of the kilobyte at the worst.
    assert peak < 2_000_000


def test_array_counts_are_compared_with_the_bytes_left_and_with_kafkas_limit():
    metadata = message_class("MetadataRequest")
    with pytest.raises(ProtocolError, match="2147483647 elements"):
        metadata.decode(struct.pack(">i", 2**31 - 1) + bytes(64), 1)
    with pytest.raises(ProtocolError, match="1000001 elements"):
        metadata.decode(struct.pack(">i", 1_000_001) + bytes(2_100_000), 1)
    assert len(metadata.decode(struct.pack(">i", 1_000_000) + bytes(2_000_001), 4).topics) == 1_000_000


def test_tag_sections_are_bounded():
    heartbeat = message_class("HeartbeatResponse")
    fixed = bytes(6)
    with pytest.raises(ProtocolError, match="10001 tagged fields"):
        heartbeat.decode(fixed + b"\x91\x4e" + b"\x40\x00" * 10_001, 4)
    assert len(heartbeat.decode(fixed + b"\x90\x4e" + b"\x40\x00" * 10_000, 4).unknown_tags) == 10_000
    with pytest.raises(ProtocolError, match="runs past the end"):
        heartbeat.decode(fixed + b"\x01\x40\x05abcd", 4)


def test_tags_of_other_versions_and_wrong_sizes_are_refused():
    fetch = message_class("FetchRequest")
    good = fetch(cluster_id="c").encode(17)
    assert good.endswith(b"\x01\x00\x02\x02c")
    with pytest.raises(ProtocolError, match="does not have the size"):
        fetch.decode(good[:-5] + b"\x01\x00\x03\x02cc", 17)
    with pytest.raises(ProtocolError, match="tag 1 is not valid"):
        fetch.decode(fetch().encode(13)[:-1] + b"\x01\x01\x00", 13)


def test_oddities_that_kafka_accepts():
    metadata = message_class("MetadataRequest")
    assert metadata.decode(struct.pack(">i", -2), 1).topics is None
    heartbeat = message_class("HeartbeatRequest")
    body = b"\x00\x01g" + bytes(4) + b"\x00\x01m" + struct.pack(">h", -2)
    assert heartbeat.decode(body + b"trailing", 3).group_instance_id is None
    over_long = b"\x82\x80\x00g" + bytes(4) + b"\x02m\x00\x00"
    assert heartbeat.decode(over_long, 4).group_id == "g"


@pytest.mark.parametrize(
    ("body", "version"),
    [
        pytest.param(b"\x00\x02\xc3\x28" + bytes(6), 0, id="invalid UTF-8"),
        pytest.param(b"\xff\xff" + bytes(6), 0, id="null in a string that cannot be null"),
        pytest.param(b"\x03\xc3\x28" + bytes(8), 4, id="invalid UTF-8, compact"),
        pytest.param(b"\x00" + bytes(8), 4, id="null, compact"),
        pytest.param(b"\xff\xff\xff\xff\xff\x01" + bytes(40000), 4, id="endless varint"),
        pytest.param(b"\x81\x80\x02" + bytes(40000), 4, id="string of 32768 bytes"),
    ],
)
def test_bad_strings(body, version):
    with pytest.raises(ProtocolError, match="malformed HeartbeatRequest"):
        message_class("HeartbeatRequest").decode(body, version)


@REPEATABLE
@given(st.sampled_from(MESSAGES), st.integers(0, 2**32))
def test_random_values_survive_the_round_trip(message, seed):
    name, version = message
    value = random_message(name, version, Random(seed))
    raw = value.encode(version)
    decoded, end = type(value).decode_from(raw, version, 0)
    assert end == len(raw)
    assert decoded == value
    if type(value).FLEXIBLE_SINCE is not None:
        value.unknown_tags = None
    assert from_json(name, to_json(value, version), version) == value
