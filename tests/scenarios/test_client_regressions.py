"""What broke clients on other brokers and has no test elsewhere; docs/client-regressions.md lists all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kbroker.broker.shard_driver import ShardDriver
from kbroker.errors import ErrorCode
from kbroker.protocol.compression import Codec
from kbroker.protocol.generated.metadata_request import MetadataRequest
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.protocol.generated.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kbroker.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kbroker.protocol.record_batch import Record, build_batch, check_crc, decode_records, iter_batches
from kbroker.security.scram import ScramClient
from kbroker.testing import Broker
from tests.handlers.node import Node, batch
from tests.handlers.test_fetch import fetch, partitions, produce, values, want
from tests.handlers.test_group_apis import coordinated
from tests.handlers.test_list_offsets import one as offset_at
from tests.handlers.test_produce import to
from tests.security.logins import CLOSED, USERS, Raw

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "client-regressions.md"
TEST = re.compile(r"`(tests/[a-z_/0-9]+\.py)(?:::(\w+))?`")


def test_every_row_names_tests_that_exist() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if re.match(r"\| [0-9]", line)]
    assert len(rows) > 20
    for row in rows:
        named = TEST.findall(row)
        assert named, row
        for path, function in named:
            assert not function or f"def {function}(" in (ROOT / path).read_text(), (path, function)


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path / "data")


# Fetch.


@pytest.mark.parametrize("version", range(19))
def test_an_empty_partition_has_empty_records_and_not_none(node, version):
    """librdkafka takes the length -1 for damage ("invalid MessageSetSize -1")."""
    topic_id = node.topic("t")
    topic = want("t") if version < 13 else want("", topic_id=topic_id)
    nowhere = want("no") if version < 13 else want("", topic_id=b"x" * 16)
    answer = node.connect().ask("Fetch", version, max_wait_ms=0, min_bytes=0, topics=[topic, nowhere])
    found = [partition for each in answer.responses for partition in each.partitions]
    assert [(bool(partition.error_code), bytes(partition.records)) for partition in found] == [
        (False, b""),
        (True, b""),
    ]


@pytest.mark.parametrize("version", [4, 6, 7, 12])
def test_without_a_session_every_partition_that_was_asked_for_is_answered(node, version):
    """Sarama refuses an answer that lacks the empty ones."""
    node.topic("t", partitions=3)
    client = node.connect()
    produce(client, "t", b"a", index=1)
    asked = [want("t", index=index) for index in (2, 0, 1)]
    for _ in range(2):
        answer = partitions(fetch(client, *asked, version=version))
        assert set(answer) == {("t", 0), ("t", 1), ("t", 2)}
        assert {partition.error_code for partition in answer.values()} == {0}


def test_where_an_offset_is_out_of_range(node):
    """The end is not; what is not stable or not replicated yet is not either."""
    node.topic("t", replicas=(1, 2))
    client = node.connect()
    produce(client, "t", b"a", b"b")
    log = node.replicas.led("t", 0).online_log()
    assert (log.high_watermark, log.log_end_offset) == (0, 2)
    for offset, isolation in ((0, 0), (0, 1), (1, 0), (2, 0), (2, 1)):
        (answer,) = partitions(fetch(client, want("t", offset), isolation_level=isolation)).values()
        assert (answer.error_code, values(answer), answer.high_watermark) == (0, [], 0), offset
    (answer,) = partitions(fetch(client, want("t", 3))).values()
    assert answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert (answer.high_watermark, answer.last_stable_offset, answer.log_start_offset) == (-1, -1, -1)


def test_a_recreated_topic_is_empty_under_another_id(node):
    old = node.topic("t")
    client = node.connect()
    produce(client, "t", b"a")
    node.delete(old)
    new = node.topic("t")
    assert new != old
    (answer,) = fetch(client, want("", topic_id=old), version=13).responses
    assert answer.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    (answer,) = fetch(client, want("", topic_id=new), version=13).responses
    assert (answer.partitions[0].error_code, answer.partitions[0].high_watermark) == (0, 0)


# Times and epochs.


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_log_append_time_is_the_brokers_everywhere(node, codec):
    """In the answer, in what is fetched (with a checksum that holds) and in ListOffsets; not 1970."""
    node.topic("t", message_timestamp_type="LogAppendTime")
    client = node.connect()
    records = [Record(timestamp=number, value=b"x") for number in (1, 2)]
    answer = client.ask("Produce", 9, **to("t", bytes(build_batch(records, codec=codec))))
    now = node.clock.now
    assert answer.responses[0].partition_responses[0].log_append_time_ms == now
    (partition,) = partitions(fetch(client, want("t"))).values()
    data = bytes(partition.records)
    (header,) = iter_batches(data)
    assert check_crc(data, header)
    assert header.max_timestamp == now
    assert {record.timestamp for record in decode_records(data, header)} == {now}
    for timestamp, expected in ((3, (now, 0)), (now, (now, 0)), (now + 1, (-1, -1))):
        assert offset_at(client, timestamp)[1:3] == expected


def test_offsets_come_with_the_epoch_of_their_record(node):
    topic_id = node.topic("t")
    client = node.connect()
    assert offset_at(client, 0) == (0, -1, -1, -1)
    produce(client, "t", b"a")
    for _ in range(2):
        node.move_leader(topic_id, 0, 2)
        node.move_leader(topic_id, 0, 1)
    records = [Record(timestamp=1_800_000_000_000, value=b"b")]
    client.ask("Produce", 9, **to("t", bytes(build_batch(records))))
    current = node.replicas.led("t", 0).leader_epoch
    assert current > 0
    for timestamp, offset, epoch in (
        (-2, 0, 0),
        (1, 0, 0),
        (1_800_000_000_000, 1, current),
        (-1, 2, current),
    ):
        assert offset_at(client, timestamp)[2:] == (offset, epoch), timestamp


# Groups.


@pytest.fixture
def coordinator(node):
    node = coordinated(node)
    node.topic("__consumer_offsets", partitions=2, cleanup_policy="compact")
    node.topic("t")
    return node


def commit(client, **fields):
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=7, **fields)
    topics = [OffsetCommitRequestTopic(name="t", partitions=[partition])]
    answer = client.ask("OffsetCommit", 9, group_id="g", topics=topics)
    return answer.topics[0].partitions[0].error_code


def fetch_offset(client, version, group="g"):
    """(error of the group, partition's answer)."""
    if version < 8:
        topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
        answer = client.ask("OffsetFetch", version, group_id=group, topics=topics)
        found = answer.topics
    else:
        topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
        groups = [OffsetFetchRequestGroup(group_id=group, topics=topics)]
        (answer,) = client.ask("OffsetFetch", version, groups=groups).groups
        found = answer.topics
    partition = found[0].partitions[0] if found else None
    return (answer.error_code if version >= 2 else 0), partition


@pytest.mark.parametrize("version", range(1, 10))
def test_what_was_committed_comes_back_whole(coordinator, version):
    client = coordinator.connect()
    assert commit(client, committed_leader_epoch=3, committed_metadata="what the client keeps") == 0
    error, partition = fetch_offset(client, version)
    assert (error, partition.error_code, partition.committed_offset) == (0, 0, 7)
    assert partition.metadata == "what the client keeps"
    assert partition.committed_leader_epoch == (3 if version >= 5 else -1)


@pytest.mark.parametrize("version", range(1, 10))
def test_without_a_commit_the_offset_is_minus_1_and_no_error(coordinator, version):
    error, partition = fetch_offset(coordinator.connect(), version, "nobody")
    assert (error, partition.error_code, partition.committed_offset, partition.metadata) == (0, 0, -1, "")


@pytest.mark.parametrize("version", range(1, 10))
def test_while_the_coordinator_loads_no_offset_looks_as_if_it_was_not_there(
    coordinator, version, monkeypatch
):
    """A client that reads -1 there starts from the beginning, or the end."""
    client = coordinator.connect()
    commit(client)
    monkeypatch.setattr(ShardDriver, "load_some", lambda driver: False)
    for driver in coordinator.services.groups.shards.values():
        driver.ready = False
    error, partition = fetch_offset(client, version)
    if version < 2:
        assert partition.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    else:
        assert error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert partition is None or partition.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_a_batch_fits_whatever_the_limit_of_its_partition(node):
    """KIP-74: the first one of the first partition that has something always comes whole."""
    node.topic("t", partitions=2)
    client = node.connect()
    client.ask("Produce", 9, **to("t", batch(b"x" * 5000), index=1))
    answer = partitions(fetch(client, want("t", index=0, max_bytes=1), want("t", index=1, max_bytes=1)))
    assert values(answer["t", 1]) == [b"x" * 5000]


# Logins.


@pytest.fixture(scope="module")
def secure():
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
        "connection.failed.authentication.delay.ms": "1",
    }
    with Broker(config=settings) as broker:
        yield broker.ports


def test_the_version_of_the_handshake_says_how_the_login_goes_on(secure):
    """Bare messages after version 0, SaslAuthenticate after 1; either way the mechanisms are listed."""
    alice, port = b"\0alice\0alice-secret", secure["SASL_PLAINTEXT"]
    as_request = SaslAuthenticateRequest(auth_bytes=alice)
    for version, right, wrong in (
        (0, lambda raw: raw.raw(alice) == b"", lambda raw: raw.ask(as_request, 0)),
        (1, lambda raw: raw.ask(as_request, 0).error_code == 0, lambda raw: raw.raw(alice)),
    ):
        with Raw(port) as raw:
            answer = raw.handshake("PLAIN", version)
            assert (answer.error_code, answer.mechanisms) == (0, ["PLAIN", "SCRAM-SHA-256"])
            assert right(raw)
            assert raw.ask(MetadataRequest(topics=[]), 9) != CLOSED
        with Raw(port) as raw:
            raw.handshake("PLAIN", version)
            assert wrong(raw) == CLOSED


def test_a_login_to_a_listener_without_sasl_is_told_so(secure):
    """librdkafka and Java show what the answer says; a closed connection would tell nothing."""
    with Raw(secure["PLAINTEXT"]) as raw:
        for version in (0, 1):
            assert raw.handshake("PLAIN", version).error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert raw.token(b"\0alice\0alice-secret").error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_a_wrong_password_is_told_in_both_ways_of_scram(secure):
    for version, told in ((0, CLOSED), (1, ErrorCode.SASL_AUTHENTICATION_FAILED)):
        with Raw(secure["SASL_PLAINTEXT"]) as raw:
            raw.handshake("SCRAM-SHA-256", version)
            client = ScramClient("SCRAM-SHA-256", "alice", "wrong", "client-nonce", None)
            first = client.step(None)
            if version:
                challenge = raw.token(first).auth_bytes
                assert raw.token(client.step(challenge)).error_code == told
            else:
                assert raw.raw(client.step(raw.raw(first))) == told
