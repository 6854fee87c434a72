"""What `kbroker-admin` says without a broker: help, wrong usage, nothing listens."""

import os
import socket
import subprocess
import sys

import click
import pytest

from kbroker.cli.admin import main
from kbroker.cli.admin_base import parse_assignment, parse_settings, parse_time


@pytest.fixture
def nowhere():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"127.0.0.1:{port}"


@pytest.mark.parametrize("group", ["topics", "groups", "configs", "cluster", "clients", "logs"])
def test_help(group, capsys):
    assert main(["--help"]) == 0
    assert group in capsys.readouterr().out
    assert main([group, "--help"]) == 0
    out = capsys.readouterr().out
    assert "--bootstrap" in out
    assert "--json" in out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("kbroker-admin ")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nope"], "No such command 'nope'"),
        (["topics", "lst"], "kbroker-admin topics --help"),
        (["topics", "create"], "TOPIC"),
        (["topics", "create", "t", "-c", "x"], "write name=value"),
        (["topics", "create", "t", "-p", "0"], "--partitions"),
        (["topics", "create", "t", "-p", "1", "--assignment", "1"], "already"),
        (["topics", "create", "t", "--assignment", "1:x"], "assignment"),
        (["topics", "alter", "t"], "nothing to change"),
        (["topics", "tail", "t", "--offset", "1", "--last", "2"], "only one of"),
        (["topics", "delete-records", "t", "--before", "x"], "--before"),
        (["groups", "reset-offsets", "g", "--all-topics"], "exactly one"),
        (["groups", "reset-offsets", "g", "--to-latest"], "--topic"),
        (["groups", "reset-offsets", "g", "--to-latest", "--all-topics", "--topic", "t"], "--topic"),
        (["groups", "reset-offsets", "g", "--to-datetime", "soon", "--topic", "t:0"], "no time"),
        (["groups", "delete-offsets", "g"], "--topic"),
        (["configs", "describe"], "Missing argument 'TYPE'. Choose from: topic, broker, "),
        (["configs", "describe", "nothing"], "nothing"),
        (["configs", "describe", "topic"], "which topic"),
        (["configs", "set", "topic", "a=b"], "which topic"),
        (["configs", "set", "topic", "t"], "SETTING=VALUE"),
        (["configs", "delete", "broker-default"], "SETTING"),
        (["configs", "set", "topic", "t", "a=b", "--append", "--subtract"], "not both"),
        (["--timeout", "0", "topics", "list"], "timeout"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments, text, capsys):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("kbroker-admin: ")
    assert text in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["topics", "list"],
        ["groups", "describe", "g"],
        ["configs", "describe", "broker", "1"],
        ["cluster", "describe"],
        ["quorum", "describe"],
        ["logs", "dirs", "--json"],
        ["topics", "produce", "t", "--value", "v"],
    ],
)
def test_no_broker_is_one_line_that_tells_what_to_do(arguments, nowhere, capsys, monkeypatch):
    monkeypatch.setenv("KBROKER_BOOTSTRAP", nowhere)
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert nowhere in err
    assert "`kbroker start`" in err
    assert "--bootstrap" in err


def test_bootstrap_is_taken_before_and_behind_the_command(nowhere, capsys):
    for arguments in (["-b", nowhere, "topics", "list"], ["topics", "--bootstrap", nowhere, "list"],
                      ["topics", "list", "--bootstrap-server", nowhere]):  # fmt: skip
        assert main(arguments) == 1
        assert nowhere in capsys.readouterr().err
    assert main(["topics", "list", "-b", "what:ever"]) == 1
    assert "host:port" in capsys.readouterr().err


def test_parsing():
    assert parse_settings(["a=b", "c=d=e", "f="]) == {"a": "b", "c": "d=e", "f": ""}
    assert parse_assignment("1:2,3") == [[1, 2], [3]]
    assert parse_assignment(None) == []
    assert parse_time("1970-01-01T00:00:01") == 1000
    assert parse_time("1970-01-01T01:00:00.5+01:00") == 500
    with pytest.raises(click.UsageError):
        parse_settings(["=b"])


def test_starting_a_broker_imports_none_of_this():
    code = (
        "import sys, kbroker.cli.main, kbroker.cli.start;"
        "bad = {'click', 'rich', 'kbroker.client', 'cramjam'} & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("arguments", [["--help"], ["topics", "create", "--help"], ["--version"]])
def test_a_reader_that_has_seen_enough_is_no_failure(arguments):
    for _ in range(2):
        read_end, write_end = os.pipe()
        os.close(read_end)
        command = [sys.executable, "-m", "kbroker.cli.admin", *arguments]
        done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True)
        os.close(write_end)
        assert (done.returncode, done.stderr) == (0, "")
