"""RemoveRaftVoter (81): make a voter of the metadata quorum an observer (KIP-853).

v0 only.
"""

from __future__ import annotations

from kbroker.handlers.quorum_requests import answer

VERSIONS = (0, 0)

handle = answer
