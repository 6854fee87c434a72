"""flush.messages=1: a produce is acknowledged, and shown, when it is durable; other topics do not wait."""

from __future__ import annotations

import errno

import pytest

from kbroker.errors import ErrorCode
from tests.doubles import HandThread
from tests.handlers.node import batch
from tests.handlers.test_produce import only, to


@pytest.fixture
def thread(node):
    thread = HandThread()
    node.replicas.syncs._run_blocking = thread.run_blocking
    node.topic("t", flush_messages="1")
    node.topic("fast")
    return thread


def warm(node, thread, topic="t", acks=1):
    """A producer whose requests are known by their prefix."""
    client = node.connect()
    client.send(client.frame("Produce", 9, **to(topic, batch(b"warm"), acks=acks)))
    while thread.jobs:
        thread.finish()
    assert len(client.answers()) == 1
    assert client.core.produce_cache is not None
    return client


@pytest.mark.parametrize("acks", [1, -1])
def test_the_answer_and_readers_wait_for_the_disk(node, thread, acks):
    client = node.connect()
    client.send(client.frame("Produce", 9, **to("t", batch(b"a"), acks=acks)))
    log = node.replicas.get("t", 0).log
    assert (log.log_end_offset, log.high_watermark, client.answers()) == (1, 0, [])
    thread.finish()
    assert (log.durable_end, log.high_watermark) == (1, 1)
    assert only(client.answers()[0]).base_offset == 0


def test_one_sync_answers_all_frames_of_many_connections(node, thread):
    clients = [warm(node, thread) for _ in range(3)]
    first = node.replicas.get("t", 0).log.log_end_offset
    for client in clients:
        client.send(*[client.frame("Produce", 9, **to("t", batch(b"x"))) for _ in range(4)])
    assert [client.answers() for client in clients] == [[], [], []]
    thread.finish()
    assert [len(client.answers()) for client in clients] == [4, 0, 0]
    thread.finish()
    offsets = [[only(answer).base_offset for answer in client.answers()] for client in clients[1:]]
    assert offsets == [list(range(first + 4, first + 8)), list(range(first + 8, first + 12))]
    assert not thread.jobs


def test_answers_stay_in_order_between_topics_and_apis(node, thread):
    client = warm(node, thread)
    node.replicas.get("fast", 0)
    frames = [
        client.frame("Produce", 9, **to("t", batch(b"1"))),
        client.frame("Produce", 9, **to("fast", batch(b"2"))),
        client.frame("ApiVersions", 0),
        client.frame("Produce", 9, **to("t", batch(b"3"))),
        client.frame("Metadata", 1, topics=None),
        client.frame("Produce", 9, **to("t", batch(b"4"))),
    ]
    client.send(*frames)
    found = []
    for _ in range(10):
        found += client.answers()  # checks that correlation ids come in order
        if thread.jobs:
            thread.finish()
    assert [type(answer).__name__ for answer in found] == [
        "ProduceResponse",
        "ProduceResponse",
        "ApiVersionsResponse",
        "ProduceResponse",
        "MetadataResponse",
        "ProduceResponse",
    ]
    assert node.replicas.get("t", 0).log.durable_end == 4


def test_a_topic_without_the_setting_does_not_wait(node, thread):
    client = warm(node, thread, "fast")
    client.send(client.frame("Produce", 9, **to("fast", batch(b"a"))))
    assert len(client.answers()) == 1
    assert not thread.jobs


def test_no_acknowledgement_is_sent_and_nothing_held_back_with_acks_0(node, thread):
    client = warm(node, thread)
    client.send(client.frame("Produce", 9, **to("t", batch(b"a"), acks=0)))
    client._asked.pop()
    client.send(client.frame("ApiVersions", 0))
    assert len(client.answers()) == 1
    thread.finish()
    assert node.replicas.get("t", 0).high_watermark == 2


@pytest.mark.parametrize("acks", [1, -1])
@pytest.mark.parametrize("known", [True, False])
def test_a_failed_sync_fails_all_that_wait_for_it(node, thread, acks, known):
    clients = [warm(node, thread, acks=acks) if known else node.connect() for _ in range(3)]
    log = node.replicas.get("t", 0).log
    durable = log.durable_end
    for client in clients:
        client.send(client.frame("Produce", 9, **to("t", batch(b"a"), acks=acks)))
    work, done = thread.jobs.pop(0)

    def fail(error=errno.EIO):
        raise OSError(error, "Input/output error")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kbroker.server.os_disk.OsFile.sync", lambda file: fail())
        work()
    done(None)
    while thread.jobs:
        thread.finish()
    for client in clients:
        assert only(client.answers()[0]).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert log.durable_end == durable
    client = clients[0]
    assert only(client.ask("Produce", 9, **to("t", batch(b"b")))).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert (
        only(client.ask("Produce", 9, **to("fast", batch(b"b")))).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    )


def test_the_setting_is_obeyed_when_it_changes(node, thread):
    from kbroker.protocol.generated.config_record import ConfigRecord

    client = warm(node, thread, "fast")
    record = {"resource_type": 2, "resource_name": "fast", "name": "flush.messages"}
    node.publish(ConfigRecord(value="1", **record))
    assert len(thread.jobs) == 1, "what is not durable yet is synced"
    thread.finish()
    client.send(client.frame("Produce", 9, **to("fast", batch(b"a"))))
    assert client.answers() == []
    thread.finish()
    assert len(client.answers()) == 1
    node.publish(ConfigRecord(value="1000", **record))
    client.send(client.frame("Produce", 9, **to("fast", batch(b"a"))))
    assert len(client.answers()) == 1


def test_a_connection_that_goes_away_while_it_waits(node, thread):
    client = warm(node, thread)
    client.send(client.frame("Produce", 9, **to("t", batch(b"a"))))
    client.core.abandon()
    thread.finish()
    assert node.replicas.get("t", 0).high_watermark == 2
