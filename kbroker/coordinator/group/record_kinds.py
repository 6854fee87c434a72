"""Key types of the records in `__consumer_offsets` beside classic groups and offsets, by kind of group."""

from __future__ import annotations

from typing import NamedTuple


class OtherKey(NamedTuple):
    """The key of a record that means nothing here; it stays in the log."""

    API_KEY: int


#: Of consumer groups (consumer_records.py).
CONSUMER_KEYS = frozenset({3, 4, 5, 6, 7, 8, 16})
#: Of share groups (share_records.py).
SHARE_KEYS = frozenset({10, 11, 12, 13, 14, 15})
#: Of streams groups (streams_records.py).
STREAMS_KEYS = frozenset({17, 19, 20, 21, 22, 23})
#: What earlier releases of Kafka wrote of share and streams groups.
OTHER_KEYS = frozenset({9, 18})
