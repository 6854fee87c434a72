"""Differences that are meant, or wait for what is not built: a rule for each entry of docs/differences.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tools.differential.session import Exchange

Rule = Callable[[Exchange], bool]
_LARGEST_TIMESTAMP = -3
_UUID_LETTERS = 36
_INTERNAL = ("__consumer_offsets", "__share_group_state")
#: By so many bytes, and a twentieth, may logs differ that hold a few batches of a few records.
_RECOMPRESSED_BYTES = 8


def _utf8(exchange: Exchange) -> bool:
    return exchange.ours == "closed" and "utf-8" in exchange.unreadable.lower()


def _same_partition_twice(exchange: Exchange) -> bool:
    return exchange.api == "Produce" and "mutate" in exchange.step and _repeats(exchange.ours)


def _null_records(exchange: Exchange) -> bool:
    """Damage left a partition without records."""
    return (
        exchange.api == "Produce"
        and "mutate" in exchange.step
        and exchange.theirs == "timeout"
        and isinstance(exchange.ours, dict)
        and any(
            each["errorCode"] == 87
            for topic in exchange.ours["responses"]
            for each in topic["partitionResponses"]
        )
    )


def _repeats(answer: Any) -> bool:
    if not isinstance(answer, dict):
        return False
    seen = [
        (topic.get("name") or topic.get("topicId"), partition["index"])
        for topic in answer.get("responses", ())
        for partition in topic["partitionResponses"]
    ]
    return len(seen) != len(set(seen))


def _internal_error(exchange: Exchange) -> bool:
    """Every difference is in an item to which Kafka answered -1, or of records that it had room for then; or
    all items were answered so.
    """
    if _codes(exchange.theirs) == {-1}:
        return True
    traps = [path for path, _, _ in exchange.differences if _error_of(exchange.theirs, path) == -1]
    return bool(traps) and all(
        path in traps or (exchange.api == "Fetch" and path.endswith("records.batches"))
        for path, _, _ in exchange.differences
    )


def _codes(answer: Any) -> set[int]:
    """All error codes in an answer."""
    if isinstance(answer, list):
        return set().union(*map(_codes, answer))
    if not isinstance(answer, dict):
        return set()
    own = {answer["errorCode"]} if "errorCode" in answer else set()
    return own.union(*map(_codes, answer.values()))


def _error_of(answer: Any, path: str) -> Any:
    """The error code of the innermost object around a path that has one."""
    found = None
    for part in path.replace("[", ".").split("."):
        if isinstance(answer, dict):
            found = answer.get("errorCode", found)
            answer = answer.get(part)
        elif isinstance(answer, list) and part.isdigit():
            answer = answer[int(part)]
        else:
            break
    if isinstance(answer, list) and answer and all(isinstance(item, dict) for item in answer):
        codes = {item.get("errorCode") for item in answer}
        found = codes.pop() if len(codes) == 1 else found
    return found


def _alter_twice(exchange: Exchange) -> bool:
    return (
        exchange.api == "AlterConfigs"
        and exchange.theirs == "timeout"
        and "at most once" in str(exchange.ours)
    )


def _metadata_offsets(exchange: Exchange) -> bool:
    leaves = ("highWatermark", "logEndOffset", "leaderEpoch", "lastFetchTimestamp", "lastCaughtUpTimestamp")
    return exchange.api == "DescribeQuorum" and all(
        path.endswith(leaves) for path, _, _ in exchange.differences
    )


def _which_of_several(exchange: Exchange) -> bool:
    """An item with more than one setting is refused by both, for different ones of them."""
    return (
        exchange.api in ("CreateTopics", "AlterConfigs", "IncrementalAlterConfigs", "UpdateFeatures")
        and all(path.endswith(("errorMessage", "errorCode")) for path, _, _ in exchange.differences)
        and _setting_count(exchange.step["req"]) > 1
    )


def _setting_count(request: dict[str, Any]) -> int:
    items = request.get("topics", request.get("resources", []))
    return max(len(request.get("featureUpdates", ())), *(len(item.get("configs", ())) for item in items), 0)


def _broken_head(exchange: Exchange) -> bool:
    """Kafka refuses all of a request with a batch whose head is broken, before anything else."""
    if exchange.api != "Produce" or not isinstance(exchange.theirs, dict):
        return False
    codes = [p["errorCode"] for topic in exchange.theirs["responses"] for p in topic["partitionResponses"]]
    return set(codes) == {2}


def _isolation(exchange: Exchange) -> bool:
    return exchange.api in ("Fetch", "ListOffsets") and exchange.step["req"].get("isolationLevel", 0) not in (
        0,
        1,
    )


def _internal_sizes(exchange: Exchange) -> bool:
    return _only_sizes(exchange) and all(
        _topic_at(exchange.theirs, path) in _INTERNAL for path, _, _ in exchange.differences
    )


def _recompressed_sizes(exchange: Exchange) -> bool:
    """What `compression.type` has the broker compress with snappy or zstd is a little larger or smaller."""
    return _only_sizes(exchange) and all(
        _topic_at(exchange.theirs, path) in _INTERNAL
        or (
            _topic_at(exchange.theirs, path) in exchange.recompressed
            and abs(int(theirs) - int(ours)) <= _RECOMPRESSED_BYTES + int(theirs) // 20
        )
        for path, theirs, ours in exchange.differences
    )


def _only_sizes(exchange: Exchange) -> bool:
    return (
        exchange.api == "DescribeLogDirs"
        and isinstance(exchange.theirs, dict)
        and all(path.endswith("partitionSize") for path, _, _ in exchange.differences)
    )


def _topic_at(answer: dict[str, Any], path: str) -> str:
    parts = path.replace("[", ".").split(".")
    index = parts[3].rstrip("]")
    return index if not index.isdigit() else answer["results"][int(parts[1])]["topics"][int(index)]["name"]


def _damaged_id(exchange: Exchange) -> bool:
    """A byte of an id was changed, which each broker had made for itself."""
    if "mutate" not in exchange.step:
        return False
    texts = [
        [json.loads(text).replace("$uuid", "0" * _UUID_LETTERS) for text in (one, other)]
        for _, one, other in exchange.differences
        if one[0] == other[0] == '"'
    ]
    return len(texts) == len(exchange.differences) and all(len(a) == len(b) > 30 for a, b in texts)


def _fetch_order(exchange: Exchange) -> bool:
    """Kafka names a topic twice when its refused partitions come after those of others."""
    return (
        exchange.api == "Fetch"
        and isinstance(exchange.theirs, dict)
        and isinstance(exchange.ours, dict)
        and _fetched(exchange.theirs) == _fetched(exchange.ours)
    )


def _fetched(answer: dict[str, Any]) -> tuple[Any, ...]:
    topics: dict[str, dict[int, Any]] = {}
    for topic in answer["responses"]:
        partitions = topics.setdefault(topic.get("topic") or topic.get("topicId"), {})
        partitions.update({partition["partitionIndex"]: partition for partition in topic["partitions"]})
    rest = {name: value for name, value in answer.items() if name != "responses"}
    return topics, rest


def _unknown_follower(exchange: Exchange) -> bool:
    request = exchange.step.get("req", {})
    replica = request.get("replicaId", request.get("replicaState", {}).get("replicaId", -1))
    leaves = ("errorCode", "nodeEndpoints")
    return (
        exchange.api == "Fetch"
        and replica >= 0
        and all(path.endswith(leaves) for path, _, _ in exchange.differences)
    )


def _documentation(exchange: Exchange) -> bool:
    return exchange.api == "DescribeConfigs" and all(
        path.endswith("documentation") for path, _, _ in exchange.differences
    )


_ONCE = frozenset(
    (
        "AddPartitionsToTxn", "WriteTxnMarkers", "InitializeShareGroupState", "ReadShareGroupState",
        "WriteShareGroupState", "DeleteShareGroupState", "ReadShareGroupStateSummary",
        "DescribeShareGroupOffsets", "AlterShareGroupOffsets", "DeleteShareGroupOffsets",
    )
)  # fmt: skip


def _item_twice(exchange: Exchange) -> bool:
    return exchange.api in _ONCE and ("mutate" in exchange.step or _names_twice(exchange.step.get("req")))


def _names_twice(value: Any) -> bool:
    """Whether any list is empty, has a number twice, or two objects for the same thing."""
    if isinstance(value, dict):
        return any(map(_names_twice, value.values()))
    if not isinstance(value, list):
        return False
    if not value:
        return True
    names = [
        next(
            (
                each[key]
                for key in ("topicId", "topicName", "name", "partition", "partitionIndex", "producerId")
                if key in each
            ),
            id(each),
        )
        if isinstance(each, dict)
        else each
        for each in value
    ]
    return len(names) != len(set(names)) or any(map(_names_twice, value))


def _share_offsets_hang(exchange: Exchange) -> bool:
    apis = ("DescribeShareGroupOffsets", "AlterShareGroupOffsets", "DeleteShareGroupOffsets")
    return exchange.api in apis and exchange.theirs == "timeout"


def _out_of_time(exchange: Exchange) -> bool:
    """With a time-out of a few milliseconds it is a matter of luck."""
    if exchange.api != "ElectLeaders" or not isinstance(exchange.theirs, dict):
        return False
    results = exchange.theirs["replicaElectionResults"]
    codes = {part["errorCode"] for topic in results for part in topic["partitionResult"]}
    brief = "mutate" in exchange.step or 0 < exchange.step["req"].get("timeoutMs", 0) < 100
    return brief and (codes == {7} or exchange.theirs.get("errorCode") == 7)


def _quota_entity(exchange: Exchange) -> bool:
    """The parts of an entity in a message, and which of several wrong parts or keys is told."""
    return exchange.api == "AlterClientQuotas" and all(
        path.endswith("errorMessage")
        and (sorted(one) == sorted(other) or "Unhandled" in one or _several_keys(exchange, one, other))
        for path, one, other in exchange.differences
    )


def _several_keys(exchange: Exchange, *messages: str) -> bool:
    several = "mutate" in exchange.step or any(
        len(entry["ops"]) > 1 for entry in exchange.step["req"]["entries"]
    )
    return several and "null" not in messages


def _fetch_twice_hangs(exchange: Exchange) -> bool:
    """Partitions of several unknown topics, some of them twice."""
    request = exchange.step.get("req", {})
    return exchange.api == "Fetch" and exchange.theirs == "timeout" and _names_twice(request.get("topics"))


def _deleted_maximum(exchange: Exchange) -> bool:
    """The record with the largest timestamp was deleted: Kafka goes on to name it."""
    if exchange.api != "ListOffsets" or not isinstance(exchange.theirs, dict):
        return False
    asked = {
        (topic.get("name"), partition.get("partitionIndex"))
        for topic in exchange.step.get("req", {}).get("topics", ())
        for partition in topic.get("partitions", ())
        if partition.get("timestamp") == _LARGEST_TIMESTAMP
    }
    for path, _, _ in exchange.differences:
        place = path.split(".")
        if len(place) != 5 or place[0] != "topics":
            return False
        topic = exchange.theirs["topics"][int(place[1])]
        if (topic["name"], topic["partitions"][int(place[3])]["partitionIndex"]) not in asked:
            return False
    return True


#: Entry of docs/differences.md: its rule.
RULES: dict[str, Rule] = {
    "text-not-utf-8": _utf8,
    "produce-partition-twice": _same_partition_twice,
    "kafka-internal-error": _internal_error,
    "fetch-topic-twice": _fetch_order,
    "unknown-follower": _unknown_follower,
    "config-documentation": _documentation,
    "damaged-id": _damaged_id,
    "isolation-level": _isolation,
    "internal-topic-size": _internal_sizes,
    "recompressed-size": _recompressed_sizes,
    "alter-configs-twice": _alter_twice,
    "metadata-log-offsets": _metadata_offsets,
    "which-of-several-errors": _which_of_several,
    "produce-broken-head": _broken_head,
    "produce-null-records": _null_records,
    "item-twice": _item_twice,
    "share-offsets-hang": _share_offsets_hang,
    "election-out-of-time": _out_of_time,
    "quota-entity": _quota_entity,
    "largest-timestamp-deleted": _deleted_maximum,
    "fetch-unknown-twice": _fetch_twice_hangs,
}


def reason(exchange: Exchange) -> str | None:
    """The entry of docs/differences.md that explains the whole difference; None if none does."""
    return next((name for name, rule in RULES.items() if rule(exchange)), None)
