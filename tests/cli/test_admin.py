"""`kbroker-admin` end to end, in this process, against a running broker.

KBROKER_TEST_BOOTSTRAP=host:port names another one, as an Apache Kafka with whose answers the tests agree too.
"""

import json
import os
import uuid

import pytest

from kbroker.cli.admin import main
from kbroker.client import Cluster
from kbroker.client.group_offsets import commit_offsets
from kbroker.types import TopicPartition


@pytest.fixture(scope="module")
def bootstrap(request):
    return os.environ.get("KBROKER_TEST_BOOTSTRAP") or request.getfixturevalue("kafka").bootstrap


@pytest.fixture
def admin(bootstrap, capsys, monkeypatch):
    """Runs a command; returns (exit code, stdout, stderr). With json=True stdout is the parsed document."""
    monkeypatch.setenv("KBROKER_BOOTSTRAP", bootstrap)

    def run(*arguments, json_=False, code=0):
        capsys.readouterr()
        got = main([*arguments, "--json"] if json_ else list(arguments))
        out, err = capsys.readouterr()
        assert code is None or got == code, err
        assert err.count("\n") <= 1
        assert "Traceback" not in err
        return json.loads(out) if json_ else out + err

    return run


@pytest.fixture
def name():
    return f"admin-{uuid.uuid4().hex[:10]}"


@pytest.fixture
def topic(admin, name):
    admin("topics", "create", name, "-p", "3", "-c", "retention.ms=7200000")
    return name


@pytest.fixture
def cluster(bootstrap):
    with Cluster(bootstrap) as cluster:
        yield cluster


# Topics.


def test_create_list_describe_delete(admin, name):
    assert admin("topics", "create", name, "-p", "2", "-c", "retention.ms=3600000", "--dry-run").endswith(
        "could be created\n"
    )
    assert name not in admin("topics", "list")
    assert (
        admin("topics", "create", name, "-p", "2", "-c", "retention.ms=3600000")
        == f"topic {name} is created\n"
    )
    (listed,) = [entry for entry in admin("topics", "list", json_=True) if entry["name"] == name]
    assert (listed["partitions"], listed["replication_factor"], listed["internal"]) == (2, 1, False)
    (described,) = admin("topics", "describe", name, json_=True)
    assert described["id"] == listed["id"]
    assert described["configs"] == {"retention.ms": "3600000"}
    assert [part["partition"] for part in described["partitions"]] == [0, 1]
    assert {(part["first_offset"], part["end_offset"]) for part in described["partitions"]} == {(0, 0)}
    assert admin("topics", "delete", name) == f"topic {name} is gone\n"
    assert name not in admin("topics", "list")


def test_a_topic_that_exists(admin, topic):
    assert "already exists" in admin("topics", "create", topic, code=1)
    assert admin("topics", "create", topic, "--if-not-exists") == f"topic {topic} exists already\n"
    assert admin("topics", "create", topic, "--if-not-exists", json_=True) == [{"name": topic, "error": None}]
    assert admin("topics", "create", topic, json_=True, code=1) == [
        {"name": topic, "error": "TOPIC_ALREADY_EXISTS"}
    ]


def test_a_topic_that_does_not_exist(admin, name):
    for command in ("describe", "delete", "tail"):
        assert f"topic {name} does not exist" in admin("topics", command, name, code=1)
    assert "does not exist" in admin("topics", "produce", name, "--value", "v", code=1)
    admin("topics", "delete", name, "--if-exists")
    assert name not in admin("topics", "list")


def test_a_refused_topic_is_one_line(admin, name):
    assert "foo" in admin("topics", "create", name, "-c", "foo=bar", code=1)
    assert "eplication factor" in admin("topics", "create", name, "-r", "9", code=1)
    assert admin("topics", "create", "not/legal", code=1).startswith("kbroker-admin: topic not/legal: ")


def test_one_of_several_fails(admin, topic, name):
    other = f"{name}-2"
    out = admin("topics", "create", topic, other, code=1)
    assert f"topic {other} is created" in out
    assert "already exists" in out


def test_alter(admin, topic):
    admin("topics", "alter", topic, "-p", "4", "--set", "cleanup.policy=compact", "--delete", "retention.ms")
    (described,) = admin("topics", "describe", topic, json_=True)
    assert len(described["partitions"]) == 4
    assert described["configs"] == {"cleanup.policy": "compact"}
    assert "4" in admin("topics", "alter", topic, "-p", "2", code=1)


@pytest.mark.parametrize("option", ["-c", "--config", "--set"])
def test_settings_have_the_same_names_everywhere(admin, name, option):
    admin("topics", "create", name, option, "retention.ms=7200000")
    assert admin("topics", "describe", name, json_=True)[0]["configs"]["retention.ms"] == "7200000"
    admin("topics", "alter", name, option, "retention.ms=3600000")
    assert admin("topics", "describe", name, json_=True)[0]["configs"]["retention.ms"] == "3600000"


def test_a_description_for_a_person(admin, topic):
    lines = admin("topics", "describe", topic).splitlines()
    assert lines[0].startswith(f"topic {topic}  id ")
    assert lines[0].endswith("settings: retention.ms=7200000")
    assert lines[1] == "PARTITION  LEADER  REPLICAS  IN SYNC  FIRST OFFSET  END OFFSET"
    assert len(lines) == 5


# Records.


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_produce_and_tail(admin, topic, codec):
    written = admin(
        "topics",
        "produce",
        topic,
        "--key",
        "k",
        "--value",
        "größe",
        "--header",
        "h=1",
        "--compression",
        codec,
    )
    assert written == f"1 record is written to {topic}\n"
    record = json.loads(admin("topics", "tail", topic, "--json"))
    assert (record["topic"], record["offset"], record["key"], record["value"]) == (topic, 0, "k", "größe")
    assert record["headers"] == [["h", "1"]]
    assert record["timestamp"] > 0


def test_keys_stay_on_their_partition_and_lines_come_from_stdin(admin, topic, monkeypatch, tmp_path):
    lines = tmp_path / "lines"
    lines.write_text("".join(f"key{number % 7}:{number}\n" for number in range(100)))
    with lines.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        admin("topics", "produce", topic, "--key-separator", ":")
    tail = admin("topics", "tail", topic, "--from-beginning", "--json").splitlines()
    records = [json.loads(line) for line in tail]
    assert sorted(int(record["value"]) for record in records) == list(range(100))
    assert len({(record["key"], record["partition"]) for record in records}) == 7


def test_long_lines_and_bytes_that_are_no_text_are_written(admin, topic, monkeypatch, tmp_path):
    lines = tmp_path / "lines"
    lines.write_bytes(b"".join(b"%d" % number * 600_000 + b"\n" for number in range(3)) + b"\xff\xfe\n")
    with lines.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert "4 records are written" in admin("topics", "produce", topic, "-p", "0")
    tail = admin("topics", "tail", f"{topic}:0", "--from-beginning", "--json").splitlines()
    assert [len(json.loads(line)["value"]) for line in tail][:3] == [600_000] * 3
    assert len(tail) == 4


def test_what_is_no_text_and_a_closed_stdin_are_one_line(bootstrap, topic, monkeypatch, tmp_path, capsys):
    password = tmp_path / "password"
    password.write_bytes(b"\xdd\xff\n")
    command = ["-b", bootstrap, "users", "set", "ann", "--password-file", str(password)]
    assert main(command) == 1
    assert capsys.readouterr().err.startswith("kbroker-admin: what was given is no text in UTF-8")
    monkeypatch.setattr("sys.stdin", None)
    assert main(["-b", bootstrap, "topics", "produce", topic]) == 0
    assert "0 records are written" in capsys.readouterr().out


def test_tail_from_where(admin, topic):
    for number in range(5):
        admin("topics", "produce", topic, "-p", "1", "--value", f"v{number}")

    def values(*options):
        out = admin("topics", "tail", f"{topic}:1", "--json", *options)
        return [json.loads(line)["value"] for line in out.splitlines()]

    assert values("--last", "2") == ["v3", "v4"]
    assert values("--offset", "3") == ["v3", "v4"]
    assert values("--offset", "99") == []
    assert values("--since", "2001-01-01", "-n", "1") == ["v0"]
    assert values("--since", "2999-01-01") == []
    assert values("--last", "1", "--read-committed") == ["v4"]
    assert values("--follow", "--from-beginning", "-n", "5") == ["v0", "v1", "v2", "v3", "v4"]
    assert "v0" in admin("topics", "tail", topic)


def test_delete_records(admin, topic):
    for _ in range(3):
        admin("topics", "produce", topic, "-p", "0", "--value", "v")
    first = admin("topics", "delete-records", f"{topic}:0", "--before", "2", json_=True)
    assert first == [{"topic": topic, "partition": 0, "first_offset": 2}]
    told = admin("topics", "delete-records", f"{topic}:0", "--before", "99", code=1)
    assert "is not within the range" in told
    admin("topics", "delete-records", topic, "--before", "end")
    (described,) = admin("topics", "describe", topic, json_=True)
    assert described["partitions"][0]["first_offset"] == 3


# Groups.


@pytest.fixture
def group(cluster, admin, topic, name):
    """A group without members that has committed offset 1 of partition 0, where 4 records are."""
    for _ in range(4):
        admin("topics", "produce", topic, "-p", "0", "--value", "v")
    commit_offsets(cluster, name, {TopicPartition(topic, 0): 1})
    return name


def test_groups_with_their_lag(admin, group, topic):
    (listed,) = [entry for entry in admin("groups", "list", json_=True) if entry["id"] == group]
    assert (listed["type"].lower(), listed["state"]) == ("classic", "Empty")
    (described,) = admin("groups", "describe", group, json_=True)
    assert (described["state"], described["members"]) == ("Empty", [])
    assert described["offsets"] == [
        {"topic": topic, "partition": 0, "offset": 1, "end_offset": 4, "lag": 3, "member": None}
    ]
    assert f"group {group}  classic  Empty  members 0\n" in admin("groups", "describe", group)
    assert group in admin("groups", "list", "--state", "Empty")
    assert group not in admin("groups", "list", "--state", "Stable")


def test_reset_shows_a_plan_and_executes_it(admin, group, topic):
    def offsets():
        (described,) = admin("groups", "describe", group, json_=True)
        return {entry["partition"]: entry["offset"] for entry in described["offsets"]}

    assert "--execute does it" in admin("groups", "reset-offsets", group, "--all-topics", "--to-latest")
    assert offsets() == {0: 1}
    plan = admin("groups", "reset-offsets", group, "--all-topics", "--shift-by", "2", "--execute", json_=True)
    assert plan == [{"topic": topic, "partition": 0, "offset": 1, "new_offset": 3}]
    assert offsets() == {0: 3}
    admin("groups", "reset-offsets", group, "--topic", topic, "--to-offset", "2", "--execute")
    assert offsets() == {0: 2, 1: 0, 2: 0}  # each within its log
    admin(
        "groups", "reset-offsets", group, "--topic", f"{topic}:0", "--to-datetime", "2001-01-01", "--execute"
    )
    assert offsets()[0] == 0
    admin("groups", "reset-offsets", group, "--topic", f"{topic}:0", "--to-latest", "--execute")
    assert offsets()[0] == 4
    admin("groups", "reset-offsets", group, "--topic", f"{topic}:0", "--to-earliest", "--execute")
    assert offsets()[0] == 0


def test_delete_offsets_and_group(admin, group, topic):
    assert "is forgotten" in admin("groups", "delete-offsets", group, "--topic", f"{topic}:0")
    admin("groups", "delete", group, code=None)
    assert group not in admin("groups", "list")


def test_a_group_that_does_not_exist(admin, name):
    assert admin("groups", "describe", name, code=1) == f"kbroker-admin: group {name} does not exist\n"
    assert name in admin("groups", "delete", name, code=1)
    assert "committed nothing" in admin(
        "groups", "reset-offsets", name, "--all-topics", "--to-latest", code=1
    )


def test_a_group_with_members(bootstrap, admin, topic, name):
    from confluent_kafka import Consumer

    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": name,
        "client.id": "c",
        "session.timeout.ms": 6000,
    }
    consumer = Consumer(settings)
    try:
        consumer.subscribe([topic])
        for _ in range(100):
            consumer.poll(0.1)
            if consumer.assignment():
                break
        (described,) = admin("groups", "describe", name, json_=True)
        assert described["state"] == "Stable"
        (member,) = described["members"]
        assert member["client_id"] == "c"
        assert [part["partition"] for part in member["partitions"]] == [0, 1, 2]
        assert "c" in admin("groups", "describe", name, "--members")
        refused = admin("groups", "reset-offsets", name, "--topic", topic, "--to-latest", "--execute", code=1)
        assert "has members" in refused
        assert name in admin("groups", "delete", name, code=1)
    finally:
        consumer.close()


# Configs.


def test_topic_configs(admin, topic):
    admin("configs", "set", "topic", topic, "max.message.bytes=5000", "segment.ms=900000")
    shown = {
        entry["name"]: entry
        for entry in admin("configs", "describe", "topic", topic, json_=True)
        if entry["source"] == "topic"
    }
    assert {name: entry["value"] for name, entry in shown.items()} == {
        "max.message.bytes": "5000",
        "retention.ms": "7200000",
        "segment.ms": "900000",
    }
    assert shown["segment.ms"]["type"] == "long"
    admin("configs", "delete", "topic", topic, "segment.ms")
    assert "segment.ms" not in admin("configs", "describe", "topic", topic)
    assert "segment.ms" in admin("configs", "describe", "topic", topic, "--all")
    assert "MEANING" in admin("configs", "describe", "topic", topic, "--docs")


def test_lists_are_appended_to(admin, topic):
    admin("configs", "set", "topic", topic, "cleanup.policy=compact", "--append")
    assert "delete,compact" in admin("configs", "describe", "topic", topic)
    admin("configs", "set", "topic", topic, "cleanup.policy=delete", "--subtract")
    entries = {entry["name"]: entry for entry in admin("configs", "describe", "topic", topic, json_=True)}
    assert entries["cleanup.policy"]["value"] == "compact"


def test_refused_configs(admin, topic, name):
    assert "retention.ms" in admin("configs", "set", "topic", topic, "retention.ms=soon", code=1)
    assert f"{name}-2" in admin("configs", "set", "topic", f"{name}-2", "retention.ms=1", code=1)
    assert "must be a number" in admin("configs", "describe", "broker", "x", code=1)
    assert "no broker 77" in admin("configs", "describe", "broker", "77", code=1)


def test_broker_and_group_configs(admin, cluster, name):
    node_id = str(min(cluster.brokers()))
    assert "node.id" in admin("configs", "describe", "broker", node_id)
    admin("configs", "set", "broker-default", "log.cleaner.threads=2")
    assert "log.cleaner.threads" in admin("configs", "describe", "broker-default")
    admin("configs", "delete", "broker-default", "log.cleaner.threads")
    assert "log.cleaner.threads" not in admin("configs", "describe", "broker-default")
    admin("configs", "set", "group", name, "consumer.session.timeout.ms=50000")
    assert "50000" in admin("configs", "describe", "group", name)


# Cluster and logs.


def test_cluster(admin, cluster):
    described = admin("cluster", "describe", json_=True)
    assert described["id"]
    assert described["controller"] in {broker["id"] for broker in described["brokers"]}
    assert "metadata.version" in {feature["name"] for feature in described["features"]}
    assert described["quorum"]["leader"] >= 0
    text = admin("cluster", "describe")
    assert f"cluster {described['id']}" in text
    assert "leader" in text


def test_api_versions(admin):
    ((node, ranges),) = admin("cluster", "api-versions", json_=True).items()
    by_name = {entry["name"]: entry for entry in ranges}
    assert by_name["Metadata"]["usable"] >= 12
    assert "Metadata" in admin("cluster", "api-versions", "--broker", node)
    assert "no broker 99" in admin("cluster", "api-versions", "--broker", "99", code=1)


def test_log_dirs(admin, topic):
    admin("topics", "produce", topic, "-p", "2", "--value", "v" * 1000)
    (folder,) = admin("logs", "dirs", "--topic", topic, json_=True)
    sizes = {replica["partition"]: replica["size"] for replica in folder["replicas"]}
    assert sizes.keys() == {0, 1, 2}
    assert sizes[2] > 1000
    assert folder["path"] in admin("logs", "dirs", "--topic", topic)
    assert topic in admin("logs", "dirs")
