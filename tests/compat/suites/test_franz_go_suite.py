"""franz-go's own tests of its client, run where the Go module cache has them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

_VERSION = "v1.22.3"
_MODULE = f"github.com/twmb/franz-go@{_VERSION}"

# Of the tests that need a broker, those about what is built and that take a second at most.
_TESTS = [
    "TestPing",
    "TestTxnEtl",
    "TestUnknownGroupOffsetFetchPinned",
    "TestIssue1034",
    "TestClient_Produce",
    "TestClient_ProduceLargeMessages",
    "TestConsumeMaxDecompressBatchBytes",
    "TestConsumeRegex",
    "TestConsumeTopicRetrieval",
    "TestDirectPartitionPurge",
    "TestAddRemovePartitions",
    "TestGroupSimple",
    "TestHookPollStart",
    "TestIssueFetchLargerThanBrokerMaxReadBytes",
    "TestPauseIssue489",
    "TestPauseIssueOct2023",
    "TestPooling",
    *(f"TestIssue{number}" for number in (325, 337, 434, 523, 648, 769, 810, 831, 865)),
]


def _go() -> str:
    """Go, or the test is skipped: no failure in CI, as Debian's is too old for the module."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("needs Go")
    return go


def _module(go: str) -> Path:
    """The folder of the module in Go's cache."""
    done = subprocess.run(
        [go, "mod", "download", "-json", _MODULE], capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode:
        pytest.skip(f"needs the Go module {_MODULE}: {done.stderr or done.stdout}")
    return Path(json.loads(done.stdout)["Dir"])


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_client(bootstrap: str, tmp_path: Path) -> None:
    go = _go()
    folder = _module(go)
    program = tmp_path / "kgo.test"
    built = subprocess.run(
        [go, "test", "-c", "-o", str(program), "./pkg/kgo"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    if built.returncode:
        pytest.skip(f"needs a Go that builds {_MODULE}: {built.stderr[-500:]}")
    environment = {**os.environ, "KGO_SEEDS": bootstrap, "KGO_TEST_RF": "1", "KGO_LOG_LEVEL": "none"}
    done = subprocess.run(
        [str(program), "-test.v", "-test.timeout=90s", f"-test.run=^({'|'.join(_TESTS)})$"],
        cwd=folder / "pkg" / "kgo",
        env={**environment, "KGO_TEST_RECORDS": "2000"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    passed = {line.split()[2] for line in done.stdout.splitlines() if line.startswith("--- PASS: ")}
    assert passed == set(_TESTS)
