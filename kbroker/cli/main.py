"""The `kbroker` command. Each sub-command is imported when it is called: starting a broker must not wait."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

_HELP = """\
usage: kbroker COMMAND [OPTIONS]

kbroker is a Kafka-compatible broker.

  start     start a broker, or with --cluster 3 three of them; an empty folder becomes a new cluster
  storage   format the folders of a node, or tell what lies in them
  wire      decode and encode Kafka messages, for authors of clients
  version   print the version

`kbroker COMMAND --help` tells the options. `kbroker-admin` manages topics, groups, configs and more.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sub-command; returns the exit code (2: wrong usage)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    command = arguments[0] if arguments else "--help"
    if command == "start":
        # Until the event loop minds signals, Ctrl-C ends the process without a word. A shell that starts us
        # in the background may have asked to ignore it.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        # What a start imports and makes is there to stay: no use to look through it again and again.
        gc.disable()
        from kbroker.cli.start import start

        return start(arguments[1:])
    if command == "storage":
        from kbroker.cli.storage import storage

        return storage(arguments[1:])
    if command == "wire":
        from kbroker.cli.wire import run

        return run(arguments[1:])
    if command in ("version", "--version", "-V"):
        from kbroker import __version__

        print(f"kbroker {__version__}")
        return 0
    if command in ("help", "--help", "-h"):
        print(_HELP, end="")
        return 0 if arguments else 2
    print(f"kbroker: no command {command!r}; there are start, storage, wire and version", file=sys.stderr)
    return 2


def command() -> NoReturn:
    """The process; it ends with the command. To take down a broker's objects one by one may take seconds."""
    try:
        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 1
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("kbroker"):
            raise
        print(f"kbroker: {error}; `pip install kbroker` brings what it needs", file=sys.stderr)
        code = 1
    os._exit(code)


if __name__ == "__main__":
    command()
