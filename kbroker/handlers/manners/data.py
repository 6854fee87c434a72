"""Produce and Fetch, which have paths of their own, as before 4.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.config.release_settings import DOWN_CONVERSION
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.fetch import FetchPath
from kbroker.handlers.fetch_read import PartitionReader
from kbroker.handlers.produce import ProducePath
from kbroker.metadata.image import CONFIG_TOPIC
from kbroker.protocol.releases import asked_release
from kbroker.storage.append_checks import RecordError, RecordErrors

if TYPE_CHECKING:
    from kbroker.broker.fetch_session import FetchedPartition
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.handlers.fetch_read import PartitionRead
    from kbroker.handlers.produce_answer import Item
    from kbroker.protocol.generated.fetch_request import FetchRequest

#: The first version of Fetch whose clients know the codec (KIP-110).
_ZSTD_SINCE = 10
_ZSTD = "zstd"
_FIRST_SHOWN = "One or more records have been rejected"


class OlderReader(PartitionReader):
    """Refuses old consumers what a topic compresses with zstd, whatever it holds.

    With ZooKeeper whoever called itself a broker, and had no replica, was a consumer.
    """

    __slots__ = ("takes_strangers", "version")

    version: int
    takes_strangers: bool

    def _read(
        self,
        partition: Partition,
        wanted: FetchedPartition,
        bytes_max: int,
        min_one: bool,
        answer: PartitionRead,
    ) -> None:
        log = partition.log
        if self.version < _ZSTD_SINCE and log is not None and log.config.compression_type == _ZSTD:
            raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        replica_id, state = self.replica_id, partition.leader_state
        if self.takes_strangers and state is not None and replica_id not in state.followers:
            self.replica_id = -1
        try:
            super()._read(partition, wanted, bytes_max, min_one, answer)
        finally:
            self.replica_id = replica_id


def converting_reader(services: Services) -> type[PartitionReader]:
    """For Fetch 0-3: what is not to be made into older messages is refused (KIP-283)."""
    converts = services.config.static.get(f"log.{DOWN_CONVERSION}", "true").strip().lower() != "false"

    class ConvertingReader(PartitionReader):
        """Of one node."""

        __slots__ = ()

        def _read(
            self,
            partition: Partition,
            wanted: FetchedPartition,
            bytes_max: int,
            min_one: bool,
            answer: PartitionRead,
        ) -> None:
            own = self._metadata.image.config(CONFIG_TOPIC, wanted.topic or "").get(DOWN_CONVERSION)
            if not converts if own is None else own.strip().lower() == "false":
                raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
            super()._read(partition, wanted, bytes_max, min_one, answer)

    return ConvertingReader


class OlderFetchPath(FetchPath):
    """Of Fetch 4 and later."""

    _reader_type = OlderReader

    def _reader(self, request: FetchRequest, context: RequestContext, replica_id: int) -> PartitionReader:
        reader = super()._reader(request, context, replica_id)
        assert isinstance(reader, OlderReader)
        reader.version = context.version
        with_zookeeper = asked_release(self._services.compatibility) == "2.8"
        reader.takes_strangers = with_zookeeper and replica_id >= 0
        return reader


class OlderProducePath(ProducePath):
    """Of Produce 3 and later, of 2.8: what is said of records that are refused."""

    def _answer(self, items: list[Item], context: RequestContext) -> bytes:
        for item in items:
            failure = item.failure
            if isinstance(failure, RecordErrors) and failure.code is ErrorCode.INVALID_RECORD:
                item.failure = RecordErrors(
                    failure.code,
                    _FIRST_SHOWN,
                    log_start_offset=failure.log_start_offset,
                    record_errors=[
                        RecordError(each.batch_index, _with_stop(each.message))
                        for each in failure.record_errors
                    ],
                    told=failure.told,
                )
        return super()._answer(items, context)


def _with_stop(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
