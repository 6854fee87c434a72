"""Transactions without a broker: a coordinator's shard that can be killed at every step, partitions with real
producer state, markers on their way, and clients that follow the protocol.
"""

from __future__ import annotations

import contextlib

from kbroker.coordinator.shard import Outcome
from kbroker.coordinator.transaction.rules import NeedsProducerId, Producer
from kbroker.coordinator.transaction.state import State, partitions_of
from kbroker.coordinator.transaction.transaction_shard import MarkersDue, TransactionShard
from kbroker.errors import ApiError, ErrorCode
from kbroker.storage.producer_state import ProducerState


class Lost(Exception):
    """The coordinator died before it answered: nobody knows what it did."""


class PartitionModel:
    """One partition: its producer state, and what lies in it."""

    def __init__(self):
        self.producers = ProducerState()
        self.end = 0
        #: (offset, producer, sequence, value)
        self.data = []
        #: (offset, producer id, epoch, commit)
        self.markers = []

    def append(self, producer, sequence, value):
        """As the log does for a client's transactional batch of one record."""
        producer_id, epoch = producer
        if self.producers.verdict(producer_id, epoch, sequence, 0, True) is not None:
            return
        self.producers.add_batch(producer_id, epoch, sequence, self.end, 0, 0, True)
        self.data.append((self.end, producer, sequence, value))
        self.end += 1

    def mark(self, due: MarkersDue):
        """As WriteTxnMarkers does; raises ApiError."""
        txn = due.transaction
        version, epoch = txn.client_version, due.coordinator_epoch
        self.producers.check_marker(txn.producer_id, txn.producer_epoch, epoch, version)
        done = self.producers.add_marker(
            txn.producer_id, txn.producer_epoch, epoch, self.end, 0, not due.commit
        )
        self.markers.append((self.end, txn.producer_id, txn.producer_epoch, due.commit))
        self.end += 1
        if done is not None:
            self.producers.complete(done)
            self.producers.on_high_watermark(self.end)

    def read_committed(self):
        """What a read_committed consumer gets up to the last stable offset."""
        stable = self.producers.first_unstable
        found, open_values = [], {}
        events = [(offset, 0, producer.producer_id, value) for offset, producer, _, value in self.data]
        events += [(offset, 1, producer_id, commit) for offset, producer_id, _, commit in self.markers]
        for offset, kind, producer_id, what in sorted(events):
            if kind == 0:
                open_values.setdefault(producer_id, []).append((offset, what))
            elif what:
                found += open_values.pop(producer_id, [])
            else:
                open_values.pop(producer_id, None)
        return [value for offset, value in sorted(found) if stable is None or offset < stable]


class World:
    """One coordinator partition, some data partitions, a clock.

    `die_at`: the coordinator dies at that step of its work; steps are counted in `steps`.
    """

    def __init__(self, partitions=3, server_version=2):
        self.now = 1_000_000
        self.server_version = server_version
        self.log = []
        self.partitions = {("t", index): PartitionModel() for index in range(partitions)}
        self.epoch = -1
        self.next_id = 100
        self.steps = 0
        self.die_at = None
        #: Markers on their way: (life of the coordinator, due, places that have none yet).
        self.due = []
        #: Messages of dead coordinators that may still arrive: (due, place).
        self.late = []
        self.shard = None
        self.start()

    # -- the coordinator's life --------------------------------------------------------------------------

    def start(self):
        """Another coordinator reads the log."""
        self.epoch += 1
        self.late += [(due, place) for due, places in self.due for place in places]
        self.due = []
        shard = TransactionShard(self.epoch, lambda: self.server_version, lambda due: due)
        for offset, (key, value) in enumerate(self.log):
            record = shard.decode(key, value)
            assert record is not None
            shard.apply(record, offset)
        self.shard = shard
        self._perform(shard.loaded(self.now), None)

    def _step(self):
        self.steps += 1
        if self.steps == self.die_at:
            self.start()
            raise Lost

    def _perform(self, outcome: Outcome, ticket):
        """The driver's part; gives the answer of `ticket`. The coordinator may die between any two steps."""
        answer = None
        life = self.epoch
        while outcome is not None:
            if outcome.records:
                self._step()
                for record in outcome.records:
                    self.log.append(record.encoded())
                    self.shard.apply(record, len(self.log) - 1)
                self._step()
            for each, response in outcome.replies:
                if each is ticket and ticket is not None:
                    answer = response
                else:
                    assert isinstance(response, MarkersDue)
                    places = [
                        (topic, index)
                        for topic, indexes in response.transaction.partitions.items()
                        for index in sorted(indexes)
                    ]
                    self.due.append((response, places))
            outcome = outcome.then() if outcome.then else None
        assert life == self.epoch
        return answer

    def deliver(self, choose=lambda n: 0):
        """One marker arrives, or a transaction whose markers are all written is completed. False: none."""
        if not self.due:
            return False
        which = choose(len(self.due))
        due, places = self.due[which]
        if not self.shard.is_ending(due.transaction):
            del self.due[which]
            return True
        if not places:
            del self.due[which]
            with contextlib.suppress(Lost):
                self._perform(self.shard.markers_written(due.transaction, self.now), None)
            return True
        place = places[choose(len(places))]
        try:
            self._step()
            self.partitions[place].mark(due)
            self._step()
        except Lost:
            return True
        places.remove(place)
        return True

    def deliver_all(self):
        while self.deliver():
            pass

    def pass_ms(self, ms):
        """Time passes; the coordinator looks for what is out of time."""
        self.now += ms
        try:
            for outcome in self.shard.abort_timed_out(self.now):
                self._perform(outcome, None)
        except Lost:
            pass

    # -- requests ----------------------------------------------------------------------------------------

    def _ask(self, decide):
        ticket = object()
        try:
            outcome = decide(ticket, None)
        except NeedsProducerId:
            self.next_id += 1
            outcome = decide(ticket, self.next_id)
        return self._perform(outcome, ticket)

    def init(self, name, expected=None, timeout_ms=60_000):
        return self._ask(
            lambda ticket, new_id: self.shard.init_producer_id(
                ticket, name, timeout_ms, expected, new_id, self.now
            )
        )

    def add(self, name, producer, places, version=2):
        wanted = partitions_of((topic, [index]) for topic, index in places)
        return self._ask(
            lambda ticket, _: self.shard.add_partitions(ticket, name, producer, wanted, version, self.now)
        )

    def end(self, name, producer, commit, version=2):
        return self._ask(
            lambda ticket, new_id: self.shard.end(ticket, name, producer, commit, version, new_id, self.now)
        )

    def produce(self, name, producer, place, sequence, value, version=2):
        """Produce as the leader of the partition does it: verified or added first; the code of the answer."""
        partition = self.partitions[place]
        if not partition.producers.has_open_txn(*producer):
            if version >= 2:
                code = self.add(name, producer, [place], version)
            else:
                try:
                    wanted = partitions_of([(place[0], [place[1]])])
                    code = self.shard.verify_partitions(name, producer, wanted)[place]
                except ApiError as error:
                    code = error.code
            if code is not ErrorCode.NONE:
                return code
        try:
            partition.append(producer, sequence, value)
        except ApiError as error:
            return error.code
        return ErrorCode.NONE

    # -- looking -----------------------------------------------------------------------------------------

    def txn(self, name):
        return self.shard.transactions[name]

    def state(self, name):
        return self.txn(name).state

    def begun(self, name, places=(("t", 0),), version=2, timeout_ms=60_000):
        """A producer with an open transaction."""
        producer = self.init(name, timeout_ms=timeout_ms).producer
        assert self.add(name, producer, list(places), version) is ErrorCode.NONE
        return producer

    def settled(self):
        """No transaction is open anywhere."""
        return all(p.producers.first_unstable is None for p in self.partitions.values()) and all(
            txn.state.is_settled for txn in self.shard.transactions.values()
        )


__all__ = ["Lost", "PartitionModel", "Producer", "State", "World"]
