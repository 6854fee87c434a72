"""Which topics have batches that the broker itself compressed, in a codec of which the bytes differ."""

from __future__ import annotations

from typing import Any

from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import request_class
from tests.conformance.messages import API_KEYS

#: gzip and lz4 come out the same: Kafka's libraries and ours are the same ones below.
_CODECS = ("snappy", "zstd")
_TOPIC, _BROKER = 2, 4
_APIS = ("CreateTopics", "AlterConfigs", "IncrementalAlterConfigs")


class Recompressed:
    """Remembers who was ever given such a `compression.type`, whether or not that was taken back."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._every = False

    def note(self, api: str, version: int, body: bytes) -> None:
        """A request that both brokers were sent."""
        if api not in _APIS or b"compression.type" not in body:
            return
        try:
            request = request_class(API_KEYS[api]).decode(body, version)
        except ProtocolError:
            return
        if api == "CreateTopics":
            self._names.update(topic.name for topic in request.topics if _names_codec(topic.configs))
            return
        for resource in request.resources:
            if _names_codec(resource.configs):
                self._every |= resource.resource_type == _BROKER
                if resource.resource_type == _TOPIC:
                    self._names.add(resource.resource_name)

    def __contains__(self, topic: object) -> bool:
        return self._every or topic in self._names


def _names_codec(configs: list[Any]) -> bool:
    return any(each.name == "compression.type" and each.value in _CODECS for each in configs)
