from __future__ import annotations

import pytest

from kbroker.broker.metadata_files import MetadataFiles
from kbroker.cli.main import main
from kbroker.controller.metadata_versions import metadata_version_level, metadata_version_name
from kbroker.errors import ConfigError
from kbroker.metadata.records import decode_record
from kbroker.raft.snapshot import BOOTSTRAP_ID
from kbroker.server.os_disk import OsDisk
from kbroker.storage.meta_properties import read_meta_properties
from kbroker.types import uuid_from_string

ID = "AAAAAAAAAAAAAAAAAAAAAg"
DYNAMIC = {"controller.quorum.bootstrap.servers": "127.0.0.1:9093"}
STATIC = {"controller.quorum.voters": "1@127.0.0.1:9093"}


@pytest.fixture
def storage(tmp_path, capsys):
    """`storage("format", DYNAMIC, "-s")` -> (exit code, output, error)."""

    def run(command, settings, *arguments, folders=("d1", "d2"), roles="broker,controller"):
        lines = {
            "process.roles": roles,
            "node.id": "1",
            "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": ",".join(str(tmp_path / folder) for folder in folders),
            **settings,
        }
        if roles == "broker":
            lines["listeners"] = "PLAINTEXT://127.0.0.1:9092"
        file = tmp_path / "server.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        code = main(["storage", command, "-c", str(file), *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def snapshot(folder):
    return MetadataFiles(OsDisk(), str(folder)).read_snapshot(BOOTSTRAP_ID)


def levels(folder):
    records = [decode_record(value) for item in snapshot(folder) for value in item.values]
    return {record.name: record.feature_level for record in records}


def test_ids_are_random_and_no_options(capsys):
    found = set()
    for _ in range(50):
        assert main(["storage", "random-uuid"]) == 0
        found.add(capsys.readouterr().out.strip())
    assert len(found) == 50
    assert all(len(each) == 22 and not each.startswith("-") and uuid_from_string(each) for each in found)


def test_a_controller_of_a_dynamic_quorum_must_say_which(storage):
    code, _, error = storage("format", DYNAMIC, "-t", ID)
    assert code == 1
    assert "give one of --standalone, --initial-controllers or --no-initial-controllers" in error


@pytest.mark.parametrize("id_", ["", " ", "x\\y", "a\nb", "é"])
def test_an_id_that_the_folder_would_not_keep_is_refused(storage, tmp_path, id_):
    code, _, error = storage("format", DYNAMIC, "-t", id_, "-s")
    assert (code, error.count("\n")) == (1, 1)
    assert "random-uuid" in error
    assert not (tmp_path / "d1").exists()


def test_any_other_word_is_an_id_as_for_kafka_but_a_strange_one_is_named(storage, tmp_path):
    code, _, error = storage("format", DYNAMIC, "-t", "bad id!", "-s")
    assert (code, "'bad id!'" in error) == (0, True)
    assert read_meta_properties(OsDisk(), str(tmp_path / "d1")).cluster_id == "bad id!"
    assert storage("format", DYNAMIC, "-t", "my.cluster", "-s", folders=["d3"])[::2] == (0, "")


def test_standalone_is_a_quorum_of_this_node(storage, tmp_path):
    code, out, _ = storage("format", DYNAMIC, "-t", ID, "--standalone")
    assert code == 0
    assert out.splitlines() == [
        f"Formatting dynamic metadata voter directory {tmp_path}/d1 with metadata.version 4.4-IV2.",
        f"Formatting data directory {tmp_path}/d2 with metadata.version 4.4-IV2.",
    ]
    rules = snapshot(tmp_path / "d1")[0].rules
    (voter,) = rules.voters
    meta = read_meta_properties(OsDisk(), str(tmp_path / "d1"))
    assert (voter.id, voter.directory_id) == (1, meta.directory_id)
    assert [(e.name, e.host, e.port) for e in voter.endpoints] == [("CONTROLLER", "127.0.0.1", 9093)]
    assert (meta.cluster_id, meta.node_id, rules.kraft_version) == (ID, 1, 1)


def test_initial_controllers_are_all_voters_and_the_own_id_is_kept(storage, tmp_path):
    mine, other = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAABAQ"
    code, _, _ = storage("format", DYNAMIC, "-t", ID, "-I", f"1@127.0.0.1:9093:{mine},2@[::1]:9095:{other}")
    assert code == 0
    voters = list(snapshot(tmp_path / "d1")[0].rules.voters)
    assert [(v.id, v.directory_id, v.endpoints[0].host, v.endpoints[0].port) for v in voters] == [
        (1, uuid_from_string(mine), "127.0.0.1", 9093),
        (2, uuid_from_string(other), "::1", 9095),
    ]
    assert read_meta_properties(OsDisk(), str(tmp_path / "d1")).directory_id == uuid_from_string(mine)


def test_without_initial_controllers_only_the_kind_of_quorum_is_known(storage, tmp_path):
    assert storage("format", DYNAMIC, "-t", ID, "-N")[0] == 0
    rules = snapshot(tmp_path / "d1")[0].rules
    assert (rules.kraft_version, rules.voters) == (1, None)


def test_fixed_voters_are_not_written(storage, tmp_path):
    code, out, _ = storage("format", STATIC, "-t", ID)
    assert code == 0
    assert "Formatting metadata directory" in out
    assert snapshot(tmp_path / "d1")[0].rules is None
    assert storage("format", STATIC, "-t", ID, "-s", folders=["d3"])[0] == 1


def test_a_broker_gets_no_metadata_of_its_own(storage, tmp_path):
    assert storage("format", DYNAMIC, "-t", ID, roles="broker")[0] == 0
    assert read_meta_properties(OsDisk(), str(tmp_path / "d1")).cluster_id == ID
    assert MetadataFiles(OsDisk(), str(tmp_path / "d1")).snapshot_ids() == []


def test_formatted_folders_are_refused_or_left_alone(storage, tmp_path):
    storage("format", DYNAMIC, "-t", ID, "-s")
    before = read_meta_properties(OsDisk(), str(tmp_path / "d1"))
    code, _, error = storage("format", DYNAMIC, "-t", ID, "-s")
    assert (code, "is already formatted" in error) == (1, True)
    code, out, _ = storage("format", DYNAMIC, "-t", ID, "-s", "-g")
    assert (code, out) == (0, "All of the log directories are already formatted.\n")
    code, out, _ = storage("format", DYNAMIC, "-t", ID, "-s", "-g", folders=["d1", "d2", "d3"])
    assert (code, "d3" in out, "d1" in out) == (0, True, False)
    assert read_meta_properties(OsDisk(), str(tmp_path / "d1")) == before
    assert storage("format", DYNAMIC, "-t", "another", "-s", "-g")[0] == 1


NEWEST = {
    "metadata.version": 33,
    "eligible.leader.replicas.version": 1,
    "group.version": 1,
    "share.version": 2,
    "streams.version": 1,
}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], {**NEWEST, "transaction.version": 2}),
        (["-r", "3.9"], {"metadata.version": 21}),
        (["-r", "3.7-IV1"], {"metadata.version": 16}),
        (
            ["-f", "metadata.version=25"],
            {"metadata.version": 25, "group.version": 1, "transaction.version": 2},
        ),
        (["-f", "transaction.version=0"], NEWEST),
    ],
)
def test_features_to_begin_with(storage, tmp_path, arguments, found):
    assert storage("format", DYNAMIC, "-t", ID, "-s", *arguments)[0] == 0
    assert levels(tmp_path / "d1") == found


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-r", "9.9"], "unknown metadata.version '9.9'"),
        (["-f", "nonsense=1"], "there is no feature nonsense"),
        (["-f", "transaction.version=7"], "must be between 0 and 2"),
        (["-r", "3.9", "-f", "metadata.version=25"], "give either"),
        (["-I", "1@nowhere"], "is no ID@HOST:PORT:DIRECTORY-ID"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(storage, tmp_path, arguments, words):
    kind = [] if "-I" in arguments else ["-s"]
    code, _, error = storage("format", DYNAMIC, "-t", ID, *kind, *arguments)
    assert code == 1
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "d1").exists()


def test_info_tells_what_is_there_and_what_is_missing(storage, tmp_path):
    code, out, _ = storage("info", DYNAMIC)
    assert code == 1
    assert f"{tmp_path}/d1 does not exist" in out
    storage("format", DYNAMIC, "-t", ID, "-s", folders=["d1"])
    (tmp_path / "d2").mkdir()
    code, out, _ = storage("info", DYNAMIC)
    assert code == 1
    assert "Found log directories:" in out
    assert f"cluster.id={ID}" in out
    assert f"{tmp_path}/d2 is not formatted." in out
    assert storage("info", DYNAMIC, folders=["d1"])[0] == 0


def test_names_of_levels():
    assert metadata_version_name(33) == "4.4-IV2"
    assert metadata_version_level("4.0") == 25
    assert metadata_version_level("3.3-IV3") == 7
    with pytest.raises(ConfigError):
        metadata_version_level("3.2")


@pytest.mark.parametrize(
    ("settings", "arguments", "roles", "why"),
    [
        (DYNAMIC, ["-s"], "broker", "--standalone is for controllers"),
        (DYNAMIC, ["-I", f"1@h:1:{ID},1@h:2:{ID}"], "broker,controller", "names node 1 more than once"),
        (DYNAMIC, ["-s", "-f", "kraft.version=0"], "broker,controller", "kraft.version is 1 here"),
        (STATIC, ["-f", "kraft.version=1"], "broker,controller", "kraft.version is 0 here"),
    ],
)
def test_what_kafka_refuses_to_format_is_refused(storage, tmp_path, settings, arguments, roles, why):
    code, _, error = storage("format", settings, "-t", ID, *arguments, roles=roles)
    assert (code, why in error) == (1, True)
    assert not (tmp_path / "d1").exists()


def test_the_level_of_kraft_version_may_be_told_where_it_is_that(storage):
    assert storage("format", DYNAMIC, "-t", ID, "-s", "-f", "kraft.version=1")[0] == 0
