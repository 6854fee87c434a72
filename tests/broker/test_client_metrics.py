"""Client metrics (KIP-714): who is asked for what, when a push may come, and what is kept of it."""

from __future__ import annotations

import json

import pytest

from kbroker.broker import client_metrics as module, client_metrics_store as stores
from kbroker.broker.client_metrics import Caller, ClientMetrics, parse_subscription, subscription_id
from kbroker.broker.client_metrics_store import ClientMetricsStore, Push
from kbroker.errors import ApiError, ConfigError
from kbroker.metadata.delta import ClusterDelta
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.otlp import Histogram, Point
from kbroker.server.client_metrics_file import ClientMetricsFile, open_metrics_file

ID = bytes(range(16))
CALLER = Caller("conn", "app", "librdkafka", "2.15.1", "192.0.2.7", 4711)


class World:
    """Client metrics with subscriptions; times in ms."""

    def __init__(self, **arguments):
        self.metrics = ClientMetrics(**arguments)
        self.image = ClusterImage("c")
        self.now = 1_000_000

    def subscribe(self, name, **settings):
        delta = ClusterDelta(self.image)
        for key in ("metrics", "interval.ms", "match"):
            value = settings.get(key.partition(".")[0])
            delta.replay(ConfigRecord(resource_type=16, resource_name=name, name=key, value=value))
        old, self.image = self.image, delta.image(self.image.offset + 1, 1)
        self.metrics.on_metadata(old, self.image, delta)

    def ask(self, instance_id=ID, caller=CALLER):
        """The instance, or an error code."""
        try:
            return self.metrics.ask(instance_id, caller, self.now)
        except ApiError as error:
            return error.code

    def push(self, subscription, instance_id=ID, caller=CALLER, terminating=False, compression=0, size=0):
        """An error code."""
        try:
            self.metrics.check_push(
                instance_id,
                caller,
                self.now,
                subscription_id=subscription,
                terminating=terminating,
                compression=compression,
                size=size,
            )
        except ApiError as error:
            return error.code
        return 0


@pytest.fixture
def world():
    return World()


@pytest.mark.parametrize(
    ("match", "means"),
    [
        ("", True),
        ("client_id=app", True),
        ("client_id=ap", False),
        ("client_id=a.*, client_software_name=librdkafka", True),
        ("client_id=a.*,client_software_name=java", False),
        ("client_software_version=2\\..*,client_source_address=192.0.2.7,client_source_port=47[0-9]+", True),
        ("client_instance_id=AAECAwQFBgcICQoLDA0ODw", True),
        ("client_instance_id=A", False),
    ],
)
def test_every_pattern_has_to_match_all_of_its_text(match, means):
    assert parse_subscription({"match": match}).means(ID, CALLER) == means


def test_metrics_of_all_subscriptions_at_the_shortest_interval(world):
    assert (world.ask().metrics, world.ask(b"i" * 16).interval_ms) == ((), 300_000)
    world.subscribe("a", metrics="m.z, m.a", interval="5000")
    world.subscribe("b", metrics="m.a,m.b", interval="900000", match="client_id=app")
    world.subscribe("c", metrics="other", interval="100", match="client_id=web")
    instance = world.ask()
    assert (instance.metrics, instance.interval_ms) == (("m.a", "m.b", "m.z"), 5000)
    world.subscribe("b", metrics="*", interval="900000")
    assert world.ask().metrics == ("*",)
    world.subscribe("b")
    assert world.ask().metrics == ("m.a", "m.z")


@pytest.mark.parametrize(
    ("metrics", "interval_ms", "instance", "number"),
    [
        # As Apache Kafka 4.4 answered.
        ((), 300_000, b"~\x87i\xcb\xd3\xf8D\x9a\xab\xd7\x11\xf9\x03\x10\xa4(", -780156066),
        (("org.apache.kafka.x",), 100, b"\x97\x0e\xc5B\x16\x06L}\x80\x8d\xacJ\x93\xc7\xb8!", -155611542),
    ],
)
def test_the_number_of_a_subscription_is_kafkas(metrics, interval_ms, instance, number):
    assert subscription_id(metrics, interval_ms, instance) == number


def test_one_question_and_one_push_an_interval(world):
    world.subscribe("a", metrics="m", interval="1000")
    number = world.ask().subscription_id
    assert world.ask() == 89
    assert world.push(number) == 0  # right after asking
    assert world.push(number) == 89
    world.now += 999
    assert (world.push(number), world.ask()) == (89, 89)
    world.now += 1
    assert world.push(number) == 0
    assert world.ask() == 89
    assert world.push(number, terminating=True) == 0  # the last one may come at any time
    world.now += 5000
    assert world.push(number) == 42


@pytest.mark.parametrize(("push", "code"), [({"compression": 5}, 76), ({"compression": -1}, 76)])
def test_after_some_errors_a_client_may_ask_at_once(world, push, code):
    world.subscribe("a", metrics="m", interval="1000")
    number = world.ask().subscription_id
    assert world.push(number, **push) == code
    assert world.ask().subscription_id == number
    assert world.ask() == 89


def test_what_is_wrong_with_a_push(world):
    world.metrics.push_bytes_max = 10
    number = world.ask().subscription_id
    assert world.push(number, instance_id=bytes(16)) == 42
    assert world.push(number, instance_id=bytes(15) + b"\1") == 42
    assert world.push(number + 1) == 117
    assert world.push(number) == 89
    world.now += 300_000
    number = world.ask().subscription_id
    assert world.push(number, size=11) == 118
    assert world.push(number, instance_id=b"x" * 15 + b"y") == 117
    for codec in range(5):
        world.now += 300_000
        assert world.push(number, compression=codec, size=10) == 0


def test_changed_subscriptions_are_noticed_at_the_next_push(world):
    number = world.ask().subscription_id
    world.subscribe("a", metrics="m", interval="1000")
    assert world.push(number) == 117
    assert world.push(world.ask().subscription_id) == 89
    world.now += 1000
    assert world.push(world.ask().subscription_id) == 0


def test_an_instance_goes_with_the_connection_it_came_on(world):
    other = CALLER._replace(connection_id="other")
    world.ask()
    assert world.ask(caller=other) == 89
    world.metrics.on_closed("other")
    assert world.ask(caller=other) == 89
    world.metrics.on_closed("conn")
    assert world.ask(caller=other) != 89
    world.metrics.on_closed("never seen")


def test_instances_are_bounded(world, monkeypatch):
    monkeypatch.setattr(module, "INSTANCES_MAX", 3)
    for number in range(5):
        world.ask(bytes([number]) * 16)
    assert world.ask(bytes([4]) * 16) == 89
    assert world.ask(bytes([0]) * 16) != 89
    world.metrics.on_closed("conn")
    assert not world.metrics._instances
    assert not world.metrics._by_connection


# What is kept.


def point(name, value, kind="sum", is_delta=True, time_ms=0, **attributes):
    return Point(name, kind, "", tuple(sorted(attributes.items())), value, is_delta, time_ms)


def push(*points, instance=ID, now=0, last=False):
    return Push(instance, "app", "s", "1", "192.0.2.7", last, now, (), list(points))


def values(store, now=0):
    (instance,) = store.instances(now)
    return {key: series.value for key, series in instance.series.items()}


def test_differences_are_added_up_and_the_rest_is_the_latest():
    store = ClientMetricsStore()
    old = Histogram(1, 2.0, (1.0,), (1, 0))
    store.add(push(point("d", 2), point("c", 5, is_delta=False), point("g", 1.5, "gauge", False)))
    store.add(push(point("d", 3), point("c", 4, is_delta=False), point("g", 0.5, "gauge", False)))
    store.add(push(point("h", old, "histogram"), point("d", 1, topic="t")))
    store.add(push(point("h", Histogram(2, 3.0, (1.0,), (0, 2)), "histogram")))
    assert values(store) == {
        ("d", ()): 5,
        ("c", ()): 4,
        ("g", ()): 0.5,
        ("h", ()): Histogram(3, 5.0, (1.0,), (1, 2)),
        ("d", (("topic", "t"),)): 1,
    }
    other = Histogram(1, 1.0, (9.0,), (1, 0))
    store.add(push(point("h", other, "histogram"), point("d", 7, "gauge", False), last=True))
    assert values(store)[("h", ())] == other
    assert values(store)[("d", ())] == 7
    (instance,) = store.instances(0)
    assert (instance.pushes, instance.has_ended) == (5, True)


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(stores, "SERIES_OF_ONE_MAX", 3)
    monkeypatch.setattr(stores, "SERIES_MAX", 7)
    monkeypatch.setattr(stores, "INSTANCES_MAX", 3)
    store = ClientMetricsStore()
    store.add(push(*(point(f"m{number}", 1) for number in range(5)), point("x" * 3000, 1)))
    (instance,) = store.instances(0)
    assert (len(instance.series), instance.left_out) == (3, 3)
    store.add(push(point("m0", 1)))
    assert values(store)[("m0", ())] == 2
    for number in range(1, 4):
        store.add(push(*(point(f"m{series}", 1) for series in range(3)), instance=bytes([number]) * 16))
    assert [instance.instance_id[0] for instance in store.instances(0)] == [3, 2]
    for number in range(4, 9):
        store.add(push(instance=bytes([number]) * 16))
    assert [instance.instance_id[0] for instance in store.instances(0)] == [8, 7, 6]


def test_the_silent_are_forgotten_after_an_hour():
    store = ClientMetricsStore()
    store.add(push(point("m", 1), now=0))
    assert len(list(store.instances(3_600_000))) == 1
    assert not list(store.instances(3_600_001))


# The file.


def test_every_push_is_a_line_and_the_file_is_bounded(tmp_path):
    path = tmp_path / "metrics.jsonl"
    file = ClientMetricsFile(str(path), bytes_max=600)
    for now in range(4):
        file.write(push(point("m", float("inf"), a="\ud800"), now=now))
    file.close()
    kept = [*(tmp_path / "metrics.jsonl.1").read_text().splitlines(), *path.read_text().splitlines()]
    lines = [json.loads(line) for line in kept]
    assert [line["time_ms"] for line in lines] == [0, 1, 2, 3]
    assert lines[0]["metrics"][0]["value"] is None
    assert lines[0]["client_id"] == "app"


def test_a_file_that_fails_is_told_of_once(tmp_path, caplog):
    file = ClientMetricsFile(str(tmp_path / "metrics.jsonl"))
    file.close()
    file.write(push())
    file.write(push())
    assert len(caplog.records) == 1


def test_a_file_that_cannot_be_is_a_wrong_setting(tmp_path):
    with pytest.raises(ConfigError, match="cannot write"):
        open_metrics_file(str(tmp_path / "no" / "file"), keeps=True)
    with pytest.raises(ConfigError, match="stays empty"):
        open_metrics_file(str(tmp_path / "file"), keeps=False)
    assert open_metrics_file(None, keeps=True) is None
