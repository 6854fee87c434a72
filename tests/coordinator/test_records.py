"""Records as Kafka 4.4 writes them, and reading them back."""

import pytest

from kbroker.coordinator.group.records import decode_record
from kbroker.errors import ProtocolError
from tests.coordinator.group_world import World

# Written by Apache Kafka 4.4.0 (DumpLogSegments shows the same fields).
EMPTY_GROUP = (
    b"\x00\x02\x00\x03c2m",
    b"\x00\x03\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00\x00\x0fBA\x00\x00\x00\x00",
)


def test_a_new_group_is_written_as_kafka_does():
    w = World()
    w.now = 0x0F4241
    w.join(group="c2m")
    assert w.log == [EMPTY_GROUP]


def test_a_stable_group_is_written_in_version_3_with_the_time_it_was_named():
    w = World()
    a = w.joined().member_id
    named = w.now
    w.pass_ms(500)
    w.sync(a, 1, [(a, b"all")])
    key, value = w.log[-1]
    assert value[:2] == b"\x00\x03"
    found = decode_record(key, value).value
    assert (found.protocol_type, found.generation, found.protocol) == ("consumer", 1, "range")
    assert (found.leader, found.current_state_timestamp) == (a, named)
    (member,) = found.members
    assert (member.member_id, member.client_id, member.client_host) == (a, "app", "/127.0.0.1")
    assert (member.rebalance_timeout, member.session_timeout) == (20_000, 30_000)
    assert (member.subscription, member.assignment) == (b"r", b"all")


def test_an_emptied_group_has_no_protocol_and_no_leader():
    w = World()
    w.leave(w.joined(version=3).member_id)
    found = decode_record(*w.log[-1]).value
    assert (found.protocol_type, found.generation, found.protocol, found.leader) == (
        "consumer",
        2,
        None,
        None,
    )


def test_an_offset_is_written_in_version_4_one_with_its_own_expiry_in_version_1():
    w = World()
    w.commit(("t", 7, 5, "m"))
    assert w.log[-1][0] == b"\x00\x01\x00\x01g\x00\x01t\x00\x00\x00\x07"
    assert w.log[-1][1][:2] == b"\x00\x04"
    w.commit(("t", 7, 6, None), retention=0)
    assert w.log[-1][1][:2] == b"\x00\x01"
    value = decode_record(*w.log[-1]).value
    assert (value.offset, value.metadata, value.expire_timestamp) == (6, "", w.now)


def test_records_of_kinds_and_versions_not_known_here_are_passed_over():
    assert decode_record(b"\x00\x18\x00\x01g", b"\x00\x00") is None
    assert decode_record(EMPTY_GROUP[0], b"\x00\x63") is None


@pytest.mark.parametrize(
    ("key", "value"), [(b"\x00", None), (EMPTY_GROUP[0][:4], None), (EMPTY_GROUP[0], b"\x00")]
)
def test_damaged_records_are_errors(key, value):
    with pytest.raises(ProtocolError):
        decode_record(key, value)


def test_old_records_without_rebalance_timeout_take_the_session_timeout():
    w = World()
    a = w.joined(session=9_000).member_id
    w.sync(a, 1, [(a, b"")])
    record = decode_record(*w.log[-1])
    value = b"\x00\x00" + record.value.encode(0)
    w.log.append((record.encoded()[0], value))
    member = w.replayed().groups["g"].members[a]
    assert (member.rebalance_timeout_ms, w.replayed().groups["g"].state_timestamp_ms) == (9_000, -1)
