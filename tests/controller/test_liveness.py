"""Sessions by a clock that the test moves."""

from __future__ import annotations

from kbroker.controller.liveness import Liveness
from kbroker.plain import replace
from tests.controller.clusters import cluster

SESSION = 9000


def sessions(own=-1):
    return Liveness(lambda: SESSION, own)


def test_a_broker_that_is_silent_for_its_session_expires_once():
    liveness = sessions()
    liveness.registered(1, 10, 100)
    assert liveness.deadline() is None, "it has not been heard of yet"
    liveness.heard(1, 10, 100, 5.0)
    assert liveness.deadline() == SESSION + 5.0
    assert liveness.alive(1, SESSION)
    assert liveness.expire(SESSION) == []
    assert liveness.expire(SESSION + 5.0) == [(1, 10)]
    assert liveness.expire(SESSION + 6.0) == []
    assert not liveness.alive(1, SESSION + 6.0)
    assert liveness.deadline() is None


def test_a_heartbeat_extends_the_session():
    liveness = sessions()
    for now in (0.0, 4000.0):
        liveness.heard(1, 10, 100, now)
    assert liveness.deadline() == SESSION + 4000.0
    assert liveness.expire(SESSION + 1.0) == []


def test_who_was_fenced_has_caught_up_once_it_has_read_so():
    liveness = sessions()
    image = cluster(1, 2)
    for broker_id in (1, 2):
        liveness.registered(broker_id, 10, 100)
    liveness.taken_from(image, 1, 120)
    liveness.taken_from(image, 1, 110)
    assert not liveness.caught_up(1, 119)
    assert liveness.caught_up(1, 120)
    assert liveness.caught_up(2, 100)


def test_a_new_controller_gives_every_live_broker_a_session():
    liveness = sessions(own=3)
    liveness.start(cluster(1, 3, fenced=(2,)), 1000.0)
    assert liveness.deadline() == 1000.0 + SESSION
    assert liveness.alive(1, 1000.0)
    assert not liveness.alive(2, 1000.0)
    assert liveness.expire(1000.0 + SESSION) == [(1, 10)]


def test_a_new_controller_counts_the_silence_before_it():
    liveness = sessions()
    liveness.start(cluster(1), 1000.0, 2000.0)
    assert liveness.deadline() == 1000.0 + SESSION - 2000.0
    liveness.start(cluster(1), 1000.0, 60_000.0)
    assert liveness.deadline() == 1000.0 + SESSION / 2


def test_the_controllers_own_broker_does_not_expire():
    liveness = sessions(own=1)
    liveness.registered(1, 10, 100)
    liveness.heard(1, 10, 100, 0.0)
    assert liveness.deadline() is None
    assert liveness.expire(10.0 * SESSION) == []


def test_a_broker_has_caught_up_when_it_has_read_its_registration():
    liveness = sessions()
    liveness.registered(1, 10, 12)
    assert [liveness.caught_up(1, offset) for offset in (11, 12)] == [False, True]
    liveness.start(cluster(1), 0.0)
    assert [liveness.caught_up(1, offset) for offset in (98, 99)] == [False, True]


def test_the_same_incarnation_again_keeps_its_session_but_has_to_read_on():
    liveness = sessions()
    liveness.registered(1, 10, 12)
    liveness.heard(1, 10, 12, 0.0)
    liveness.registered(1, 10, 20)
    assert liveness.alive(1, 1.0)
    assert not liveness.caught_up(1, 12)


def test_who_stops_waits_until_the_others_have_read_who_leads_now():
    image = cluster(1, 2, 3)
    liveness = sessions(own=3)
    liveness.start(image, 0.0)
    liveness.heard(2, 20, 100, 0.0)
    liveness.leaving(1, 101)
    assert not liveness.others_know(image, 1)
    liveness.heard(2, 20, 101, 1.0)
    stopping = image.brokers[1]._replace(in_controlled_shutdown=True)
    image = replace(image, brokers={**image.brokers, 1: stopping})
    assert liveness.others_know(image, 1), "the controller's own broker knows at once, itself does not count"


def test_brokers_in_zookeepers_mode_are_not_waited_for():
    image, liveness = cluster(1, 2), sessions()
    liveness.start(image, 0.0)
    liveness.heard(2, 20, 100, 0.0)
    liveness.heard(1, 10, 100, 0.0)
    liveness.leaving(1, 101)
    stopping = image.brokers[1]._replace(in_controlled_shutdown=True)
    image = replace(image, brokers={**image.brokers, 1: stopping})
    assert not liveness.others_know(image, 1)
    told = image.brokers[2]._replace(is_migrating_zk_broker=True)
    assert liveness.others_know(replace(image, brokers={**image.brokers, 2: told}), 1)


def test_an_ended_session_lets_another_incarnation_come():
    liveness = sessions()
    liveness.heard(1, 10, 5, 0.0)
    liveness.end(1)
    assert not liveness.alive(1, 0.0)
    assert liveness.caught_up(1, 5)
    liveness.forget(1)
    assert not liveness.caught_up(1, 5)
