"""Vote (52): a candidate asks for this node's vote, or whether it would get it.

v0 first (KIP-595); v1 directory ids (KIP-853); v2 pre-vote (KIP-996).
"""

from __future__ import annotations

from kbroker.handlers.quorum_requests import answer

VERSIONS = (0, 2)

handle = answer
