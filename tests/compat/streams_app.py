"""Kafka Streams applications for tests: tests/compat/java_streams/StreamsCount.java, each a process.

app = StreamsApp.compiled(cache_folder())
one = app.start(bootstrap, name, "processing.guarantee=exactly_once_v2", state=folder)
one.wait_for("RUNNING"); one.stop() or one.kill()
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import threading
from pathlib import Path

from tools.kafka_jars import streams_jars

_SOURCE = Path(__file__).parent / "java_streams" / "StreamsCount.java"
WAIT_SECONDS = 60


class StreamsProcess:
    """One running instance."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._changed = threading.Condition()
        self.lines: list[str] = []
        self._over = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self.lines.append(line.rstrip())
                self._changed.notify_all()
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def wait_for(self, state: str, since: int = 0) -> None:
        """Wait until it says so; AssertionError with all it said if it does not."""
        with self._changed:
            self._changed.wait_for(lambda: state in self.lines[since:] or self._over, WAIT_SECONDS)
        assert state in self.lines[since:], "\n".join(self.lines[-60:])

    def stop(self) -> None:
        """SIGTERM: it closes its tasks and ends."""
        self._process.terminate()
        self.wait_for("closed")
        self._process.wait(WAIT_SECONDS)

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.wait()


class StreamsApp:
    """The compiled application."""

    def __init__(self, path: str) -> None:
        self._class_path = path

    @classmethod
    def compiled(cls, cache: Path) -> StreamsApp:
        """Fetch the jars and compile, unless both are there."""
        jars = streams_jars(cache)
        digest = hashlib.sha256(_SOURCE.read_bytes() + str(jars).encode()).hexdigest()[:16]
        folder = cache / f"streams-{digest}"
        if not folder.is_dir():
            work = cache / f"compiling-streams-{os.getpid()}"
            command = ["javac", "-nowarn", "-cp", f"{jars}{os.sep}*", "-d", str(work), str(_SOURCE)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"javac failed:\n{done.stderr}"
            with contextlib.suppress(OSError):  # another test process was quicker
                work.rename(folder)
        return cls(os.pathsep.join([str(folder), f"{jars}{os.sep}*"]))

    def start(self, bootstrap: str, name: str, *settings: str, state: Path) -> StreamsProcess:
        """One instance, with its state in the folder `state`."""
        options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        options.append("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
        arguments = [bootstrap, name, f"state.dir={state}", *settings]
        process = subprocess.Popen(
            ["java", *options, "-cp", self._class_path, "StreamsCount", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return StreamsProcess(process)
