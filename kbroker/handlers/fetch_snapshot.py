"""FetchSnapshot (59): a piece of a snapshot of the metadata (KIP-630).

v0 first; v1 directory id of the fetcher (KIP-853).
"""

from __future__ import annotations

from kbroker.handlers.quorum_requests import answer

VERSIONS = (0, 1)

handle = answer
