"""Metadata: brokers, topics and where their partitions are led.

v0 an empty list asks for all topics; v1 null does, racks, controller, internal flag; v2 cluster id; v3
throttle time; v4 allowAutoTopicCreation; v5 offline replicas; v6 throttling before the answer,
LISTENER_NOT_FOUND; v7 leader epochs; v8 authorized operations; v9 flexible; v10 topic ids in the answer;
v11 no cluster operations; v12 topics by id (KIP-516); v13 an error for the whole (KIP-1102).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, cast

from kbroker.broker.absent_brokers import PAUSE_MS
from kbroker.broker.auto_topics import create_automatic_topics
from kbroker.broker.deferred import Deferred
from kbroker.controller.topics import topic_name_problem
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import allowed_operations
from kbroker.handlers.metadata_cache import EncodedAnswer, remembered
from kbroker.handlers.metadata_pieces import topic_pieces
from kbroker.handlers.partition_state import Reachable
from kbroker.metadata.image import INTERNAL_TOPICS
from kbroker.protocol.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kbroker.types import ZERO_UUID, Uuid

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import ClusterImage, PartitionImage, TopicImage
    from kbroker.protocol.generated.metadata_request import MetadataRequest

VERSIONS = (0, 13)
#: A topic costs 4 µs.
ELEMENTS_MAX = 60_000


def handle(
    services: Services, context: RequestContext, request: MetadataRequest
) -> MetadataResponse | Deferred[MetadataResponse]:
    """From the image; unknown topics are created first if client and broker allow it."""
    missing = None
    if request.topics:
        if cannot_be_answered(request, context.version):
            return error_response(request, context.version, ErrorCode.INVALID_REQUEST, None)
        missing = to_create(services, context.version, request)
    if not missing:
        return _in_a_moment(
            services,
            context,
            lambda: remembered(
                services, context, request, lambda: _answer_in_pieces(services, context, request)
            ),
        )
    missing, beyond = _affordable(services, context, missing)
    if not missing:
        return _answer(services, context, request, beyond)
    creation = create_automatic_topics(services, missing)
    if not services.config.get_bool("kbroker.auto.create.wait"):
        # As Kafka: the first answer says that the topic is not there yet.
        unknown = dict.fromkeys(missing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return _answer(services, context, request, unknown | beyond)
    return creation.map(lambda created: _answer(services, context, request, created | beyond))


def _affordable(
    services: Services, context: RequestContext, names: list[str]
) -> tuple[list[str], dict[str, ErrorCode]]:
    """What the client's quota of changes allows to create now, and what it has to ask for again (KIP-599)."""
    mutations = services.mutations(context, strict=True)
    partitions = services.config.get_int("num.partitions")
    for number, _ in enumerate(names):
        try:
            mutations.charge(partitions)
        except ApiError:
            later = dict.fromkeys(names[number:], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            return names[:number], later
    return names, {}


def _in_a_moment(
    services: Services, context: RequestContext, answer: Callable[[], MetadataResponse]
) -> MetadataResponse | Deferred[MetadataResponse]:
    """Now, unless the client may know better: see `broker/absent_brokers.py`."""
    absent, image = services.absent_brokers, services.metadata.image
    if absent is None or len(image.brokers) < 2:
        return answer()
    if not absent.may_be_unheard_of(context.connection.connected_ms):
        return answer()
    pause: Deferred[None] = Deferred()
    services.timer.call_later(PAUSE_MS, lambda: pause.resolve(None))
    return pause.map(lambda _: answer())


def error_response(
    request: MetadataRequest, version: int, code: ErrorCode, message: str | None
) -> MetadataResponse:
    """Every topic refused alike, no brokers."""
    topics = [
        MetadataResponseTopic(
            error_code=code, name=topic.name if version >= 12 else topic.name or "", topic_id=topic.topic_id
        )
        for topic in request.topics or []
    ]
    return MetadataResponse(topics=topics, error_code=code if version >= 13 else 0)


def cannot_be_answered(request: MetadataRequest, version: int) -> bool:
    """Topic ids came in v10, but only v12 can ask by them; and every topic needs a name or an id."""
    topics = request.topics or []
    if any(topic.topic_id != ZERO_UUID for topic in topics):
        return version < 12
    return any(topic.name is None for topic in topics)


def wants_all(request: MetadataRequest, version: int) -> bool:
    """Whether it asks for all topics."""
    return request.topics is None or (version == 0 and not request.topics)


def asked_ids(request: MetadataRequest) -> list[Uuid]:
    """The topic ids asked for. One id is enough for all names of the request to be ignored, as in Kafka."""
    ids = (topic.topic_id for topic in request.topics or [])
    return list(dict.fromkeys(topic_id for topic_id in ids if topic_id != ZERO_UUID))


def _asked_names(request: MetadataRequest) -> list[str]:
    return list(dict.fromkeys(topic.name or "" for topic in request.topics or []))


def to_create(services: Services, version: int, request: MetadataRequest) -> list[str]:
    """The names to create now."""
    allowed = request.allow_auto_topic_creation or version < 4
    if not allowed or wants_all(request, version) or asked_ids(request):
        return []
    topics = services.metadata.image.topics
    missing = [name for name in _asked_names(request) if name not in topics]
    if not missing or not services.config.get_bool("auto.create.topics.enable"):
        return []
    if services.config.get_bool("kbroker.no.auto.topics"):
        return []
    return [
        name for name in missing if topic_name_problem(name) is None and topics.collides_with(name) is None
    ]


def _answer_in_pieces(
    services: Services, context: RequestContext, request: MetadataRequest
) -> MetadataResponse | EncodedAnswer:
    """As `_answer`, sooner where only topics are asked for that are there."""
    image = services.metadata.image
    version = context.version
    topics: Iterable[TopicImage | None] = image.topics
    if not wants_all(request, version):
        if asked_ids(request):
            return _answer(services, context, request, {})
        topics = list(map(image.topics.get, _asked_names(request)))
        if None in topics:
            return _answer(services, context, request, {})
    operations = _operations(request)
    pieces = topic_pieces(services, image, context.listener_name, version, operations)
    response = _around(services, image, context, request)
    return EncodedAnswer(pieces.answer(response, cast("Iterable[TopicImage]", topics)), version)


def _operations(request: MetadataRequest) -> int:
    wanted = request.include_topic_authorized_operations
    return allowed_operations.TOPIC if wanted else allowed_operations.UNKNOWN


def _around(
    services: Services, image: ClusterImage, context: RequestContext, request: MetadataRequest
) -> MetadataResponse:
    """The answer without topics."""
    operations = allowed_operations.UNKNOWN
    if request.include_cluster_authorized_operations and 8 <= context.version <= 10:
        operations = allowed_operations.CLUSTER
    return MetadataResponse(
        brokers=_brokers(image, context.listener_name, services.absent.former),
        cluster_id=image.cluster_id,
        controller_id=services.controller_for_clients,
        topics=[],
        cluster_authorized_operations=operations,
    )


def _answer(
    services: Services, context: RequestContext, request: MetadataRequest, created: dict[str, ErrorCode]
) -> MetadataResponse:
    image = services.metadata.image
    version = context.version
    reachable = Reachable(image, context.listener_name, services.absent.missing)
    builder = _Topics(image, reachable, version, _operations(request))
    if wants_all(request, version):
        topics = [builder.known(topic) for topic in image.topics]
    elif ids := asked_ids(request):
        topics = builder.by_id(ids)
    else:
        topics = builder.by_name(_asked_names(request), created)
    response = _around(services, image, context, request)
    response.topics = topics
    return response


def _brokers(
    image: ClusterImage, listener_name: str, former: frozenset[int] = frozenset()
) -> list[MetadataResponseBroker]:
    """Those that are up, and those that were a moment ago.

    Where none is, as for a moment after a whole cluster was killed, all that are registered: librdkafka
    forgets every broker that an answer lacks, and after an empty list is lost.
    """
    brokers = []
    live = image.live_brokers()
    if former:
        live = [each for _, each in sorted(image.brokers.items()) if not each.fenced or each.id in former]
    for broker in live or [each for _, each in sorted(image.brokers.items())]:
        endpoint = broker.endpoint(listener_name)
        if endpoint is not None:
            brokers.append(
                MetadataResponseBroker(
                    node_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack
                )
            )
    return brokers


class _Topics:
    """Topics of one image in the shape of one version."""

    def __init__(self, image: ClusterImage, reachable: Reachable, version: int, operations: int) -> None:
        self._image = image
        self._version = version
        self._reachable = reachable
        self._operations = operations

    def by_id(self, ids: Iterable[Uuid]) -> list[MetadataResponseTopic]:
        """Known topics first, then the errors."""
        found = [(topic_id, self._image.topics.by_id(topic_id)) for topic_id in ids]
        known = [self.known(topic) for _, topic in found if topic is not None]
        return known + [
            MetadataResponseTopic(
                error_code=ErrorCode.UNKNOWN_TOPIC_ID,
                name=None,
                topic_id=topic_id,
                # Kafka leaves the operations of unknown ids open.
                topic_authorized_operations=allowed_operations.UNKNOWN,
            )
            for topic_id, topic in found
            if topic is None
        ]

    def by_name(self, names: Iterable[str], created: dict[str, ErrorCode]) -> list[MetadataResponseTopic]:
        """Known topics first, then the errors; a topic that was just asked for may be told to be unknown."""
        found = [(name, self._image.topics.get(name)) for name in names]
        shown = [(name, None if created.get(name) else topic) for name, topic in found]
        known = [self.known(topic) for _, topic in shown if topic is not None]
        return known + [self._unknown(name, created.get(name)) for name, topic in shown if topic is None]

    def known(self, topic: TopicImage) -> MetadataResponseTopic:
        """A topic that is there."""
        return MetadataResponseTopic(
            name=topic.name,
            topic_id=topic.id,
            is_internal=topic.is_internal,
            partitions=[self._partition(index, p) for index, p in enumerate(topic.partitions)],
            topic_authorized_operations=self._operations,
        )

    def _partition(self, index: int, partition: PartitionImage) -> MetadataResponsePartition:
        leader, error = self._reachable.leader(partition)
        nodes, offline = self._reachable.replicas(partition)
        if error is ErrorCode.LISTENER_NOT_FOUND and self._version < 6:
            error = ErrorCode.LEADER_NOT_AVAILABLE
        return MetadataResponsePartition(
            error_code=error,
            partition_index=index,
            leader_id=leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=nodes,
            isr_nodes=self._reachable.nodes(partition.isr),
            offline_replicas=offline,
        )

    def _unknown(self, name: str, code: ErrorCode | None) -> MetadataResponseTopic:
        if topic_name_problem(name) is not None:
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
        return MetadataResponseTopic(
            error_code=code or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            name=name,
            is_internal=name in INTERNAL_TOPICS,
            topic_authorized_operations=self._operations,
        )
