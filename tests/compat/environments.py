"""Virtual environments with clients of old, made once and kept in the tests' cache."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.needs import cache_folder


def interpreter_with(python: str, packages: list[str]) -> str:
    """The interpreter of an environment of `python` with `packages`, named by the first of them."""
    tag = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    folder = cache_folder() / f"{packages[0].replace('==', '-')}-python{tag}"
    interpreter = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        command = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, *packages], check=True)
        ready.touch()
    return str(interpreter)


def run(python: str, program: Path, *args: str) -> str:
    """What a program beside the tests prints, after asserting that it succeeded."""
    done = subprocess.run(
        [python, str(program), *args], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
