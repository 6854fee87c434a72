"""Names of the levels of `metadata.version`, as releases and command lines call them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from kbroker.controller.features import (
    ELR_VERSION,
    GROUP_VERSION,
    LATEST_METADATA_VERSION,
    METADATA_VERSION,
    SHARE_VERSION,
    STREAMS_VERSION,
    SUPPORTED_FEATURES,
    TRANSACTION_VERSION,
)
from kbroker.errors import ConfigError
from kbroker.metadata.image import FeatureRange
from kbroker.protocol.releases import is_before

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

_LAST_WITH_ZOOKEEPER = "3.9"
#: Before 4.0 clusters of 3.0-IV1 could be upgraded, too.
_FIRST_BEFORE_4_0 = 1
#: (the release that has a feature, its name). Clients that hear of transactions of version 2 or of consumer
#: groups use requests that came with Kafka 4.0; those of streams and share groups came with 4.2.
_FEATURES_SINCE = (
    ((4, 0), GROUP_VERSION),
    ((4, 0), TRANSACTION_VERSION),
    ((4, 0), ELR_VERSION),
    ((4, 2), STREAMS_VERSION),
    ((4, 2), SHARE_VERSION),
)


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


def release_level(compatibility: str) -> int:
    """What a new cluster of a release is formatted with (3.9's where there was no such level yet)."""
    if compatibility == "all":
        return LATEST_METADATA_VERSION
    if is_before(compatibility, (3, 3)):
        compatibility = _LAST_WITH_ZOOKEEPER
    return metadata_version_level(compatibility)


@lru_cache(maxsize=8)
def supported_features(compatibility: str) -> Mapping[str, FeatureRange]:
    """The features that a release knows, and their levels; one that ends at 0 is known by its name only."""
    found = dict(SUPPORTED_FEATURES)
    if compatibility == "all":
        return found
    first = _FIRST_BEFORE_4_0 if is_before(compatibility, (4, 0)) else _FIRST
    found[METADATA_VERSION] = FeatureRange(first, release_level(compatibility))
    for since, name in _FEATURES_SINCE:
        if is_before(compatibility, since):
            found[name] = FeatureRange(0, 0)
    return found
