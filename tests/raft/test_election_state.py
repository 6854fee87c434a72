from __future__ import annotations

import pytest

from kbroker.errors import ConfigError
from kbroker.raft.election_state import ElectionState, decode_election_state, encode_election_state

KAFKA_V1 = (
    b'{"leaderId":1,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA",'
    b'"data_version":1}'
)
KAFKA_V0 = (
    b'{"clusterId":"","leaderId":1,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,'
    b'"currentVoters":[{"voterId":1}],"data_version":0}'
)


def test_as_kafka_writes_it_with_dynamic_voters():
    state = ElectionState(3, 1)
    assert encode_election_state(state, None) == KAFKA_V1
    assert decode_election_state(KAFKA_V1) == state


def test_as_kafka_writes_it_with_static_voters():
    state = ElectionState(1, 1)
    assert encode_election_state(state, [1]) == KAFKA_V0
    assert decode_election_state(KAFKA_V0) == state


def test_a_vote_is_kept_with_its_directory():
    state = ElectionState(9, -1, 2, bytes(range(16)))
    assert decode_election_state(encode_election_state(state, None)) == state


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[1]", KAFKA_V1[:-5], KAFKA_V1.replace(b'ion":1', b'ion":2'), b"null", b"\xff"]
)
def test_a_damaged_file_is_refused(data):
    with pytest.raises(ConfigError, match="quorum-state"):
        decode_election_state(data)
