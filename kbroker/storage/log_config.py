"""The numbers of one topic that its logs obey. Changing them on a live log takes effect at once."""

from __future__ import annotations

from typing import Final

from kbroker.plain import plain
from kbroker.protocol.record_codec import RECORD_BYTES_MAX

MAX_LONG: Final = 2**63 - 1
#: `retention_ms` and `retention_bytes` of -1: keep for ever.
UNLIMITED: Final = -1


@plain(kw_only=True)
class LogConfig:
    """Kafka's topic configs by their names with `_` for `.`; milliseconds and bytes."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    preallocate: bool = False
    retention_ms: int = 7 * 24 * 3600 * 1000
    retention_bytes: int = UNLIMITED
    cleanup_policy: frozenset[str] = frozenset({"delete"})
    max_message_bytes: int = 1048588
    max_decompressed_message_bytes: int = RECORD_BYTES_MAX
    flush_messages: int = MAX_LONG
    flush_ms: int = MAX_LONG
    message_timestamp_type: str = "CreateTime"
    message_timestamp_before_max_ms: int = MAX_LONG
    message_timestamp_after_max_ms: int = 3600 * 1000
    compression_type: str = "producer"
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    file_delete_delay_ms: int = 60_000
    delete_retention_ms: int = 24 * 3600 * 1000
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = MAX_LONG
    min_cleanable_dirty_ratio: float = 0.5
    producer_id_expiration_ms: int = 24 * 3600 * 1000
    #: The id of the key with which batches of clients are encrypted; "": they are not.
    encryption_key: str = ""

    @property
    def compact(self) -> bool:
        """Records need keys; the cleaner keeps the last of each."""
        return "compact" in self.cleanup_policy

    @property
    def roll_ms(self) -> int:
        """The age at which a segment is closed: in time for the cleaner, which leaves the open one alone."""
        if self.compact and self.max_compaction_lag_ms > 0:
            return min(self.segment_ms, self.max_compaction_lag_ms)
        return self.segment_ms

    @property
    def delete(self) -> bool:
        """Old segments go by time and size."""
        return "delete" in self.cleanup_policy
