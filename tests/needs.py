"""What a test needs beyond Python packages: absent, it is skipped with the reason; in CI that is a failure.

`.ci/run` sets KBROKER_TEST_ALL, so that a CI machine that lost its Java does not go green by testing less.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def need(present: object, what: str) -> None:
    """Skip the calling test (fail it under KBROKER_TEST_ALL) unless `present`; `what` is the reason."""
    if present:
        return
    if os.environ.get("KBROKER_TEST_ALL"):
        pytest.fail(f"needs {what}, and KBROKER_TEST_ALL forbids to skip", pytrace=False)
    pytest.skip(f"needs {what}")


def need_command(name: str, package: str | None = None) -> str:
    """The path of a program, or the test is skipped."""
    path = shutil.which(name)
    need(path, f"the program {name}" + (f" (Debian package {package})" if package else ""))
    assert path is not None
    return path


def need_java() -> None:
    """Java with a compiler, and Maven to fetch Apache Kafka's jars."""
    need_command("javac", "default-jdk-headless")
    need_command("mvn", "maven")


def need_old_python() -> str:
    """An interpreter for kafka-python 2.0.2, which Python 3.12 and later cannot import."""
    if sys.version_info < (3, 12):
        return sys.executable
    names = ["python3.11", "python3.10", "python3.9"]
    found = [path for path in map(shutil.which, names) if path and _runs(path)]
    need(found, "a Python older than 3.12 for kafka-python 2.0.2")
    return found[0]


def find_python(*versions: str) -> str | None:
    """The first of these Pythons that is there, on the PATH or beside pyenv's others; None."""
    for version in versions:
        kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
        for python in [shutil.which(f"python{version}"), *map(str, reversed(kept))]:
            if python and _runs(python):
                return python
    return None


def _runs(python: str) -> bool:
    """A name on the PATH may be a version manager's shim that leads nowhere."""
    done = subprocess.run([python, "-c", ""], capture_output=True, check=False)
    return done.returncode == 0


def cache_folder() -> Path:
    """Where fetched and compiled things stay between runs (Apache Kafka's jars, an old client's packages)."""
    root = os.environ.get("KBROKER_TEST_CACHE") or Path.home() / ".cache" / "kbroker-tests"
    folder = Path(root).expanduser().absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder
