from __future__ import annotations

import pytest

from kbroker.raft.batches import (
    SNAPSHOT_BATCH_BYTES,
    QuorumRules,
    RaftLogCorruption,
    check_snapshot,
    leader_change_batch,
    read_items,
    snapshot_batches,
    values_batch,
)
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, VoterSet
from kbroker.types import OffsetAndEpoch

VOTERS = VoterSet([QuorumVoter(1, bytes(range(16)), (QuorumEndpoint("CONTROLLER", "h", 9093),))])


def test_values_come_back_with_their_place():
    data = values_batch([b"a", b"bc"], base_offset=5, epoch=3, now_ms=77)
    (item,) = read_items(data)
    assert (item.last_offset, item.epoch, item.timestamp_ms, item.size) == (6, 3, 77, len(data))
    assert list(item.values) == [b"a", b"bc"]
    assert not item.is_control


def test_the_first_leader_change_carries_the_rules_of_the_quorum():
    data = leader_change_batch(1, [1], [1], QuorumRules(1, VOTERS), base_offset=0, epoch=1, now_ms=7)
    (item,) = read_items(data)
    assert item.last_offset == 2
    assert item.is_control
    assert item.rules.kraft_version == 1
    assert list(item.rules.voters) == list(VOTERS)


@pytest.mark.parametrize("rules", [None, QuorumRules(0, None)])
def test_static_quorums_have_no_rules_in_the_log(rules):
    data = leader_change_batch(1, [1], [1], rules, base_offset=9, epoch=2, now_ms=7)
    (item,) = read_items(data)
    assert (item.last_offset, item.rules) == (9, None)


def test_a_snapshot_is_cut_into_batches_between_header_and_footer():
    values = [b"x" * 1000] * 600
    data = b"".join(snapshot_batches(values, QuorumRules(), epoch=4, last_log_timestamp_ms=3, now_ms=9))
    items = list(read_items(data))
    check_snapshot(items, OffsetAndEpoch(10, 4))
    assert items[0].snapshot_timestamp_ms == 3
    assert items[-1].is_snapshot_end
    assert [value for item in items for value in item.values] == values
    assert len(items) == 2 + 3
    assert all(item.size < SNAPSHOT_BATCH_BYTES + 20_000 for item in items)
    assert {item.epoch for item in items} == {4}
    assert items[-1].last_offset == 601


def test_an_empty_snapshot_is_one():
    data = b"".join(snapshot_batches([], QuorumRules(), epoch=0, last_log_timestamp_ms=0, now_ms=0))
    check_snapshot(list(read_items(data)), OffsetAndEpoch(0, 0))


def test_bytes_after_the_last_batch_are_damage():
    data = values_batch([b"a"], base_offset=0, epoch=1, now_ms=1)
    with pytest.raises(RaftLogCorruption):
        list(read_items(data + b"\0" * 5))
    with pytest.raises(RaftLogCorruption):
        list(read_items(data[:-1]))
