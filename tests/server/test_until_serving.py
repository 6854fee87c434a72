"""Before a broker serves, what clients ask about the cluster waits; what its controller says does not."""

from __future__ import annotations

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import ApiKey
from kbroker.server.until_serving import UntilServing
from tests.broker.peer_world import ManualTimer


class Inside:
    """Answers with the frame."""

    def __init__(self):
        self.asked = []
        self.later = None

    def request(self, connection, frame):
        self.asked.append(bytes(frame))
        return self.later or bytes(frame)


class Connection:
    def __init__(self, handler):
        self.handler = handler


@pytest.fixture
def world():
    timer, inside = ManualTimer(), Inside()
    door = UntilServing(inside, timer)
    return timer, inside, door, Connection(door)


def frame(key, more=b"\x00\x0crest"):
    return memoryview(int(key).to_bytes(2, "big") + more)


@pytest.mark.parametrize(
    "key", [ApiKey.UPDATE_METADATA, ApiKey.LEADER_AND_ISR, ApiKey.API_VERSIONS, ApiKey.PRODUCE]
)
def test_what_says_nothing_of_the_cluster_is_answered_at_once(world, key):
    _, _, door, connection = world
    assert door.request(connection, frame(key)) == bytes(frame(key))
    assert connection.handler is door


def test_questions_about_the_cluster_wait_until_it_is_known(world):
    _, inside, door, connection = world
    answer = door.request(connection, frame(ApiKey.METADATA))
    assert not answer.done
    assert inside.asked == []
    door.serve()
    assert answer.result() == bytes(frame(ApiKey.METADATA))


def test_an_answer_that_comes_later_still(world):
    _, inside, door, connection = world
    answer = door.request(connection, frame(ApiKey.FIND_COORDINATOR))
    later = inside.later = Deferred()
    door.serve()
    assert not answer.done
    later.resolve(b"answer")
    assert answer.result() == b"answer"


def test_who_waited_in_vain_is_let_go(world):
    timer, inside, door, connection = world
    answer = door.request(connection, frame(ApiKey.METADATA))
    timer.advance(999)
    assert not answer.done
    timer.advance(1)
    with pytest.raises(ProtocolError, match="does not serve yet"):
        answer.result()
    door.serve()
    assert inside.asked == []


def test_who_went_away_is_not_answered(world):
    _, inside, door, connection = world
    door.request(connection, frame(ApiKey.METADATA)).cancel()
    door.serve()
    assert inside.asked == []


def test_connections_forget_the_door_when_it_is_open(world):
    _, inside, door, connection = world
    door.serve()
    assert door.request(connection, frame(ApiKey.METADATA)) == bytes(frame(ApiKey.METADATA))
    assert connection.handler is inside
    # Behind a login the handler is the login's.
    connection.handler = other = object()
    door.request(connection, frame(ApiKey.METADATA))
    assert connection.handler is other
