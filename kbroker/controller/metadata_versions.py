"""Names of the levels of `metadata.version`, as releases and command lines call them."""

from __future__ import annotations

from kbroker.controller.features import LATEST_METADATA_VERSION, METADATA_VERSION, SUPPORTED_FEATURES
from kbroker.errors import ConfigError

#: The internal versions (IV) of each release from 3.3-IV3 on, in the order of their levels.
_RELEASES = {
    "3.3": range(3, 4),
    "3.4": range(1),
    "3.5": range(3),
    "3.6": range(3),
    "3.7": range(5),
    "3.8": range(1),
    "3.9": range(1),
    "4.0": range(4),
    "4.1": range(2),
    "4.2": range(2),
    "4.3": range(1),
    "4.4": range(3),
}
_NAMES = [f"{release}-IV{number}" for release, numbers in _RELEASES.items() for number in numbers]
_FIRST = SUPPORTED_FEATURES[METADATA_VERSION].min_level
assert _FIRST + len(_NAMES) - 1 == LATEST_METADATA_VERSION


def metadata_version_name(level: int) -> str:
    """What a level is called: 33 is 4.4-IV2."""
    index = level - _FIRST
    return _NAMES[index] if 0 <= index < len(_NAMES) else str(level)


def metadata_version_level(name: str) -> int:
    """The level of that name, or the last one of a release: 4.0 is 4.0-IV3, which is 25.

    Raises:
        ConfigError: there is none.
    """
    for index in range(len(_NAMES) - 1, -1, -1):
        if name in (_NAMES[index], _NAMES[index].partition("-")[0]):
            return index + _FIRST
    raise ConfigError(
        f"unknown {METADATA_VERSION} '{name}': this release knows {_NAMES[0]} to {_NAMES[-1]} "
        f"({', '.join(_RELEASES)})"
    )
