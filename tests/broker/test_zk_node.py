"""A broker in ZooKeeper that comes back."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_first_session import Reader
from kbroker.broker.zk_node import ZkNode
from kbroker.broker.zk_port import ZkCode, ZkError
from kbroker.errors import ConfigError
from kbroker.metadata.image import BrokerImage, ClusterImage
from tests.broker.peer_world import ManualTimer


def told_of(epoch):
    """What a controller told a broker that it knew by the registration of that epoch."""
    broker = BrokerImage(1, epoch, bytes(16), (), {})
    return SimpleNamespace(image=ClusterImage("c", brokers={1: broker}))


def test_after_a_session_that_was_over_it_is_heard_when_a_controller_has_told_it_what_became_of_that():
    """Cut off from the others it told offsets of before for as long as that lasted (chaos, seed 9732)."""
    node = ZkNode.__new__(ZkNode)
    node._setup = SimpleNamespace(node_id=1)
    node.client = SimpleNamespace(live=True)
    epoch = 7
    node.own_epoch = lambda: epoch
    node.metadata = told_of(7)
    assert node.is_heard()
    node.client.live = False
    assert not node.is_heard()
    epoch = 9
    node.client.live = True
    assert node.has_session
    assert not node.is_heard()
    node.metadata = told_of(9)
    assert node.is_heard()


class Refusing:
    """A client of ZooKeeper that gets these answers, one after the other."""

    def __init__(self, *codes):
        self.answers = [ZkError(code) if isinstance(code, ZkCode) else code for code in codes]

    def exists(self, path):
        answer, done = self.answers.pop(0), Deferred()
        if isinstance(answer, ZkError):
            done.fail(answer)
        else:
            done.resolve(answer)
        return done


def test_a_start_reads_on_when_its_session_ends_meanwhile():
    """All killed, on a machine without turns: two of three nodes gave up (chaos, seed 9732)."""
    timer = ManualTimer()
    client = Refusing(ZkCode.SESSION_OVER, ZkCode.CONNECTION_LOST, object())
    found = Reader(client, timer, timer, 1000).exists("/migration")
    timer.advance(150)
    assert not found.done
    timer.advance(300)
    assert found.result()


@pytest.mark.parametrize("codes", [[ZkCode.NO_AUTH], [ZkCode.SESSION_OVER] * 9])
def test_a_start_that_may_not_read_says_so_also_if_it_takes_too_long(codes):
    timer = ManualTimer()
    found = Reader(Refusing(*codes), timer, timer, 1000).exists("/migration")
    timer.advance(2000)
    with pytest.raises(ConfigError):
        found.result()
