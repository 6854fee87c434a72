"""What a quorum's log says is in ZooKeeper, too: after any history, wherever somebody stopped writing."""

from __future__ import annotations

from hypothesis import Phase, settings, strategies as st
from hypothesis.stateful import initialize, rule

from kbroker.controller.kraft.migration import copy_slices
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.cluster_znodes import MigrationZnode
from kbroker.controller.zookeeper.mirroring import comparable, copied, forgotten_deletions, mirrored
from kbroker.controller.zookeeper.reading import read
from kbroker.controller.zookeeper.steps import missing_roots
from kbroker.controller.zookeeper.topic_znodes import Assignment
from kbroker.controller.zookeeper.tree import Node, SetData, Tree, transactions
from kbroker.controller.zookeeper.writing import Claim
from kbroker.metadata.image import DIRECTORY_MIGRATING, MIGRATING, ClusterImage
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.generated.topic_record import TopicRecord
from tests.controller.zookeeper.test_zookeeper_properties import Histories, facts

CLAIM = Claim(7, 0)


def empty_tree():
    tree = Tree(whole=True)
    roots = paths.ROOTS + paths.TOKEN_ROOTS + paths.ACL_ROOTS
    for op in missing_roots(tree, roots):
        tree.apply([op])
    tree.put(paths.CONTROLLER_EPOCH, Node(b"7"))
    tree.put(paths.MIGRATION, Node())
    return tree


class Mirrors(Histories):
    """The image of a history, mirrored now and then, in another tree."""

    @initialize()
    def begin_mirror(self):
        self.mirror = empty_tree()
        self.written = ClusterImage("c")

    def operations(self):
        progress = MigrationZnode(1, 2, self.image.offset, 3)
        return mirrored(self.written, self.image, self.mirror, CLAIM, progress)

    @rule()
    def write(self):
        for part in transactions(self.operations(), self.cut):
            self.mirror.apply(part)
        self.written = self.image
        assert facts(read(self.mirror).image()) == facts(comparable(self.image))
        progress = MigrationZnode.decode(self.mirror.data(paths.MIGRATION))
        assert progress.metadata_offset == self.image.offset

    @rule(parts=st.integers(0, 5))
    def another_takes_over(self, parts):
        """Only some of what was to be written was; the next one reads all of it."""
        for part in transactions(self.operations(), self.cut)[:parts]:
            self.mirror.apply(part)
        self.written = comparable(read(self.mirror).image())
        self.write()


Mirrors.TestCase.settings = settings(
    max_examples=10,
    stateful_step_count=30,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
test_mirrors = Mirrors.TestCase


def small_tree():
    """Topic `whole`; `unborn`, without a state; `old`, from before 2.8; a mark and an orphan."""
    tree = empty_tree()
    for name, topic_id in (("whole", b"w" * 16), ("unborn", b"u" * 16), ("old", None)):
        tree.put(paths.topic(name), Node(Assignment({0: [1, 2]}, topic_id=topic_id).encode(), 0, 5))
        tree.put(paths.partitions(name), Node())
        tree.put(f"{paths.partitions(name)}/0", Node())
    state = b'{"controller_epoch":7,"leader":1,"version":1,"leader_epoch":4,"isr":[1,2]}'
    tree.put(paths.state("whole", 0), Node(state, 9))
    tree.put(paths.state("old", 0), Node(state, 9))
    tree.put(paths.topic_deletion("whole"), Node())
    tree.put("/config/topics/orphan", Node(b'{"version":1,"config":{"a":"b"}}'))
    return tree


def copy_of(tree, *brokers):
    image = ClusterImage("c")
    for decision in copy_slices(copied(read(tree), brokers, 21)):
        image = image.apply(decision.records)
    return image


def test_a_copy_has_what_zookeeper_does_not_say():
    image = copy_of(small_tree(), 2)
    whole, unborn = (image.topics.get(name).partitions[0] for name in ("whole", "unborn"))
    assert (whole.leader, whole.leader_epoch, whole.partition_epoch) == (1, 4, 9)
    assert whole.directories == (DIRECTORY_MIGRATING,) * 2
    assert (unborn.leader, unborn.isr, unborn.partition_epoch) == (2, (2,), 0)
    assert copy_of(small_tree()).topics.get("unborn").partitions[0].leader == -1
    assert image.configs == {}
    assert image.zk_migration_state == MIGRATING


def test_after_the_copy_zookeeper_has_what_it_lacked():
    tree = small_tree()
    image, found = copy_of(tree, 1), read(tree)
    progress = MigrationZnode(1, 2, 3, 4)
    ops = mirrored(comparable(found.image()), comparable(image), tree, CLAIM, progress, also=found.without_id)
    for part in (forgotten_deletions(tree, CLAIM), ops):
        tree.apply(part)
    again = read(tree)
    assert (again.unborn, again.without_id, again.deletions) == ([], [], [])
    assert facts(again.image())["topics"] == facts(comparable(image))["topics"]
    # What was right is not touched.
    assert not any(isinstance(op, SetData) and op.path == paths.state("whole", 0) for op in ops)


def test_changes_written_at_once_are_as_many_versions():
    tree = small_tree()
    before = copy_of(tree, 1)
    topic = before.topics.get("whole")
    changes = [
        PartitionChangeRecord(topic_id=topic.id, partition_id=0, isr=[1 + each % 2]) for each in range(3)
    ]
    new = [
        TopicRecord(name="new", topic_id=b"n" * 16),
        PartitionRecord(
            topic_id=b"n" * 16,
            partition_id=0,
            replicas=[1],
            isr=[1],
            leader=1,
            leader_epoch=2,
            partition_epoch=2,
        ),
    ]
    after = before.apply([*changes, *new])
    tree.apply(mirrored(before, after, tree, CLAIM, MigrationZnode(1, 2, 3, 4)))
    assert tree.get(paths.state("whole", 0)).version == 12
    assert tree.get(paths.state("new", 0)).version == 2
    assert read(tree).image().topics.partition("whole", 0).isr == (1,)
