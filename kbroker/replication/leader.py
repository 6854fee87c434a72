"""What a partition's leader knows: its replicas' log ends, the in-sync set, the high watermark.

Pure: log ends and times come in as arguments, a new high watermark comes out. The laws:

* the high watermark never moves back while one leader epoch lasts;
* it is the lowest log end over the leader and the *maximal* in-sync set (committed plus proposed members),
  and of followers that are caught up within the lag time although they have not joined yet;
* it does not move while the in-sync set is smaller than the effective minimum (KIP-966).
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class FollowerProgress:
    """How far one follower has copied, as its Fetch requests tell."""

    log_end_offset: int = -1
    log_start_offset: int = -1
    last_caught_up_ms: int = 0
    last_fetch_ms: int = 0
    last_fetch_leader_end: int = 0
    broker_epoch: int = -1

    def fetched(self, offset: int, leader_end: int, now_ms: int) -> None:
        """The follower asks for `offset`, so it has everything below it."""
        if offset >= leader_end:
            self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
        elif offset >= self.last_fetch_leader_end:
            self.last_caught_up_ms = max(self.last_caught_up_ms, self.last_fetch_ms)
        self.log_end_offset = offset
        self.last_fetch_ms = now_ms
        self.last_fetch_leader_end = leader_end


@dataclass(slots=True)
class LeaderState:
    """The state of one leader epoch.

    Args:
        local_id: this broker.
        leader_epoch: the epoch we lead in.
        epoch_start_offset: our log end when the epoch began.
        replicas: the assignment, in order.
        isr: the committed in-sync set.
        high_watermark: where it stood when the epoch began (from the checkpoint after a restart).
    """

    local_id: int
    leader_epoch: int
    epoch_start_offset: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    high_watermark: int
    partition_epoch: int = 0
    min_isr: int = 1
    lag_time_max_ms: int = 30_000
    followers: dict[int, FollowerProgress] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for replica in self.replicas:
            if replica != self.local_id:
                self.followers.setdefault(replica, FollowerProgress())

    @property
    def effective_min_isr(self) -> int:
        """`min.insync.replicas`, but never more than there are replicas."""
        return min(self.min_isr, max(len(self.replicas), 1))

    @property
    def has_enough_in_sync(self) -> bool:
        """Whether acks=all may append now."""
        return len(self.isr) >= self.effective_min_isr

    def change_replicas(self, replicas: tuple[int, ...], isr: tuple[int, ...], partition_epoch: int) -> None:
        """Take a new assignment or in-sync set of the same leader epoch."""
        self.replicas = replicas
        self.isr = isr
        self.partition_epoch = partition_epoch
        self.followers = {
            replica: self.followers.get(replica) or FollowerProgress()
            for replica in replicas
            if replica != self.local_id
        }

    def follower_fetched(self, replica: int, offset: int, leader_end: int, now_ms: int) -> bool:
        """Note a follower's Fetch at `offset`; False when it is no replica of this partition."""
        progress = self.followers.get(replica)
        if progress is None:
            return False
        progress.fetched(offset, leader_end, now_ms)
        return True

    def advance(self, leader_end: int, now_ms: int) -> bool:
        """Recompute the high watermark; True when it moved."""
        # Alone, the leader is the whole in-sync set, and that is enough (the minimum counts at most the
        # replicas).
        candidate = leader_end
        if self.followers:
            if not self.has_enough_in_sync:
                return False
            candidate = self._lowest_needed(leader_end, now_ms)
        if candidate <= self.high_watermark:
            return False
        self.high_watermark = candidate
        return True

    def _lowest_needed(self, leader_end: int, now_ms: int) -> int:
        lowest = leader_end
        for replica, progress in self.followers.items():
            waits_for = replica in self.isr or (
                progress.last_caught_up_ms > 0 and now_ms - progress.last_caught_up_ms <= self.lag_time_max_ms
            )
            if waits_for and progress.log_end_offset < lowest:
                lowest = progress.log_end_offset
        return lowest
