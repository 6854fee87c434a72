"""Ports and folders are looked at before anything is written."""

from __future__ import annotations

import os
import socket
from types import SimpleNamespace

import pytest

from kbroker.errors import ConfigError
from kbroker.server import node_folders
from kbroker.server.binding import bind_sockets
from kbroker.server.folders import inspect_folders
from kbroker.server.limits import server_limits
from kbroker.server.os_disk import OsDisk
from kbroker.storage.meta_properties import MetaProperties, write_meta_properties
from kbroker.types import uuid_to_string


def close(sockets):
    for sock in sockets:
        sock.close()


@pytest.mark.parametrize("host", ["", "localhost", "127.0.0.1"])
def test_all_addresses_get_the_same_port(host):
    sockets = bind_sockets("PLAINTEXT", host, 0)
    try:
        assert len({sock.getsockname()[1] for sock in sockets}) == 1
        assert len({sock.family for sock in sockets}) == len(sockets)
        with socket.create_connection(("127.0.0.1", sockets[0].getsockname()[1])):
            pass
    finally:
        close(sockets)


def test_a_port_that_is_taken_leaves_nothing_open():
    sockets = bind_sockets("PLAINTEXT", "127.0.0.1", 0)
    port = sockets[0].getsockname()[1]
    try:
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1:{port} \(PLAINTEXT\): address"):
            bind_sockets("PLAINTEXT", "127.0.0.1", port)
    finally:
        close(sockets)
    close(bind_sockets("PLAINTEXT", "127.0.0.1", port))


def test_a_host_that_is_none():
    with pytest.raises(ConfigError, match=r"cannot listen on no\.such\.host\.invalid:1"):
        bind_sockets("PLAINTEXT", "no.such.host.invalid", 1)


def inspect(*paths, node=1, cluster=None):
    return inspect_folders(OsDisk(), [str(path) for path in paths], node, cluster)


def test_new_folders_are_left_as_they_are(tmp_path):
    folders = inspect(tmp_path / "a" / "b", tmp_path)
    assert folders.cluster_id is None
    assert folders.formatted == {}
    assert os.listdir(tmp_path) == []


def test_formatted_folders_name_their_cluster(tmp_path):
    meta = MetaProperties(cluster_id="c", node_id=1, directory_id=bytes(15) + b"\x07")
    write_meta_properties(OsDisk(), str(tmp_path / "a"), meta)
    assert inspect(tmp_path / "a", tmp_path / "b").cluster_id == "c"
    with pytest.raises(ConfigError, match="belongs to node 1"):
        inspect(tmp_path / "a", node=2)
    with pytest.raises(ConfigError, match="belongs to cluster c"):
        inspect(tmp_path / "a", cluster="d")


def test_metadata_without_its_meta_properties_does_not_become_another_cluster(tmp_path):
    metadata = tmp_path / "__cluster_metadata-0"
    metadata.mkdir()
    # What a format leaves that was cut short.
    (metadata / "00000000000000000000-0000000000.checkpoint").write_bytes(b"x")
    (metadata / "00000000000000000000.log").write_bytes(b"")
    assert inspect(tmp_path).cluster_id is None
    (metadata / "00000000000000000000.log").write_bytes(b"x")
    with pytest.raises(
        ConfigError, match=r"no meta\.properties: bring that file back, or give the cluster's id"
    ):
        inspect(tmp_path)
    assert inspect(tmp_path, cluster="c").formatted == {}
    meta = MetaProperties(cluster_id="c", node_id=1, directory_id=bytes(15) + b"\x07")
    write_meta_properties(OsDisk(), str(tmp_path / "other"), meta)
    assert inspect(tmp_path, tmp_path / "other").cluster_id == "c"


def test_folders_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="is no folder"):
        inspect(tmp_path / "file")
    with pytest.raises(ConfigError, match="names a folder twice"):
        inspect(tmp_path, tmp_path)
    (tmp_path / "meta.properties").write_text("version=7\n")
    with pytest.raises(ConfigError, match="cannot be understood"):
        inspect(tmp_path)


def test_limits_come_from_settings():
    from kbroker.config.broker_config import BrokerConfig

    limits = server_limits(
        BrokerConfig(
            {"node.id": "1", "max.connections": "7", "max.connections.per.ip.overrides": "10.0.0.1:5,junk"}
        )
    )
    assert limits.connections_max == 7
    assert limits.connections_max_per_ip_overrides == {"10.0.0.1": 5}


def test_no_id_looks_like_an_option(monkeypatch):
    drawn = iter([bytes([0xF8, *range(15)]), bytes([0xFB, *range(15)]), bytes([0xF7, *range(15)])])
    monkeypatch.setattr(node_folders, "uuid4", lambda: SimpleNamespace(bytes=next(drawn)))
    assert not uuid_to_string(node_folders.new_uuid()).startswith("-")
    assert next(drawn, None) is None
