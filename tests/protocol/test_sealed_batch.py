"""Sealed batches: what comes out is what went in; nobody else's key, header or place will do."""

import struct
from itertools import count
from random import Random

import pytest

from kbroker.errors import ErrorCode
from kbroker.protocol import sealed_batch
from kbroker.protocol.compression import Codec
from kbroker.protocol.record_batch import (
    CorruptBatch,
    Record,
    build_batch,
    check_crc,
    decode_records,
    iter_batches,
    parse_batch_header,
)
from kbroker.protocol.sealed_batch import CannotOpen, Sealer, is_sealed, key_id_of, open_all, open_batch
from kbroker.security.data_keys import KeyRing

pytest.importorskip("cryptography")

KEYS = {"a": b"A" * 32, "b": b"B" * 32}


def ring(**keys):
    return KeyRing(keys or KEYS)


def sealer(keys=None, key_id="a", first=1):
    salts = count(first)
    return Sealer(keys or ring(), key_id, lambda: next(salts).to_bytes(16, "big"))


def plain(offset=0, codec=Codec.NONE, values=(b"one", b"two"), **more):
    records = [Record(at, 1000 + at, b"k", value, []) for at, value in enumerate(values, offset)]
    return build_batch(records, base_offset=offset, codec=codec, **more)


def opened(batch, keys=None):
    return bytes(open_batch(keys or ring(), batch, parse_batch_header(batch)))


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.LZ4])
def test_a_sealed_batch_is_a_batch_and_opens_to_what_it_was(codec):
    batch = plain(7, codec, producer_id=5, producer_epoch=1, base_sequence=3, transactional=True)
    seals = sealer()
    sealed = seals.seal(batch, 7)
    header, before = parse_batch_header(sealed), parse_batch_header(batch)
    assert check_crc(sealed, header)
    assert is_sealed(header)
    assert not is_sealed(before)
    assert len(sealed) == len(batch) + seals.overhead == header.size
    assert key_id_of(sealed, header) == "a"
    for name in ("base_offset", "last_offset_delta", "producer_id", "base_sequence", "max_timestamp"):
        assert getattr(header, name) == getattr(before, name)
    assert b"one" not in sealed
    assert opened(sealed) == bytes(batch)


def test_the_leader_epoch_may_change_afterwards():
    batch = plain()
    sealed = sealer().seal(batch, 0)
    struct.pack_into(">i", sealed, 12, 9)
    assert parse_batch_header(opened(sealed)).leader_epoch == 9
    assert opened(sealed)[16:] == bytes(batch)[16:]


def test_the_offset_is_bound():
    sealed = sealer().seal(plain(), 100)
    assert parse_batch_header(opened(sealed)).base_offset == 100
    struct.pack_into(">q", sealed, 0, 101)
    with pytest.raises(CorruptBatch):
        opened(sealed)


def test_equal_batches_are_sealed_differently():
    batch, seals = plain(), sealer()
    tails = {bytes(seals.seal(batch, 0)[100:]) for _ in range(50)}
    tails |= {bytes(sealer(first=1000 + at).seal(batch, 0)[100:]) for at in range(50)}
    assert len(tails) == 100


def test_a_salt_is_not_used_for_ever(monkeypatch):
    monkeypatch.setattr(sealed_batch, "BATCHES_MAX", 2)
    batch, seals = plain(), sealer()
    tails = {bytes(seals.seal(batch, 0)[63:95]) for _ in range(10)}
    assert len(tails) == 10
    assert opened(seals.seal(batch, 0)) == bytes(batch)


def test_a_missing_and_a_wrong_key_are_told_apart_and_come_again():
    sealed = sealer().seal(plain(3), 3)
    with pytest.raises(CannotOpen, match="The data key a is not here") as missing:
        opened(sealed, ring(b=KEYS["b"]))
    with pytest.raises(CannotOpen, match="offset 3 was sealed with another key of the id a") as wrong:
        opened(sealed, ring(a=KEYS["b"]))
    assert missing.value.code == wrong.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert opened(sealed) == bytes(plain(3))


def test_no_byte_can_be_changed():
    batch = plain(5, producer_id=4, producer_epoch=0, base_sequence=0)
    sealed = sealer().seal(batch, 5)
    free = {*range(8, 21)}  # length, leader epoch, magic, CRC
    for at in range(len(sealed)):
        if at in free:
            continue
        changed = bytearray(sealed)
        changed[at] ^= 1
        with pytest.raises((CannotOpen, CorruptBatch)):
            opened(changed)


def test_cut_and_random_bytes_are_refused():
    sealed = bytes(sealer().seal(plain(), 0))
    header = parse_batch_header(sealed)
    for end in range(61, len(sealed)):
        with pytest.raises((CannotOpen, CorruptBatch)):
            open_batch(ring(), sealed[:end], header._replace(batch_length=end - 12))
    random = Random(4)
    for _ in range(300):
        noise = sealed[:61] + random.randbytes(random.randrange(120))
        with pytest.raises((CannotOpen, CorruptBatch)):
            open_batch(ring(), noise, header._replace(batch_length=len(noise) - 12))


def test_a_stretch_of_old_and_new_keys_and_plain_batches():
    keys = ring()
    before, after = sealer(keys), sealer(keys, "b")
    batches = [plain(at * 2) for at in range(6)]
    stored = [batches[0], before.seal(batches[1], 2), before.seal(batches[2], 4), batches[3]]
    stored += [after.seal(batches[4], 8), batches[5]]
    data = b"".join(stored)
    whole = b"".join(batches)
    assert open_all(keys, data) == whole
    assert [record.offset for header in iter_batches(whole) for record in decode_records(whole, header)] == [
        *range(12)
    ]
    # What is cut short at the end: the beginning of a plain batch stays, of a sealed one nothing.
    assert open_all(keys, data[:-5]) == whole[:-5]
    cut = len(b"".join(stored[:2])) + 70
    assert open_all(keys, data[:cut]) == b"".join(batches[:2])
    # Without its key a batch ends the stretch; as the first it is an error.
    assert open_all(ring(a=KEYS["a"]), data) == b"".join(batches[:4])
    with pytest.raises(CannotOpen):
        open_all(ring(b=KEYS["b"]), b"".join(stored[1:]))
    assert open_all(ring(b=KEYS["b"]), batches[0]) is batches[0]


def test_what_cannot_be_sealed():
    seals = sealer()
    with pytest.raises(ValueError, match="already"):
        seals.seal(seals.seal(plain(), 0), 0)
    with pytest.raises(ValueError, match="64 bytes"):
        sealer(key_id="")
    with pytest.raises(CannotOpen, match="key c is not here"):
        sealer(key_id="c")
