"""Clients of a `NodeWorld`: they speak over the simulated network, and note what they are told."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from kbroker.broker.peer import PeerAddress, PeerError
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kbroker.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from kbroker.protocol.generated.init_producer_id_request import InitProducerIdRequest
from kbroker.protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.protocol.generated.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kbroker.protocol.generated.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kbroker.protocol.record_batch import Record, build_batch, decode_records, iter_batches
from kbroker.server.peer_client import PeerClient
from kbroker.server.runtime import LoopTimer
from tests.sim.node_loop import Process
from tests.sim.node_world import CLIENT_PORT
from tests.sim.replication_checker import Violation
from tests.sim.replication_world import Acked

#: Acknowledged in whatever epoch: there are no unclean elections here.
_ANY_EPOCH = 1 << 30
_IN_FLIGHT = 5
_GROUP = "g"


class Clients:
    """All clients of one world, in a process of their own."""

    def __init__(self, world, prefix="c"):
        self.world, self.random = world, world.random
        self.process = Process(world, "client")
        self.stopping = False
        self.running = 0
        self.acknowledged = self.commits = 0
        #: Topics whose creation was acknowledged.
        self.created = []
        self._peers = None
        self._seen = {}
        self._ids = set()
        #: The newest leader epoch that was heard of, by partition.
        self._epochs = {}

    def begin(self):
        def start():
            self._peers = PeerClient("sim", LoopTimer(self.process.loop))

        self.process.run(start)

    def run(self, coroutine):
        """Let one go on until it ends by itself."""
        self.running += 1

        async def live():
            try:
                await coroutine
            finally:
                self.running -= 1

        self.process.run(lambda: self.process.loop.create_task(live()))

    def fail(self, text):
        raise Violation(f"seed {self.world.seed} at {self.world.now:.1f} ms: {text}")

    # -- asking --

    def send(self, node_id, request, channel, timeout_ms=1500, version=None):
        """A future of the response, None if there was none."""
        answer = asyncio.Future(loop=self.process.loop)

        def give(done):
            if not answer.done():
                try:
                    answer.set_result(done.result())
                except PeerError:
                    answer.set_result(None)

        address = PeerAddress(node_id, f"n{node_id}", CLIENT_PORT)
        sent = self._peers.send(address, request, timeout_ms=timeout_ms, channel=channel, version=version)
        sent.then(give)
        return answer

    def any_node(self):
        return self.random.choice(list(self.world.nodes))

    async def pause(self, mean_ms):
        await asyncio.sleep(self.random.expovariate(1 / mean_ms) / 1000)

    async def leader(self, topic, index):
        """Who leads, as somebody believes who has not fallen behind what was heard already (KIP-320)."""
        while True:
            request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
            answer = await self.send(self.any_node(), request, "metadata")
            for found in answer.topics if answer is not None else ():
                for partition in found.partitions:
                    newest = self._epochs.get((topic, index), -1)
                    if partition.partition_index != index or partition.leader_epoch < newest:
                        continue
                    self._epochs[topic, index] = partition.leader_epoch
                    if partition.leader_id >= 0:
                        return partition.leader_id
            await self.pause(50)

    async def create(self, name, partitions):
        """Insist on a topic."""
        while not self.stopping:
            topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=-1)
            request = CreateTopicsRequest(topics=[topic], timeout_ms=1000)
            answer = await self.send(self.any_node(), request, "admin", 2000)
            code = answer.topics[0].error_code if answer is not None else -1
            if code in (0, ErrorCode.TOPIC_ALREADY_EXISTS):
                self.created.append(name)
                return
            await self.pause(100)

    # -- an idempotent producer with five requests in flight --

    async def produce(self, number, index):
        """Sends values of its own to one partition, each until it is acknowledged."""
        producer = None
        while producer is None and not self.stopping:
            answer = await self.send(self.any_node(), InitProducerIdRequest(transactional_id=None), "init")
            if answer is not None and not answer.error_code:
                self.is_new(answer.producer_id)
                producer = SimpleNamespace(id=answer.producer_id, epoch=answer.producer_epoch, next=0)
            else:
                await self.pause(50)
        pending = []
        while pending or not self.stopping:
            # No new ones while some have to be sent again, as all clients do: the window would pass them by.
            for _ in range(0 if pending or self.stopping else self.random.randint(1, _IN_FLIGHT)):
                pending.append(self._batch(number, producer))
            pending = await self._round(number, index, pending)
            await self.pause(30)

    async def take_ids(self):
        """Producer ids, which nobody gets twice: scenario 46."""
        while not self.stopping:
            answer = await self.send(self.any_node(), InitProducerIdRequest(transactional_id=None), "ids")
            if answer is not None and not answer.error_code:
                self.is_new(answer.producer_id)
            await self.pause(100)

    def is_new(self, producer_id):
        """Fails if that id was given to somebody before."""
        if producer_id in self._ids:
            self.fail(f"producer id {producer_id} is given out twice")
        self._ids.add(producer_id)

    def _batch(self, number, producer):
        values = []
        first = producer.next
        for _ in range(self.random.choice([1, 1, 3])):
            values.append(b"%d:%d" % (number, producer.next))
            producer.next += 1
        records = [Record(timestamp=1_700_000_000_000, value=value) for value in values]
        data = build_batch(
            records, producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=first
        )
        return SimpleNamespace(values=values, data=data, first=first)

    async def _round(self, number, index, pending):
        leader = await self.leader("t", index)
        sent = []
        for batch in pending:
            data = PartitionProduceData(index=index, records=batch.data)
            topic = TopicProduceData(name="t", partition_data=[data])
            request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic])
            sent.append(self.send(leader, request, f"produce-{number}-{index}", 1500, 9))
        left = []
        for batch, waits in zip(pending, sent):
            answer = await waits
            part = None if answer is None else answer.responses[0].partition_responses[0]
            refused = part is not None and part.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            # One behind a batch that got no answer at all may be.
            if refused and not any(each.unanswered for each in left):
                self.fail(f"t-{index} refuses {batch.values[0]!r} on {leader} for its sequence")
            if part is None or part.error_code:
                batch.unanswered = part is None
                left.append(batch)
                continue
            self.acknowledged += 1
            for offset, value in enumerate(batch.values, part.base_offset):
                self.world.acked.append(Acked(index, offset, value, _ANY_EPOCH))
        return left

    # -- a reader --

    async def read(self, index):
        """What was read once is read again the same."""
        while not self.stopping:
            leader = await self.leader("t", index)
            offset = self.random.randint(0, max(self._seen, default=(index, 0))[1] + 1)
            partition = FetchPartition(
                partition=index, fetch_offset=offset, partition_max_bytes=1 << 20, current_leader_epoch=-1
            )
            topics = [FetchTopic(topic="t", partitions=[partition])]
            request = FetchRequest(max_wait_ms=100, min_bytes=0, max_bytes=1 << 20, topics=topics)
            answer = await self.send(leader, request, "fetch", 1500, 11)
            for topic in answer.responses if answer is not None else ():
                for found in topic.partitions:
                    self._note(index, found)
            await self.pause(60)

    def _note(self, index, found):
        if found.error_code or not found.records:
            return
        data = bytes(found.records)
        for header in iter_batches(data):
            for record in decode_records(data, header):
                known = self._seen.setdefault((index, record.offset), record.value)
                if known != record.value:
                    self.fail(f"t-{index}: at {record.offset} was {known!r}, now {record.value!r}")

    # -- committed offsets --

    async def commit(self):
        """One that commits higher and higher offsets, and looks at what is committed; anywhere."""
        acknowledged = tried = 0
        while not self.stopping:
            # The first one has the coordinators' topic made.
            answer = await self.send(
                self.any_node(), FindCoordinatorRequest(key_type=0, coordinator_keys=[_GROUP]), "find"
            )
            if answer is not None and not answer.coordinators[0].error_code:
                break
            await self.pause(30)
        while not self.stopping:
            node_id = self.any_node()
            if self.random.random() < 0.5:
                tried += 1
                partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=tried)
                topics = [OffsetCommitRequestTopic(name="t", partitions=[partition])]
                answer = await self.send(
                    node_id, OffsetCommitRequest(group_id=_GROUP, topics=topics), "commit", 1500, 8
                )
                if answer is not None and not answer.topics[0].partitions[0].error_code:
                    acknowledged = tried
                    self.commits += 1
            else:
                least = acknowledged
                topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
                groups = [OffsetFetchRequestGroup(group_id=_GROUP, topics=topics)]
                answer = await self.send(node_id, OffsetFetchRequest(groups=groups), "look", 1500, 8)
                if answer is not None and not answer.groups[0].error_code:
                    [found] = answer.groups[0].topics[0].partitions
                    if not found.error_code and not least <= max(found.committed_offset, 0) <= tried:
                        self.fail(
                            f"node {node_id} says {found.committed_offset} is committed, {least} was "
                            f"acknowledged, {tried} tried"
                        )
            await self.pause(30)
