"""A world without faults of its own, and a few verbs, for scenarios."""

from __future__ import annotations

from types import SimpleNamespace

from kbroker.errors import ApiError
from kbroker.plain import replace
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.storage.log import AppendOrigin
from tests.sim.replication_checker import Checker, raw, records
from tests.sim.replication_options import Options
from tests.sim.replication_world import World


class Cluster(World):
    """Three brokers, one partition led by 1, and a few verbs."""

    def __init__(self, *, syncs_all=False, **options):
        defaults = {"partitions": 1, "delay_ms": (1, 2), "metadata_delay_ms": (1, 3)}
        super().__init__(1, Options(**{**defaults, **options}))
        if syncs_all:
            self.log_config = replace(self.log_config, flush_messages=1)
        self.start()
        self.checker = Checker(self)
        self.counter = 0

    def wait(self, ms=1500):
        self.run_until(self.now + ms)
        for node in self.nodes.values():
            self.check(node)

    def send(self, node_id=None, acks=-1, value=None):
        """Append one record; an outcome that fills in later."""
        node_id = node_id or self.state(0).leader
        node = self.nodes[node_id]
        partition = self.partition(node_id, 0)
        self.counter += 1
        value = value or b"v%d" % self.counter
        sent = SimpleNamespace(value=value, acked=False, error=None, offset=None)
        batch = build_batch([Record(timestamp=1_700_000_000_000, value=value)])
        try:
            result = partition.append(batch, node.replicas.clock.now_ms(), AppendOrigin.CLIENT, acks)
            partition.flush()
        except ApiError as error:
            sent.error = error.code
            return sent
        sent.offset = result.base_offset

        def committed(done):
            try:
                done.result()
                sent.acked = True
            except ApiError as error:
                sent.error = error.code

        partition.when_committed(result.last_offset).then(committed)
        return sent

    def log(self, node_id):
        return self.partition(node_id, 0).log

    def values(self, node_id):
        log = self.log(node_id)
        return [value for _, _, value in records(log, log.log_start_offset, log.log_end_offset)]

    def split(self, node_id, *others):
        """Cut a node off from others (0: the controller), both ways."""
        for other in others:
            self.cut((node_id, other), (other, node_id))

    def assert_same(self, *node_ids):
        logs = [self.log(each) for each in node_ids or self.nodes]
        assert len({raw(log, log.log_start_offset) for log in logs}) == 1
        assert len({(log.log_end_offset, log.high_watermark) for log in logs}) == 1
