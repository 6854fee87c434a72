"""Nothing that a request may need is left to be imported from files that may have been replaced."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import kbroker.handlers
from kbroker.server.preload import BESIDES, WITH_AUTHORIZER

SCRIPT = """
import sys
from kbroker.server.preload import preload
waiting = []
class Timer:
    def call_later(self, delay_ms, action):
        waiting.append(action)
preload(Timer(), **dict.fromkeys(sys.argv[1:], True))
while waiting:
    waiting.pop()()
print(*sys.modules)
"""


def loaded(*arguments: str) -> set[str]:
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not done.stderr
    return set(done.stdout.split())


def test_every_handler_is_imported() -> None:
    modules = loaded("guards", "zookeeper")
    there = {f"kbroker.handlers.{file.stem}" for file in Path(kbroker.handlers.__file__).parent.glob("*.py")}
    assert there - modules == {"kbroker.handlers.__init__"}
    assert set(BESIDES) <= modules


def test_without_an_authorizer_there_are_no_guards() -> None:
    modules = loaded()
    assert set(BESIDES) <= modules
    assert not set(WITH_AUTHORIZER) & modules
