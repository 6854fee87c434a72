"""Where a share group begins that has no start yet: by time, while nobody waits for a long look."""

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.share_settings import ShareSettings
from kbroker.broker.shares import SharePartitions
from kbroker.config.broker_config import BrokerConfig
from kbroker.coordinator.share.state_shard import ShareState
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.compression import Codec
from kbroker.protocol.record_batch import (
    CREATE_TIME,
    Record,
    build_batch,
    parse_batch_header,
    set_max_timestamp,
)
from tests.handlers.test_produce import to

VALUE = bytes(range(256)) * 50
NOW_MS = 100_000


def long(time, newest, *, damaged=False):
    """Its header promises a newer record than there is."""
    made = bytearray(build_batch([Record(timestamp=time, value=VALUE[::-1] + VALUE)], codec=Codec.LZ4))
    assert len(made) > 256
    if damaged:
        made[-20:-10] = bytes(10)
    set_max_timestamp(made, parse_batch_header(made), CREATE_TIME, newest)
    return bytes(made)


@pytest.fixture
def begin(node, monkeypatch):
    """`begin(wish) -> Deferred of the LiveShare`; `begin.jobs`: what threads have to do."""
    monkeypatch.setattr("kbroker.storage.append_checks._PACKED_BYTES_MAX", 200)
    node.topic("t")
    topic = node.services.metadata.image.topics.get("t")
    jobs, states = [], [ShareState()]
    node.services.run_blocking = lambda work, done: jobs.append((work, done))
    node.services.config = BrokerConfig({"node.id": "1"})
    settings = ShareSettings(node.services)

    def read(key, leader_epoch):
        state = Deferred()
        state.resolve(states[-1])
        return state

    parts = SharePartitions(
        node.services, SimpleNamespace(read=read), settings, SimpleNamespace(put=lambda *given: None)
    )
    parts.wall_ms = lambda: NOW_MS

    def start(wish):
        settings._own = lambda group: {"share.auto.offset.reset": wish}
        return parts.get("g", topic.id, 0)

    start.jobs, start.states, start.parts = jobs, states, parts
    start.produce = lambda data: node.connect().ask("Produce", 9, **to("t", data))
    return start


def run(job):
    work, done = job
    work()
    done(None)


def test_long_batches_are_looked_into_elsewhere(begin):
    for data in (long(1_000, 9_000), long(2_000, 9_000), build_batch([Record(timestamp=8_500, value=b"")])):
        begin.produce(bytes(data))
    found = begin("by_duration:PT93S")
    for _ in range(2):
        assert not found.done
        # Who comes meanwhile waits for the same.
        assert not begin("by_duration:PT93S").done
        run(begin.jobs.pop())
        assert len(begin.jobs) <= 1
    assert found.result().core.start_offset == 2


def test_what_needs_no_long_look_is_there_at_once(begin):
    begin.produce(bytes(build_batch([Record(timestamp=time, value=b"") for time in (1_000, 8_500)])))
    for wish, start in (
        ("by_duration:PT93S", 1),
        ("by_duration:PT1S", 2),
        ("latest", 2),
        ("earliest", 0),
    ):
        found = begin(wish)
        assert found.result().core.start_offset == start
        begin.parts.forget(found.result())
    begin.states.append(ShareState(start_offset=1))
    assert begin("earliest").result().core.start_offset == 1
    assert begin.jobs == []


def test_a_damaged_batch_refuses_all_who_wait_and_is_tried_again(begin):
    begin.produce(long(1_000, 9_000, damaged=True))
    waiting = [begin("by_duration:PT93S") for _ in range(2)]
    run(begin.jobs.pop())
    for each in waiting:
        with pytest.raises(ApiError) as refused:
            each.result()
        assert refused.value.code == ErrorCode.INVALID_RECORD
    assert not begin("by_duration:PT93S").done
    assert len(begin.jobs) == 1
