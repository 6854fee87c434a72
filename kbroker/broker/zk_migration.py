"""The driver of a migration from ZooKeeper (KIP-866): does what controller/zookeeper/migration.py decides.

It works on the active controller of the quorum only, by a session of its own. What it knows is thrown away
with the session, the leadership, or the first write that is refused, and read anew: all that counts is in the
log and in ZooKeeper. A commit is written to ZooKeeper before brokers in ZooKeeper's mode hear of it: these
still read settings there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator
from typing import TYPE_CHECKING, Any

from kbroker.broker import flow
from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_copy import append_copy
from kbroker.broker.zk_memory import read_tree
from kbroker.broker.zk_port import ZkCode, ZkError
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.cluster_znodes import MigrationZnode
from kbroker.controller.zookeeper.migration import Facts, Phase, claim_operations, decide, missing_brokers
from kbroker.controller.zookeeper.mirroring import comparable, copied, forgotten_deletions, mirrored
from kbroker.controller.zookeeper.node_znodes import ControllerZnode, decode_cluster_id
from kbroker.controller.zookeeper.reading import Reading, read
from kbroker.controller.zookeeper.steps import with_leader_epochs
from kbroker.controller.zookeeper.tree import Node, OpFailed, Tree, ZkOp, transactions
from kbroker.controller.zookeeper.values import ZnodeError, number_of
from kbroker.controller.zookeeper.writing import Claim
from kbroker.errors import ApiError
from kbroker.metadata.image import BEFORE_MIGRATION, MIGRATING, ClusterImage
from kbroker.metrics.histogram import Histogram
from kbroker.plain import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.broker.zk_channel import ZkChannel
    from kbroker.broker.zk_port import ZkNode
    from kbroker.broker.zk_session import ZkClient
    from kbroker.clock import Clock
    from kbroker.controller.election_rules import ElectionRules
    from kbroker.metadata.records import MetadataRecord

_log = logging.getLogger(__name__)

_SOON_MS = 100.0
_LOOK_AGAIN_MS = 1000.0
_TROUBLE_MS = 3000.0
#: What a step takes, and how long to wait after it; None: not at all.
_Step = Generator[Deferred[Any], Any, "float | None"]


class ZkMigration:
    """See the module; a `SessionListener` and a `ControllerWatcher`.

    Args:
        controller: of the quorum.
        channel: tells brokers in ZooKeeper's mode.
        voters: the controllers of the quorum, by id.
    """

    def __init__(
        self,
        client: ZkClient,
        controller: ControllerDriver,
        channel: ZkChannel,
        clock: Clock,
        timer: Timer,
        rules: ElectionRules,
        voters: Callable[[], Collection[int]],
    ) -> None:
        self._client = client
        self._controller = controller
        self._channel = channel
        self._clock = clock
        self._timer = timer
        self._rules = rules
        self._voters = voters
        self._facts = Facts(controller.committed_image, controller.node_id)
        #: Counts what is known: steps of an earlier time do not count.
        self._time = 0
        self._busy = False
        #: The copy is being appended to the log: whatever else ends, that goes on to its end.
        self._appends = False
        #: So many records this node has copied; 0: another one did.
        self._copied = 0
        self._alarm: TimerHandle | None = None
        #: Something failed: commits are no reason to try again before the alarm.
        self._troubled = False
        self._told: tuple[Phase, str] = (Phase.INACTIVE, "")
        self._epoch = (0, -1)
        self._held_version: int | None = None
        #: What ZooKeeper has, as this node wrote or read it, and what that comes to.
        self._tree = Tree()
        self._written = ClusterImage("")
        #: What writing to ZooKeeper takes: everything that it lacks; one commit, or what has come together.
        self.all_times, self.commit_times = Histogram(1), Histogram(1)
        controller.adapt = _for_zookeepers_brokers
        controller.watch(self)
        client.listen(self)

    def status(self) -> dict[str, Any]:
        """What an operator wants to know; who does not lead knows only the log."""
        facts, image = self._facts, self._controller.committed_image
        phase, waits_for = decide(self._known())
        brokers = image.brokers.values()
        return {
            "phase": phase.name,
            "meaning": phase.value,
            "waits_for": waits_for,
            "reaches_zookeeper": facts.is_reached,
            "zk_migration_state": image.zk_migration_state,
            "active": self._controller.active,
            "zk_brokers": sorted(each.id for each in brokers if each.is_migrating_zk_broker),
            "kraft_brokers": sorted(each.id for each in brokers if not each.is_migrating_zk_broker),
            "missing_brokers": missing_brokers(image, {*(facts.brokers or ()), *(facts.assigned or ())})
            if image.zk_migration_state == BEFORE_MIGRATION
            else [],
            "absent_brokers": sorted({*(facts.assigned or ())} - {*(facts.brokers or ())})
            if image.zk_migration_state == BEFORE_MIGRATION
            else [],
            "controller_epoch": -1 if facts.claim is None else facts.claim.epoch,
            "copied_records": self._copied,
            "offset": image.offset,
            "written_offset": self._written.offset if facts.is_synced else -1,
        }

    @property
    def behind(self) -> int:
        """How many records of the log are not in ZooKeeper yet; 0 where nothing is written."""
        return self._facts.image.offset - self._written.offset if self._facts.is_synced else 0

    # -- SessionListener, ControllerWatcher ------------------------------------------------------------------

    def session_began(self, session_id: int) -> None:
        """See `SessionListener`."""
        self._anew(is_reached=True)

    def session_over(self) -> None:
        """See `SessionListener`."""
        self._anew(is_reached=False)

    def activated(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`."""
        self._anew(leads=True, epoch=image.epoch, image=image)

    def committed(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`."""
        if not self._troubled:
            self._go()

    def resigned(self) -> None:
        """See `ControllerWatcher`."""
        self._anew(leads=False)

    def _anew(self, **changes: Any) -> None:
        """Nothing is known any more but these changes, who leads and whether there is a session."""
        old = self._facts
        known = {"leads": old.leads, "epoch": old.epoch, "is_reached": old.is_reached, "image": old.image}
        self._facts = Facts(node_id=old.node_id, **{**known, **changes})
        self._time += 1
        self._busy, self._troubled = self._appends, False
        self._channel.resigned()
        self._go()

    # -- steps -----------------------------------------------------------------------------------------------

    def _known(self) -> Facts:
        return replace(self._facts, voters=tuple(self._voters()))

    def _go(self) -> None:
        """Do what is next, if nothing is under way."""
        if self._busy:
            return
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._troubled = False
        if self._facts.leads:
            self._facts = replace(self._facts, image=self._controller.committed_image)
        phase, waits_for = decide(self._known())
        self._tell(phase, waits_for)
        step = self._step(phase, waits_for)
        if step is not None:
            self._busy = True
            time = self._time
            flow.run(step).then(lambda done: self._done(time, done))

    def _step(self, phase: Phase, waits_for: str) -> _Step | None:
        facts = self._facts
        if phase is Phase.UNINITIALIZED:
            return self._read_facts() if facts.is_reached else None
        if phase is Phase.INACTIVE:
            may_change = facts.leads and facts.is_read
            return self._look_again(_TROUBLE_MS) if may_change and waits_for else None
        if phase is Phase.WAIT_FOR_CONTROLLER_QUORUM:
            return self._look_again(_LOOK_AGAIN_MS)
        if phase is Phase.WAIT_FOR_BROKERS:
            return self._look_at_brokers()
        if phase is Phase.BECOME_CONTROLLER:
            return self._look_again(_LOOK_AGAIN_MS) if waits_for else self._take_over()
        if phase is Phase.ZK_MIGRATION:
            return self._copy()
        if phase is Phase.SYNC_KRAFT_TO_ZK:
            return self._synchronize()
        if phase is Phase.KRAFT_CONTROLLER_TO_BROKER_COMM:
            self._facts = replace(facts, is_told=True)
            self._channel.activated(self._view(self._written))
            return self._now()
        return self._write() if self._written is not facts.image else None

    def _now(self) -> _Step:
        return None
        yield

    def _tell(self, phase: Phase, waits_for: str) -> None:
        if (phase, waits_for) != self._told:
            self._told = (phase, waits_for)
            level = logging.INFO if self._facts.leads else logging.DEBUG
            _log.log(
                level, "migration from ZooKeeper: %s%s", phase.value, f": {waits_for}" if waits_for else ""
            )

    def _done(self, time: int, done: Deferred[float | None]) -> None:
        if time != self._time:
            return
        self._busy = False
        try:
            delay_ms = done.result()
        except ZkError as error:
            if error.code is ZkCode.SESSION_OVER:
                return
            _log.info("migration from ZooKeeper: all is read again: %s", error)
            heals = error.code in (ZkCode.BAD_VERSION, ZkCode.NODE_EXISTS, ZkCode.CONNECTION_LOST)
            self._read_again(error.path == paths.CONTROLLER_EPOCH or self._facts.claim is None)
            delay_ms, self._troubled = _SOON_MS if heals else _TROUBLE_MS, True
        except (ZnodeError, OpFailed, ApiError) as error:
            _log.error("migration from ZooKeeper: trying again: %s", error)
            self._read_again(self._facts.claim is None)
            delay_ms, self._troubled = _TROUBLE_MS, True
        if delay_ms is None:
            self._go()
        else:
            self._alarm = self._timer.call_later(delay_ms, self._go)

    def _read_again(self, claim_too: bool) -> None:
        self._facts = replace(self._facts, is_synced=False)
        if claim_too:
            self._facts = replace(self._facts, claim=None, is_read=False, is_told=False)
            self._channel.resigned()

    def _look_again(self, delay_ms: float) -> _Step:
        """Nothing can be done but to look whether it has changed."""
        time, wait = self._time, Deferred[None]()
        self._timer.call_later(delay_ms, lambda: wait.resolve(None))
        yield wait
        return (yield from self._read_facts()) if time == self._time else None

    def _read_facts(self) -> _Step:
        time, first = self._time, (yield from self._get(paths.CONTROLLER))
        epoch = yield from self._get(paths.CONTROLLER_EPOCH)
        migration = yield from self._get(paths.MIGRATION)
        cluster = yield from self._get(paths.CLUSTER_ID)
        held = yield from self._get(paths.CONTROLLER)
        if time != self._time:
            return None
        if (first is None) != (held is None) or (
            first is not None and held is not None and first.stat != held.stat
        ):
            return _SOON_MS
        holder = None if held is None else ControllerZnode.decode(held.data)
        claim = None
        if epoch is not None:
            self._epoch = number_of(paths.CONTROLLER_EPOCH, epoch.data), epoch.stat.version
            mine = (self._facts.node_id, self._facts.epoch)
            if holder is not None and (holder.broker_id, holder.kraft_epoch) == mine:
                # Of an earlier session, or the answer to the claim was lost.
                claim = Claim(*self._epoch)
        self._held_version = None if held is None else held.stat.version
        self._facts = replace(
            self._facts,
            is_read=True,
            cluster_id=None if cluster is None else decode_cluster_id(cluster.data),
            controller=holder,
            has_epoch=epoch is not None,
            progress=None if migration is None else MigrationZnode.decode(migration.data),
            claim=claim,
        )
        return None

    def _get(self, path: str) -> Generator[Deferred[Any], Any, ZkNode | None]:
        try:
            found: ZkNode = yield self._client.get(path)
        except ZkError as error:
            if error.code is ZkCode.NO_NODE:
                return None
            raise
        return found

    def _look_at_brokers(self) -> _Step:
        time = self._time
        yield from self._read_facts()
        if time != self._time:
            return None
        names = yield self._client.children(paths.BROKER_IDS)
        brokers = frozenset(int(name) for name in names if name.isascii() and name.isdigit())
        assigned, problems = None, []
        if brokers and not missing_brokers(self._facts.image, brokers):
            found = read((yield from read_tree(self._client)))
            assigned, problems = _assigned(found), [str(each) for each in found.problems]
        if time != self._time:
            return None
        self._facts = replace(self._facts, brokers=brokers, assigned=assigned, problems=problems)
        return None if decide(self._known())[0] is not Phase.WAIT_FOR_BROKERS else _LOOK_AGAIN_MS

    def _take_over(self) -> _Step:
        time = self._time
        claim, ops = claim_operations(self._facts, self._clock.now_ms(), self._held_version, *self._epoch)
        self._facts = replace(self._facts, is_read=False)
        yield self._client.multi(ops)
        if time == self._time:
            _log.info("this node is controller of the brokers in ZooKeeper's mode, in epoch %d", claim.epoch)
            self._facts = replace(self._facts, claim=claim, is_read=True)
        return None

    def _copy(self) -> _Step:
        time, epoch = self._time, self._facts.epoch
        found = read((yield from read_tree(self._client)))
        if time != self._time:
            return None
        if found.problems:
            raise found.problems[0]
        image = self._facts.image
        live = [each.id for each in image.brokers.values() if each.active]
        records = copied(found, live, image.metadata_version)
        _log.info("copying what is in ZooKeeper: %d records", len(records))
        self._copied = len(records)
        self._appends = True
        try:
            yield from append_copy(
                self._controller,
                self._timer,
                self._rules,
                records,
                lambda: self._facts.epoch == epoch and self._facts.leads,
            )
        finally:
            if time == self._time:
                self._appends = False
            else:
                # What was to be done since then was kept waiting.
                self._timer.call_later(0, self._appended)
        return None

    def _appended(self) -> None:
        self._appends = self._busy = False
        self._go()

    def _synchronize(self) -> _Step:
        time, claim = self._time, self._facts.claim
        assert claim is not None
        tree = yield from read_tree(self._client)
        found = read(tree)
        for problem in found.problems:
            _log.error("migration from ZooKeeper: left as it is: %s", problem)
        if time != self._time:
            return None
        tree.put(paths.MIGRATION, Node())
        image = self._facts.image
        marks = forgotten_deletions(tree, claim)
        tree.apply(marks)
        problems: list[Exception] = []
        ops = mirrored(
            comparable(found.image()),
            comparable(image),
            tree,
            claim,
            self._progress(image),
            also=found.without_id,
            problems=problems,
        )
        _tell_left_out(problems)
        yield from self._send(tree, [marks, ops], self.all_times)
        if time == self._time:
            self._tree, self._written = tree, image
            self._facts = replace(self._facts, is_synced=True)
            if self._facts.is_told:
                self._channel.committed(self._view(image))
        return None

    def _write(self) -> _Step:
        time, claim, image = self._time, self._facts.claim, self._facts.image
        assert claim is not None
        problems: list[Exception] = []
        ops = mirrored(self._written, image, self._tree, claim, self._progress(image), problems=problems)
        _tell_left_out(problems)
        yield from self._send(self._tree, [ops], self.commit_times)
        if time == self._time:
            self._written = image
            self._channel.committed(self._view(image))
        return None

    def _send(
        self, tree: Tree, several: Sequence[Sequence[ZkOp]], times: Histogram
    ) -> Generator[Deferred[Any], Any, None]:
        """Write; what `several` lead to is applied to the tree but for the last."""
        began_ms = self._clock.monotonic_ms()
        tree.apply(several[-1])
        answers = [self._client.multi(part) for ops in several for part in transactions(ops)]
        for answer in answers:  # noqa: UP028 (what is sent in is for this generator)
            yield answer
        times.record(int(self._clock.monotonic_ms() - began_ms))

    def _progress(self, image: ClusterImage) -> MigrationZnode:
        return MigrationZnode(self._facts.node_id, self._facts.epoch, image.offset, image.epoch)

    def _view(self, image: ClusterImage) -> ClusterImage:
        """The cluster as brokers in ZooKeeper's mode are told: in the epoch that they know."""
        claim = self._facts.claim
        assert claim is not None
        return image.at(image.offset, claim.epoch)


def _tell_left_out(problems: Sequence[Exception]) -> None:
    for problem in problems:
        _log.error("migration from ZooKeeper: it is not written there: %s", problem)


def _for_zookeepers_brokers(
    records: Sequence[MetadataRecord], image: ClusterImage, by_leader: bool
) -> Sequence[MetadataRecord]:
    """While there are such brokers each change that they must hear of gets a new leader epoch."""
    if image.zk_migration_state != MIGRATING:
        return records
    in_zookeeper = {each.id for each in image.brokers.values() if each.is_migrating_zk_broker}
    if not in_zookeeper:
        return records
    return with_leader_epochs(records, image, by_leader, each_of=lambda old: old.leader in in_zookeeper)


def _assigned(found: Reading) -> frozenset[int]:
    return frozenset(
        broker
        for record in found.records
        if record.NAME == "PartitionRecord"
        for broker in record.replicas  # type: ignore[attr-defined]
    )
