from __future__ import annotations

from hypothesis import given, strategies as st

from kbroker.broker.fetch_session import FetchSessionCache
from kbroker.broker.replica_messages import fetch_request
from kbroker.replication.fetch_session import ClientSession, Wanted


def wanted(partition, offset=0, topic=b"T" * 16):
    return Wanted("t", topic, partition, 3, offset, 2, 0)


def names(items):
    return [each.partition for each in items]


def test_after_the_first_request_only_changes_are_said():
    session = ClientSession()
    for index in range(3):
        session.want(wanted(index))
    first = session.next_request()
    assert (first.session_id, first.session_epoch, names(first.wanted)) == (0, 0, [0, 1, 2])
    session.answered(77)
    session.want(wanted(1, 5))
    session.want(wanted(2, 0))  # the same
    session.forget((b"T" * 16, 0))
    second = session.next_request()
    assert (second.session_id, second.session_epoch) == (77, 1)
    assert (names(second.wanted), names(second.forgotten)) == ([1], [0])
    session.answered(77)
    third = session.next_request()
    assert (third.session_epoch, third.wanted, third.forgotten) == (2, [], [])


def test_a_failure_begins_anew_with_everything_and_closes_the_old_session():
    session = ClientSession()
    session.want(wanted(0))
    session.next_request()
    session.answered(77)
    session.failed()
    again = session.next_request()
    assert (again.session_id, again.session_epoch, names(again.wanted)) == (77, 0, [0])
    session.failed(forgotten=True)
    assert session.next_request().session_id == 0


def test_without_a_slot_everything_is_said_each_time():
    session = ClientSession()
    session.want(wanted(0))
    for _ in range(2):
        assert names(session.next_request().wanted) == [0]
        session.answered(0)


def test_epochs_wrap():
    session = ClientSession()
    session.want(wanted(0))
    session.next_request()
    session.answered(7)
    session._epoch = 2**31 - 1
    session.next_request()
    session.answered(7)
    assert session.next_request().session_epoch == 1


steps = st.lists(
    st.one_of(
        st.tuples(st.just("want"), st.integers(0, 5), st.integers(0, 9)),
        st.tuples(st.just("forget"), st.integers(0, 5)),
        st.tuples(st.just("ask"), st.just(True)),
        st.tuples(st.just("lose"), st.booleans()),
    ),
    max_size=50,
)


@given(steps)
def test_scenario_119_the_leader_always_has_what_the_follower_wants(steps):
    session = ClientSession()
    ids = iter(range(1, 1000))
    cache = FetchSessionCache(3, lambda: 0, lambda: next(ids))
    for step, *rest in [*steps, ("ask", True)]:
        if step == "want":
            session.want(wanted(*rest))
        elif step == "forget":
            session.forget((b"T" * 16, rest[0]))
        elif session.wanted:
            request = fetch_request(2, 9, (500, 1, 100, 100), session.next_request())
            served = cache.begin(request, 17, True, lambda _: "t")
            assert not served.error
            assert {p.partition: p.fetch_offset for p in served.partitions} == {
                w.partition: w.fetch_offset for w in session.wanted.values()
            }
            if step == "lose":
                session.failed(forgotten=rest[0])
            else:
                session.answered(served.session_id)


def test_the_fetch_says_who_asks_in_the_place_of_its_version():
    request = fetch_request(2, 9, (500, 1, 100, 100), ClientSession().next_request())
    for version in (11, 14, 15, 18):
        said = type(request).__mro__[1].decode(request.encode(version), version)
        told = said.replica_state if version >= 15 else said
        assert told.replica_id == 2
        if version >= 15:
            assert said.replica_state.replica_epoch == 9
