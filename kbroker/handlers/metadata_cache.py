"""Metadata answers, remembered as bytes while the image they were made from is current.

Clients ask the same again and again: on every new connection, and every few minutes. An answer for
thousands of partitions is worth keeping; the number and size of what is kept are bounded, and a new image
forgets all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from kbroker.broker.absent_brokers import Absent
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.generated.metadata_request import MetadataRequest
    from kbroker.protocol.generated.metadata_response import MetadataResponse

ANSWERS_MAX = 64
ANSWER_BYTES_MAX = 16 << 20
#: Longer topic lists than this are not worth a key.
_TOPICS_MAX = 100


class EncodedAnswer:
    """Stands in for a `MetadataResponse` where only its bytes are wanted."""

    __slots__ = ("data", "version")

    def __init__(self, data: bytes, version: int) -> None:
        self.data = data
        self.version = version

    def encode(self, version: int) -> bytes:
        """The bytes."""
        assert version == self.version
        return self.data

    def encode_into(self, out: bytearray, version: int) -> None:
        """Append the bytes."""
        assert version == self.version
        out += self.data


class _Answers:
    """What is remembered for one image."""

    __slots__ = ("absent", "answers", "image", "size")

    def __init__(self, image: ClusterImage, absent: Absent) -> None:
        self.image = image
        self.absent = absent
        self.answers: dict[Any, EncodedAnswer] = {}
        self.size = 0


def remembered(
    services: Services,
    context: RequestContext,
    request: MetadataRequest,
    make: Callable[[], MetadataResponse | EncodedAnswer],
) -> MetadataResponse:
    """The answer to `request`, made anew only if this image was not asked the same before."""
    topics = request.topics
    if topics is not None and len(topics) > _TOPICS_MAX:
        return cast("MetadataResponse", make())
    image, absent = services.metadata.image, services.absent
    cache: _Answers | None = services.extras.get("metadata_answers")
    if cache is None or cache.image is not image or cache.absent != absent:
        cache = services.extras["metadata_answers"] = _Answers(image, absent)
    key = (
        context.version,
        context.listener_name,
        request.include_topic_authorized_operations,
        request.include_cluster_authorized_operations,
        None if topics is None else tuple((topic.name, topic.topic_id) for topic in topics),
    )
    answer = cache.answers.get(key)
    if answer is None:
        answer = EncodedAnswer(make().encode(context.version), context.version)
        if len(cache.answers) < ANSWERS_MAX and cache.size + len(answer.data) <= ANSWER_BYTES_MAX:
            cache.answers[key] = answer
            cache.size += len(answer.data)
    # The dispatcher encodes what it is given; for that the bytes are as good as the object.
    return cast("MetadataResponse", answer)
