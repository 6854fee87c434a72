"""Topics whose batches lie encrypted on the disk: produce, fetch, look up, copy, restart; lost keys."""

from itertools import count

import pytest

from kbroker.errors import ErrorCode
from kbroker.protocol.compression import Codec
from kbroker.protocol.control_records import EndTxnMarker, build_end_txn_batch
from kbroker.protocol.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kbroker.protocol.record_batch import Record, build_batch, iter_batches
from kbroker.protocol.sealed_batch import Sealer, is_sealed
from kbroker.security.data_keys import KeyRing
from kbroker.storage.file_names import ENCRYPTED
from kbroker.storage.log import AppendOrigin
from tests.handlers.node import Node, batch
from tests.handlers.test_fetch import fetch, partitions, values, want
from tests.handlers.test_produce import to

pytest.importorskip("cryptography")

KEYS = {"old": b"o" * 32, "new": b"n" * 32}
STORAGE_ERROR = ErrorCode.KAFKA_STORAGE_ERROR


def give(node, keys):
    """The keys of a broker; none: it has no file of them."""
    salts = count(1)
    files = node.logs.dirs[0].files
    files.data_keys = (KeyRing(keys), lambda: next(salts).to_bytes(16, "big")) if keys else None


@pytest.fixture
def node(tmp_path):
    node = Node(tmp_path / "data")
    give(node, KEYS)
    return node


def produce(client, records, topic="t"):
    (answer,) = client.ask("Produce", 9, **to(topic, records)).responses[0].partition_responses
    return answer


def read(client, offset=0, topic="t", version=11, **more):
    return partitions(fetch(client, want(topic, offset, **more), version=version))[topic, 0]


def log_of(node, topic="t"):
    return node.replicas.led(topic, 0).log


def stored(log):
    return b"".join(log.directory.disk.read_file(segment.path) for segment in log.segments)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_what_is_produced_is_fetched_and_is_not_on_the_disk(node, codec):
    node.topic("t", encryption_key="old")
    node.topic("plain")
    client = node.connect()
    for at in range(4):  # the first ones by the general path, the others by the fast one
        for topic in ("t", "plain"):
            assert (
                produce(client, batch(b"secret %d" % at, b"x" * 3000, codec=codec), topic).base_offset
                == at * 2
            )
    assert values(read(client)) == values(read(client, topic="plain"))
    assert bytes(read(client).records) == bytes(read(client, topic="plain").records)
    data = stored(log_of(node))
    headers = list(iter_batches(data))
    assert len(headers) == 4
    assert all(is_sealed(header) for header in headers)
    assert b"secret" not in data
    assert not any(is_sealed(header) for header in iter_batches(stored(log_of(node, "plain"))))


def test_large_answers_and_old_versions(node):
    node.topic("t", encryption_key="old")
    client = node.connect()
    for _ in range(3):
        produce(client, batch(b"l" * 100_000))
    for version in (2, 4, 11, 12):
        assert values_of_any(read(client, version=version)) == [b"l" * 100_000] * 3
    assert values(read(client, 1, max_bytes=10)) == [b"l" * 100_000]


def values_of_any(partition):
    data = bytes(partition.records or b"")
    if data[16] == 2:
        return values(partition)
    from kbroker.protocol.legacy_messages import decode_messages

    return [record.value for header in iter_batches(data) for record in decode_messages(data, header)]


def test_times_are_looked_up(node):
    node.topic("t", encryption_key="old")
    client = node.connect()
    for at in range(3):
        records = [Record(timestamp=1000 * at + each, value=b"v") for each in range(5)]
        produce(client, bytes(build_batch(records)))
    for timestamp, offset in ((1002, 7), (2004, 14), (-3, 14)):
        wanted = ListOffsetsPartition(partition_index=0, timestamp=timestamp, current_leader_epoch=-1)
        topics = [ListOffsetsTopic(name="t", partitions=[wanted])]
        (found,) = client.ask("ListOffsets", 7, replica_id=-1, topics=topics).topics[0].partitions
        assert (found.error_code, found.offset) == (0, offset)


def test_a_follower_gets_the_bytes_as_they_are_and_needs_no_key(node, tmp_path):
    node.topic("t", replicas=(1, 2), isr=(1, 2), encryption_key="old")
    client = node.connect()
    client.send(client.frame("Produce", 9, **to("t", batch(b"secret"))))
    (_,) = client.answers()
    answer = fetch(node.connect(), want("t"), version=12, replica_id=2)
    copied = bytes(partitions(answer)["t", 0].records)
    assert copied == stored(log_of(node))

    other = Node(tmp_path / "other")
    other.topic("t", replicas=(1, 2), leader=2)
    log = other.logs.get_or_create(log_of(node).topic_partition, bytes(16), log_of(node).config, 0)
    log.append_as_follower(memoryview(copied), 0)
    log.flush_staged()
    assert stored(log) == copied
    assert log.encrypted


def test_keys_change_and_old_batches_stay_readable_after_a_restart(tmp_path):
    node = Node(tmp_path / "data")
    give(node, KEYS)
    node.topic("t", encryption_key="old")
    client = node.connect()
    produce(client, batch(b"one"))
    log = log_of(node)
    for key_id, value in (("new", b"two"), ("", b"three")):
        config = type(log.config)(message_timestamp_after_max_ms=2**63 - 1, encryption_key=key_id)
        log.config = config
        produce(client, batch(value))
    assert [is_sealed(header) for header in iter_batches(stored(log))] == [True, True, False]
    assert values(read(client)) == [b"one", b"two", b"three"]
    node.logs.close(1)

    node = Node(tmp_path / "data")
    node.topic("t")
    log = log_of(node)
    assert log.encrypted
    client = node.connect()
    assert (read(client).error_code, read(client, 2).error_code) == (STORAGE_ERROR, 0)
    assert values(read(client, 2)) == [b"three"]
    give(node, {"old": KEYS["old"]})
    assert values(read(client)) == [b"one"]
    assert read(client, 1).error_code == STORAGE_ERROR
    give(node, KEYS | {"old": b"?" * 32})
    assert read(client).error_code == STORAGE_ERROR
    assert values(read(client, 1)) == [b"two", b"three"]
    give(node, KEYS)
    assert values(read(client)) == [b"one", b"two", b"three"]


def test_without_its_key_nothing_is_taken_and_it_goes_on_when_the_key_is_there(node):
    node.topic("t", encryption_key="lost")
    client = node.connect()
    for _ in range(3):
        answer = produce(client, batch(b"x"))
        assert answer.error_code == STORAGE_ERROR
    log = log_of(node)
    assert log.staged_end_offset == log.log_end_offset == 0
    assert not log.directory.offline
    give(node, KEYS | {"lost": b"l" * 32})
    assert produce(client, batch(b"x")).base_offset == 0
    give(node, None)
    assert read(client).error_code == STORAGE_ERROR
    give(node, {"lost": b"l" * 32})
    assert values(read(client)) == [b"x"]


def test_the_mark_is_there_before_the_first_batch(node, monkeypatch):
    node.topic("t", encryption_key="old")
    log = log_of(node)
    seen = []
    seal = Sealer.seal

    def watched(self, records, base_offset):
        seen.append(log.directory.disk.exists(f"{log.path}/{ENCRYPTED}"))
        return seal(self, records, base_offset)

    monkeypatch.setattr(Sealer, "seal", watched)
    produce(node.connect(), batch(b"x"))
    assert seen == [True]


def test_producers_are_remembered_and_retries_are_no_new_batches(node):
    node.topic("t", encryption_key="old")
    client = node.connect()
    records = batch(b"x", producer_id=7, producer_epoch=0, base_sequence=0)
    assert produce(client, records).base_offset == produce(client, records).base_offset == 0
    assert log_of(node).log_end_offset == 1
    assert values(read(client)) == [b"x"]


def test_transactions(node):
    node.topic("t", encryption_key="old")
    client = node.connect()
    log = log_of(node)
    partition = node.replicas.led("t", 0)
    records = batch(b"gone", producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    partition.append(memoryview(bytearray(records)), node.clock.now, AppendOrigin.CLIENT, 1)
    marker = build_end_txn_batch(EndTxnMarker(False, 0), producer_id=7, producer_epoch=0, timestamp=1)
    partition.append(memoryview(bytearray(marker)), node.clock.now, AppendOrigin.COORDINATOR, 1)
    partition.flush()
    headers = list(iter_batches(stored(log)))
    assert [is_sealed(header) for header in headers] == [True, False]
    answer = fetch(client, want("t"), isolation_level=1)
    (aborted,) = partitions(answer)["t", 0].aborted_transactions
    assert (aborted.producer_id, aborted.first_offset) == (7, 0)


def test_clients_cannot_send_what_looks_sealed(node):
    node.topic("t")
    client = node.connect()
    salts = count(1)
    sealed = Sealer(KeyRing(KEYS), "old", lambda: next(salts).to_bytes(16, "big")).seal(batch(b"x"), 0)
    for _ in range(3):
        answer = produce(client, bytes(sealed))
        assert answer.error_code == ErrorCode.INVALID_RECORD
        produce(client, batch(b"x"))


def test_compacted_topics_are_encrypted_too(node):
    node.topic("t", encryption_key="old", cleanup_policy="compact")
    client = node.connect()
    records = bytes(build_batch([Record(timestamp=1, key=b"k", value=b"secret")]))
    assert produce(client, records).error_code == 0
    assert b"secret" not in stored(log_of(node))
    # A key has to be there all the same: that is seen before anything is encrypted.
    refused = produce(client, bytes(build_batch([Record(timestamp=1, value=b"secret")])))
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert log_of(node).log_end_offset == 1
