"""EndQuorumEpoch (54): the leader stops and names whom it would like to follow it.

v0 first (KIP-595); v1 directory ids and endpoints (KIP-853).
"""

from __future__ import annotations

from kbroker.handlers.quorum_requests import answer

VERSIONS = (0, 1)

handle = answer
