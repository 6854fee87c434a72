"""Which partition of a coordinator's internal topic keeps a key: where clients look for their coordinator."""

from __future__ import annotations


def java_hash(text: str) -> int:
    """`String.hashCode()` of Java: a 31-polynomial over UTF-16 code units, as a signed 32-bit number."""
    value = 0
    if text.isascii():
        for unit in text.encode("ascii"):
            value = (31 * value + unit) & 0xFFFFFFFF
    else:
        raw = text.encode("utf-16-be", "surrogatepass")
        for high, low in zip(raw[::2], raw[1::2]):
            value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


def partition_for(key: str, partition_count: int) -> int:
    """The partition of `key`: the hash's absolute value (0 for the one int32 that has none), modulo the
    count.

    Group ids in `__consumer_offsets`, transactional ids in `__transaction_state`,
    `group:topicId:partition` in `__share_group_state` are all placed so. Not the producer's partitioner,
    which masks the sign bit instead.
    """
    value = java_hash(key)
    return 0 if value == -(1 << 31) else abs(value) % partition_count
