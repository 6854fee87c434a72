"""librdkafka's own tests, unchanged, built once from the sources that its JavaScript client carries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.suites.outside import bootstrap_of
from tests.needs import cache_folder

_PACKAGE = "@confluentinc/kafka-javascript@1.10.1"
_VERSION = "2.15.1"

# Of the tests that need a broker, one for each area, of those that take a few seconds.
_TESTS = [
    f"{number:04}"
    for number in (
        1, 2, 3, 5, 7, 8, 12, 13, 14, 22, 29, 30, 31, 34, 36, 39, 40, 44, 48, 54, 57, 60, 63, 67, 70, 73, 83,
        85, 90, 99,
    )
]  # fmt: skip

_SETTINGS = {"num.partitions": "4", "node.id": "0", "group.min.session.timeout.ms": "1000"}
_OPTIONS = [
    "--disable-optimization",
    "--disable-ssl",
    "--disable-gssapi",
    "--disable-curl",
    "--disable-syslog",
]


def _build(folder: Path) -> None:
    """A minute of two cores. No failure in CI where it cannot be had: a bare Debian has no npm."""
    for tool in ("npm", "make", "gcc", "g++"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool} to build librdkafka {_VERSION}")
    work = Path(tempfile.mkdtemp(prefix="building-", dir=folder.parent))
    try:
        if _run(["npm", "pack", "--silent", _PACKAGE], work).returncode:
            pytest.skip(f"needs {_PACKAGE} from npm")
        (package,) = work.glob("*.tgz")
        with tarfile.open(package) as archive:
            archive.extractall(work, filter="data")
        source = work / "package" / "deps" / "librdkafka"
        for script in ("configure", "lds-gen.py"):
            (source / script).chmod(0o755)
        jobs = f"-j{os.cpu_count() or 1}"
        tests = ["make", jobs, "-C", "tests", "test-runner"]
        for command in (["./configure", *_OPTIONS], ["make", jobs, "libs"], tests):
            done = _run(command, source)
            assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        source.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture(scope="module")
def runner() -> Path:
    """The program with all tests."""
    folder = cache_folder() / f"librdkafka-{_VERSION}"
    if not folder.exists():
        _build(folder)
    return folder / "tests" / "test-runner"


@pytest.fixture
def bootstrap() -> Iterator[str]:
    """A broker as the suite wants it, or the given one."""
    yield from bootstrap_of(_SETTINGS)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_selection(runner: Path, bootstrap: str, tmp_path: Path) -> None:
    settings = tmp_path / "test.conf"
    settings.write_text(
        f"metadata.broker.list={bootstrap}\ntest.topic.random=true\ntest.timeout.multiplier=5\n"
    )
    source = runner.parent.parent
    environment = {
        **os.environ,
        "RDKAFKA_TEST_CONF": str(settings),
        "TESTS": ",".join(_TESTS),
        "TEST_KAFKA_VERSION": "4.1.0",
        "LD_LIBRARY_PATH": f"{source / 'src'}:{source / 'src-cpp'}",
    }
    done = subprocess.run(
        [str(runner), "-p6", "-K", "-Q", "-L"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=280,
        check=False,
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, told[-8000:]
    passed = set(re.findall(r"= Test (\d{4})_\w+ PASSED", told))
    assert passed == set(_TESTS)
