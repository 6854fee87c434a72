"""`kbroker start` from outside: what goes wrong is one line, what goes right is a banner and a clean end."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from kbroker.cli.log_setup import ShortFormatter
from kbroker.cli.main import command as command_of_kbroker, main
from kbroker.cli.start import admin_command, banner, start
from kbroker.config.broker_config import BrokerConfig
from tests.doubles import wait_until

ROOT = Path(__file__).parents[2]
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "KBROKER_"))}


def command(*arguments):
    return [sys.executable, "-m", "kbroker.cli.main", "start", *map(str, arguments)]


def environment(**more):
    return {**CLEAN, "PYTHONPATH": str(ROOT), **more}


@pytest.fixture
def refused(capsys, monkeypatch):
    """The one line that a start which cannot be says; nothing else, and exit code 1."""
    monkeypatch.setattr("kbroker.cli.run.set_up_logging", lambda config: None)

    def run(*arguments, **variables):
        monkeypatch.setattr(os, "environ", {**CLEAN, **variables})
        assert start(list(map(str, arguments))) == 1
        said = capsys.readouterr()
        assert said.out == ""
        (line,) = said.err.splitlines()
        return line

    return run


class Running:
    """A broker process that has said its banner."""

    def __init__(self, *arguments, cwd=None, **variables):
        self.process = subprocess.Popen(
            command(*arguments),
            env=environment(**variables),
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A shell that put the tests into the background has told them to ignore Ctrl-C, and us with them.
            preexec_fn=None if os.name == "nt" else lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        lines = []
        while not lines or "Ctrl-C" not in lines[-1]:
            lines.append(self.process.stdout.readline())
            assert lines[-1], self.process.stderr.read()
        self.banner = "".join(lines)
        self.first_line = lines[0]
        self.address = self.first_line.split("listens on ")[1].split()[0]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.communicate()

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=30)
        assert output == ""
        return self.process.returncode, errors


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


def tree(folder):
    return sorted((str(path.relative_to(folder)), path.stat().st_mtime_ns) for path in folder.rglob("*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_and_the_data_stay(data, number):
    with Running("--port", 0, "--data", data) as broker:
        code, errors = broker.end(number)
    assert (code, errors) == (0, "")
    assert f"data in {data}" in broker.banner
    assert "kbroker-admin" in broker.banner
    assert (data / ".kafka_cleanshutdown").exists()
    cluster = broker.first_line.split("cluster ")[1]
    with Running("--port", 0, "--data", data) as again:
        assert again.first_line.split("cluster ")[1] == cluster


def test_a_port_that_is_taken(data, refused):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = refused("--host", "127.0.0.1", "--port", port, "--data", data)
    assert line == f"kbroker: cannot listen on 127.0.0.1:{port} (PLAINTEXT): address already in use"
    assert not data.exists()


def test_a_folder_in_use_by_another_broker(data, refused):
    with Running("--port", 0, "--data", data):
        before = (data / "meta.properties").read_text()
        line = refused("--port", 0, "--data", data)
        assert "is in use by another broker" in line
        assert (data / "meta.properties").read_text() == before


def test_a_folder_of_another_node_or_cluster(data, refused):
    with Running("--port", 0, "--data", data) as broker:
        broker.end()
    before = tree(data)
    assert "belongs to node 1, but this is node 2" in refused(
        "--port", 0, "--data", data, "--set", "node.id=2"
    )
    assert "belongs to cluster" in refused("--port", 0, "--data", data, CLUSTER_ID="MkU3OEVBNTcwNTJENDM2Qg")
    assert tree(data) == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_writable(data, refused):
    data.mkdir(mode=0o500)
    assert refused("--port", 0, "--data", data) == f"kbroker: the folder {data} is not writable"


def test_a_folder_that_is_a_file(tmp_path, refused):
    path = tmp_path / "file"
    path.write_text("")
    assert refused("--port", 0, "--data", path) == f"kbroker: {path} is no folder"
    assert "is no folder" in refused("--port", 0, "--data", path / "below")


def test_settings_that_are_wrong(tmp_path, data, refused):
    properties = tmp_path / "server.properties"
    properties.write_text("log.retension.ms=5\n")
    assert refused("--config", properties, "--data", data) == (
        f"kbroker: {properties}: unknown setting log.retension.ms; did you mean log.retention.ms?"
    )
    assert "Not a number of type INT" in refused("--set", "num.partitions=many", "--data", data)
    assert "--set needs name=value" in refused("--set", "num.partitions", "--data", data)
    assert "cannot read" in refused("--config", tmp_path / "absent", "--data", data)
    assert "needs a certificate" in refused("--set", "listeners=SSL://:0", "--data", data)
    assert "--port must be between" in refused("--port", 99999, "--data", data)
    assert refused("--port", 0, "--data", "") == "kbroker: --data needs a folder"
    assert "names a folder twice" in refused("--port", 0, "--data", f"{data},{data}/../data")
    file = f"kbroker.client.metrics.file={tmp_path / 'absent' / 'file'}"
    for name, why in (("true", "cannot write"), ("false", "stays empty without kbroker.client.metrics=true")):
        metrics = ["--set", f"kbroker.client.metrics={name}", "--set", file]
        assert why in refused("--port", 0, *metrics, "--data", data)
    assert not data.exists()


def test_files_environment_and_options_come_together(tmp_path, data):
    toml = tmp_path / "kbroker.toml"
    toml.write_text('num.partitions = 3\n[log]\ndirs = "elsewhere"\n')
    with Running(
        "--config",
        toml,
        "--data",
        data,
        KAFKA_LISTENERS="PLAINTEXT://127.0.0.1:0",
        KAFKA_NUM_IO_THREADS="9",
    ) as broker:
        assert broker.address.startswith("127.0.0.1:")
        code, errors = broker.end()
    assert code == 0
    assert f"data in {data}" in broker.banner
    assert "have no effect in kbroker yet: num.io.threads" in errors
    assert len(errors.splitlines()) == 1


def test_the_data_lie_below_the_current_folder_by_default(tmp_path):
    with Running("--port", 0, cwd=tmp_path) as broker:
        broker.end()
    assert (tmp_path / "kbroker-data" / "meta.properties").exists()


def test_asyncio_serves_as_well(data):
    with Running("--port", 0, "--data", data, KBROKER_EVENT_LOOP="asyncio") as broker:
        assert broker.end()[0] == 0


def test_a_stop_is_quick_with_an_idle_client(data):
    with Running("--host", "127.0.0.1", "--port", 0, "--data", data) as broker:
        host, port = broker.address.split(":")
        with socket.create_connection((host, int(port))):
            started = time.monotonic()
            assert broker.end()[0] == 0
    # 0.2 s is the aim; a loaded machine gets ten times that before a test says so.
    assert time.monotonic() - started < 2


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe whose reader is gone is a POSIX matter")
def test_a_banner_that_nobody_reads_is_no_reason_to_stop(data):
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(
        command("--port", 0, "--data", data),
        env=environment(),
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    wait_until((data / "__cluster_metadata-0" / "quorum-state").exists, "a start", 30)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    process.terminate()
    assert process.communicate(timeout=30)[1] == ""
    assert process.returncode == 0


def test_a_refusal_is_one_line_of_the_process_too(data):
    done = subprocess.run(
        command("--set", "num.partition=3", "--data", data), env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "kbroker: command line: unknown setting num.partition; did you mean num.partitions?\n"
    )


def test_the_other_words(capsys):
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith("kbroker 0.")
    assert main(["--help"]) == 0
    assert "start" in capsys.readouterr().out
    assert main([]) == 2
    assert main(["strat"]) == 2
    assert "no command 'strat'" in capsys.readouterr().err


def test_a_package_that_is_missing_is_named_in_one_line(capsys, monkeypatch):
    def exit_(code):
        raise SystemExit(code)

    def start_without_it():
        raise ModuleNotFoundError("No module named 'crc32c'", name="crc32c")

    monkeypatch.setattr("kbroker.cli.main.main", start_without_it)
    monkeypatch.setattr("os._exit", exit_)
    with pytest.raises(SystemExit):
        command_of_kbroker()
    assert (
        capsys.readouterr().err
        == "kbroker: No module named 'crc32c'; `pip install kbroker` brings what it needs\n"
    )


def test_the_banner_names_kbroker_admin_by_a_path_that_can_be_run(tmp_path, monkeypatch):
    for name in ("kbroker", "kbroker-admin"):
        (tmp_path / name).touch()
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "kbroker")])
    monkeypatch.setenv("PATH", os.devnull)
    assert admin_command() == str(tmp_path / "kbroker-admin")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert admin_command() == "kbroker-admin"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["start", "--port", "abc"], "kbroker start: --port: 'abc' is no whole number"),
        (["start", "--nope"], "kbroker start: unrecognized arguments: --nope"),
        (["storage"], "kbroker storage: the following arguments are required: COMMAND"),
        (["storage", "random-uuid", "extra"], "kbroker storage: unrecognized arguments: extra"),
        (
            ["storage", "format", "-c", "x"],
            "kbroker storage format: the following arguments are required: -t/--cluster-id",
        ),
        (["wire"], "kbroker wire: Missing command"),
        (["wire", "nope"], "kbroker wire: No such command 'nope'"),
        (
            ["wire", "encode", "/nope"],
            "kbroker wire encode: Invalid value for '[FILES]...': '/nope': No such file or directory",
        ),
    ],
)
def test_wrong_usage_is_one_line_that_says_where_help_is(capsys, arguments, line):
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert said.err == f"{line} (see {line.partition(':')[0]} --help)\n"


def test_the_banner_of_a_controller_names_what_it_can_answer():
    settings = {
        "node.id": "1",
        "process.roles": "controller",
        "listeners": "SECURE://localhost:9093",
        "controller.listener.names": "SECURE",
        "listener.security.protocol.map": "SECURE:SSL",
    }
    node = SimpleNamespace(
        bootstrap="localhost:9093", cluster_id="c", node_id=1, log_dirs=["d"], config=BrokerConfig(settings)
    )
    text = banner(node)
    assert "-b localhost:9093 --command-config client.properties quorum describe\n" in text
    assert "security.protocol=SSL" in text
    assert "topics" not in text


@pytest.mark.parametrize(("protocol", "says"), [("PLAINTEXT", False), ("SASL_SSL", True)])
def test_the_banner_tells_what_clients_need(protocol, says):
    listener = f"{protocol}://localhost:9093"
    node = SimpleNamespace(
        bootstrap="localhost:9093",
        cluster_id="c",
        node_id=1,
        log_dirs=["data"],
        config=BrokerConfig({"node.id": "1", "process.roles": "broker,controller", "listeners": listener}),
    )
    text = banner(node)
    assert ("-b localhost:9093 --command-config client.properties topics create" in text) is says
    assert ("clients need security.protocol=SASL_SSL" in text) is says


def test_a_log_line_is_one_line_and_nothing_that_a_terminal_acts_on():
    record = logging.LogRecord("kbroker", logging.INFO, "", 0, "topic %s", ("a\x1b[2J\r\nb",), None)
    assert ShortFormatter("%(message)s").format(record) == "topic a\\x1b[2J\\x0d\\x0ab"
