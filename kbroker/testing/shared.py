"""One broker for all workers of a pytest-xdist run.

The first worker to make the folder starts the broker and writes its address there; the others wait for that
file. The controlling process ends the broker when the workers are gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import time
from collections.abc import Mapping

from kbroker.errors import ConfigError
from kbroker.storage.file_names import CLEAN_SHUTDOWN
from kbroker.testing.broker import RunningBroker
from kbroker.testing.process import ProcessRunner

_STATE = "broker.json"
PATIENCE_S = 60.0
_PAUSE_S = 0.02


def join_shared(folder: str, settings: Mapping[str, str]) -> RunningBroker:
    """The run's broker, started by whoever asks first.

    Raises:
        ConfigError: it did not start; every worker hears why.
    """
    try:
        os.mkdir(folder)
    except FileExistsError:
        return _wait(folder)
    data = os.path.join(folder, "data")
    settings = {"listeners": "PLAINTEXT://127.0.0.1:0", **settings, "log.dirs": data}
    # The worker that starts it may be done before the others are.
    runner = ProcessRunner(settings, "dev", outlives_us=True)
    try:
        address = runner.start()
    except ConfigError as error:
        _tell(folder, {"error": str(error)})
        raise
    _tell(folder, {"address": address, "pid": runner.pid, "data": data})
    return RunningBroker(address, data)


def _wait(folder: str) -> RunningBroker:
    path = os.path.join(folder, _STATE)
    deadline = time.monotonic() + PATIENCE_S
    while not os.path.exists(path):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no worker started the broker within {PATIENCE_S:.0f} s")
        time.sleep(_PAUSE_S)
    state = _read(path)
    if "error" in state:
        raise ConfigError(str(state["error"]))
    return RunningBroker(str(state["address"]), str(state["data"]))


def stop_shared(folder: str) -> None:
    """End the broker, if one was started, and remove the folder."""
    path = os.path.join(folder, _STATE)
    if os.path.exists(path):
        state = _read(path)
        if isinstance(state.get("pid"), int):
            _end(int(str(state["pid"])), os.path.join(str(state["data"]), CLEAN_SHUTDOWN))
    shutil.rmtree(folder, ignore_errors=True)


def _end(pid: int, marker: str) -> None:
    """SIGTERM, and SIGKILL after a while. It is not our child, so that it cannot be waited for; the marker of
    a clean stop tells that it is over."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if os.path.exists(marker):
                return
            os.kill(pid, 0)
            time.sleep(_PAUSE_S)
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def _tell(folder: str, state: Mapping[str, object]) -> None:
    path = os.path.join(folder, _STATE)
    with open(f"{path}.tmp", "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.replace(f"{path}.tmp", path)


def _read(path: str) -> dict[str, object]:
    with open(path, encoding="utf-8") as file:
        state: dict[str, object] = json.load(file)
    return state
