"""kafka-python, today's and 2.0.2 of 2020, which most old applications still have. Both do the same work."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from tests.needs import cache_folder, need_old_python

_EVERYDAY = Path(__file__).with_name("kafka_python_everyday.py")
_OLD_PACKAGES = ["kafka-python==2.0.2", "python-snappy>=0.7", "lz4>=4", "zstandard>=0.22"]


def work(python: str, bootstrap: str, name: str) -> str:
    done = subprocess.run(
        [python, str(_EVERYDAY), bootstrap, name], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def old_environment() -> str:
    """The interpreter of a cached virtual environment with kafka-python 2.0.2."""
    python = need_old_python()
    tag = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    folder = cache_folder() / f"kafka-python-2.0.2-python{tag}"
    interpreter = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        if python == sys.executable:
            venv.create(folder, with_pip=True, clear=True)
        else:
            subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        command = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, *_OLD_PACKAGES], check=True)
        ready.touch()
    return str(interpreter)


def test_todays_kafka_python(bootstrap: str, name: str) -> None:
    assert work(sys.executable, bootstrap, name).startswith("ok ")


def test_kafka_python_2_0_2(bootstrap: str, name: str) -> None:
    assert work(old_environment(), bootstrap, name) == "ok 2.0.2"
