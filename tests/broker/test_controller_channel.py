from __future__ import annotations

import pytest

from kbroker.broker.controller_channel import PAUSE_MS_MAX, ControllerChannel
from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import PeerAddress, PeerError, PeerFailure
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kbroker.protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from tests.broker.peer_world import FakePeers, ManualTimer

ONE = PeerAddress(1, "one", 9093)
TWO = PeerAddress(2, "two", 9093)
HERE = PeerAddress(7, "", 0)
REQUEST = BrokerHeartbeatRequest(broker_id=7)
GOOD = BrokerHeartbeatResponse(is_fenced=False)
MOVED = BrokerHeartbeatResponse(error_code=ErrorCode.NOT_CONTROLLER)


class World:
    def __init__(self):
        self.timer = ManualTimer()
        self.peers = FakePeers()
        self.leader = ONE
        self.here = []
        self.channel = ControllerChannel(
            7, self.peers, self.timer, self.timer, lambda: self.leader, self._ask_here
        )

    def _ask_here(self, request):
        answer = Deferred()
        self.here.append((request, answer))
        return answer

    def send(self, timeout_ms=5000.0):
        return self.channel.send(REQUEST, timeout_ms)

    def asked(self):
        return [address for address, _, _, _ in self.peers.sent]


@pytest.fixture
def world():
    return World()


def test_a_request_goes_to_the_controller(world):
    answer = world.send()
    assert world.asked() == [ONE]
    world.peers.answer(GOOD)
    assert answer.result() is GOOD


def test_this_node_is_asked_without_a_socket(world):
    world.leader = HERE
    answer = world.send()
    assert world.peers.sent == []
    world.here[0][1].resolve(GOOD)
    assert answer.result() is GOOD


def test_who_is_no_controller_any_more_is_asked_again_later(world):
    answer = world.send()
    world.peers.answer(MOVED)
    assert world.asked() == [ONE]
    world.leader = TWO
    world.timer.advance(20)
    assert world.asked() == [ONE, TWO]
    world.peers.answer(GOOD)
    assert answer.result() is GOOD


@pytest.mark.parametrize("reason", [PeerFailure.REFUSED, PeerFailure.CLOSED, PeerFailure.TIMED_OUT])
def test_a_controller_that_is_gone_is_asked_again(world, reason):
    answer = world.send()
    world.peers.fail(PeerError(reason, ONE))
    world.timer.advance(20)
    assert world.asked() == [ONE, ONE]
    world.peers.answer(GOOD)
    assert answer.result() is GOOD


def test_attempts_become_rarer(world):
    world.send(timeout_ms=60_000)
    for _ in range(60):
        world.peers.fail_all(PeerError(PeerFailure.REFUSED, ONE))
        world.timer.advance(PAUSE_MS_MAX / 2)
    assert 25 < len(world.peers.sent) < 35


def test_a_new_leader_ends_the_pause(world):
    world.leader = None
    world.send()
    world.timer.advance(300)
    assert world.asked() == []
    world.leader = TWO
    world.channel.leader_changed()
    assert world.asked() == [TWO]


def test_what_waits_at_the_old_leader_goes_to_the_new_one(world):
    answer = world.send()
    world.leader = TWO
    world.channel.leader_changed()
    assert (ONE, "controller") in world.peers.closed
    world.peers.fail(PeerError(PeerFailure.CLOSED, ONE))
    world.timer.advance(20)
    assert world.asked() == [ONE, TWO]
    world.peers.answer(GOOD)
    assert answer.result() is GOOD


def test_after_the_time_out_nothing_is_sent(world):
    world.leader = None
    answer = world.send(timeout_ms=100)
    world.timer.advance(100)
    with pytest.raises(ApiError) as caught:
        answer.result()
    assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT
    world.leader = ONE
    world.channel.leader_changed()
    world.timer.advance(1000)
    assert world.asked() == []


def test_a_controller_that_does_not_know_the_request(world):
    answer = world.send()
    world.peers.fail(PeerError(PeerFailure.UNSUPPORTED_VERSION, ONE))
    with pytest.raises(ApiError) as caught:
        answer.result()
    assert caught.value.code is ErrorCode.UNSUPPORTED_VERSION


def test_an_error_of_the_own_controller_is_the_answer_unless_it_is_none(world):
    world.leader = HERE
    first, second = world.send(), world.send()
    world.here[0][1].fail(ApiError(ErrorCode.INVALID_REQUEST))
    world.here[1][1].fail(ApiError(ErrorCode.NOT_CONTROLLER))
    with pytest.raises(ApiError):
        first.result()
    assert not second.done
    world.leader = ONE
    world.timer.advance(20)
    assert world.asked() == [ONE]


def test_after_close_all_that_waits_fails(world):
    world.leader = None
    waiting = world.send()
    world.channel.close()
    for answer in (waiting, world.send()):
        with pytest.raises(ApiError):
            answer.result()


def test_where_no_controller_is_known_patience_may_end_before_the_time(world):
    world.channel.patience_ms = 1000.0
    world.channel.why_nobody = lambda: "There is no session."
    world.leader = None
    first = world.send()
    world.timer.advance(900)
    world.leader = ONE
    world.channel.leader_changed()
    world.peers.fail(PeerError(PeerFailure.CLOSED, ONE))
    world.leader = None
    world.timer.advance(900)
    assert not first.done
    world.timer.advance(400)
    with pytest.raises(ApiError, match="There is no session") as refused:
        first.result()
    assert refused.value.code is ErrorCode.REQUEST_TIMED_OUT
