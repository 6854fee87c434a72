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


def meet_at_a_sync(node, thread, count=3):
    """A client whose sync is under way, and others whose records wait for the next one."""
    clients = [warm(node, thread) for _ in range(count + 1)]
    for client in clients:
        client.send(client.frame("Produce", 9, **to("t", batch(b"a"))))
    return clients[0], clients[1:], node.replicas.get("t", 0).log


def test_what_waits_for_the_next_sync_is_written_with_one_call(node, thread, monkeypatch):
    first, others, log = meet_at_a_sync(node, thread)
    begin = log.log_end_offset
    assert log.staged_end_offset == begin + 3
    writes = []
    monkeypatch.setattr("kbroker.server.os_disk._pwrite", _counting(writes))
    thread.finish()
    assert [len(client.answers()) for client in (first, *others)] == [1, 0, 0, 0]
    assert (len(writes), log.log_end_offset, log.high_watermark) == (1, begin + 3, begin)
    thread.finish()
    assert [only(client.answers()[0]).base_offset for client in others] == [begin, begin + 1, begin + 2]
    assert log.high_watermark == log.durable_end == begin + 3


def _counting(writes):
    from kbroker.server.os_disk import _pwrite

    def write(fd, data, position):
        writes.append(len(data))
        return _pwrite(fd, data, position)

    return write


def test_what_the_next_sync_has_no_room_for_is_told_to_all(node, thread, monkeypatch):
    first, others, log = meet_at_a_sync(node, thread)
    begin = log.log_end_offset

    def full(fd, data, position):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("kbroker.server.os_disk._pwrite", full)
        thread.finish()
    while thread.jobs:
        thread.finish()
    assert only(first.answers()[0]).error_code == ErrorCode.NONE
    for client in others:
        answer = only(client.answers()[0])
        assert (answer.error_code, "full" in answer.error_message) == (ErrorCode.KAFKA_STORAGE_ERROR, True)
    assert (log.log_end_offset, log.staged_end_offset, log.directory.offline) == (begin, begin, False)
    node.replicas.logs.tick_room(0)
    client = others[0]
    client.send(client.frame("Produce", 9, **to("t", batch(b"b"))))
    thread.finish()
    assert only(client.answers()[0]).base_offset == begin


def test_another_request_that_meets_the_full_disk_takes_nothing_from_those_who_wait(
    node, thread, monkeypatch
):
    _, others, log = meet_at_a_sync(node, thread)
    begin = log.log_end_offset

    def full(fd, data, position):
        raise OSError(errno.ENOSPC, "No space left on device")

    stranger = node.connect()
    with monkeypatch.context() as patch:
        patch.setattr("kbroker.server.os_disk._pwrite", full)
        stranger.send(stranger.frame("Produce", 9, **to("t", batch(b"c"), acks=1)))
    assert only(stranger.answers()[0]).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert log.staged_end_offset == begin
    while thread.jobs:
        thread.finish()
    for client in others:
        assert only(client.answers()[0]).error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_reads_and_retention_find_what_is_left_to_a_sync(node, thread):
    _, _, log = meet_at_a_sync(node, thread)
    begin = log.log_end_offset
    assert log.read(0, 1 << 20, log.staged_end_offset).next_offset == begin + 3
    assert log.log_end_offset == begin + 3
    while thread.jobs:
        thread.finish()


def test_retention_deletes_nothing_that_is_left_to_a_sync(node, thread):
    first, others, log = meet_at_a_sync(node, thread)
    begin = log.log_end_offset
    node.replicas.get("t", 0).log.config.retention_bytes = 0
    log.delete_old_segments(log.directory.now_ms)
    assert (log.log_start_offset, log.log_end_offset) == (0, begin + 3)
    while thread.jobs:
        thread.finish()
    assert all(only(client.answers()[0]).error_code == ErrorCode.NONE for client in (first, *others))


def test_a_topic_that_is_deleted_while_records_are_left_to_a_sync(node, thread):
    first, others, log = meet_at_a_sync(node, thread)
    node.replicas.logs.delete(log.topic_partition)
    while thread.jobs:
        thread.finish()
    assert [len(client.answers()) for client in (first, *others)] == [1, 1, 1, 1]
    assert not log.directory.offline


def test_a_new_epoch_begins_behind_what_is_left_to_a_sync(node, thread):
    first, others, log = meet_at_a_sync(node, thread)
    begin = log.log_end_offset
    partition = node.replicas.get("t", 0)
    partition.lead(1, partition.leader_epoch + 1, 9, (1,), (1,), 1)
    assert log.epochs.entries()[-1][1] == log.log_end_offset == begin + 3
    while thread.jobs:
        thread.finish()
    assert all(only(client.answers()[0]).error_code == ErrorCode.NONE for client in (first, *others))


@pytest.fixture
def turn(node, thread):
    """What the loop does when it has handled what it read."""
    waiting = []
    node.replicas.syncs._call_soon = waiting.append

    def end():
        now, waiting[:] = waiting[:], []
        for each in now:
            each()

    return end


def send_together(node, thread, turn, count=3, frames=4):
    clients = []
    for _ in range(count):
        client = node.connect()
        client.send(client.frame("Produce", 9, **to("t", batch(b"warm"))))
        turn()
        thread.finish()
        assert len(client.answers()) == 1
        clients.append(client)
    begin = node.replicas.get("t", 0).log.log_end_offset
    for client in clients:
        client.send(*[client.frame("Produce", 9, **to("t", batch(b"x"))) for _ in range(frames)])
    return clients, begin


@pytest.mark.parametrize("frames", [1, 4])
def test_what_one_turn_reads_is_written_once_and_synced_once(node, thread, turn, monkeypatch, frames):
    writes = []
    clients, begin = send_together(node, thread, turn, frames=frames)
    monkeypatch.setattr("kbroker.server.os_disk._pwrite", _counting(writes))
    log = node.replicas.get("t", 0).log
    assert (log.log_end_offset, log.staged_end_offset, thread.jobs) == (begin, begin + 3 * frames, [])
    turn()
    assert (len(writes), len(thread.jobs), log.log_end_offset) == (1, 1, begin + 3 * frames)
    assert [client.answers() for client in clients] == [[], [], []]
    thread.finish()
    offsets = [only(answer).base_offset for client in clients for answer in client.answers()]
    assert offsets == list(range(begin, begin + 3 * frames))
    assert not thread.jobs


def test_one_of_those_that_wait_together_goes_away(node, thread, turn):
    clients, begin = send_together(node, thread, turn)
    clients[1].core.abandon()
    turn()
    thread.finish()
    assert [len(client.answers()) for client in clients] == [4, 0, 4]
    assert node.replicas.get("t", 0).high_watermark == begin + 12


def test_a_sync_that_fails_refuses_each_of_those_that_wait_together(node, thread, turn, monkeypatch):
    clients, _ = send_together(node, thread, turn)
    turn()

    def fail(file):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("kbroker.server.os_disk.OsFile.sync", fail)
    thread.finish()
    codes = [only(answer).error_code for client in clients for answer in client.answers()]
    assert codes == [ErrorCode.KAFKA_STORAGE_ERROR] * 12


def test_what_comes_behind_answers_that_wait_is_handled_after_them(node, thread, turn):
    (client, *_), begin = send_together(node, thread, turn, count=1, frames=1)
    client.send(client.frame("ApiVersions", 0), client.frame("Produce", 9, **to("t", batch(b"x"))))
    assert client.answers() == []
    turn()
    thread.finish()
    client.core.proceed()
    names = [type(answer).__name__ for answer in client.answers()]
    assert names == ["ProduceResponse", "ApiVersionsResponse"]
    turn()
    thread.finish()
    assert only(client.answers()[0]).base_offset == begin + 1


def test_requests_and_bytes_of_those_that_waited_are_counted_once(node, thread, turn):
    clients, _ = send_together(node, thread, turn, count=1)
    stats = node.services.requests.of("Produce")
    before, sent = stats.count, clients[0].core.traffic.bytes_out
    turn()
    thread.finish()
    answers = b"".join(clients[0].core.out)
    assert (stats.count, stats.waited.count) == (before + 4, 5)
    assert len(clients[0].answers()) == 4
    assert clients[0].core.traffic.bytes_out - sent == len(answers)
