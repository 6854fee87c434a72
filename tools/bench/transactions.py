"""Lines of transactions: producers of transaction version 2 that write a batch and commit, again and again.

One thread, raw frames, one connection a producer. An epoch changes with each transaction, so the frames are
patched, not built: the broker is what is measured.
"""

from __future__ import annotations

import select
import struct
import time
from typing import TYPE_CHECKING, NamedTuple

from crc32c import crc32c

from kbroker.protocol.api_keys import ApiKey, response_class
from kbroker.protocol.generated.end_txn_request import EndTxnRequest
from kbroker.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from kbroker.protocol.generated.init_producer_id_request import InitProducerIdRequest
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.primitives import Message
from kbroker.protocol.record_batch import Record, build_batch
from tools.bench import wire
from tools.frame_headers import parse_response_header, request_header_bytes

if TYPE_CHECKING:
    from tools.bench.brokers import BrokerProcess

_VERSIONS = {ApiKey.PRODUCE: 12, ApiKey.END_TXN: 5, ApiKey.INIT_PRODUCER_ID: 5, ApiKey.FIND_COORDINATOR: 3}
_CRC_AT, _CRC_FROM, _EPOCH_AT, _SEQUENCE_AT = 17, 21, 51, 53
_LAST_EPOCH = 32_000
_RETRIED = frozenset({14, 15, 16, 51})
_PATIENCE_S = 30.0


class Measure(NamedTuple):
    """What producers did: whole transactions, seconds, and how long each commit took, in seconds."""

    transactions: int
    seconds: float
    commits: list[float]

    @property
    def rate(self) -> float:
        return self.transactions / self.seconds


def _frame(request: Message) -> bytearray:
    key = ApiKey(request.API_KEY or 0)
    version = _VERSIONS[key]
    payload = request_header_bytes(key, version, 1, "bench") + request.encode(version)
    return bytearray(struct.pack(">i", len(payload)) + payload)


class Producer:
    """One transactional producer: `batches` produce requests, then a commit."""

    def __init__(
        self, broker: BrokerProcess, name: str, topic: str, records: int, size: int, batches: int
    ) -> None:
        self.sock = wire.connect(broker.address)
        self._name, self._topic = name, topic
        self._records = [Record(-1, int(time.time() * 1000), None, b"x" * size) for _ in range(records)]
        self._batches = batches
        self._data = bytearray()
        self.commits: list[float] = []
        self.transactions = 0
        self._find()
        self._init()

    # -- the start -------------------------------------------------------------------------------------------

    def _ask(self, request: Message) -> Message:
        self.sock.sendall(_frame(request))
        while (answer := self._answer(ApiKey(request.API_KEY or 0))) is None:
            self._receive()
        return answer

    def _find(self) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while self._ask(FindCoordinatorRequest(key=self._name, key_type=1)).error_code:
            if time.monotonic() > deadline:
                raise RuntimeError("there is no transaction coordinator")
            time.sleep(0.1)

    def _init(self) -> None:
        request = InitProducerIdRequest(transactional_id=self._name, transaction_timeout_ms=60_000)
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            answer: object = self._ask(request)
            code = answer.error_code
            if not code:
                break
            if code not in _RETRIED or time.monotonic() > deadline:
                raise RuntimeError(f"InitProducerId answers {code}")
            time.sleep(0.02)
        producer_id, epoch = answer.producer_id, answer.producer_epoch
        batch = build_batch(
            self._records, producer_id=producer_id, producer_epoch=epoch, base_sequence=0, transactional=True
        )
        data = TopicProduceData(
            name=self._topic, partition_data=[PartitionProduceData(index=0, records=batch)]
        )
        produce = ProduceRequest(transactional_id=self._name, acks=-1, timeout_ms=30_000, topic_data=[data])
        self._produce = _frame(produce)
        self._batch_at = bytes(self._produce).index(bytes(batch))
        self._batch_end = self._batch_at + len(batch)
        self.batch_bytes = len(batch)
        self._end = _frame(
            EndTxnRequest(
                transactional_id=self._name, producer_id=producer_id, producer_epoch=epoch, committed=True
            )
        )
        # Epoch, the flag, and the end of the tags.
        self._end_epoch_at = len(self._end) - 4
        self._epoch = epoch
        self._written = 0

    # -- the load --------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Send the next request of the transaction."""
        if self._written < self._batches:
            view, at = self._produce, self._batch_at
            struct.pack_into(">hi", view, at + _EPOCH_AT, self._epoch, self._written * len(self._records))
            crc = crc32c(memoryview(view)[at + _CRC_FROM : self._batch_end])
            struct.pack_into(">I", view, at + _CRC_AT, crc)
            self._waits_for = ApiKey.PRODUCE
            self.sock.sendall(view)
        else:
            struct.pack_into(">h", self._end, self._end_epoch_at, self._epoch)
            self._waits_for = ApiKey.END_TXN
            self._began = time.perf_counter()
            self.sock.sendall(self._end)

    def receive(self) -> bool:
        """Take what has come; True when a transaction is over."""
        self._receive()
        answer = self._answer(self._waits_for)
        if answer is None:
            return False
        if self._waits_for is ApiKey.PRODUCE:
            responses = answer.responses
            code = responses[0].partition_responses[0].error_code
            if not code:
                self._written += 1
            elif code not in _RETRIED:
                raise RuntimeError(f"Produce answers {code}")
            return False
        code = answer.error_code
        if code in _RETRIED:
            return False
        if code:
            raise RuntimeError(f"EndTxn answers {code}")
        self.commits.append(time.perf_counter() - self._began)
        self.transactions += 1
        self._epoch, self._written = answer.producer_epoch, 0
        if self._epoch > _LAST_EPOCH:
            raise RuntimeError("out of epochs: a shorter load, please")
        return True

    def _receive(self) -> None:
        chunk = self.sock.recv(65536)
        if not chunk:
            raise ConnectionError("the broker closed the connection")
        self._data += chunk

    def _answer(self, key: ApiKey) -> Message | None:
        data = self._data
        if len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
            return None
        size = int.from_bytes(data[:4], "big")
        body = bytes(data[4 : 4 + size])
        del data[: 4 + size]
        version = _VERSIONS[key]
        _, position = parse_response_header(body, key, version)
        return response_class(key).decode(body, version, position)


def run(producers: list[Producer], seconds: float) -> Measure:
    """Every producer, one transaction after the other; those under way at the end are finished."""
    poll = select.epoll()
    by_fd = {each.sock.fileno(): each for each in producers}
    before = sum(each.transactions for each in producers)
    for each in producers:
        each.commits.clear()
        poll.register(each.sock.fileno(), select.EPOLLIN)
    started = time.perf_counter()
    for each in producers:
        each.begin()
    waiting = len(producers)
    while waiting:
        for fd, _ in poll.poll():
            producer = by_fd[fd]
            if producer.receive() and time.perf_counter() - started >= seconds:
                waiting -= 1
            else:
                producer.begin()
    elapsed = time.perf_counter() - started
    poll.close()
    done = sum(each.transactions for each in producers) - before
    return Measure(done, elapsed, sorted(each for one in producers for each in one.commits))
