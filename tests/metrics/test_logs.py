"""How log lines look, where they go, and the log of requests."""

from __future__ import annotations

import json
import logging

import pytest

from kbroker.broker.request_log import RequestLog
from kbroker.cli.log_setup import JsonFormatter, set_up_logging
from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.records import fetch, produce
from kbroker.config.loading import load_config
from kbroker.errors import ConfigError
from kbroker.handlers.context import ConnectionContext
from kbroker.protocol.record_batch import Record
from kbroker.types import TopicPartition


@pytest.fixture
def logging_as_it_was():
    root, ours = logging.getLogger(), logging.getLogger("kbroker")
    before = root.handlers[:], root.level, ours.level, logging.raiseExceptions
    yield
    for handler in root.handlers:
        if handler not in before[0]:
            handler.close()
    root.handlers, logging.raiseExceptions = before[0], before[3]
    root.setLevel(before[1])
    ours.setLevel(before[2])


def set_up(**settings):
    names = {name.replace("_", "."): str(value) for name, value in settings.items()}
    set_up_logging(load_config(assignments=names.items()).config)


def test_json_has_a_line_an_object_each_with_what_belongs_to_it():
    record = logging.LogRecord("kbroker.x", logging.INFO, "f", 1, "topic %s", ("a\n\x1b",), None)
    record.created = 1_700_000_000.5
    record.fields = {"request": "Produce", "level": "not this"}
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert json.loads(line) == {
        "time": "2023-11-14T22:13:20.500Z",
        "level": "INFO",
        "logger": "kbroker.x",
        "message": "topic a\n\x1b",
        "request": "Produce",
    }


def test_a_log_file_is_rotated(tmp_path, logging_as_it_was):
    path = tmp_path / "broker.log"
    set_up(
        kbroker_log_file=path,
        kbroker_log_file_bytes=4096,
        kbroker_log_file_count=2,
        kbroker_log_format="json",
    )
    for number in range(200):
        logging.getLogger("kbroker.test").info("line %d", number)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["broker.log", "broker.log.1", "broker.log.2"]
    assert json.loads(path.read_text().splitlines()[-1])["message"] == "line 199"


def test_a_log_file_that_cannot_be_written_is_an_error(tmp_path, logging_as_it_was):
    with pytest.raises(ConfigError, match="cannot write"):
        set_up(kbroker_log_file=tmp_path / "nowhere" / "x.log")


def test_one_of_so_many_requests_is_told(caplog):
    caplog.set_level(logging.INFO, "kbroker.requests")
    log = RequestLog(10)
    context = ConnectionContext("id", "10.0.0.1", client_id="c")
    for _ in range(25):
        log.note(context, "Heartbeat", 4, 30, 1.0, 1.002)
    log.note(context, "Produce", 9, 100, 1.0, 1.5, times=7, is_parked=True)
    assert len(caplog.records) == 4
    assert (
        caplog.records[0].getMessage()
        == "Heartbeat v4 of c from 10.0.0.1 (User:ANONYMOUS): 30 bytes, 2.000 ms"
    )
    assert caplog.records[3].fields["requests"] == 7


def test_the_log_of_requests_is_switched_on_and_off_while_running(scraped, caplog):
    caplog.set_level(logging.INFO, "kbroker.requests")
    scraped.broker.create_topic("logged")
    with Cluster(scraped.broker.bootstrap) as cluster:
        place = TopicPartition("logged", 0)
        produce(cluster, place, [Record(-1, 0, None, b"v")])
        assert not caplog.records
        alter_configs(cluster, ResourceType.BROKER, "", set_={"kbroker.log.requests.every": "1"})
        for _ in range(3):
            produce(cluster, place, [Record(-1, 0, None, b"v")])
        fetch(cluster, {place: 0})
        names = [record.fields["request"] for record in caplog.records]
        assert names.count("Produce") == 3
        assert "FetchConsumer" in names
        alter_configs(cluster, ResourceType.BROKER, "", delete=["kbroker.log.requests.every"])
        caplog.clear()
        produce(cluster, place, [Record(-1, 0, None, b"v")])
        assert not [record for record in caplog.records if record.fields["request"] == "Produce"]
