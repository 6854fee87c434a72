"""kafka-python's own integration tests, taken from its source package and run unchanged.

The source package lacks two things that they import: an `__init__.py`, and a module that starts and stops
brokers, of which a broker that runs already needs next to nothing. Both are made here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.suites.outside import bootstrap_of
from tests.needs import cache_folder, need

_VERSION = "3.0.12"
_AS_KAFKA = "4.3.0"  # the newest release that it tells by the API versions; 4.4 looks the same to it

# What the suite expects of the brokers that it starts itself.
_SETTINGS = {
    "node.id": "0",
    "num.partitions": "4",
    "group.min.session.timeout.ms": "1000",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}

_OTHERWISE = {
    # Wants it set, and `advertised.listeners` cannot name the port of a broker that takes any free one.
    "test_describe_configs_broker_resource_returns_configs": "the listener's port is not known beforehand",
}

_SERVICE = '''
class ExternalService:
    """A broker that others start and stop."""

    def __init__(self, host, port):
        self.host, self.port = host, port


class SpawnedService:
    """Never used with a broker that runs already."""
'''


def _source_package() -> Path:
    """The unpacked source package, fetched once."""
    name = f"kafka_python-{_VERSION}"
    kept = cache_folder() / f"{name}.tar.gz"
    if not kept.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        command += ["--dest", str(kept.parent), f"kafka-python=={_VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        need(done.returncode == 0 and kept.exists(), f"the source package of kafka-python {_VERSION}")
    return kept


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The folder to run the suite in."""
    with tarfile.open(_source_package()) as package:
        package.extractall(tmp_path, filter="data")
    folder = tmp_path / f"kafka_python-{_VERSION}"
    shutil.rmtree(folder / "kafka_python.egg-info", ignore_errors=True)
    (folder / "test" / "__init__.py").touch()
    (folder / "test" / "service.py").write_text(_SERVICE)
    (folder / "servers" / _AS_KAFKA / "kafka-bin").mkdir(parents=True)
    return folder


@pytest.fixture
def bootstrap() -> Iterator[str]:
    """A broker as the suite wants it, or the given one."""
    yield from bootstrap_of(_SETTINGS)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_integration_tests(suite: Path, bootstrap: str) -> None:
    command = [sys.executable, "-m", "pytest", "test/integration", "-q", "-rfE", "--tb=short"]
    command += ["-p", "no:cacheprovider", "-p", "no:asyncio", "-W", "ignore", "--timeout", "60"]
    command += ["--ignore", "test/integration/test_ssl_integration.py"]  # starts brokers itself
    command += ["-k", " and ".join(f"not {name}" for name in _OTHERWISE)]
    environment = {**os.environ, "KAFKA_VERSION": _AS_KAFKA, "KAFKA_URI": f"kafka://{bootstrap}"}
    environment["PYTHONPATH"] = str(suite)
    done = subprocess.run(
        command, cwd=suite, env=environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "54 passed" in done.stdout
