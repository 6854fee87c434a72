import pytest

from kbroker.protocol.compression import Codec
from kbroker.protocol.legacy_messages import build_message_set, decode_messages
from kbroker.protocol.record_batch import Record, check_crc, iter_batches
from tests.protocol import golden_batches as golden

UNCOMPRESSED = [name for name in golden.names(valid=True) if name.startswith(("v0-none", "v1-none"))]
COMPRESSED = [
    name
    for name in golden.names(valid=True)
    if name[:3] in ("v0-", "v1-") and name not in UNCOMPRESSED and "in-one-buffer" not in name
]


@pytest.mark.parametrize("name", UNCOMPRESSED)
def test_encodes_the_same_bytes(name):
    buf = golden.buffer(name)
    out = b""
    for header in iter_batches(buf):
        append_time = header.max_timestamp if header.timestamp_type == 1 else None
        out += build_message_set(header.magic, decode_messages(buf, header), append_time=append_time)
    assert out == buf


@pytest.mark.parametrize("name", COMPRESSED)
def test_compressed_sets_come_back(name):
    buf = golden.buffer(name)
    for header in iter_batches(buf):
        records = decode_messages(buf, header)
        append_time = header.max_timestamp if header.timestamp_type == 1 else None
        again = build_message_set(header.magic, records, header.codec, append_time=append_time)
        (back,) = iter_batches(again)
        assert check_crc(again, back)
        assert (back.base_offset, back.attributes, back.max_timestamp) == (
            header.base_offset,
            header.attributes,
            header.max_timestamp,
        )
        assert decode_messages(again, back) == records


def test_old_formats_have_no_zstd():
    with pytest.raises(ValueError, match="codec 4"):
        build_message_set(1, [Record(0)], Codec.ZSTD)
