"""A broker in ZooKeeper that stops just when a KRaft quorum takes over (KIP-866)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_membership import ZkMembership
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.controlled_shutdown_response import ControlledShutdownResponse
from tests.broker.peer_world import ManualTimer


class Leaving:
    """Broker 1 of two, which asks for leave."""

    def __init__(self):
        self.sent, self.by_heartbeat = [], Deferred()
        self.asked_quorum = 0
        self.timer = ManualTimer()
        self.follower = SimpleNamespace(is_kraft=False, own_epoch=lambda: 5)
        member = self.member = ZkMembership.__new__(ZkMembership)
        image = SimpleNamespace(live_brokers=lambda: [SimpleNamespace(id=1), SimpleNamespace(id=2)])
        member.node_id, member._timer = 1, self.timer
        member._metadata = SimpleNamespace(image=image)
        member._follower = self.follower
        member._tie = SimpleNamespace(lifecycle=SimpleNamespace(leave=self._leave))
        member.channel = SimpleNamespace(send=self._send)

    def _leave(self):
        self.asked_quorum += 1
        return self.by_heartbeat

    def _send(self, request, timeout_ms, *, channel):
        self.sent.append(Deferred())
        return self.sent[-1]


@pytest.fixture
def leaving():
    return Leaving()


def test_a_quorum_that_leads_is_asked_by_heartbeat(leaving):
    leaving.follower.is_kraft = True
    left = leaving.member.leave()
    assert (leaving.asked_quorum, leaving.sent) == (1, [])
    assert not left.done
    leaving.by_heartbeat.resolve(None)
    assert left.done


@pytest.mark.parametrize("refused", [False, True])
def test_a_quorum_that_takes_over_meanwhile_is_asked_instead(leaving, refused):
    left = leaving.member.leave()
    assert len(leaving.sent) == 1
    leaving.follower.is_kraft = True
    if refused:
        leaving.sent[0].fail(ApiError(ErrorCode.UNSUPPORTED_VERSION))
    else:
        leaving.sent[0].resolve(ControlledShutdownResponse(error_code=ErrorCode.NOT_CONTROLLER))
        leaving.timer.advance(100)
    assert leaving.asked_quorum == 1
    assert not left.done
    leaving.by_heartbeat.resolve(None)
    assert left.done


def test_zookeepers_controller_gives_leave(leaving):
    left = leaving.member.leave()
    leaving.sent[0].resolve(ControlledShutdownResponse())
    assert left.done
    assert leaving.asked_quorum == 0
