"""Keys that a command fetches."""

from __future__ import annotations

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.records import fetch, produce
from kbroker.errors import ApiError, ConfigError
from kbroker.protocol.record_batch import Record
from kbroker.protocol.sealed_batch import CannotOpen
from kbroker.security.data_keys import KeyRing
from kbroker.server.key_command import REST_S, CommandKeys
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tests.doubles import wait_until

pytest.importorskip("cryptography")


@pytest.fixture
def service(tmp_path):
    """A folder with a file for each key, and the command that reads them and notes who asked."""
    script = tmp_path / "kms.sh"
    script.write_text('echo "$2" >> "$1/asked"\ncat "$1/$2.key" 2>/dev/null\n')
    return Service(tmp_path, f"sh '{script}' '{tmp_path}'")


class Service:
    def __init__(self, folder, command):
        self.folder, self.command = folder, command

    def keep(self, name, text):
        (self.folder / f"{name}.key").write_text(text)

    @property
    def asked(self):
        path = self.folder / "asked"
        return path.read_text().split() if path.exists() else []


class Keys(CommandKeys):
    """With a clock that stands, and threads that can be waited for."""

    def __init__(self, command, **more):
        self.now = 0.0
        super().__init__(command, 60, now_s=lambda: self.now, **more)

    def settle(self):
        for thread in list(self._threads.values()):
            thread.join()


def test_a_key_is_asked_for_once_and_nobody_waits(service):
    service.keep("spring", "00" * 32 + "\n")
    keys = Keys(service.command)
    with pytest.raises(CannotOpen):
        keys.check(b"spring")
    keys.settle()
    assert keys.check(b"spring") == KeyRing({"spring": bytes(32)}).check(b"spring")
    keys.derived(b"spring", b"s" * 16)
    assert service.asked == ["spring"]


def test_those_of_the_settings_are_waited_for(service):
    service.keep("one", "11" * 32)
    service.keep("two", "22" * 32)
    keys = Keys(service.command)
    keys.fetch(["one", "two", "three", "one"])
    keys.check(b"one")
    keys.check(b"two")
    assert sorted(service.asked) == ["one", "three", "two"]


@pytest.mark.parametrize("printed", ["", "00ff", "not a key", "ä", "0" * 5000])
def test_what_is_no_key_is_asked_for_again_after_a_while(service, caplog, printed):
    service.keep("k", printed)
    keys = Keys(service.command)
    keys.fetch(["k"])
    assert "no key k: " in caplog.text
    assert printed[:4] not in caplog.text or not printed
    for _ in range(3):
        with pytest.raises(CannotOpen):
            keys.check(b"k")
    keys.settle()
    assert service.asked == ["k"]
    service.keep("k", "33" * 32)
    keys.now = REST_S
    with pytest.raises(CannotOpen):
        keys.check(b"k")
    keys.settle()
    keys.check(b"k")


def test_ids_that_are_no_words_reach_no_command(service):
    keys = Keys(service.command)
    for name in ("-x", "a b", "$(id)", "../x;", "", "\xff"):
        with pytest.raises(CannotOpen):
            keys.check(name.encode())
    keys.settle()
    assert service.asked == []


def test_a_command_that_cannot_run(caplog):
    keys = Keys("/nowhere/at-all")
    keys.fetch(["k"])
    assert "No such file" in caplog.text
    with pytest.raises(ConfigError, match="quotation"):
        CommandKeys("unfinished '", 1)


def test_a_file_has_those_that_the_command_does_not_know(service):
    keys = Keys(service.command, others=KeyRing({"old": b"o" * 32}))
    keys.check(b"old")
    assert service.asked == []


def test_a_broker_with_a_command(service):
    service.keep("spring", "44" * 32)
    config = {
        "kbroker.encryption.keys.command": service.command,
        "kbroker.encryption.topics": "sealed=spring",
    }
    record, place = Record(-1, 1_700_000_000_000, b"k", b"secret words"), TopicPartition("sealed", 0)
    with Broker(config=config) as broker, Cluster(broker.bootstrap) as cluster:
        broker.create_topic("sealed")
        produce(cluster, place, [record])
        assert fetch(cluster, {place: 0})[place].records[0].value == b"secret words"
        assert service.asked == ["spring"]
        # Another key, of which nobody knows before.
        service.keep("summer", "55" * 32)
        alter_configs(cluster, ResourceType.BROKER, "", set_={"kbroker.encryption.topics": "*=summer"})

        def written():
            try:
                produce(cluster, place, [record])
            except ApiError:
                return False
            return "summer" in service.asked

        wait_until(written, "the new key")
