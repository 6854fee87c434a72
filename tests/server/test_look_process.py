"""Looks into batches by another process: what they find is what would have been found here."""

from __future__ import annotations

import os
import sys

import pytest

from kbroker.client.cluster import Cluster
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.compression import Codec
from kbroker.protocol.generated.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kbroker.protocol.generated.produce_response import ProduceResponse
from kbroker.protocol.record_batch import Record, build_batch, iter_batches, parse_batch_header
from kbroker.server.look_process import LookProcess
from kbroker.server.look_worker import STARVED, give_way, is_starved
from kbroker.storage.append_checks import AppendError, BatchLook, RecordErrors
from kbroker.storage.log_config import LogConfig
from kbroker.storage.time_search import TimeLook
from kbroker.testing import Broker
from kbroker.types import TopicPartition

_NOW_MS = 1_796_000_000_000
_COMPACTED = LogConfig(cleanup_policy=frozenset({"compact"}))


@pytest.fixture
def process():
    made = LookProcess()
    assert made._running(patient=True) is not None
    yield made
    made.close()


def _batch(*keys: bytes | None, codec: int = Codec.GZIP, value: bytes = b"value") -> bytes:
    return build_batch([Record(-1, _NOW_MS, key, value) for key in keys], codec=codec)


def _look(batch: bytes, config: LogConfig = _COMPACTED) -> BatchLook:
    return BatchLook(memoryview(batch), TopicPartition("orders", 3), config, _NOW_MS, 7)


def _verdict(look: BatchLook) -> object:
    try:
        return bytes(look())
    except AppendError as error:
        return (
            type(error),
            error.code,
            error.message,
            error.log_start_offset,
            error.record_errors,
            error.told,
        )


@pytest.mark.parametrize(
    ("batch", "config"),
    [
        (_batch(b"a", b"b"), _COMPACTED),
        (_batch(b"a", b"b"), LogConfig(compression_type="lz4")),
        (_batch(b"a", b"b"), LogConfig(message_timestamp_type="LogAppendTime", compression_type="zstd")),
        (_batch(b"a", None, b"c", None), _COMPACTED),
        (_batch(b"a", value=bytes(8 << 20)), _COMPACTED),
        (_batch(b"a")[:-3] + b"end", _COMPACTED),
    ],
    ids=["good", "another codec", "time of the append", "without keys", "bomb", "damaged"],
)
def test_what_a_look_finds_is_the_same_there_as_here(process, batch, config):
    there, here = _look(batch, config), _look(batch, config)
    process.run(there)
    here.run()
    assert _verdict(there) == _verdict(here)


def test_a_batch_that_stays_as_it_is_is_not_sent_back(process):
    records = memoryview(_batch(b"a"))
    look = BatchLook(records, TopicPartition("orders", 3), _COMPACTED, _NOW_MS, 0)
    process.run(look)
    assert look() is records


def test_a_look_for_a_time(process):
    batch = _batch(b"a", b"b")
    look = TimeLook(batch, parse_batch_header(batch), _NOW_MS, 1, 10, 1 << 30)
    process.run(look)
    assert look.result() == (_NOW_MS, 1, -1)
    broken = batch[:-9] + bytes(9)
    look = TimeLook(broken, next(iter_batches(memoryview(broken))), _NOW_MS, 0, 10, 1 << 30)
    process.run(look)
    with pytest.raises(ApiError) as refused:
        look.result()
    assert refused.value.code == ErrorCode.INVALID_RECORD


def test_another_process_takes_the_place_of_one_that_has_ended(process):
    for _ in range(2):
        look = _look(_batch(b"a"))
        process.run(look)
        assert bytes(look()) == _batch(b"a")
        process._process.kill()
        process._process.wait()


def _process_of(script: str) -> LookProcess:
    process = LookProcess((sys.executable, "-c", script))
    process._running(patient=True)
    return process


def test_the_first_look_does_not_wait_for_the_process_to_start():
    process = LookProcess((sys.executable, "-c", "import sys; sys.stdin.buffer.read(1)"))
    look = _look(_batch(b"a"))
    process.run(look)
    assert bytes(look()) == _batch(b"a")
    assert process._process is not None
    process.close()


def test_a_look_that_ends_each_process_is_an_error_and_does_not_come_here(caplog):
    process = _process_of("import sys; print(end='\\1', flush=True); sys.stdin.buffer.read(9)")
    look = _look(_batch(b"a"))
    with pytest.raises(ApiError) as refused:
        process.run(look)
    assert refused.value.code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert look.outcome == (None, None)
    assert "has ended at work" in caplog.text


@pytest.mark.parametrize("command", [("/no/such/program",), (sys.executable, "-c", "")])
def test_where_no_process_can_be_started_looks_are_run_here(caplog, command):
    process = LookProcess(command)
    process._running(patient=True)
    for _ in range(2):
        look = _look(_batch(b"a", None))
        process.run(look)
        with pytest.raises(RecordErrors):
            look()
    assert caplog.text.count("others wait for it now") == 1


def test_one_that_got_no_core_is_followed_by_one_in_a_hurry(tmp_path):
    told = tmp_path / "told"
    script = (
        f"import sys; open({str(told)!r}, 'a').write(f'{{sys.argv[1:]}}\\n')\n"
        "print(end='\\1', flush=True)\n"
        f"if len(sys.argv) == 1: sys.stdin.buffer.read(9); sys.exit({STARVED})\n"
        "from kbroker.server.look_worker import serve\n"
        "serve(sys.stdin.buffer, type('', (), dict(write=lambda self, data: data == b'\\1' or "
        "sys.stdout.buffer.write(data), flush=lambda self: sys.stdout.buffer.flush()))())"
    )
    process = _process_of(script)
    look = _look(_batch(b"a"))
    process.run(look)
    process.close()
    assert bytes(look()) == _batch(b"a")
    assert told.read_text() == "[]\n['hurry']\n"


def test_who_gets_a_twentieth_of_a_core_is_not_starved():
    assert is_starved(1.0, 0.049)
    assert not is_starved(1.0, 0.05)


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="only Linux has it")
@pytest.mark.parametrize(("hurry", "policy"), [(False, "SCHED_IDLE"), (True, "SCHED_OTHER")])
def test_it_runs_only_when_nobody_else_does_unless_in_a_hurry(hurry, policy):
    child = os.fork()
    if not child:
        right = give_way(hurry=hurry) is not hurry and os.sched_getscheduler(0) == getattr(os, policy)
        os._exit(0 if right and (not hurry or os.getpriority(os.PRIO_PROCESS, 0) >= 10) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_closing_ends_it_and_what_comes_later_is_refused(process):
    process.run(_look(_batch(b"a")))
    running = process._process
    process.close()
    running.wait()
    with pytest.raises(ApiError):
        process.run(_look(_batch(b"a")))


def test_a_broker_has_long_batches_looked_into_elsewhere(monkeypatch):
    looks: list[object] = []
    run = LookProcess._ask
    monkeypatch.setattr(
        LookProcess, "_ask", staticmethod(lambda other, look: (looks.append(look), run(other, look)))
    )
    with Broker() as broker:
        broker.create_topic("compacted", config={"cleanup.policy": "compact"})
        with Cluster(broker.bootstrap) as cluster:
            while not looks:  # the first ones do not wait for the process
                assert not _produce(cluster, _batch(*[b"b"] * 5000))
            looks.clear()
            codes = [
                _produce(cluster, _batch(*keys)) for keys in ([b"a"], [b"a"] * 5000, [b"a"] * 4999 + [None])
            ]
            # Its like is known by now, and it has few bytes.
            codes.append(_produce(cluster, _batch(b"a", value=bytes(3_000_000))))
    assert codes == [ErrorCode.NONE, ErrorCode.NONE, ErrorCode.INVALID_RECORD, ErrorCode.NONE]
    assert [type(look) for look in looks] == [BatchLook] * 3


def _produce(cluster: Cluster, batch: bytes) -> int:
    topic_id = cluster.metadata(["compacted"]).topics[0].topic_id
    data = TopicProduceData(topic_id=topic_id, partition_data=[PartitionProduceData(index=0, records=batch)])
    request = ProduceRequest(acks=1, timeout_ms=5000, topic_data=[data])
    return cluster.ask(request, ProduceResponse).responses[0].partition_responses[0].error_code
