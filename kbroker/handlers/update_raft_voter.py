"""UpdateRaftVoter (82): a voter's endpoints or versions are others now (KIP-853).

v0 only.
"""

from __future__ import annotations

from kbroker.handlers.quorum_requests import answer

VERSIONS = (0, 0)

handle = answer
