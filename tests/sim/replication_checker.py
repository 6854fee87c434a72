"""What must hold in a `World` after every event, whatever has failed (correctness of replication).

* log start <= high watermark <= log end; the high watermark never falls while one leader epoch lasts;
* what lies below any replica's high watermark is the same everywhere, for ever: the committed log;
* no replica is cut below its high watermark;
* every in-sync replica has all that the leader has committed, and so has every newly elected leader;
* a leader epoch has one record for an offset, whatever is lost;
* what was acknowledged with acks=all is in the committed log.

Where the controller had to elect without an eligible replica (`leader_recovery_state`), it has said that
there may be a loss. There is none if the one elected was in sync last and never lost power since: then all
goes on as before. Otherwise the partition begins anew with what that leader has: replicas count again from
when they know of its epoch and are in sync with it, and so does what is acknowledged from then on.
"""

from __future__ import annotations

from kbroker.protocol.record_batch import decode_records, iter_batches

RECOVERING = 1


class Violation(AssertionError):
    """An invariant does not hold."""


class Checker:
    def __init__(self, world):
        self.world = world
        world.checker = self
        self.committed = {index: {} for index in range(world.options.partitions)}
        #: The leader epoch of the last election that may have lost something.
        self.lossy = {}
        self._joined = {}
        self._damaged = {}
        self.losses = 0
        self._written = {}
        self._seen = {}
        self._led = {}

    def _fail(self, text):
        raise Violation(f"seed {self.world.seed} at {self.world.now:.1f} ms: {text}")

    def appended(self, index, epoch, base, values):
        """A leader gave offsets away."""
        for offset, value in enumerate(values, base):
            known = self._written.setdefault((index, epoch, offset), value)
            if known != value:
                self._fail(f"t-{index}: epoch {epoch} has both {known} and {value} at {offset}")

    def check(self, node):
        if not node.alive:
            return
        for (topic, index), partition in node.replicas.partitions.items():
            # Whole nodes have other topics, too.
            if topic == "t" and partition.log is not None and self._counts(node, index, partition):
                self._check_partition(node, index, partition)

    def _counts(self, node, index, partition):
        """Whether a replica is in the history that holds since the last loss."""
        begins = self.lossy.get(index)
        return begins is None or (partition.leader_epoch >= begins and node.id in self._joined[index])

    def lost_power(self, node_id):
        """What it has is not what it had."""
        for index in self.committed:
            self._damaged[node_id, index] = None

    def _check_partition(self, node, index, partition):
        log = partition.log
        start, mark, end = log.log_start_offset, log.high_watermark, log.log_end_offset
        where = f"t-{index} on node {node.id}"
        if not start <= mark <= end:
            self._fail(f"{where}: start {start}, high watermark {mark}, end {end}")
        key = node.id, node.incarnations, index
        before, seen = self._seen.get(key, (None, None))
        if before is not partition:
            seen = None  # the replica went and came back: its log is a new one
        if seen is not None and end < seen:
            self._fail(f"{where}: cut to {end}, below its high watermark {seen}")
        if partition.is_leader:
            epoch = (*key, partition.leader_epoch)
            if mark < self._led.get(epoch, mark):
                self._fail(f"{where}: the high watermark fell from {self._led[epoch]} to {mark}")
            self._led[epoch] = mark
        if seen is None or mark > seen:
            self._compare(where, index, log, max(start, 0 if seen is None else seen), mark)
            self._seen[key] = partition, mark
        self._check_in_sync(node, index, partition)

    def _compare(self, where, index, log, first, end):
        committed = self.committed[index]
        for offset, epoch, value in records(log, first, end):
            known = committed.setdefault(offset, (epoch, value))
            if known != (epoch, value):
                self._fail(f"{where}: at {offset} is {(epoch, value)}, but {known} was committed")

    def _check_in_sync(self, node, index, partition):
        state = self.world.state(index)
        if state.leader != node.id or partition.leader_epoch != state.leader_epoch or not partition.is_leader:
            return
        mark = partition.log.high_watermark
        for replica in state.isr:
            other = self.world.partition(replica, index)
            if other is None or other.log is None or self.world.nodes[replica].epoch < 0:
                continue
            if other.log.log_end_offset < mark:
                self._fail(
                    f"t-{index}: {replica} is in sync with an end of {other.log.log_end_offset}, but leader "
                    f"{node.id} has committed {mark}"
                )

    def on_commit(self, old, new):
        before, after = old.topics.get("t"), new.topics.get("t")
        if before is None or after is None:
            return
        for index, state in enumerate(after.partitions):
            was = before.partitions[index]
            if not set(state.isr) <= set(state.replicas):
                self._fail(f"t-{index}: in sync are {state.isr} of {state.replicas}")
            if (state.leader, state.leader_epoch) == (was.leader, was.leader_epoch):
                # Who comes in while somebody leads has copied what it had lost.
                for replica in set(state.isr) - set(was.isr):
                    self._damaged.pop((replica, index), None)
            if self._may_have_lost(index, was, state):
                self._begin_anew(index, state)
                continue
            if index in self.lossy:
                self._joined[index].update(dict.fromkeys(state.isr))
            if state.leader in (was.leader, -1):
                continue
            # A process that has not registered yet will not lead: the one before it was elected.
            if self.world.nodes[state.leader].epoch == new.brokers[state.leader].epoch:
                self._check_elected(index, state.leader)

    def _may_have_lost(self, index, was, state):
        elected = state.leader_recovery_state == RECOVERING and state.leader_epoch != was.leader_epoch
        return elected and (self.world.options.unclean or (state.leader, index) in self._damaged)

    def _begin_anew(self, index, state):
        self.lossy[index] = state.leader_epoch
        self._joined[index] = {state.leader: None}
        self.committed[index] = {}
        self.losses += 1
        for key in [key for key in self._seen if key[2] == index]:
            del self._seen[key]

    def _check_elected(self, index, leader):
        partition = self.world.partition(leader, index)
        if partition is None or partition.log is None:
            return
        log, committed = partition.log, self.committed[index]
        found = {
            offset: (epoch, value)
            for offset, epoch, value in records(log, log.log_start_offset, log.log_end_offset)
        }
        for offset, known in committed.items():
            if offset >= log.log_start_offset and found.get(offset) != known:
                self._fail(
                    f"t-{index}: {leader} was elected and has {found.get(offset)} at {offset}, not {known}"
                )

    def check_acknowledged(self):
        for acked in self.world.acked:
            if acked.epoch < self.lossy.get(acked.partition, 0):
                continue
            found = self.committed[acked.partition].get(acked.offset)
            if found is None or found[1] != acked.value:
                self._fail(f"{acked} is not in the committed log: {found}")

    def check_healed(self):
        """After the last fault: all in sync, all the same, and somebody takes records."""
        world = self.world
        for index in range(world.options.partitions):
            state = world.state(index)
            leader = world.leader(index)
            if leader is None:
                self._fail(f"t-{index} has no leader: {state}")
            if sorted(state.isr) != sorted(state.replicas) or state.adding_replicas:
                self._fail(f"t-{index}: only {state.isr} of {state.replicas} are in sync")
            logs = [world.partition(replica, index).log for replica in state.replicas]
            facts = [(log.high_watermark, log.log_end_offset) for log in logs]
            if len(set(facts)) != 1:
                self._fail(f"t-{index}: the replicas {state.replicas} are at {facts}")
            mark, end = facts[0]
            start = leader.replicas.get("t", index).log.log_start_offset
            if any(log.log_start_offset < start for log in logs):
                self._fail(f"t-{index}: the leader's start at {start} did not reach all")
            if mark != end:
                self._fail(f"t-{index}: high watermark {mark}, end {end}")
            first = max(log.log_start_offset for log in logs)
            contents = [raw(log, first) for log in logs]
            if any(content != contents[0] for content in contents):
                self._fail(f"t-{index}: the logs differ")
            # A start that a power cut took back may be ahead on a follower: what lies before is not compared.
            epochs = [[(e, max(at, first)) for e, at in log.epochs.entries() if at < mark] for log in logs]
            if first < end and any(log_epochs[-1:] != epochs[0][-1:] for log_epochs in epochs):
                self._fail(f"t-{index}: the epochs differ: {epochs}")


def raw(log, first):
    data = bytearray()
    offset = first
    while offset < log.log_end_offset:
        found = log.read(offset, 1 << 20, log.log_end_offset)
        if not found.size:
            break
        data += b"".join(part.read() for part in found.parts)
        offset = found.next_offset
    return bytes(data)


def records(log, first, end):
    """(offset, epoch, value) of every record in [first, end)."""
    offset = first
    while offset < end:
        found = log.read(offset, 1 << 20, end)
        if not found.size:
            return
        data = b"".join(part.read() for part in found.parts)
        for header in iter_batches(data):
            for record in decode_records(data, header):
                if offset <= record.offset < end:
                    yield record.offset, header.leader_epoch, record.value
        offset = found.next_offset
