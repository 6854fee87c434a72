"""Where the replicas of new partitions go: striped over racks and brokers, so that load and copies spread.

Partition p's leader walks the racks first and then the brokers inside a rack; its other replicas walk the
other racks from there, one a rack until the racks are used up. After each full walk over all brokers the
followers shift by one, so that the partitions of a dead leader spread over all the others. Fenced brokers
get replicas only when there are not enough live ones, and never lead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from kbroker.errors import ApiError, ErrorCode

X = TypeVar("X")


class UsableBroker(NamedTuple):
    """A broker that may get replicas."""

    id: int
    rack: str | None
    fenced: bool


def place_replicas(
    brokers: Iterable[UsableBroker],
    partitions: int,
    replication_factor: int,
    random_below: Callable[[int], int],
) -> list[list[int]]:
    """Replica lists for `partitions` partitions, the preferred leader first.

    Args:
        random_below: a random number below its argument: where the walks begin.

    Raises:
        ApiError: INVALID_REPLICATION_FACTOR, there are not enough brokers or none is alive.
    """
    usable = sorted(brokers)
    _check(usable, replication_factor)
    live = _racks(usable, fenced=False)
    fenced = _racks(usable, fenced=True)
    starts = [random_below(len(rack)) for rack in live]
    first_rack = random_below(len(live))
    return [_place_one(p + first_rack, starts, live, fenced, replication_factor) for p in range(partitions)]


def _check(usable: list[UsableBroker], replication_factor: int) -> None:
    if all(broker.fenced for broker in usable):
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "All brokers are currently fenced, or have all their log directories cordoned.",
        )
    if replication_factor > len(usable):
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The target replication factor of {replication_factor} cannot be reached because only "
            f"{len(usable)} broker(s) are registered or some brokers have all their log directories "
            "cordoned.",
        )


def _racks(usable: list[UsableBroker], *, fenced: bool) -> list[list[int]]:
    """Broker ids by rack; brokers without a rack share one of no name."""
    racks: dict[str, list[int]] = {}
    for broker in usable:
        if broker.fenced == fenced:
            racks.setdefault(broker.rack or "", []).append(broker.id)
    return [racks[name] for name in sorted(racks)]


def _place_one(
    turn: int, starts: list[int], live: list[list[int]], fenced: list[list[int]], count: int
) -> list[int]:
    """The replicas of one partition, `turn` counting partitions from the random first rack."""
    brokers = sum(map(len, live))
    round_, shift = turn // len(live), turn // brokers
    lead = turn % len(live)
    order = [_rotated(rack, starts[i] + round_) for i, rack in enumerate(live)]
    leader = order[lead].pop(0)
    order[lead] = _rotated(order[lead], shift)
    # The other racks first, the leader's own rack at the end of each walk.
    others = _rotated(order[lead + 1 :] + order[:lead], shift)
    replicas = [leader, *_interleaved([*others, order[lead]])]
    replicas += _interleaved([_rotated(rack, turn) for rack in fenced])
    return replicas[:count]


def _rotated(items: list[X], by: int) -> list[X]:
    if not items:
        return []
    by %= len(items)
    return items[by:] + items[:by]


def _interleaved(racks: list[list[int]]) -> list[int]:
    """The first of each rack, then the second of each, and so on."""
    longest = max(map(len, racks), default=0)
    return [rack[i] for i in range(longest) for rack in racks if i < len(rack)]
