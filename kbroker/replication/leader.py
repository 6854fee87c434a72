"""What a partition's leader knows: its replicas' log ends, the in-sync set, the high watermark.

Pure: log ends and times come in as arguments, a new high watermark or a proposal comes out. The laws:

* the high watermark never moves back while one leader epoch lasts;
* it is the lowest log end over the leader and the *maximal* in-sync set (committed plus proposed members),
  and of followers that may join and are caught up within the lag time although they have not joined yet;
* it does not move while the committed in-sync set is smaller than the effective minimum (KIP-966);
* a follower joins only with a log end that reaches the high watermark and the start of this leader epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from kbroker.plain import made, plain
from kbroker.replication.isr import InSyncSet, Proposal

_NEVER = float("-inf")


@plain()
class FollowerProgress:
    """How far one follower has copied, as its Fetch requests tell; times by a clock that never goes back."""

    log_end_offset: int = -1
    log_start_offset: int = -1
    last_caught_up_ms: float = _NEVER
    last_fetch_ms: float = _NEVER
    last_fetch_leader_end: int = -1
    #: Of the registration under which it fetches; -1: it did not say.
    broker_epoch: int = -1
    #: How far it has compacted (docs/decisions/0005).
    cleaned_offset: int = 0

    def fetched(self, offset: int, leader_end: int, now_ms: float) -> None:
        """The follower asks for `offset`, so it has everything below it."""
        if offset >= leader_end:
            self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
        elif offset >= self.last_fetch_leader_end:
            self.last_caught_up_ms = max(self.last_caught_up_ms, self.last_fetch_ms)
        self.log_end_offset = offset
        self.last_fetch_ms = now_ms
        self.last_fetch_leader_end = leader_end

    def was_there(self, time_ms: float) -> None:
        """Until `time_ms` the follower kept asking for our end of then, which nobody noted one by one."""
        self.last_caught_up_ms = max(self.last_caught_up_ms, time_ms)
        self.last_fetch_ms = max(self.last_fetch_ms, time_ms)

    def is_caught_up(self, leader_end: int, now_ms: float, lag_time_max_ms: float) -> bool:
        """At the leader's end, or there not longer ago than the lag time."""
        return self.log_end_offset == leader_end or now_ms - self.last_caught_up_ms <= lag_time_max_ms


def _anybody(_replica: int, _broker_epoch: int) -> bool:
    return True


@plain()
class LeaderState:
    """The state of one leader epoch.

    Args:
        local_id: this broker.
        leader_epoch: the epoch we lead in.
        epoch_start_offset: our log end when the epoch began.
        replicas: the assignment, in order.
        isr: the committed in-sync set.
        high_watermark: where it stood when the epoch began (from the checkpoint after a restart).
        began_ms: when that was: the in-sync followers have the whole lag time to report.
        may_join: (replica, broker epoch of its last Fetch) -> whether the metadata lets it into the in-sync
            set: registered under that epoch (KIP-903), not fenced, not shutting down (KIP-841).
        recovering: we were elected uncleanly, and the controller was not told yet that we have recovered.
    """

    local_id: int
    leader_epoch: int
    epoch_start_offset: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    high_watermark: int
    partition_epoch: int = 0
    min_isr: int = 1
    lag_time_max_ms: float = 30_000
    began_ms: float = 0
    may_join: Callable[[int, int], bool] = _anybody
    recovering: bool = False
    followers: dict[int, FollowerProgress] = made(default_factory=dict)
    in_sync: InSyncSet = made(init=False)

    def __post_init__(self) -> None:
        self.in_sync = InSyncSet(self.isr, self.partition_epoch)
        for replica in self.replicas:
            if replica != self.local_id:
                progress = self.followers.setdefault(replica, FollowerProgress())
                if replica in self.isr:
                    progress.last_caught_up_ms = self.began_ms

    # -- acks=all --

    @property
    def effective_min_isr(self) -> int:
        """`min.insync.replicas`, but never more than there are replicas."""
        return min(self.min_isr, max(len(self.replicas), 1))

    @property
    def has_enough_in_sync(self) -> bool:
        """Whether acks=all may append now."""
        return len(self.isr) >= self.effective_min_isr

    @property
    def has_kept_enough_in_sync(self) -> bool:
        """Whether acks=all may be acknowledged now; a replica that is about to join counts (as in Kafka)."""
        return len(self.in_sync.maximal) >= self.effective_min_isr

    # -- news --

    def change_replicas(
        self,
        replicas: tuple[int, ...],
        isr: tuple[int, ...],
        partition_epoch: int,
        recovering: bool = False,
    ) -> bool:
        """Take what the metadata says within this leader epoch; False if we know later things already."""
        if not self.in_sync.take(isr, partition_epoch):
            return False
        self.recovering = recovering
        self._follow_in_sync()
        self.replicas = replicas
        self.followers = {
            replica: self.followers.get(replica) or FollowerProgress()
            for replica in replicas
            if replica != self.local_id
        }
        return True

    def follower_fetched(
        self,
        replica: int,
        offset: int,
        leader_end: int,
        now_ms: float,
        log_start: int = -1,
        broker_epoch: int = -1,
    ) -> bool:
        """Note a follower's Fetch at `offset`; False when it is no replica of this partition."""
        progress = self.followers.get(replica)
        if progress is None:
            return False
        progress.fetched(offset, leader_end, now_ms)
        progress.log_start_offset = log_start
        progress.broker_epoch = broker_epoch
        return True

    # -- the in-sync set --

    def propose_join(self, replica: int) -> Proposal | None:
        """Ask for a follower that has just fetched to be in sync, if it is out and has what it takes."""
        in_sync = self.in_sync
        if replica in in_sync.maximal or in_sync.proposal is not None:
            return None
        progress = self.followers.get(replica)
        if (
            progress is None
            or progress.log_end_offset < self.high_watermark
            or progress.log_end_offset < self.epoch_start_offset
            or not self.may_join(replica, progress.broker_epoch)
        ):
            return None
        return in_sync.propose_join(replica, self.leader_epoch)

    def propose_recovered(self) -> Proposal | None:
        """Say that an unclean leader has recovered: what it has is the log from now on (KIP-704).

        Any proposal says so; this one is for the time until somebody joins, which may be never.
        """
        if not self.recovering or self.in_sync.proposal is not None:
            return None
        return self.in_sync.propose_recovered(self.leader_epoch)

    def propose_leave(self, leader_end: int, now_ms: float) -> Proposal | None:
        """Ask for the followers to be out of sync that have lagged for too long."""
        in_sync = self.in_sync
        if in_sync.proposal is not None or len(in_sync.committed) <= 1:
            return None
        gone = tuple(
            replica
            for replica in in_sync.committed
            if replica != self.local_id and not self._is_caught_up(replica, leader_end, now_ms)
        )
        return in_sync.propose_leave(gone, self.leader_epoch) if gone else None

    def _is_caught_up(self, replica: int, leader_end: int, now_ms: float) -> bool:
        progress = self.followers.get(replica)
        return progress is not None and progress.is_caught_up(leader_end, now_ms, self.lag_time_max_ms)

    def accepted(
        self, proposal: Proposal, leader_epoch: int, partition_epoch: int, isr: tuple[int, ...]
    ) -> bool:
        """The controller's answer to a proposal; whether the set changed (see `InSyncSet.accepted`)."""
        taken = self.in_sync.accepted(proposal, leader_epoch, partition_epoch, isr)
        if taken:
            self.recovering = False
            self._follow_in_sync()
        return taken

    def _follow_in_sync(self) -> None:
        self.isr = self.in_sync.committed
        self.partition_epoch = self.in_sync.partition_epoch

    # -- watermarks --

    def advance(self, leader_end: int, now_ms: float) -> bool:
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

    def _lowest_needed(self, leader_end: int, now_ms: float) -> int:
        lowest, maximal = leader_end, self.in_sync.maximal
        for replica, progress in self.followers.items():
            if progress.log_end_offset < lowest and (
                replica in maximal
                or (
                    progress.is_caught_up(leader_end, now_ms, self.lag_time_max_ms)
                    and self.may_join(replica, progress.broker_epoch)
                )
            ):
                lowest = progress.log_end_offset
        return lowest

    def low_watermark(self, leader_start: int, alive: Collection[int]) -> int:
        """The lowest log start of the leader and the replicas alive: what DeleteRecords waits for."""
        return min(
            [leader_start]
            + [progress.log_start_offset for replica, progress in self.followers.items() if replica in alive]
        )
