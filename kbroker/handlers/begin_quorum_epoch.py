"""BeginQuorumEpoch (53): the leader of a new epoch tells of its election.

v0 first (KIP-595); v1 directory ids and endpoints (KIP-853).
"""

from __future__ import annotations

from kbroker.handlers.quorum_requests import answer

VERSIONS = (0, 1)

handle = answer
