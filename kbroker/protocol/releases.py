"""Which API versions each release of Apache Kafka offered its clients.

Only what a listener for clients names in ApiVersions, without the requests between brokers. Until 3.9 that is
a broker with ZooKeeper, from 3.3 on together with what brokers without one added. A listing is what changed
since the release before: `key:highest`, or `key:lowest-highest`; who is not named stays as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

_CHANGES = """\
0.8.2  0:0 1:0 2:0 3:0 8:1 9:1 10:0
0.9.0  0:1 1:1 8:2 11:0 12:0 13:0 14:0 15:0 16:0
0.10.0  0:2 1:2 3:1 17:0 18:0
0.10.1  1:3 2:1 3:2 11:1 19:0 20:0
0.10.2  9:2 19:1
0.11.0  0:3 1:5 2:2 3:4 8:3 9:3 10:1 11:2 12:1 13:1 14:1 15:1 16:1 18:1 19:2 20:1 21:0 22:0 23:0 24:0 25:0
    26:0 27:0 28:0 29:0 30:0 31:0 32:0 33:0
1.0  0:5 1:6 3:5 17:1 34:0 35:0 36:0 37:0
1.1  1:7 32:1 38:0 39:0 40:0 41:0 42:0
2.0  0:6 1:8 2:3 3:6 8:4 9:4 10:2 11:3 12:2 13:2 14:2 15:2 16:2 18:2 19:3 20:2 21:1 22:1 23:1 24:1 25:1
    26:1 28:1 29:1 30:1 31:1 32:2 33:1 34:1 35:1 37:1 38:1 39:1 40:1 41:1 42:1
2.1  0:7 1:10 2:4 3:7 8:6 9:5 20:3 23:2 28:2
2.2  2:5 11:4 36:1 43:0
2.3  1:11 3:8 8:7 11:5 12:3 14:3 15:3 23:3 44:0
2.4  0:8 3:9 8:8 9:6 10:3 11:6 12:4 13:4 14:4 15:5 16:3 18:3 19:5 20:4 22:2 38:2 42:2 43:2 44:1 45:0 46:0
    47:0
2.5  9:7 11:7 14:5 22:3 28:3 29:2 30:2 31:2 36:2 37:2 39:2 40:2 41:2
2.6  16:4 21:2 32:3 35:2 48:0 49:0
2.7  1:12 19:6 20:5 22:4 24:2 25:2 26:2 37:3 50:0 51:0 57:0
2.8  0:9 2:6 3:11 19:7 20:6 23:4 24:3 25:3 26:3 27:1 32:4 33:2 34:2 48:1 49:1 60:0 61:0
3.0  2:7 9:8 10:4 65:0 66:0
3.1  1:13 3:12
3.2  11:9 13:5 35:3
3.3  29:3 30:3 31:3 35:4 38:3 41:3 55:1 57:1 64:0
3.4
3.5  1:15 2:8
3.6  24:4
3.7  0:10 1:16 8:9 9:9 60:1 68:0 74:0
3.8  0:11 10:5 16:5 22:5 24:5 25:4 26:4 28:4 66:1 69:0 75:0
3.9  1:17 2:9 10:6 18:4 55:2 80:0 81:0
4.0  0:12 1:4-17 2:1-10 3:13 8:2-9 9:1-9 11:2-9 15:6 19:2-7 20:1-6 23:2-4 26:5 27:1-1 28:5 29:1-3 30:1-3
    31:1-3 32:1-4 34:1-2 35:1-4 38:1-3 39:1-2 40:1-2 41:1-3 57:2 60:2 68:1 69:1
4.1  0:13 1:4-18 11:9 45:1 66:2 74:1 76:1-1 77:1-1 78:1-1 79:1-1 83:0 84:0 85:0 86:0 87:0 90:0 91:0 92:0
4.2  2:1-11 8:2-10 9:1-10 27:1-2 78:1-2 79:1-2 80:1 85:1 87:1 88:0 89:0 90:1
4.3  35:1-5
4.4  18:5 28:6 42:3 88:1 89:1 93:0 94:0
"""

#: The requests between brokers with ZooKeeper, which all named until KRaft was ready for use.
_BETWEEN_BROKERS = """\
0.10.0  4:0 5:0 6:2 7:1-1
0.10.2  6:3
1.0  4:1 6:4
1.1  7:1
2.2  4:2 5:1 6:5 7:2
2.4  4:4 5:2 6:6 7:3
2.6  5:3
2.7  56:0
2.8  4:5 6:7
3.0  67:0
3.2  4:6
"""

_KRAFT_SINCE = (3, 3)
_KRAFT_ONLY_SINCE = (4, 0)
_PRODUCE = 0
#: Kafka 4 names Produce 0 although it begins with 3, as old librdkafka switches features off without it
#: (KAFKA-18659).
_NAMED_FROM_0_SINCE = (4, 0)
_PRODUCE_FROM = 3


class Release(NamedTuple):
    """One release.

    Attributes:
        name: as in `kbroker.compatibility`.
        number: for comparisons.
        served: API key to the versions that are answered.
        advertised: API key to the versions that ApiVersions names.
        between_brokers: API key to the versions that it names besides, of requests between brokers with
            ZooKeeper.
    """

    name: str
    number: tuple[int, ...]
    served: Mapping[int, tuple[int, int]]
    advertised: Mapping[int, tuple[int, int]]
    between_brokers: Mapping[int, tuple[int, int]]


@lru_cache(maxsize=1)
def releases() -> dict[str, Release]:
    """All that are known, oldest first, by name."""
    found: dict[str, Release] = {}
    versions: dict[int, tuple[int, int]] = {}
    between: dict[int, tuple[int, int]] = {}
    changed_between = {name: changes for name, *changes in _listings(_BETWEEN_BROKERS)}
    for name, *changes in _listings(_CHANGES):
        versions = {**versions, **dict(map(_range, changes))}
        number = tuple(map(int, name.split(".")))
        served = dict(sorted(versions.items()))
        advertised = served
        if number >= _NAMED_FROM_0_SINCE:
            served = {**served, _PRODUCE: (_PRODUCE_FROM, served[_PRODUCE][1])}
        between = {**between, **dict(map(_range, changed_between.get(name, ())))}
        found[name] = Release(name, number, served, advertised, between if number < _KRAFT_SINCE else {})
    return found


def release(name: str) -> Release | None:
    """The release of that name; None for `all`.

    Raises:
        KeyError: nothing is known of it.
    """
    return None if name == "all" else releases()[name]


def is_before(name: str, number: tuple[int, ...]) -> bool:
    """Whether that is a release older than `number`; `all` is none."""
    found = release(name)
    return found is not None and found.number < number


def _listings(text: str) -> list[list[str]]:
    listings: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith(" "):
            listings[-1] += line.split()
        else:
            listings.append(line.split())
    return listings


def _range(text: str) -> tuple[int, tuple[int, int]]:
    key, _, versions = text.partition(":")
    low, _, high = versions.rpartition("-")
    return int(key), (int(low or 0), int(high))


@lru_cache(maxsize=8)
def asked_release(name: str) -> str | None:
    """The release that was asked how one answers, where that is not today's way: 3.9.2 in KRaft, for all
    since that was ready for use, and 2.8.2 with ZooKeeper for all before; None: as 4.4 does.
    """
    if is_before(name, _KRAFT_SINCE):
        return "2.8"
    return "3.9" if is_before(name, _KRAFT_ONLY_SINCE) else None
