"""Arguments of `kbroker`: what is wrong with them is one line on stderr and exit code 2."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; the usage, which may be long, is what --help is for.

    Sub-parsers are of the same kind.
    """

    def error(self, message: str) -> NoReturn:
        """End the process."""
        print(f"{self.prog}: {message.removeprefix('argument ')} (see {self.prog} --help)", file=sys.stderr)
        sys.exit(2)


def whole_number(text: str) -> int:
    """For `type=`.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
