"""Message sets of magic 0 and 1 as clients send them, well and badly formed, by name.

`tests/data/golden/legacy_sets.jsonl.gz` has what Apache Kafka 3.9.2 answered when it was sent each of them
with Produce 2, and what it gave back with Fetch 0 and 2.
"""

from __future__ import annotations

import struct
import zlib

import cramjam

from kbroker.protocol.compression import compress
from kbroker.protocol.legacy_messages import build_message_set, encode_message
from kbroker.protocol.record_batch import Record, build_batch, decode_records, iter_batches

NOW = 1_700_000_000_000
FOUR = [Record(index, NOW + index, b"k%d" % index, b"v%d" % index) for index in range(4)]
_STAMPED = 8


def row(magic, records, attributes=0):
    """Messages one behind the other."""
    return b"".join(encode_message(magic, record, attributes) for record in records)


def wrapper(magic, inner, codec=1, offset=3, timestamp=NOW + 3, attributes=0, key=None, broken_lz4=None):
    """One message around `inner`, which is compressed with `codec` if that is gzip, snappy or lz4."""
    value = inner
    if inner is not None and codec in (1, 2, 3):
        broken = magic == 0 if broken_lz4 is None else broken_lz4
        value = compress(codec, inner, broken_lz4_header=broken)
    return encode_message(magic, Record(offset, timestamp, key, value), codec | attributes)


def with_right_crc(message):
    """The message after its bytes were changed."""
    changed = bytearray(message)
    struct.pack_into(">I", changed, 12, zlib.crc32(bytes(changed[16:])))
    return bytes(changed)


def with_wrong_crc(messages):
    """The first message's checksum is wrong."""
    return messages[:12] + b"\1\2\3\4" + messages[16:]


def with_key_length(message, magic, length):
    """The message claims another length of its key."""
    at = 18 + 8 * magic
    return with_right_crc(message[:at] + struct.pack(">i", length) + message[at + 4 :])


def _sets_of(magic):
    four, one = row(magic, FOUR), row(magic, FOUR[:1])
    small = [Record(index, NOW, None, b"x" * 450) for index in range(2_500)]
    longer = one[:8] + struct.pack(">i", len(one) - 12 + 3) + one[12:] + b"abc"
    yield from ((f"codec {codec}", build_message_set(magic, FOUR, codec)) for codec in range(4))
    yield "nested", wrapper(magic, wrapper(magic, four))
    yield "nested behind plain", wrapper(magic, row(magic, FOUR[:2]) + wrapper(magic, row(magic, FOUR[2:])))
    far = [record._replace(offset=record.offset + 100) for record in FOUR]
    yield "absolute inner offsets", wrapper(magic, row(magic, far), offset=103)
    yield "wrapper offset 0", wrapper(magic, four, offset=0)
    yield "wrapper offset too low", wrapper(magic, four, offset=2)
    gaps = [record._replace(offset=record.offset * 7) for record in FOUR]
    yield "gaps", wrapper(magic, row(magic, gaps), offset=50)
    yield "lz4 with right header", wrapper(magic, four, 3, broken_lz4=False)
    yield "lz4 with broken header", wrapper(magic, four, 3, broken_lz4=True)
    yield "raw snappy", wrapper(magic, bytes(cramjam.snappy.compress_raw(four)), 0, attributes=2)
    yield "inner of both magics", wrapper(magic, row(magic, FOUR[:2]) + row(1 - magic, FOUR[2:]))
    yield "inner crc", wrapper(magic, with_wrong_crc(four))
    yield "wrapper of null", wrapper(magic, None)
    yield "wrapper of nothing", wrapper(magic, b"")
    yield "inner cut", wrapper(magic, four[:-3])
    yield "inner cut to nothing", wrapper(magic, one[:-3])
    yield "wrapper before plain", wrapper(magic, four) + four
    yield "wrapper behind plain", four + wrapper(magic, four)
    yield "two wrappers", wrapper(magic, four) * 2
    yield "zstd", wrapper(magic, four, 4)
    yield "codec 5", wrapper(magic, four, 5)
    yield "not gzip", wrapper(magic, b"\1\2\3garbage", 0, attributes=1)
    yield "wrapper with a key", wrapper(magic, four, key=b"key")
    yield "stamped", row(magic, FOUR, _STAMPED)
    yield "stamped wrapper", wrapper(magic, four, attributes=_STAMPED)
    yield "stamped inside", wrapper(magic, row(magic, FOUR, _STAMPED))
    untimed = [record._replace(timestamp=-1) for record in FOUR]
    yield "stamped without time", row(magic, untimed, _STAMPED)
    yield "without time", row(magic, untimed)
    yield "negative time", row(magic, [record._replace(timestamp=-5) for record in FOUR])
    yield "some without time", row(magic, [FOUR[0], FOUR[1]._replace(timestamp=-1), FOUR[2]])
    yield "far future", row(magic, [record._replace(timestamp=3 * NOW) for record in FOUR])
    yield "nulls", row(magic, [record._replace(key=None, value=None) for record in FOUR])
    yield "empty", row(magic, [record._replace(key=b"", value=b"") for record in FOUR])
    yield "many", row(magic, small)
    yield "many in gzip", build_message_set(magic, small, 1)
    yield "large", row(magic, [Record(0, NOW, None, b"x" * 1_048_588)])
    yield "key longer than the message", with_key_length(one, magic, 1000)
    yield "negative key length", with_key_length(one, magic, -7)
    yield "bytes behind the value", with_right_crc(longer)
    yield "short", bytes(8) + struct.pack(">i", 10) + bytes(10)
    yield "cut", four[:-2]
    yield "crc", row(magic, FOUR[:2]) + with_wrong_crc(four)


def all_sets():
    """Name to bytes."""
    sets = {f"{magic} {name}": data for magic in (0, 1) for name, data in _sets_of(magic)}
    new, old = build_batch(FOUR), row(1, FOUR)
    sets["2"] = new
    sets["2 then 1"] = new + old
    sets["1 then 2"] = old + new
    sets["1 then 0"] = old + row(0, FOUR)
    sets["2 twice"] = new * 2
    sets["2 then cut"] = new + new[:-3]
    sets["2 cut"] = new[:-3]
    return sets


def shown(data, now_from=NOW + 10**9):
    """A fetched message set for comparison: its size in messages, and the first ones.

    Times of the append (from `now_from` on) are shown as "now", but not those of "far future".
    """
    messages = []
    count = 0
    for header in iter_batches(data):
        records = decode_records(data, header)
        count += len(records)
        if len(messages) < 5:
            inner = [
                [r.offset, _time(r.timestamp, now_from), _text(r.key), _text(r.value)] for r in records[:5]
            ]
            messages.append([header.magic, header.attributes, header.base_offset, inner])
    return [count, messages]


def _time(timestamp, now_from):
    return "now" if now_from <= timestamp < 2 * NOW else timestamp


def _text(value):
    return None if value is None else value[:9].decode()
