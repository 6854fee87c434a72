"""Requests of any API and version, filled field by field from its schema and the world."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from kbroker.protocol.schemas.parser import Field, Struct, load_message
from tools.differential import values
from tools.differential.security_values import SecurityValues
from tools.differential.world import Group, Member, Topic, World

UNKNOWN_ID = "zzzzzzzzQ0mZ0000000001"
ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
_TOPIC_NAMES = frozenset(("name", "topic", "topicName"))
#: Where `name` is not a topic that exists.
_NAMES_OF_OTHERS = frozenset(
    ("CreatableTopic", "CreatableTopicConfig", "AlterableConfig", "JoinGroupRequestProtocol")
)
_PARTITIONS = frozenset(("partition", "partitionIndex", "index", "partitions", "partitionIndexes"))
_LEFT_OUT = 0.3
_TIMEOUTS_MS = (1000, 5000, 30000)


@dataclass(frozen=True, slots=True)
class Context:
    """What the structs around a field have chosen."""

    topic: Topic
    group: Group
    member: Member | None
    generation: int
    resource: int = 2
    partition: int = 0


class Filler(SecurityValues):
    """`wrong` is the chance of each field to be wrong."""

    def __init__(self, world: World, rng: Random, api: str, version: int, wrong: float) -> None:
        self.world, self.rng, self.version, self.wrong = world, rng, version, wrong
        self.api = api
        self._taken: set[tuple[str, int]] = set()

    def request(self) -> dict[str, Any]:
        """A request body in JSON."""
        request = self._request()
        if self.api == "Produce":
            request["topicData"] = _alone(_without_repetitions(request["topicData"]))
        return request

    def _request(self) -> dict[str, Any]:
        group = self.world.group(self.rng)
        member = self.rng.choice(group.members) if group.members else None
        context = Context(self.world.topic(self.rng), group, member, group.generation)
        return self.struct(load_message(f"{self.api}Request").root, context)

    def bad(self) -> bool:
        """Whether the next thing is to be wrong."""
        return self.rng.random() < self.wrong

    def struct(self, struct: Struct, context: Context) -> dict[str, Any]:
        """The fields of a struct that the version has."""
        fields = [field for field in struct.fields if self.version in field.versions]
        result: dict[str, Any] = {}
        names = {field.name for field in fields}
        topical = struct.name not in _NAMES_OF_OTHERS and (names & _TOPIC_NAMES or "topicId" in names)
        if topical:
            context = replace(context, topic=self.topic_of())
            self._name_topic(result, fields, context.topic)
        if "partitionIndex" in names or "partition" in names or "index" in names:
            context = replace(context, partition=self.partition(context.topic))
        if "resourceType" in names:
            context = replace(context, resource=self.rng.choice((2, 2, 2, 4, 4, 32, 16)))
        for field in fields:
            if field.name in result:
                continue
            optional = field.is_tagged(self.version) or (field.has_default and field.ignorable)
            if optional and self.rng.random() < _LEFT_OUT:
                continue
            result[field.name] = self.value(field, context)
        return result

    def _name_topic(self, result: dict[str, Any], fields: list[Field], topic: Topic) -> None:
        by_name = next((f for f in fields if f.name in _TOPIC_NAMES), None)
        by_id = next((f for f in fields if f.name == "topicId"), None)
        both = by_name is not None and by_id is not None
        use_id = by_id is not None and (not both or self.rng.random() < 0.5)
        if by_name is not None:
            nullable = by_name.is_nullable(self.version)
            drop = both and use_id and not self.bad()
            result[by_name.name] = (None if nullable else "") if drop else topic.name
            if nullable and self.bad():
                result[by_name.name] = None
        if by_id is not None:
            identity = f"${topic.id}" if topic.id else UNKNOWN_ID
            if both and not use_id and not self.bad():
                identity = ZERO_ID
            elif self.bad():
                identity = self.rng.choice((UNKNOWN_ID, ZERO_ID))
            result["topicId"] = identity

    def topic_of(self) -> Topic:
        """A topic that exists, or if wrong one that does not or cannot."""
        if self.bad():
            if self.world.gone and self.rng.random() < 0.3:
                return self.rng.choice(self.world.gone)
            return Topic(self.rng.choice(values.bad_topic_names(self.world.prefix)))
        topic = self.world.topic(self.rng)
        for _ in range(3):
            if self._take(topic.name, -1):
                break
            topic = self.world.topic(self.rng)
        return topic

    def _take(self, topic: str, partition: int) -> bool:
        """Whether the request does not name it yet: repetitions are to be rare."""
        if (topic, partition) in self._taken:
            return False
        self._taken.add((topic, partition))
        return True

    def partition(self, topic: Topic) -> int:
        """A partition of the topic, or if wrong none."""
        if self.bad():
            wrong = (topic.partitions, topic.partitions + 7, -1, 2**31 - 1, -(2**31))
            # Of negative ones Kafka keeps a group that cannot be deleted (kafka-internal-error).
            return self.rng.choice(wrong[:2] if self.api == "AlterShareGroupOffsets" else wrong)
        partition = self.rng.randrange(topic.partitions)
        for _ in range(4):
            if self._take(topic.name, partition):
                break
            partition = self.rng.randrange(topic.partitions)
        return partition

    # --- fields ---

    def value(self, field: Field, context: Context) -> Any:
        """A value for a field."""
        special = getattr(self, f"_{self.api}_{field.name}", None) or getattr(
            self, f"_any_{field.name}", None
        )
        may_be_null = field.is_nullable(self.version) and field.type != "records"  # Kafka never answers those
        if may_be_null and self.rng.random() < (0.4 if field.default_is_null else 0.08 + self.wrong / 3):
            return None
        if special is not None:
            return special(context)
        if field.is_array:
            return self._array(field, context)
        return self._element(field, context)

    def _array(self, field: Field, context: Context) -> list[Any]:
        count = self.rng.choice((1, 1, 1, 2, 3))
        if self.bad():
            count = self.rng.choice((0, 0, 5))
        found = [self._element(field, context) for _ in range(count)]
        if found and self.api != "Produce" and self.bad() and self.rng.random() < 0.5:
            found.append(found[0])
        return found

    def _element(self, field: Field, context: Context) -> Any:
        if field.struct is not None:
            return self.struct(field.struct, context)
        if field.name in _PARTITIONS:
            return context.partition if not field.is_array else self.partition(context.topic)
        special = getattr(self, f"_each_{field.name}", None)
        if special is not None:
            return special(context)
        return self._plain(field)

    def _plain(self, field: Field) -> Any:
        if field.type in values.EXTREMES:
            if self.bad():
                return self.rng.choice(values.EXTREMES[field.type])
            return field.default if field.has_default else self.rng.choice((0, 1))
        if field.type == "bool":
            return self.rng.random() < 0.5
        if field.type == "string":
            return self.rng.choice(("", "x", "ü" * 3, "y" * 300) if self.bad() else ("text", "other"))
        if field.type == "uuid":
            return self.rng.choice((UNKNOWN_ID, ZERO_ID))
        if field.type == "bytes":
            return self.rng.choice(("", "AAEC", "/////w=="))
        raise ValueError(f"{self.api}.{field.name}: no values for {field.type}")

    def pick(self, good: Any, bad: Any) -> Any:
        """One of the good ones, or if wrong one of the bad ones."""
        return self.rng.choice(bad if self.bad() else good)

    def _any_timeoutMs(self, _: Context) -> int:
        return int(self.pick(_TIMEOUTS_MS, (2**31 - 1, 1000, 5000)))

    def _any_replicaState(self, _: Context) -> dict[str, Any]:
        return {"replicaId": self.pick((-1,), (-2,)), "replicaEpoch": -1}

    def _any_replicaId(self, _: Context) -> int:
        return int(self.pick((-1,), (-2, 0, 1, 7)))

    def _any_isolationLevel(self, _: Context) -> int:
        return int(self.pick((0, 1), (2, -1, 127)))

    def _any_currentLeaderEpoch(self, _: Context) -> int:
        return int(self.pick((-1, 0), (1, 5, -2, 2**31 - 1)))

    def _any_leaderEpoch(self, _: Context) -> int:
        return int(self.pick((0, 0, -1), (1, 5, -2, 2**31 - 1)))

    def _any_committedLeaderEpoch(self, _: Context) -> int:
        return int(self.pick((-1, 0), (3, -2, 2**31 - 1)))

    def _any_topicNames(self, context: Context) -> list[str]:
        return [self.topic_of().name for _ in range(self.rng.choice((1, 1, 2)))]

    # groups

    def _any_groupId(self, context: Context) -> str:
        return str(self.pick((context.group.id,), ("", f"{self.world.prefix}none", "x" * 300, " ", "ü")))

    def _any_memberId(self, context: Context) -> str:
        known = context.member.id if context.member is not None else ""
        return str(self.pick((known,), ("", "nobody", "x" * 100)))

    def _any_groupInstanceId(self, context: Context) -> str | None:
        known = context.member.instance if context.member is not None else None
        return (
            self.pick((known,), (None, "", "other", "x/y"))
            if context.member is not None
            else self.pick((None,), ("i1", ""))
        )  # type: ignore[no-any-return]

    def _any_generationId(self, context: Context) -> int:
        return int(self.pick((context.generation,), (-1, 0, context.generation + 1, -7, 2**31 - 1)))

    def _any_generationIdOrMemberEpoch(self, context: Context) -> int:
        return self._any_generationId(context)

    def _any_memberEpoch(self, context: Context) -> int:
        return self._any_generationId(context)

    def _OffsetFetch_memberId(self, context: Context) -> str | None:
        return self._any_memberId(context) if self.bad() else None

    def _OffsetFetch_memberEpoch(self, context: Context) -> int:
        return int(self.pick((-1,), (0, 1, -2)))

    def _any_groupsNames(self, context: Context) -> list[str]:
        return [self._any_groupId(context) for _ in range(self.rng.choice((1, 1, 2)))]

    def _DescribeGroups_groups(self, context: Context) -> list[str]:
        return [
            self._any_groupId(replace(context, group=self.world.group(self.rng)))
            for _ in range(self.rng.choice((1, 2)))
        ]

    def _any_statesFilter(self, _: Context) -> list[str]:
        return self.rng.sample(
            ("Stable", "Empty", "Dead", "PreparingRebalance", "nonsense", "stable", ""),
            self.rng.choice((0, 1, 2)),
        )

    def _any_typesFilter(self, _: Context) -> list[str]:
        return self.rng.sample(
            ("Classic", "classic", "Consumer", "nonsense", "Share", ""), self.rng.choice((0, 0, 1, 2))
        )

    def _any_key(self, context: Context) -> str:
        return self._any_groupId(context)

    def _each_coordinatorKeys(self, context: Context) -> str:
        return self._any_groupId(context)

    def _any_keyType(self, _: Context) -> int:
        return int(self.pick((0,), (3, -1, 9)))

    def _any_sessionTimeoutMs(self, _: Context) -> int:
        return int(self.pick((60000, 300000), (0, -1, 99, 2**31 - 1)))

    def _any_rebalanceTimeoutMs(self, _: Context) -> int:
        return 60000

    def _any_protocolType(self, _: Context) -> str:
        return str(self.pick(("consumer",), ("", "connect")))

    def _any_protocolName(self, _: Context) -> str:
        return str(self.pick(("range",), ("", "roundrobin", "sticky")))

    def _JoinGroup_protocols(self, _: Context) -> list[dict[str, Any]]:
        metadata = {"metadata": "AAAAAAAAAAA="}
        names = self.pick((("range",), ("range", "roundrobin")), ((), ("sticky",)))
        return [{"name": name, **metadata} for name in names]

    # offsets

    def _end(self, context: Context) -> int:
        return context.topic.ends.get(context.partition, 0)

    def _any_fetchOffset(self, context: Context) -> int:
        end = self._end(context)
        return int(self.pick((0, end, end // 2), (-1, end + 1, end + 100, 2**63 - 1, -5)))

    def _any_offset(self, context: Context) -> int:
        end = self._end(context)
        return int(self.pick((0, end // 3, -1), (-2, end + 1, 2**63 - 1)))

    def _any_committedOffset(self, context: Context) -> int:
        return int(self.pick((0, 5, self._end(context)), (-1, -2, 2**63 - 1)))

    def _any_committedMetadata(self, _: Context) -> str:
        return str(self.pick(("", "note"), ("x" * 4096, "x" * 4097, "ü")))

    def _any_retentionTimeMs(self, _: Context) -> int:
        return int(self.pick((-1,), (0, 86400000, -2)))

    def _any_commitTimestamp(self, _: Context) -> int:
        return -1

    def _ListOffsets_timestamp(self, _: Context) -> int:
        known = (-1, -2, -3, values.RECORD_TIME_MS, values.RECORD_TIME_MS + 5, values.RECORD_TIME_MS - 1)
        return int(self.pick(known, (-4, -5, -6, -7, 0, 2**63 - 1, -(2**63))))

    # fetch

    def _any_maxWaitMs(self, _: Context) -> int:
        return int(self.pick((0, 10, 50), (-1, 0)))

    def _any_minBytes(self, _: Context) -> int:
        return int(self.pick((0, 1), (-1, 100000)))

    def _any_maxBytes(self, _: Context) -> int:
        return int(self.pick((2**31 - 1, 1 << 20, 1), (0, -1)))

    def _any_partitionMaxBytes(self, _: Context) -> int:
        return int(self.pick((1 << 20, 1, 200), (0, -1, 2**31 - 1)))

    def _any_lastFetchedEpoch(self, _: Context) -> int:
        return int(self.pick((-1, -1, 0), (5, -2)))

    def _any_logStartOffset(self, _: Context) -> int:
        return int(self.pick((-1,), (0, 5)))

    def _any_replicaEpoch(self, _: Context) -> int:
        return int(self.pick((-1,), (0, 77)))

    def _Fetch_clusterId(self, _: Context) -> str | None:
        return self.pick((None,), ("$cluster", "wrong"))  # type: ignore[no-any-return]

    def _any_sessionId(self, _: Context) -> int:
        return int(self.pick((0,), (123456, -1)))

    def _any_sessionEpoch(self, _: Context) -> int:
        return int(self.pick((-1, -1, 0), (1, -2)))

    def _Fetch_forgottenTopicsData(self, _: Context) -> list[Any]:
        return []

    # topics

    def _CreateTopics_topics(self, _: Context) -> list[dict[str, Any]]:
        found = [self._new_topic() for _ in range(self.rng.choice((1, 1, 2)))]
        if self.bad():
            found.append(dict(found[0]))
        return found if not (self.bad() and self.bad()) else []

    def _new_topic(self) -> dict[str, Any]:
        bad_names = [*values.bad_topic_names(self.world.prefix), *self.world.topics]
        topic: dict[str, Any] = {"name": self.rng.choice(bad_names) if self.bad() else self.world.fresh("t")}
        counts = (1, 2, 3, -1) if self.version >= 4 else (1, 2, 3)
        topic["numPartitions"] = self.pick(counts, (0, -2, -1, 100001))
        topic["replicationFactor"] = self.pick(
            (1, 1, -1) if self.version >= 4 else (1,), (0, 2, -1, -3, 32767)
        )
        topic["assignments"] = []
        if self.rng.random() < 0.15:
            if not self.bad():
                topic["numPartitions"] = topic["replicationFactor"] = -1
            topic["assignments"] = self._assignments()
        topic["configs"] = values.topic_configs(self.rng, self.bad, self.rng.choice((0, 0, 1, 2)))
        return topic

    def _assignments(self) -> list[dict[str, Any]]:
        count = self.rng.choice((1, 2))
        found = [
            {"partitionIndex": index, "brokerIds": self.pick(([1],), ([], [2], [1, 1], [-1]))}
            for index in range(count)
        ]
        if self.bad():
            found[-1]["partitionIndex"] = self.rng.choice((0, 5, -1))
        return found

    def _any_validateOnly(self, _: Context) -> bool:
        return self.rng.random() < 0.3

    def _CreatePartitions_count(self, context: Context) -> int:
        have = context.topic.partitions
        return int(self.pick((have + 1, have + 2), (have, have - 1, 0, -1, -7, 2**31 - 1)))

    def _CreatePartitions_assignments(self, context: Context) -> Any:
        return self.pick(
            (None, None, [{"brokerIds": [1]}]),
            ([], [{"brokerIds": []}], [{"brokerIds": [9]}], [{"brokerIds": [1, 1]}]),
        )

    def _Metadata_allowAutoTopicCreation(self, _: Context) -> bool:
        return False

    def _DescribeTopicPartitions_responsePartitionLimit(self, _: Context) -> int:
        return int(self.pick((2000, 1, 2), (0, -1)))

    # settings

    def _any_resourceType(self, context: Context) -> int:
        return int(self.pick((context.resource,), (0, 1, 3, 64, -1, 127)))

    def _any_resourceName(self, context: Context) -> str:
        names = {
            2: (self.world.topic(self.rng).name,),
            4: ("1", "1", ""),
            32: (self.world.group(self.rng).id,),
            8: ("1",),
        }
        good = names.get(context.resource, (f"{self.world.prefix}cm",))
        return str(self.pick(good, (*values.bad_topic_names(self.world.prefix), "0", "2", "1x", "-1")))

    def _any_configurationKeys(self, context: Context) -> list[str]:
        return values.config_names(self.rng, context.resource, self.bad, self.rng.choice((1, 2, 3)))

    def _AlterConfigs_configs(self, context: Context) -> list[dict[str, Any]]:
        return values.settings(self.rng, context.resource, self.bad, self.rng.choice((0, 1, 2)))

    def _IncrementalAlterConfigs_configs(self, context: Context) -> list[dict[str, Any]]:
        found = values.settings(self.rng, context.resource, self.bad, self.rng.choice((1, 1, 2, 3)))
        for setting in found:
            setting["configOperation"] = self.pick((0, 0, 0, 1, 2, 3), (4, -1))
            if setting["configOperation"] == 1 and not self.bad():
                setting["value"] = None
        return found

    def _any_includeDocumentation(self, _: Context) -> bool:
        return False

    def _any_resourceTypes(self, _: Context) -> list[int]:
        return self.rng.sample(
            (2, 4, 8, 16, 32, 0, 1, -1, 64) if self.bad() else (2, 4, 16, 32), self.rng.choice((0, 1, 2))
        )

    # the rest

    def _any_transactionalId(self, _: Context) -> str | None:
        return None

    def _any_acks(self, _: Context) -> int:
        return int(self.pick((1, -1, -1), (2, -2, 32767)))

    def _any_records(self, context: Context) -> Any:
        return values.record_set(self.world, self.rng, context.topic.name, context.partition, self.bad)

    def _InitProducerId_producerId(self, _: Context) -> Any:
        return self.pick((-1,), (0, -2, 5))

    def _InitProducerId_producerEpoch(self, _: Context) -> Any:
        return self.pick((-1,), (0, -2, 5))

    def _WriteTxnMarkers_producerEpoch(self, _: Context) -> int:
        return int(self.pick((0, 1), (-3, 5)))  # at -1 Kafka throws, and writes none of the request's markers

    def _any_clientSoftwareName(self, _: Context) -> str:
        return str(self.pick(("tester", "a-b.c"), ("", "-x", "a b", "ü")))

    def _any_clientSoftwareVersion(self, _: Context) -> str:
        return str(self.pick(("1.0",), ("", "1 0", "1.", "é")))

    def _ApiVersions_clusterId(self, _: Context) -> str | None:
        return self.pick(("$cluster", None), ("wrong", ""))  # type: ignore[no-any-return]

    def _ApiVersions_nodeId(self, _: Context) -> int:
        return int(self.pick((1, -1), (2, -2)))

    def _any_endpointType(self, _: Context) -> int:
        return int(self.pick((1,), (2, 0, 3, -1)))

    def _any_feature(self, _: Context) -> str:
        return str(self.pick(("metadata.version",), ("nonsense", "", "kraft.version")))

    def _any_maxVersionLevel(self, _: Context) -> int:
        return int(self.pick((7, 20, 27), (0, -1, 32767, 1)))

    def _UpdateFeatures_validateOnly(self, _: Context) -> bool:
        return True

    def _DescribeQuorum_topics(self, _: Context) -> list[Any]:
        known = [{"topicName": "__cluster_metadata", "partitions": [{"partitionIndex": 0}]}]
        other = [{"topicName": "x", "partitions": [{"partitionIndex": 0}]}]
        return self.pick((known,), (other, [], known + other, [{**known[0], "partitions": []}]))  # type: ignore[no-any-return]


def _without_repetitions(topics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of a partition named twice Kafka loses the first batch, and what follows would differ by that."""
    found: dict[str, dict[int, Any]] = {}
    kept = []
    for topic in topics:
        name = topic.get("name", topic.get("topicId"))
        if name not in found:
            kept.append(topic)
        partitions = found.setdefault(name, {})
        for partition in topic["partitionData"]:
            partitions.setdefault(partition["index"], partition)
    return [
        {**topic, "partitionData": [*found[topic.get("name", topic.get("topicId"))].values()]}
        for topic in kept
    ]


def _alone(topics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A batch with a broken head makes Kafka refuse the whole request: then it is the only one in it."""
    for topic in topics:
        for partition in topic["partitionData"]:
            damage = partition["records"]["batches"][0].get("damage", "")
            if damage.startswith(("length", "magic")):
                return [{**topic, "partitionData": [partition]}]
    return topics
