"""The times a raft node keeps, in milliseconds."""

from __future__ import annotations

from typing import NamedTuple


class RaftTimeouts(NamedTuple):
    """Kafka's controller.quorum.* settings.

    Attributes:
        election_ms: controller.quorum.election.timeout.ms: how long a candidate waits for votes; up to as
            much again is added at random.
        fetch_ms: controller.quorum.fetch.timeout.ms: how long a follower goes without an answer of its
            leader; half as much again is how long a leader goes without fetches of a majority.
        backoff_max_ms: controller.quorum.election.backoff.max.ms.
        request_ms: controller.quorum.request.timeout.ms: after it the driver gives up a request.
        retry_ms: controller.quorum.retry.backoff.ms.
        fetch_wait_ms: how long a leader may keep a fetch that finds nothing new.
        gone_jitter_ms: after `PeerGone` of the leader its followers stand for election within this time.
    """

    election_ms: int = 1000
    fetch_ms: int = 2000
    backoff_max_ms: int = 1000
    request_ms: int = 2000
    retry_ms: int = 20
    fetch_wait_ms: int = 500
    gone_jitter_ms: int = 50
