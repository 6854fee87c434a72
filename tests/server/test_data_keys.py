"""The settings of encryption, with a whole broker."""

from types import SimpleNamespace

import pytest

from kbroker.broker.topic_settings import TopicSettingsSource
from kbroker.cli.admin import main
from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.records import fetch, produce
from kbroker.config.broker_config import BrokerConfig
from kbroker.errors import ApiError, ConfigError, ErrorCode
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.protocol.sealed_batch import CannotOpen, Sealer
from kbroker.server.data_keys import FileKeys, open_data_keys
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tests.doubles import wait_until

pytest.importorskip("cryptography")


def test_topics_and_prefixes_and_what_is_left_out():
    config = BrokerConfig({"node.id": "1", "kbroker.encryption.topics": "a=one, open.*=none, o*=two,*=three"})
    source = TopicSettingsSource(config)
    found = {name: source.of({}, name).log.encryption_key for name in ("a", "ab", "open.x", "other")}
    assert found == {"a": "one", "ab": "three", "open.x": "", "other": "two"}
    assert source.of({}, "__consumer_offsets").log.encryption_key == ""
    config = BrokerConfig({"node.id": "1"})
    assert TopicSettingsSource(config).of({}, "a").log.encryption_key == ""


@pytest.mark.parametrize("text", ["a", "=k", "a=", "a=k,b"])
def test_mistakes_in_the_list_of_topics(text):
    with pytest.raises(ConfigError, match=r"kbroker\.encryption\.topics"):
        BrokerConfig({"node.id": "1", "kbroker.encryption.topics": text})


def test_a_file_is_read_again_for_a_key_that_it_did_not_have(tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"a {'00' * 32}\n")
    keys = FileKeys(str(path))
    path.write_text(f"a {'ff' * 32}\nb {'11' * 32}\n")
    check = keys.check(b"a")
    with pytest.raises(CannotOpen):
        keys.check(b"b")  # a changed key of a known id: the file is refused as a whole
    path.write_text(f"# repaired\na {'00' * 32}\nb {'11' * 32}\n")
    assert keys.check(b"b") != check == keys.check(b"a")


def test_keys_that_are_named_and_not_there_are_told(tmp_path, caplog):
    path = tmp_path / "keys"
    path.write_text(f"there {'00' * 32}\n")
    settings = {"node.id": "1", "kbroker.encryption.topics": "a=gone,b=there,c=none,*=gone"}
    for config, why in (
        (BrokerConfig(settings | {"kbroker.encryption.keys.file": str(path)}), "not in"),
        (BrokerConfig(settings), "neither"),
    ):
        caplog.clear()
        open_data_keys(config, SimpleNamespace(dirs=[]))
        assert "the key gone" in caplog.text
        assert why in caplog.text
        config.update_dynamic({"kbroker.encryption.topics": "*=other"}, {})
        assert "the key other" in caplog.text
    assert "the key none" not in caplog.text


def test_a_file_that_cannot_be_used(tmp_path):
    for content in (None, "a 00\n", b"\xff\xfe"):
        path = tmp_path / "keys"
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif content:
            path.write_text(content)
        with pytest.raises(ConfigError, match=r"kbroker\.encryption\.keys\.file"):
            FileKeys(str(path))


def write(cluster, topic, value):
    produce(cluster, TopicPartition(topic, 0), [Record(-1, 1_700_000_000_000, b"k", value)])


def read(cluster, topic):
    (found,) = fetch(cluster, {TopicPartition(topic, 0): 0}).values()
    return [bytes(record.value) for record in found.records]


def on_disk(data, topic):
    return b"".join(path.read_bytes() for path in data.glob(f"{topic}-0/*.log"))


def test_a_broker_encrypts_rotates_and_starts_again_also_after_a_crash(tmp_path):
    data, keys = tmp_path / "data", tmp_path / "keys"
    keys.write_text(f"spring {'01' * 32}\n")
    config = {"kbroker.encryption.keys.file": keys, "kbroker.encryption.topics": "secret*=spring"}
    broker = Broker(data=str(data), config=config)
    with broker, Cluster(broker.bootstrap) as cluster:
        for topic in ("secret", "open"):
            broker.create_topic(topic)
            write(cluster, topic, b"first of all")
        keys.write_text(keys.read_text() + f"summer {'02' * 32}\n")
        alter(cluster, "secret=summer")
        write(cluster, "secret", b"the second")
        assert read(cluster, "secret") == [b"first of all", b"the second"]
        assert b"first of all" in on_disk(data, "open")
        assert b"first of all" not in on_disk(data, "secret")
        assert b"summer" in on_disk(data, "secret")
        assert (data / "secret-0" / "kbroker-encrypted").exists()
        with pytest.raises(ApiError) as refused:
            alter(cluster, "secret")
        assert refused.value.code in (ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_CONFIG)
    (data / ".kafka_cleanshutdown").unlink()
    with Broker(data=str(data), config=config) as broker, Cluster(broker.bootstrap) as cluster:
        assert read(cluster, "secret") == [b"first of all", b"the second"]
    with Broker(data=str(data)) as broker, Cluster(broker.bootstrap) as cluster:
        with pytest.raises(ApiError) as lost:
            read(cluster, "secret")
        assert lost.value.code == ErrorCode.KAFKA_STORAGE_ERROR
        assert read(cluster, "open") == [b"first of all"]
    with Broker(data=str(data), config=config) as broker, Cluster(broker.bootstrap) as cluster:
        write(cluster, "secret", b"the third")
        assert read(cluster, "secret") == [b"first of all", b"the second", b"the third"]


def alter(cluster, topics):
    alter_configs(cluster, ResourceType.BROKER, "", set_={"kbroker.encryption.topics": topics})


def test_logs_dump_shows_records_where_it_is_given_the_keys(tmp_path, capsys):
    folder, keys = tmp_path / "t-0", tmp_path / "keys"
    folder.mkdir()
    keys.write_text(f"spring {'01' * 32}\n")
    records = build_batch([Record(0, 1_700_000_000_000, b"k", b"the secret")])
    sealed = Sealer(FileKeys(str(keys)), "spring", lambda: b"s" * 16).seal(records, 0)
    (folder / "00000000000000000000.log").write_bytes(sealed)
    (folder / "kbroker-encrypted").touch()
    assert main(["logs", "dump", "--records", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "encrypted with key spring" in shown
    assert "the secret" not in shown
    assert main(["logs", "dump", "--records", "--keys", str(keys), str(folder)]) == 0
    assert "the secret" in capsys.readouterr().out
    keys.write_text(f"spring {'02' * 32}\n")
    assert main(["logs", "dump", "--records", "--keys", str(keys), str(folder)]) != 0
    assert "another key of the id spring" in capsys.readouterr().err


def test_a_compacted_topic(tmp_path):
    """Its worker, a process of its own, gets the keys it needs; nothing is plain on the disk."""
    (tmp_path / "keys").write_text(f"k {'11' * 32}\n")
    config = {
        "kbroker.encryption.keys.file": str(tmp_path / "keys"),
        "kbroker.encryption.topics": "*=k",
        "log.cleaner.backoff.ms": "20",
    }
    place = TopicPartition("c", 0)
    with Broker(data=str(tmp_path / "data"), config=config) as broker, Cluster(broker.bootstrap) as cluster:
        settings = {"cleanup.policy": "compact", "segment.ms": "1", "min.cleanable.dirty.ratio": "0"}
        broker.create_topic("c", config=settings)
        for turn in range(8):
            records = [
                Record(-1, 1_700_000_000_000 + turn * 1000, key, b"secret %d" % turn)
                for key in (b"a", b"b%d" % turn)
            ]
            produce(cluster, place, records)

        def left():
            return [(record.key, record.value) for record in fetch(cluster, {place: 0})[place].records]

        # A fetch gives one segment; the active one is neither compacted nor looked at.
        wait_until(lambda: len(left()) == 8, "a compacted log")
        expected = [(b"b%d" % turn, b"secret %d" % turn) for turn in range(7)]
        assert left() == [*expected[:-1], (b"a", b"secret 6"), expected[-1]]
        data = b"".join(path.read_bytes() for path in (tmp_path / "data" / "c-0").glob("*.log"))
        assert data
        assert b"secret" not in data
