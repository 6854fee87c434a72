"""When and how this node writes snapshots of the metadata, and lets old log and old snapshots go.

The image is immutable, so a snapshot is encoded and written elsewhere (`run_blocking`) while the node goes
on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from kbroker.broker.blocking import RunBlocking
from kbroker.broker.metadata_files import MetadataFiles
from kbroker.broker.timer import Timer, TimerHandle
from kbroker.clock import Clock
from kbroker.errors import ApiError
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.records import encode_record
from kbroker.metadata.snapshot import image_records
from kbroker.raft.batches import QuorumRules, snapshot_batches
from kbroker.raft.snapshot import SnapshotPolicy, expired_snapshots
from kbroker.storage.log import Log
from kbroker.types import OffsetAndEpoch

_log = logging.getLogger(__name__)

#: How long to leave a disk alone that could not take a snapshot.
_RETRY_MS = 60_000


class MetadataSnapshots:
    """Watches commits; writes a snapshot when the policy says so.

    Args:
        files: where snapshots lie.
        log: the metadata log, whose old segments go.
        rules: tells `kraft.version` and voters as committed, part of each snapshot.
        policy: Kafka's metadata.log.* and metadata.max.retention.* settings.
        last_snapshot: the newest snapshot that the node started from.
        log_bytes: bytes of log after it.
        on_changed: told of the newest snapshot when there is a new one, or the log begins later.
    """

    def __init__(
        self,
        files: MetadataFiles,
        log: Log,
        rules: Callable[[], QuorumRules],
        policy: SnapshotPolicy,
        *,
        last_snapshot: OffsetAndEpoch,
        log_bytes: int,
        clock: Clock,
        timer: Timer,
        run_blocking: RunBlocking,
        on_changed: Callable[[OffsetAndEpoch], object],
    ) -> None:
        self._files = files
        self._log = log
        self._rules = rules
        self._policy = policy
        self._clock = clock
        self._timer = timer
        self._run_blocking = run_blocking
        self._on_changed = on_changed
        self._newest = last_snapshot
        self._base_size = log.size - log_bytes
        self._last_ms = clock.now_ms()
        #: Of the last one that was written here.
        self.newest_bytes = 0
        self._image: ClusterImage | None = None
        self._writing = False
        self._not_before_ms = 0
        self._alarm: TimerHandle | None = None

    def committed(self, image: ClusterImage) -> None:
        """The committed image moved."""
        self._image = image
        self._check()

    def installed(self, snapshot_id: OffsetAndEpoch) -> None:
        """The leader's snapshot took the place of all there was."""
        self._newest, self._base_size, self._last_ms = snapshot_id, self._log.size, self._clock.now_ms()

    def age_ms(self) -> int:
        """Since the newest one, or since the start."""
        return self._clock.now_ms() - self._last_ms

    def stop(self) -> None:
        """Write no more snapshots."""
        self._image = None
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _check(self) -> None:
        image = self._image
        if image is None or self._writing or image.offset < self._newest.offset:
            return
        now = self._clock.now_ms()
        new_bytes = self._log.size - self._base_size
        if now < self._not_before_ms:
            self._wake_at(self._not_before_ms, now)
        elif self._policy.due(new_bytes, self._last_ms, now):
            self._write(image, now)
        elif self._policy.max_interval_ms > 0:
            self._wake_at(self._last_ms + self._policy.max_interval_ms, now)

    def _wake_at(self, due_ms: int, now_ms: int) -> None:
        if self._alarm is None:
            self._alarm = self._timer.call_later(max(1, due_ms - now_ms), self._on_alarm)

    def _on_alarm(self) -> None:
        self._alarm = None
        self._check()

    def _write(self, image: ClusterImage, now_ms: int) -> None:
        self._writing = True
        snapshot_id = OffsetAndEpoch(image.offset + 1, image.epoch)
        size = self._log.size
        batches = snapshot_batches(
            _values(image), self._rules(), epoch=image.epoch, last_log_timestamp_ms=now_ms, now_ms=now_ms
        )

        def done(error: BaseException | None) -> None:
            self._writing = False
            if error is not None:
                # The log still has everything.
                _log.error("no snapshot of the metadata at offset %d: %s", snapshot_id.offset, error)
                self._not_before_ms = self._clock.now_ms() + _RETRY_MS
                self._check()
                return
            if snapshot_id.offset >= self._newest.offset:
                self._newest, self._base_size, self._last_ms = snapshot_id, size, now_ms
            self._clean(now_ms)
            self._on_changed(self._newest)
            self._check()

        def work() -> None:
            self.newest_bytes = self._files.write_snapshot(snapshot_id, batches)

        self._run_blocking(work, done)

    def _clean(self, now_ms: int) -> None:
        """Delete expired snapshots, and the log below the oldest that stays."""
        try:
            snapshots = self._files.snapshots()
            expired = expired_snapshots(snapshots, self._log.size, self._policy, now_ms)
            for snapshot in expired:
                self._files.delete_snapshot(snapshot.id)
            oldest = snapshots[len(expired)].id.offset
            if oldest > self._log.log_start_offset:
                before = self._log.size
                self._log.delete_records_to(oldest)
                self._log.delete_old_segments(now_ms)
                self._base_size -= before - self._log.size
        except (OSError, ApiError) as error:
            _log.error("old metadata stays on disk: %s", error)


def _values(image: ClusterImage) -> Iterator[bytes]:
    level = image.metadata_version
    for record in image_records(image):
        yield encode_record(record, level)
