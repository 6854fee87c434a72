"""The history that a seed stands for: steps, each made from what the answers before have shown."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator
from random import Random
from typing import Any, TypeAlias

from kbroker.handlers.api_table import API_TABLE
from kbroker.protocol.api_keys import FACTS, ApiKey
from kbroker.protocol.releases import release
from tools.differential.filler import Filler
from tools.differential.scenarios import Steps, learn, open_episode, scenario
from tools.differential.session import REPEATABLE
from tools.differential.world import World

#: They would change the quorum that both brokers are, or take Kafka's only broker out of its cluster.
_NOT_ASKED = (ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER, ApiKey.UNREGISTER_BROKER)
#: How often each API is asked, if not once in so many.
WEIGHTS = {
    "Metadata": 5, "CreateTopics": 6, "DeleteTopics": 2, "CreatePartitions": 3, "Produce": 8, "Fetch": 8,
    "ListOffsets": 5, "OffsetCommit": 5, "OffsetFetch": 5, "JoinGroup": 3, "DescribeConfigs": 3,
    "IncrementalAlterConfigs": 4, "AlterConfigs": 2, "DescribeTopicPartitions": 3, "UpdateFeatures": 1,
    "DescribeQuorum": 1, "OffsetForLeaderEpoch": 3, "DeleteRecords": 2,
}  # fmt: skip
_DEFAULT_WEIGHT = 2
#: Chances of a wrong field: meaningful requests, wrong ones, and those whose bytes are damaged.
_KINDS = ((0.5, 0.02, False), (0.33, 0.22, False), (0.17, 0.03, True))
_DEADLINE_MS = 2500
#: Damage there could change the broker for good.
_NOT_MUTATED = frozenset(("UpdateFeatures", "AlterConfigs", "IncrementalAlterConfigs", "DeleteTopics"))
EPISODE_STEPS = 120
_ANY_ACL = {
    "resourceTypeFilter": 1, "resourceNameFilter": None, "patternTypeFilter": 1,
    "principalFilter": None, "hostFilter": None, "operation": 1, "permissionType": 1,
}  # fmt: skip
#: After what changes one thing for the whole cluster: all there is of it, so that brokers that part are seen.
_SHOWN_AFTER: dict[str, dict[str, Any]] = {
    "CreateAcls": {"send": "DescribeAcls", "v": 3, "req": _ANY_ACL},
    "DeleteAcls": {"send": "DescribeAcls", "v": 3, "req": _ANY_ACL},
    "AlterUserScramCredentials": {"send": "DescribeUserScramCredentials", "v": 0, "req": {"users": None}},
    "AlterClientQuotas": {"send": "DescribeClientQuotas", "v": 1, "req": {"components": [], "strict": False}},
}

Versions: TypeAlias = dict[str, tuple[int, int]]


def versions() -> Versions:
    """What Kafka 4.4 serves of what kbroker advertises: {API: (lowest, highest)}."""
    kafka = release("4.4")
    assert kafka is not None
    return {
        FACTS[key].name: (max(low, kafka.served[key][0]), min(high, kafka.served[key][1]))
        for key, (_, low, high) in API_TABLE.items()
        if key in kafka.served and key not in _NOT_ASKED
    }


def history(
    seed: int,
    steps: int,
    apis: list[str] | None = None,
    are_apart: Callable[[], bool] = lambda: False,
    alike: bool = True,
) -> Generator[dict[str, Any], Any, None]:
    """Steps for `seed`; the answer to each is sent back into the generator.

    `are_apart` is asked after each step whether the two brokers no longer keep the same: then all begins
    anew with other topics. `alike`: they keep the same when it begins.
    """
    rng = Random(seed)
    served = versions()
    chosen = [api for api in served if apis is None or api in apis]
    weights = [WEIGHTS.get(api, _DEFAULT_WEIGHT) for api in chosen]
    done = 0
    for episode in itertools.count():
        if done >= steps:
            return
        world = World(f"s{seed:03d}e{episode:03d}-", others_are_alike=alike)
        yield from open_episode(world, rng, served)
        for _ in range(min(EPISODE_STEPS, steps - done)):
            done += 1
            api = rng.choices(chosen, weights)[0]
            if rng.random() < 0.08 and (apis is None or "JoinGroup" in apis):
                yield from scenario(world, rng, served)
            else:
                yield from _single(world, rng, api, served[api])
                if api in _SHOWN_AFTER:
                    yield _SHOWN_AFTER[api]
            if are_apart():
                alike = False
                break


def _single(world: World, rng: Random, api: str, range_: tuple[int, int]) -> Steps:
    version = range_[1] if rng.random() < 0.3 else rng.randint(*range_)
    _, wrong, damaged = rng.choices(_KINDS, [kind[0] for kind in _KINDS])[0]
    step: dict[str, Any] = {
        "send": api,
        "v": version,
        "req": Filler(world, rng, api, version, wrong).request(),
    }
    step["deadline"] = _DEADLINE_MS
    if api == "DescribeLogDirs" and not world.others_are_alike:
        step["keep"] = {"results.*.topics.name": world.prefix}
    if api == "InitProducerId":
        step["bind"] = {world.variable("pid"): "producerId"}
    if api == "Fetch" and version >= 7:
        step["bind"] = {world.variable("session"): "sessionId"}
    member = _connection(world, step["req"])
    if member is not None:
        step["conn"] = member
    if damaged and api not in _NOT_MUTATED:
        step["mutate"] = [_change(rng, api in REPEATABLE) for _ in range(rng.choice((1, 1, 2)))]
        yield step
        return
    yield from learn(world, step)


def _connection(world: World, request: dict[str, Any]) -> str | None:
    """Members have connections of their own: a parked join would hold up the others."""
    for group in world.groups.values():
        for member in group.members:
            if request.get("memberId") == member.id:
                return member.connection
    return None


def _change(rng: Random, harmless: bool) -> dict[str, Any]:
    """Where a request changes something, no byte gets its highest bit: it could break a text.

    kbroker refuses that, Kafka repairs it, and afterwards the two brokers would not be alike.
    """
    at = rng.randrange(2000)
    words = ("7f7f7f7f", "00000000", "0000", "7f", "00")
    if harmless:
        words += ("7fffffff", "ffffffff", "80000000", "ffffffff0f")
    return rng.choice(
        (
            {"cut": at},
            {"flip": 1 << rng.randrange(8 if harmless else 7), "at": at},
            {"flip": 255 if harmless else 127, "at": at},
            {"put": rng.choice(words), "at": at},
            {"insert": rng.choice(("00", "01", "0101")), "at": at},
            {"remove": rng.choice((1, 2, 4)), "at": at},
        )
    )
