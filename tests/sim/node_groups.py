"""Clients of a `NodeWorld` that need coordinators: a transactional producer and its zombies, members of a
group by KIP-848, of a streams group, of a share group.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from types import SimpleNamespace

from kbroker.coordinator.share.acknowledgement import ACCEPT, RELEASE
from kbroker.errors import ErrorCode
from kbroker.protocol.generated import (
    consumer_group_heartbeat_request as modern,
    share_acknowledge_request as saying,
    share_fetch_request as sharing,
    streams_group_heartbeat_request as streaming,
    txn_offset_commit_request as txn_offsets,
)
from kbroker.protocol.generated.end_txn_request import EndTxnRequest
from kbroker.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from kbroker.protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kbroker.protocol.generated.init_producer_id_request import InitProducerIdRequest
from kbroker.protocol.generated.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.generated.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kbroker.protocol.record_batch import Record, build_batch, decode_records, iter_batches
from tests.chaos.cluster.checker import CHECKS, not_worked_on
from tests.chaos.cluster.history import Given, History, Said

TOPIC, PARTITIONS = "txn", 2
_TXN_ID, _ETL, _MODERN, _STREAMS, _SHARE = "tx", "etl", "modern", "streamers", "workers"
_TO_GROUP, _TO_TXN = 0, 1
_UNDONE = {ErrorCode.INVALID_RECORD_STATE, ErrorCode.SHARE_SESSION_NOT_FOUND}
_UNDONE |= {ErrorCode.INVALID_SHARE_SESSION_EPOCH}


class GroupClients:
    """Beside the `Clients` of a world, in their process."""

    def __init__(self, clients):
        self.clients, self.world, self.random = clients, clients.world, clients.random
        self.send, self.pause, self.fail = clients.send, clients.pause, clients.fail
        self.stopping = self.draining = False
        #: The last transaction is over, whatever came of it.
        self.ended = False
        self.running = 0
        self.history = History()
        #: Number of a transaction -> "ok", "aborted" or "info".
        self.outcomes = {}
        self.commits = self.zombies = self.looks = 0
        #: (Group, partition) -> who owns it; the same and a member epoch -> who owned it then.
        self._owned = {}
        self._owners = {}

    def is_running(self):
        """How many of them are."""
        return self.running

    def begin(self):
        """Start all of them; the share group works on the topic t."""
        clients = self.clients
        for coroutine in (
            self._transact(),
            *(self._belong(number) for number in range(3)),
            *(self._stream(number) for number in range(2)),
            *(self._work(number) for number in range(2)),
            self._look_again(),
        ):
            self.running += 1
            clients.run(self._counted(coroutine))

    async def _counted(self, coroutine):
        try:
            await coroutine
        finally:
            self.running -= 1

    async def _coordinator(self, key, kind):
        while not self.stopping:
            request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
            answer = await self.send(self.clients.any_node(), request, "find")
            if answer is not None and not answer.coordinators[0].error_code:
                return answer.coordinators[0].node_id
            await self.pause(50)
        return None

    # -- transactions --

    async def _transact(self):
        """Over both partitions and an offset; who does not know how one ended begins anew."""
        number, old = 0, None
        while not self.stopping:
            producer = await self._init()
            while producer is not None and not self.stopping and not self.draining:
                number += 1
                if old is not None and self.random.random() < 0.3:
                    await self._haunt(old, number)
                producer, old = await self._transaction(number, producer), producer
                if producer is not None:
                    old = None
                await self.pause(40)
            if self.draining and producer is not None:
                # What was open is ended: by the one that came after it.
                self.ended = True
                return

    async def _init(self):
        while not self.stopping:
            node_id = await self._coordinator(_TXN_ID, _TO_TXN)
            request = InitProducerIdRequest(transactional_id=_TXN_ID, transaction_timeout_ms=20_000)
            answer = None if node_id is None else await self.send(node_id, request, "txn", 1500, 5)
            if answer is not None and not answer.error_code:
                return SimpleNamespace(
                    id=answer.producer_id, epoch=answer.producer_epoch, sequences=[0] * PARTITIONS
                )
            await self.pause(50)
        return None

    async def _transaction(self, number, producer):
        """The producer for the next one, None if a new one is needed."""
        commit = self.random.random() < 0.8
        self.outcomes[number] = "info"
        for index in range(PARTITIONS):
            if not await self._write(index, b"%d" % number, producer):
                return None
            producer.sequences[index] += 1
        if not await self._send_offset(number, producer):
            return None
        ended = await self._end(producer, commit)
        if ended is None or ended.error_code:
            return None
        self.outcomes[number] = "ok" if commit else "aborted"
        self.commits += commit
        if ended.producer_id != producer.id or ended.producer_epoch != producer.epoch:
            sequences = [0] * PARTITIONS
            return SimpleNamespace(id=ended.producer_id, epoch=ended.producer_epoch, sequences=sequences)
        return producer

    async def _write(self, index, value, producer):
        leader = await self.clients.leader(TOPIC, index)
        data = build_batch(
            [Record(timestamp=1_700_000_000_000, value=value)],
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            base_sequence=producer.sequences[index],
            transactional=True,
        )
        topic = TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(index=index, records=data)])
        request = ProduceRequest(transactional_id=_TXN_ID, acks=-1, timeout_ms=1000, topic_data=[topic])
        answer = await self.send(leader, request, "txn-produce", 1500, 12)
        return answer is not None and not answer.responses[0].partition_responses[0].error_code

    async def _send_offset(self, number, producer):
        node_id = await self._coordinator(_ETL, _TO_GROUP)
        partition = txn_offsets.TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=number)
        topics = [txn_offsets.TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[partition])]
        request = txn_offsets.TxnOffsetCommitRequest(
            transactional_id=_TXN_ID,
            group_id=_ETL,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            topics=topics,
        )
        answer = None if node_id is None else await self.send(node_id, request, "txn-offsets", 1500, 5)
        return answer is not None and not answer.topics[0].partitions[0].error_code

    async def _end(self, producer, commit):
        node_id = await self._coordinator(_TXN_ID, _TO_TXN)
        request = EndTxnRequest(
            transactional_id=_TXN_ID,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            committed=commit,
        )
        return None if node_id is None else await self.send(node_id, request, "txn", 1500, 5)

    async def _haunt(self, old, number):
        """Somebody who does not know that another came writes into the other's time; it may not count."""
        self.zombies += 1
        if await self._write(self.random.randrange(PARTITIONS), b"zombie", old):
            self.fail(f"a zombie of epoch {old.epoch} writes beside transaction {number}")

    # -- members by KIP-848 --

    async def _belong(self, number):
        """Heartbeats: gives up at once what it has to; sometimes it leaves, or is silent for a time."""
        life, epoch, owned, says = 0, 0, None, []
        while not self.stopping:
            node_id = await self._coordinator(_MODERN, _TO_GROUP)
            if node_id is None:
                return
            name = f"m{number}-{life}"
            leaves = epoch > 0 and self.random.random() < 0.02
            if leaves:
                self._own(_MODERN, name, epoch, ())
            request = modern.ConsumerGroupHeartbeatRequest(
                group_id=_MODERN, member_id=name, member_epoch=-1 if leaves else epoch, topic_partitions=says
            )
            if epoch == 0:
                request.rebalance_timeout_ms = 60_000
                request.subscribed_topic_names = [TOPIC]
            answer = await self.send(node_id, request, f"member-{number}", 1500, 1)
            if leaves or (answer is not None and answer.error_code in _REJOIN):
                self._own(_MODERN, name, epoch, ())
                life, epoch, owned, says = life + 1, 0, None, []
            elif answer is not None and not answer.error_code:
                epoch = answer.member_epoch
                if answer.assignment is not None:
                    owned = [
                        (each.topic_id, list(each.partitions)) for each in answer.assignment.topic_partitions
                    ]
                self._own(_MODERN, name, epoch, owned or ())
                says = _told(owned) if owned is not None else None
            else:
                # Nobody knows whether the last word was heard: it is said again.
                says = _told(owned or ()) if epoch else []
            await self.pause(60)

    def _own(self, group, name, epoch, owned):
        """No member ends by time here: one owns a partition until it has heard that it must not."""
        mine = {(group, index) for _, partitions in owned for index in partitions}
        for place in [each for each, owner in self._owned.items() if owner == name and each not in mine]:
            del self._owned[place]
        for place in mine:
            now, then = self._owned.setdefault(place, name), self._owners.setdefault((place, epoch), name)
            if not now == then == name:
                self.fail(f"{place} belongs to {now}, to {then} in epoch {epoch}, and to {name}")

    # -- members of a streams group --

    async def _stream(self, number):
        """Heartbeats with tasks of the topic's partitions; as `_belong`."""
        life, epoch, owned, says = 0, 0, [], []
        while not self.stopping:
            node_id = await self._coordinator(_STREAMS, _TO_GROUP)
            if node_id is None:
                return
            name = f"s{number}-{life}"
            leaves = epoch > 0 and self.random.random() < 0.02
            if leaves:
                self._own(_STREAMS, name, epoch, ())
            answer = await self.send(node_id, _beat(name, -1 if leaves else epoch, says), name[:2], 1500, 1)
            if leaves or (answer is not None and answer.error_code in _REJOIN):
                self._own(_STREAMS, name, epoch, ())
                life, epoch, owned, says = life + 1, 0, [], []
            elif answer is not None and not answer.error_code:
                epoch, says = answer.member_epoch, None
                if answer.active_tasks is not None:
                    owned = says = [(each.subtopology_id, each.partitions) for each in answer.active_tasks]
                self._own(_STREAMS, name, epoch, owned)
            else:
                says = owned
            await self.pause(60)

    # -- members of a share group --

    async def _work(self, number):
        member = SimpleNamespace(
            name=f"AAAAAAAAAAAAAAAAAAAA{number:02}", epoch=0, places=[], sessions={}, next_beat=0.0
        )
        #: An answer was lost, or one that was half done refused: the next heartbeat asks for everything.
        member.says_all = False
        await self._from_the_start()
        while not self.stopping:
            if self.world.now >= member.next_beat:
                await self._share_beat(member)
                member.next_beat = self.world.now + 200
            for topic_id, index in member.places:
                leader = await self.clients.leader("t", index)
                await self._share_fetch(member, leader, topic_id, index)
            await self.pause(30)

    async def _from_the_start(self):
        config = AlterableConfig(name="share.auto.offset.reset", value="earliest")
        resource = AlterConfigsResource(resource_type=32, resource_name=_SHARE, configs=[config])
        while not self.stopping:
            request = IncrementalAlterConfigsRequest(resources=[resource])
            answer = await self.send(self.clients.any_node(), request, "admin", 2000)
            if answer is not None and not answer.responses[0].error_code:
                return
            await self.pause(50)

    async def _share_beat(self, member):
        node_id = await self._coordinator(_SHARE, _TO_GROUP)
        request = ShareGroupHeartbeatRequest(
            group_id=_SHARE, member_id=member.name, member_epoch=member.epoch
        )
        if member.epoch == 0 or member.says_all:
            request.subscribed_topic_names = ["t"]
        answer = None if node_id is None else await self.send(node_id, request, "share", 1500, 1)
        member.says_all = answer is None or bool(answer.error_code)
        if answer is None:
            return
        if answer.error_code in _REJOIN:
            member.epoch, member.places = 0, []
        elif not answer.error_code:
            member.epoch = answer.member_epoch
            if answer.assignment is not None:
                member.places = [
                    (each.topic_id, index)
                    for each in answer.assignment.topic_partitions
                    for index in each.partitions
                ]

    async def _share_fetch(self, member, leader, topic_id, index):
        """A session for each partition's sake would not be one: what others it holds is left out of it."""
        session = member.sessions.get(leader)
        partition = sharing.FetchPartition(partition_index=index)
        request = sharing.ShareFetchRequest(
            group_id=_SHARE,
            member_id=member.name,
            share_session_epoch=session or 0,
            max_wait_ms=50,
            min_bytes=1,
            max_records=self.random.choice([1, 5, 100]),
            batch_size=self.random.choice([1, 100]),
            topics=[sharing.FetchTopic(topic_id=topic_id, partitions=[partition])],
        )
        channel, began = f"work-{member.name}", self.world.now
        answer = await self.send(leader, request, channel, 1500, 2)
        if answer is None or answer.error_code:
            member.sessions.pop(leader, None)
            return
        member.sessions[leader] = (session or 0) + 1
        for topic in answer.responses:
            for part in topic.partitions:
                key = "main", part.partition_index
                taken = [
                    Given(
                        member.name,
                        key,
                        each.first_offset,
                        each.last_offset,
                        each.delivery_count,
                        began,
                        self.world.now,
                    )
                    for each in part.acquired_records
                ]
                self.history.given += taken
                if taken and self.random.random() < 0.95:
                    await self._say(member, leader, channel, topic_id, taken)

    async def _say(self, member, leader, channel, topic_id, taken):
        await self.pause(10)
        kind = ACCEPT if self.random.random() < 0.9 else RELEASE
        batches = [
            saying.AcknowledgementBatch(
                first_offset=each.first, last_offset=each.last, acknowledge_types=[kind]
            )
            for each in taken
        ]
        index = taken[0].key[1]
        partition = saying.AcknowledgePartition(partition_index=index, acknowledgement_batches=batches)
        session = member.sessions.get(leader)
        if session is None:
            return
        request = saying.ShareAcknowledgeRequest(
            group_id=_SHARE,
            member_id=member.name,
            share_session_epoch=session,
            topics=[saying.AcknowledgeTopic(topic_id=topic_id, partitions=[partition])],
        )
        began = self.world.now
        answer = await self.send(leader, request, channel, 1500, 2)
        outcome = "info"
        if answer is not None:
            code = answer.error_code or answer.responses[0].partitions[0].error_code
            outcome = "ok" if not code else "fail" if code in _UNDONE else "info"
        if answer is None or answer.error_code:
            member.sessions.pop(leader, None)
        else:
            member.sessions[leader] = session + 1
        self.history.said += [Said(each, kind == ACCEPT, outcome, began, self.world.now) for each in taken]

    # -- the end --

    async def look(self, found):
        """What is committed by the transactions, into `found`."""
        while not found:
            offset = await self._committed()
            if offset is not None:
                found.append(offset)

    async def _committed(self):
        node_id = await self._coordinator(_ETL, _TO_GROUP)
        answer = None if node_id is None else await self.send(node_id, offset_request(), "etl", 6000, 8)
        if answer is None or answer.groups[0].error_code:
            return None
        [part] = answer.groups[0].topics[0].partitions
        return None if part.error_code else part.committed_offset

    async def _look_again(self):
        """What a group's members are told never goes back, whoever coordinates it."""
        highest = -1
        while not self.stopping:
            offset = await self._committed()
            if offset is not None:
                self.looks += 1
                if offset < highest:
                    self.fail(f"offset {offset} is committed, and before it was {highest}")
                highest = offset
            await self.pause(20)

    def is_done(self, final):
        """Everything was worked on; `final` are the records of the topic t: (partition, offset)."""
        self.history.final.clear()
        for index, offset in final:
            self.history.final.setdefault(("main", index), []).append((offset, 0))
        return not not_worked_on(self.history)

    def check(self, logs, look):
        """After all is whole: `logs` are those of the leaders; `look` answers what is committed by `_ETL`."""
        for text in CHECKS["share group: two holders"](self.history):
            self.fail(text)
        seen = defaultdict(Counter)
        for index, log in enumerate(logs):
            if log.last_stable_offset != log.high_watermark:
                self.fail(f"{TOPIC}-{index}: stable to {log.last_stable_offset} of {log.high_watermark}")
            for value in committed(log):
                seen[value][index] += 1
        for number, outcome in self.outcomes.items():
            counts = [seen[b"%d" % number][index] for index in range(PARTITIONS)]
            allowed = {"ok": [[1, 1]], "aborted": [[0, 0]], "info": [[0, 0], [1, 1]]}[outcome]
            if counts not in allowed:
                self.fail(f"transaction {number} ({outcome}) is there {counts} times")
        if seen[b"zombie"]:
            self.fail("what a zombie wrote is committed")
        if not self.looks:
            self.fail("nobody was told what is committed")
        there = [number for number in self.outcomes if sum(seen[b"%d" % number].values())]
        if look != (there[-1] if there else -1):
            self.fail(f"offset {look} is committed with the transactions {there[-3:]}")


_REJOIN = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH}


def _beat(name, epoch, says):
    """`says`: the tasks that the member has, None: as it said before."""
    request = streaming.StreamsGroupHeartbeatRequest(group_id=_STREAMS, member_id=name, member_epoch=epoch)
    if says is not None:
        request.active_tasks = [
            streaming.TaskIds(subtopology_id=key, partitions=parts) for key, parts in says
        ]
        request.standby_tasks = request.warmup_tasks = []
    if epoch == 0:
        request.rebalance_timeout_ms = 60_000
        request.process_id, request.client_tags = name, []
        only = streaming.Subtopology(subtopology_id="0", source_topics=[TOPIC])
        request.topology = streaming.Topology(epoch=0, subtopologies=[only])
    return request


def _told(owned):
    return [modern.TopicPartitions(topic_id=topic_id, partitions=parts) for topic_id, parts in owned]


def offset_request():
    """For `GroupClients.check`."""
    groups = [
        OffsetFetchRequestGroup(
            group_id=_ETL, topics=[OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[0])]
        )
    ]
    return OffsetFetchRequest(groups=groups, require_stable=True)


def committed(log):
    """The values that who reads committed would get."""
    offset, end = log.log_start_offset, log.last_stable_offset
    while offset < end:
        found = log.read(offset, 1 << 20, end)
        if not found.size:
            return
        aborted = log.aborted_txns(offset, found.next_offset)
        data = b"".join(part.read() for part in found.parts)
        for header in iter_batches(data):
            gone = any(
                txn.producer_id == header.producer_id
                and txn.first_offset <= header.base_offset <= txn.last_offset
                for txn in aborted
            )
            if not header.is_control and not gone:
                for record in decode_records(data, header):
                    yield record.value
        offset = found.next_offset
