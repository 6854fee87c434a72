"""CRC-32C, by the extension module of the package `crc32c`.

Its `__init__` reads its own version and has a command line: importlib.metadata, argparse, zipfile and email,
3 MB and 30 ms of a start that needs none of them. So the extension is loaded by itself, where it is found.
"""

from __future__ import annotations

from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import TYPE_CHECKING, Any

__all__ = ["crc32c"]


def _load() -> Any:
    package = PathFinder.find_spec("crc32c")
    spec = (
        PathFinder.find_spec("_crc32c", package.submodule_search_locations) if package is not None else None
    )
    if spec is None or spec.loader is None:
        return import_module("crc32c")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from crc32c import crc32c
else:
    crc32c = _load().crc32c
