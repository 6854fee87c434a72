"""Fetch (1) at a controller: the metadata log, for followers and observers of the quorum (KIP-595).

v4 on as in fetch.py; v12 epochs and the leader in the answer; v17 directory id (KIP-853); v18 the
high watermark.
"""

from __future__ import annotations

from kbroker.handlers.quorum_requests import answer

VERSIONS = (4, 18)

handle = answer
