"""The `quorum-state` file: who leads which epoch, and whom this node voted for in it.

Version 0 (static voters) also lists the voters; version 1 (KIP-853) names the voted node's directory instead.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from kbroker.errors import ConfigError
from kbroker.types import ZERO_UUID, Uuid, uuid_from_string, uuid_to_string

FILE_NAME = "quorum-state"
NOBODY = -1


class ElectionState(NamedTuple):
    """At most one vote and one leader an epoch; epochs never fall."""

    epoch: int = 0
    leader_id: int = NOBODY
    voted_id: int = NOBODY
    voted_directory_id: Uuid = ZERO_UUID


def encode_election_state(state: ElectionState, static_voters: Sequence[int] | None) -> bytes:
    """The file's content: version 0 with `static_voters`, version 1 without."""
    content: dict[str, Any]
    if static_voters is not None:
        content = {
            "clusterId": "",
            "leaderId": state.leader_id,
            "leaderEpoch": state.epoch,
            "votedId": state.voted_id,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter} for voter in static_voters],
            "data_version": 0,
        }
    else:
        content = {
            "leaderId": state.leader_id,
            "leaderEpoch": state.epoch,
            "votedId": state.voted_id,
            "votedDirectoryId": uuid_to_string(state.voted_directory_id),
            "data_version": 1,
        }
    return json.dumps(content, separators=(",", ":")).encode()


def decode_static_voters(data: bytes) -> list[int]:
    """The ids of the voters that a file of version 0 names; none in version 1.

    Raises:
        ConfigError: as `decode_election_state`.
    """
    try:
        return [int(voter["voterId"]) for voter in json.loads(data).get("currentVoters", ())]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"the file {FILE_NAME} of the metadata log is not readable: {error}") from None


def decode_election_state(data: bytes) -> ElectionState:
    """The state in a file of version 0 or 1.

    Raises:
        ConfigError: the file is damaged or of a newer version: voting anew could elect two leaders.
    """
    try:
        content = json.loads(data)
        if content["data_version"] not in (0, 1):
            raise ValueError(f"data_version {content['data_version']}")
        directory = content.get("votedDirectoryId")
        return ElectionState(
            int(content["leaderEpoch"]),
            int(content["leaderId"]),
            int(content["votedId"]),
            uuid_from_string(directory) if directory else ZERO_UUID,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"the file {FILE_NAME} of the metadata log is not readable: {error}") from None
