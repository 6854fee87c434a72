"""Nothing that a request may need is left to be imported from files that may have been replaced."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import kbroker.handlers
from kbroker.server.preload import BESIDES

SCRIPT = """
import sys
from kbroker.server.preload import preload
waiting = []
class Timer:
    def call_later(self, delay_ms, action):
        waiting.append(action)
preload(Timer())
while waiting:
    waiting.pop()()
print(*sys.modules)
"""


def test_every_handler_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    there = {f"kbroker.handlers.{file.stem}" for file in Path(kbroker.handlers.__file__).parent.glob("*.py")}
    assert there - loaded == {"kbroker.handlers.__init__"}
    assert set(BESIDES) <= loaded
    assert not done.stderr
