"""The `simple` assignor of share groups: partitions may be shared, every member gets something to do.

With more members than partitions each partition has several; counts of members differ by one at most, and so
do counts of partitions among members of one subscription. What somebody has it keeps as far as that allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kbroker.types import Uuid

Place = tuple[Uuid, int]


def assign(
    members: Mapping[str, Iterable[Place]], current: Mapping[str, Iterable[Place]]
) -> dict[str, list[Place]]:
    """Who gets what.

    Args:
        members: what each may have, all places of its subscription.
        current: what each has.
    """
    wanted = {member: dict.fromkeys(places) for member, places in members.items()}
    result: dict[str, dict[Place, None]] = {member: {} for member in wanted}
    groups: dict[tuple[Place, ...], list[str]] = {}
    for member, each in wanted.items():
        groups.setdefault(tuple(sorted(each)), []).append(member)
    for places, theirs in groups.items():
        if places:
            _spread(places, sorted(theirs), current, result)
    return {member: sorted(each) for member, each in result.items()}


def _spread(
    places: tuple[Place, ...],
    members: list[str],
    current: Mapping[str, Iterable[Place]],
    result: dict[str, dict[Place, None]],
) -> None:
    sharing = -(-len(members) // len(places))
    total = sharing * len(places)
    quotas = {
        member: (at + 1) * total // len(members) - at * total // len(members)
        for at, member in enumerate(members)
    }
    room = dict.fromkeys(places, sharing)
    for member in members:
        mine = result[member]
        for place in current.get(member, ()):
            if len(mine) < quotas[member] and room.get(place, 0):
                mine[place] = None
                room[place] -= 1
    for member in members:
        mine = result[member]
        for place in sorted(room, key=lambda each: (-room[each], each)):
            if len(mine) >= quotas[member]:
                break
            if room[place] and place not in mine:
                mine[place] = None
                room[place] -= 1
    for place, left in room.items():
        if left == sharing:
            # Nobody's: whoever has least takes it beside its own.
            poorest = min(members, key=lambda each: (len(result[each]), each))
            result[poorest][place] = None
