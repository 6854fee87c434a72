"""Steps that belong together, and what is learnt from the answers."""

from __future__ import annotations

from collections.abc import Generator
from random import Random
from typing import Any, TypeAlias

from tools.differential.world import Group, Member, Topic, World

Steps: TypeAlias = Generator[dict[str, Any], Any, Any]
Served: TypeAlias = dict[str, tuple[int, int]]
_MEMBER_METADATA = "AAEAAAABAAF0AAAAAA=="
_MEMBER_ID_REQUIRED = 79
_ANY_ID = "zzzzzzzzQ0mZ0000000001"


def learn(world: World, step: dict[str, Any]) -> Steps:
    """Send a step and bring the world up to what it did."""
    answer = yield step
    lesson = _LESSONS.get(step["send"])
    if lesson is not None and isinstance(answer, dict) and "cannotBeSent" not in answer:
        yield from lesson(world, step, answer)
    return answer


def open_episode(world: World, rng: Random, served: Served) -> Steps:
    """Some topics with records, a group with offsets, a producer."""
    yield {**_send("FindCoordinator", 2, key="any", keyType=0), "until": {"path": "errorCode", "is": 0}}
    # Kafka would make its topic in requests that it never answers (share-offsets-hang).
    share_key = [f"g:{_ANY_ID}:0"]
    step = _send("FindCoordinator", 6, keyType=2, coordinatorKeys=share_key)
    yield {**step, "until": {"path": "coordinators.0.errorCode", "is": 0}}
    for number in range(8):  # until all of the coordinator is there
        request = _send("OffsetFetch", 5, groupId=f"{world.prefix}w{number}", topics=[])
        yield {**request, "until": {"path": "errorCode", "is": 0}}
    for partitions in (1, 3, 2):
        yield from create_topic(world, partitions)
    yield from _producer(world)
    batch = {"records": [{"k": "k", "v": f"v{index}"} for index in range(5)]}
    for topic in list(world.topics.values()):
        data = {"index": 0, "records": {"batches": [{**batch, "codec": "gzip"}]}}
        yield from learn(
            world,
            _send(
                "Produce",
                9,
                acks=-1,
                timeoutMs=5000,
                topicData=[{"name": topic.name, "partitionData": [data]}],
            ),
        )
    group = Group(world.fresh("g"))
    partition = {"partitionIndex": 0, "committedOffset": 3, "committedMetadata": "first"}
    topics = [{"name": name, "partitions": [partition]} for name in list(world.topics)[:1]]
    yield from learn(world, _send("OffsetCommit", 8, groupId=group.id, topics=topics))


def scenario(world: World, rng: Random, served: Served) -> Steps:
    """One of them."""
    kind = rng.choice(("member", "member", "static", "second", "producer", "session", "auto", "version"))
    if kind == "producer":
        yield from _producer(world)
    elif kind == "session":
        yield from _fetch_session(world, rng)
    elif kind == "auto":
        yield from _auto_create(world, rng)
    elif kind == "version":
        yield from _unknown_version(rng, served)
    elif kind == "second":
        yield from _second_member(world, rng)
    else:
        yield from _first_member(world, rng, world.fresh("i") if kind == "static" else None)


def create_topic(world: World, partitions: int) -> Steps:
    """A topic with nothing special about it."""
    topic = {"name": world.fresh("t"), "numPartitions": partitions, "replicationFactor": 1}
    yield from learn(world, _send("CreateTopics", 7, topics=[topic], timeoutMs=10000))


def _send(api: str, version: int, **request: Any) -> dict[str, Any]:
    return {"send": api, "v": version, "req": request}


# --- what requests taught ---


def _created(world: World, step: dict[str, Any], answer: dict[str, Any]) -> Steps:
    if step["req"].get("validateOnly"):
        return
    for topic in answer["topics"]:
        if topic["errorCode"] == 0:
            yield from _settle(world, topic["name"])


def _settle(world: World, name: str) -> Steps:
    """Wait until the topic's leaders serve; Kafka answers the creation earlier."""
    topic = world.topics.setdefault(name, Topic(name, world.variable("id")))
    step = _send("Metadata", 12, topics=[{"name": name}], allowAutoTopicCreation=False)
    answer = yield {
        **step,
        "until": {"path": "topics.0.errorCode", "is": 0},
        "bind": {topic.id: "topics.0.topicId"},
    }
    if not isinstance(answer, dict) or not answer["topics"]:
        return
    topic.partitions = max(1, len(answer["topics"][0]["partitions"]))
    for index in range(topic.partitions):
        wanted = [{"partitionIndex": index, "timestamp": -1}]
        step = _send("ListOffsets", 7, replicaId=-1, topics=[{"name": name, "partitions": wanted}])
        yield {**step, "until": {"path": "topics.0.partitions.0.errorCode", "is": 0}}


def _deleted(world: World, step: dict[str, Any], answer: dict[str, Any]) -> Steps:
    for result in answer["responses"]:
        topic = world.topics.pop(result.get("name") or "", None)
        if topic is None or result["errorCode"] != 0:
            if topic is not None:
                world.topics[topic.name] = topic
            continue
        world.gone.append(topic)
        request = _send("Metadata", 12, topics=[{"name": topic.name}], allowAutoTopicCreation=False)
        yield {**request, "until": {"path": "topics.0.errorCode", "is": 3}}
    while len(world.topics) < 2:
        yield from create_topic(world, 2)


def _more_partitions(world: World, step: dict[str, Any], answer: dict[str, Any]) -> Steps:
    if step["req"].get("validateOnly"):
        return
    counts = {topic["name"]: topic["count"] for topic in step["req"]["topics"]}
    for result in answer["results"]:
        if result["errorCode"] == 0:
            path = f"topics.0.partitions.{counts[result['name']] - 1}.errorCode"
            request = _send("Metadata", 12, topics=[{"name": result["name"]}], allowAutoTopicCreation=False)
            yield {**request, "until": {"path": path, "is": 0}}
            yield from _settle(world, result["name"])


def _produced(world: World, step: dict[str, Any], answer: dict[str, Any]) -> Steps:
    for response in answer["responses"]:
        topic = world.topics.get(response.get("name") or "")
        if topic is None:
            continue
        for partition in response["partitionResponses"]:
            if partition["errorCode"] == 0:
                topic.ends[partition["index"]] = partition["baseOffset"] + 1
    return
    yield


def _committed(world: World, step: dict[str, Any], answer: dict[str, Any]) -> Steps:
    codes = [p["errorCode"] for topic in answer["topics"] for p in topic["partitions"]]
    group = step["req"]["groupId"]
    if 0 in codes and group:
        world.groups.setdefault(group, Group(group))
    return
    yield


def _joined(world: World, step: dict[str, Any], answer: dict[str, Any]) -> Steps:
    """A join out of the blue: forget the group if it went through, as its round would have to go on."""
    if answer["errorCode"] == 0:
        world.groups.pop(step["req"]["groupId"], None)
    return
    yield


def _left(world: World, step: dict[str, Any], answer: dict[str, Any]) -> Steps:
    group = world.groups.get(step["req"]["groupId"])
    if group is not None and answer["errorCode"] == 0:
        group.members = []
    return
    yield


_LESSONS = {
    "CreateTopics": _created,
    "DeleteTopics": _deleted,
    "CreatePartitions": _more_partitions,
    "Produce": _produced,
    "OffsetCommit": _committed,
    "JoinGroup": _joined,
    "LeaveGroup": _left,
}


# --- scenarios ---


def _producer(world: World) -> Steps:
    name = world.variable("pid")
    step = {
        **_send("InitProducerId", 4, transactionalId=None, transactionTimeoutMs=60000),
        "bind": {name: "producerId"},
    }
    answer = yield {
        **step,
        "until": {"path": "errorCode", "is": 0},
    }  # Kafka's first block of ids takes a while
    if isinstance(answer, dict) and answer["errorCode"] == 0:
        world.producers.append(name)


def _auto_create(world: World, rng: Random) -> Steps:
    version = rng.randint(0, 13)
    name = world.fresh("auto")
    request: dict[str, Any] = {"topics": [{"name": name}]}
    if version >= 4:
        request["allowAutoTopicCreation"] = rng.random() < 0.8
    yield {"send": "Metadata", "v": version, "req": request}
    if request.get("allowAutoTopicCreation", True):
        yield from _settle(world, name)


def _unknown_version(rng: Random, served: Served) -> Steps:
    api = rng.choice(list(served))
    top = served[api][1]
    yield {
        "send": api,
        "v": rng.choice((top + 1, top + 100, -1, 32767)),
        "as": top,
        "req": {},
        "deadline": 2000,
    }


def _fetch_session(world: World, rng: Random) -> Steps:
    """A session made, used, with partitions added and forgotten, and its epochs got wrong."""
    version = rng.randint(7, 18)
    topics = list(world.topics.values())[:3]
    name = world.variable("session")
    request = _session_request(version, 0, 0, topics[:2])
    yield {"send": "Fetch", "v": version, "req": request, "bind": {name: "sessionId"}}
    epoch = 1
    for _ in range(rng.choice((2, 3, 4))):
        chosen = rng.choice(([], topics[2:], topics[:1]))
        given = epoch if rng.random() < 0.8 else rng.choice((epoch - 1, epoch + 1, 0, -1))
        request = _session_request(version, f"${name}", given, chosen)
        if rng.random() < 0.3 and topics:
            topic = topics[0]
            key = {"topicId": f"${topic.id}"} if version >= 13 else {"topic": topic.name}
            request["forgottenTopicsData"] = [{**key, "partitions": [0]}]
        step: dict[str, Any] = {"send": "Fetch", "v": version, "req": request}
        if given == 0:
            name = world.variable("session")
            step["bind"] = {name: "sessionId"}
            epoch = 0
        answer = yield step
        if isinstance(answer, dict) and answer.get("errorCode") == 0:
            epoch += 1
        if given == -1:
            return


def _session_request(version: int, session: Any, epoch: int, topics: list[Topic]) -> dict[str, Any]:
    entries = []
    for topic in topics:
        key = {"topicId": f"${topic.id}"} if version >= 13 else {"topic": topic.name}
        entries.append(
            {**key, "partitions": [{"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 1 << 20}]}
        )
    request: dict[str, Any] = {
        "maxWaitMs": 10,
        "minBytes": 0,
        "sessionId": session,
        "sessionEpoch": epoch,
        "topics": entries,
    }
    return request


def _join(group: Group, member: str, version: int, instance: str | None) -> dict[str, Any]:
    request: dict[str, Any] = {
        "groupId": group.id,
        "sessionTimeoutMs": 300000,
        "memberId": member,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": _MEMBER_METADATA}],
    }
    if version >= 1:
        request["rebalanceTimeoutMs"] = 60000
    if version >= 5:
        request["groupInstanceId"] = instance
    return request


def _first_member(world: World, rng: Random, instance: str | None) -> Steps:
    """A member of a new group joins and syncs."""
    group = Group(world.fresh("g"))
    version = rng.randint(5 if instance is not None else 0, 9)
    name, connection = world.variable("m"), world.fresh("c")
    step = {"send": "JoinGroup", "v": version, "conn": connection, "bind": {name: "memberId"}}
    answer = yield {**step, "req": _join(group, "", version, instance)}
    if isinstance(answer, dict) and answer["errorCode"] == _MEMBER_ID_REQUIRED:
        answer = yield {**step, "req": _join(group, f"${name}", version, instance)}
    if not isinstance(answer, dict) or answer["errorCode"] != 0:
        return
    group.members = [Member(f"${name}", instance, connection)]
    group.generation = answer["generationId"]
    world.groups[group.id] = group
    if rng.random() < 0.85:
        yield from _sync(rng, group, group.members[0], group.members)


def _sync(rng: Random, group: Group, member: Member, assigned: list[Member]) -> Steps:
    version = rng.randint(0, 5)
    request: dict[str, Any] = {"groupId": group.id, "generationId": group.generation, "memberId": member.id}
    if version >= 3:
        request["groupInstanceId"] = member.instance
    if version >= 5:
        request["protocolType"], request["protocolName"] = "consumer", "range"
    request["assignments"] = [{"memberId": other.id, "assignment": "AAEAAAAA"} for other in assigned]
    yield {"send": "SyncGroup", "v": version, "conn": member.connection, "req": request}


def _second_member(world: World, rng: Random) -> Steps:
    """Another member joins a group of one; the first is told to, rejoins and shares out."""
    group = next((group for group in world.groups.values() if len(group.members) == 1), None)
    if group is None:
        return
    first = group.members[0]
    name, connection, token = world.variable("m"), world.fresh("c"), world.fresh("a")
    version = rng.randint(4, 9)
    yield {
        "send": "JoinGroup",
        "v": version,
        "conn": connection,
        "bind": {name: "memberId"},
        "req": _join(group, "", version, None),
    }
    yield {
        "async": "JoinGroup",
        "v": version,
        "conn": connection,
        "id": token,
        "req": _join(group, f"${name}", version, None),
    }
    beat = {"groupId": group.id, "generationId": group.generation, "memberId": first.id}
    yield {
        "send": "Heartbeat",
        "v": 2,
        "conn": first.connection,
        "req": beat,
        "until": {"path": "errorCode", "unlike": 0},
    }
    again = _join(group, first.id, 5, first.instance)
    answer = yield {"send": "JoinGroup", "v": 5, "conn": first.connection, "req": again, "sort": ["members"]}
    yield {"await": token, "sort": ["members"]}
    if not isinstance(answer, dict) or answer["errorCode"] != 0:
        world.groups.pop(group.id, None)
        return
    second = Member(f"${name}", None, connection)
    group.generation = answer["generationId"]
    group.members.append(second)
    yield from _sync(rng, group, first, group.members)
    yield from _sync(rng, group, second, [])
