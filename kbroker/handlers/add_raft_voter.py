"""AddRaftVoter (80): make an observer a voter of the metadata quorum (KIP-853).

v0 first; v1 the answer need not wait for the commit.
"""

from __future__ import annotations

from kbroker.handlers.quorum_requests import answer

VERSIONS = (0, 1)

handle = answer
