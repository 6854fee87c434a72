"""Each conversation was held with Apache Kafka 4.4's controller, which answered just this.

Where ours is meant to differ the test says so.
"""

from __future__ import annotations

import pytest

from tests.handlers.fake_brokers import FEATURES, Controller, directory

FENCED = (0, "caught fenced")
UP = (0, "caught")


@pytest.fixture
def kafka():
    return Controller()


# -- brokers -----------------------------------------------------------------------------------------------


def test_registration(kafka):
    assert kafka.register(10) == 0
    epoch = kafka.epochs[10]
    assert kafka.register(10) == 0
    assert kafka.epochs[10] == epoch, "the same incarnation keeps its epoch"
    assert kafka.register(10, incarnation=77) == 0, "nobody has heard of the first one yet"
    assert kafka.epochs[10] > epoch
    assert kafka.beat(10, epoch=epoch) == (77, "fenced")
    assert kafka.beat(10) == UP
    assert kafka.register(10) == 101
    assert kafka.register(10, incarnation=77) == 0


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        (119, {"dirs": []}),
        (119, {"dirs": [bytes(15) + b"\x05"]}),
        (119, {"dirs": [directory(9)] * 2}),
        (119, {"dirs": [directory(110)]}),
        (104, {"cluster_id": "another"}),
        (102, {"is_migrating_zk_broker": True}),
        (119, {"features": {k: v for k, v in FEATURES.items() if k != "metadata.version"}}),
        (35, {"features": {**FEATURES, "eligible.leader.replicas.version": (0, 0)}}),
        (35, {"features": {**FEATURES, "unheard.of": (1, 2)}}),
    ],
)
def test_registrations_that_are_refused(kafka, code, changes):
    kafka.up(10)
    assert kafka.register(11, **changes) == code
    assert 11 not in kafka.image.brokers


def test_heartbeats(kafka):
    assert kafka.register(10) == 0
    assert kafka.beat(99, epoch=1) == (77, "fenced")
    assert kafka.beat(10, offset=0) == (0, "fenced")
    assert kafka.beat(10, offset=kafka.epochs[10]) == UP
    assert kafka.beat(10, fence=True) == FENCED
    assert kafka.beat(10, down=True) == (0, "caught fenced down")


def test_unregistering(kafka):
    kafka.up(10, 11)
    assert kafka.topic("t", [10, 11], min_insync_replicas="1") == (0, None)
    answer = kafka.ask("UnregisterBroker", 0, broker_id=10)
    assert (answer.error_code, answer.error_message) == (0, "")
    assert kafka.state("t") == (11, 1, (10, 11), (11,), (), ())
    assert kafka.beat(10) == (77, "fenced")
    answer = kafka.ask("UnregisterBroker", 0, broker_id=10)
    assert (answer.error_code, answer.error_message) == (102, "Broker ID 10 is not currently registered")


def test_controllers(kafka):
    register = {"incarnation_id": b"q" * 16, "zk_migration_ready": False, "listeners": [], "features": []}
    answer = kafka.ask("ControllerRegistration", 0, controller_id=50, **register)
    assert (answer.error_code, answer.error_message) == (0, "")
    answers = [kafka.ask("UnregisterController", 0, controller_id=number) for number in (50, 50, 1)]
    assert [(answer.error_code, answer.error_message) for answer in answers] == [
        (0, ""),
        (136, "Controller ID 50 is not currently registered."),
        (42, "Controller cannot unregister itself while it is active."),
    ]


def test_producer_ids_are_for_the_registered_incarnation(kafka):
    kafka.up(10)
    first = kafka.ask("AllocateProducerIds", 0, broker_id=10, broker_epoch=kafka.epochs[10])
    second = kafka.ask("AllocateProducerIds", 0, broker_id=10, broker_epoch=kafka.epochs[10])
    assert second.producer_id_start == first.producer_id_start + first.producer_id_len
    for broker, epoch in ((10, 5), (99, 5)):
        answer = kafka.ask("AllocateProducerIds", 0, broker_id=broker, broker_epoch=epoch)
        assert (answer.error_code, answer.producer_id_len) == (77, 0)


# -- eligible leader replicas (KIP-966) --------------------------------------------------------------------


def test_isr_elr_and_last_known_leader(kafka):
    kafka.up(10, 11, 12)
    replicas = (10, 11, 12)
    assert kafka.topic("t", replicas, min_insync_replicas="2") == (0, None)
    assert kafka.state("t") == (10, 0, replicas, replicas, (), ())
    assert kafka.beat(12, fence=True) == FENCED
    assert kafka.state("t") == (10, 0, replicas, (10, 11), (), ())
    assert kafka.beat(11, fence=True) == FENCED
    assert kafka.state("t") == (10, 0, replicas, (10,), (11,), ())
    assert (kafka.elect("t", 0), kafka.elect("t", 1)) == (84, 84)
    assert kafka.beat(10, fence=True) == FENCED
    assert kafka.state("t") == (-1, 1, replicas, (), (10, 11), (10,))
    assert (kafka.elect("t", 0), kafka.elect("t", 1)) == (80, 83)
    assert kafka.beat(12) == UP
    assert kafka.state("t") == (-1, 1, replicas, (), (10, 11), (10,))
    assert kafka.beat(11) == UP
    assert kafka.state("t") == (11, 2, replicas, (11,), (10,), ())
    assert kafka.beat(10) == UP
    assert kafka.elect("t", 0) == 80, "the ELR is for an empty ISR only"
    assert kafka.state("t") == (11, 2, replicas, (11,), (10,), ())


def test_an_unclean_restart_counts_for_nothing(kafka):
    kafka.up(31, 32, 33)
    kafka.topic("two", [31, 32, 33], min_insync_replicas="2")
    kafka.topic("one", [31, 32], min_insync_replicas="1")
    kafka.topic("alone", [31], min_insync_replicas="2")
    kafka.beat(32, fence=True)
    kafka.beat(33, fence=True)
    assert kafka.state("two") == (31, 0, (31, 32, 33), (31,), (33,), ())
    kafka.beat(31, fence=True)
    kafka.world.advance(10_000)
    assert kafka.register(31, incarnation=131, previous=-1) == 0
    assert kafka.state("two") == (-1, 1, (31, 32, 33), (), (33,), (31,))
    assert kafka.state("one") == (-1, 1, (31, 32), (), (), (31,))
    assert kafka.beat(31) == UP
    assert kafka.state("two") == (-1, 1, (31, 32, 33), (), (33,), (31,))
    assert kafka.state("one") == (31, 2, (31, 32), (31,), (), ())
    assert kafka.state("alone") == (31, 2, (31,), (31,), (), ())
    assert kafka.image.topics.partition("alone", 0).leader_recovery_state == 1
    assert kafka.alter("alone", [31], 31, 2, 3) == (0, 31, 2, [31], 4)
    assert kafka.alter("alone", [31], 31, 2, 4, recovery=1) == 42
    assert kafka.alter("alone", [31], 31, 2, 4) == (0, 31, 2, [31], 4)
    assert kafka.register(33, incarnation=133, previous=kafka.epochs[33]) == 0
    kafka.beat(33)
    assert kafka.state("two")[:4] == (33, 2, (31, 32, 33), (33,)), "it had stopped cleanly"


def test_min_isr_changes_clear_the_elr(kafka):
    kafka.up(61, 62, 63)
    kafka.topic("y", [61, 62, 63], min_insync_replicas="3")
    kafka.beat(63, fence=True)
    assert kafka.state("y")[3:] == ((61, 62), (63,), ())
    assert kafka.configure(2, "y", min_insync_replicas="2") == 0
    assert kafka.state("y")[3:] == ((61, 62), (), ())


# -- AlterPartition ----------------------------------------------------------------------------------------


def test_alter_partition(kafka):
    kafka.up(20, 21, 22, 23)
    kafka.topic("a", [20, 21, 22], min_insync_replicas="2")
    assert kafka.alter("a", [20, 21], 20, 0, 0) == (0, 20, 0, [20, 21], 1)
    assert kafka.alter("a", [20, 21, 22], 20, 0, 1, version=2) == (0, 20, 0, [20, 21, 22], 2)
    assert kafka.alter("a", [20, 21, 22], 20, 0, 2) == (0, 20, 0, [20, 21, 22], 2)
    assert kafka.alter("a", [22, 21, 20], 20, 0, 2) == (0, 20, 0, [22, 21, 20], 3)


@pytest.mark.parametrize(
    ("code", "isr", "leader", "leader_epoch", "partition_epoch", "more"),
    [
        (95, [20], 20, 1, 1, {}),
        (41, [20], 20, 1, 9, {}),
        (41, [20], 20, 5, 2, {}),
        (74, [20], 20, 0, 2, {}),
        (42, [20, 21], 21, 1, 2, {}),
        (42, [21, 22], 20, 1, 2, {}),
        (42, [20, 23], 20, 1, 2, {}),
        (42, [20, 20], 20, 1, 2, {}),
        (42, [], 20, 1, 2, {}),
        (42, [20], 20, 1, 2, {"recovery": 1}),
        (42, [20], 20, 1, 2, {"recovery": 7}),
        (77, [20], 20, 1, 2, {"broker_epoch": 1}),
        (3, [20], 20, 1, 2, {"index": 7}),
        (107, [20, 22], 20, 1, 2, {}),
        (107, [20, 21], 20, 1, 2, {"epochs": {20: -1, 21: 5}}),
    ],
)
def test_proposals_that_are_refused(kafka, code, isr, leader, leader_epoch, partition_epoch, more):
    kafka.up(20, 21, 22, 23)
    kafka.topic("a", [21, 20, 22], min_insync_replicas="1")
    kafka.beat(22, fence=True)
    kafka.alter("a", [20, 21], 21, 0, 1)
    assert kafka.reassign("a", [20, 21, 22]) == (0, None)
    kafka.up(22)
    kafka.beat(22, fence=True)
    state = kafka.image.topics.partition("a", 0)
    kafka.elect("a", 0)
    state = kafka.image.topics.partition("a", 0)
    assert (state.leader, state.leader_epoch) == (20, 1)
    assert (
        kafka.alter("a", isr, leader, leader_epoch, partition_epoch + state.partition_epoch - 2, **more)
        == code
    )
    assert kafka.image.topics.partition("a", 0) == state


def test_a_proposal_for_an_unknown_topic(kafka):
    kafka.up(20)
    kafka.topic("a", [20])
    assert kafka.alter(b"\7" * 16, [20], 20, 0, 0) == 100


# -- controlled shutdown (KIP-841) -------------------------------------------------------------------------


def test_controlled_shutdown(kafka):
    kafka.up(30, 31, 32)
    kafka.topic("s", [30, 31], min_insync_replicas="1")
    assert kafka.beat(30, down=True) == UP
    assert kafka.state("s") == (31, 1, (30, 31), (31,), (), ())
    assert kafka.alter("s", [31, 30], 31, 1, 1) == 107
    assert kafka.beat(31, offset=0) == (0, "")
    assert kafka.beat(30, down=True) == UP, "broker 31 does not know yet that it leads"
    assert kafka.register(30, incarnation=99) == 101
    assert kafka.beat(31) == UP
    assert kafka.beat(30, down=True) == (0, "caught fenced down")
    assert kafka.beat(32, down=True) == (0, "caught fenced down"), "nothing to give up"
    assert kafka.beat(32) == UP


def test_who_may_stop_may_start_again_at_once(kafka):
    """Kafka keeps a quick restart waiting until the session of the stopped process is over (error 101)."""
    kafka.up(30)
    kafka.beat(30, down=True)
    assert kafka.register(30, incarnation=99) == 0


def test_a_single_replica_is_led_by_nobody_meanwhile(kafka):
    kafka.up(62)
    kafka.topic("z", [62])
    assert kafka.beat(62, down=True) == UP
    assert kafka.state("z") == (-1, 1, (62,), (), (62,), (62,))
    assert kafka.elect("z", 0) == 80


# -- reassignment ------------------------------------------------------------------------------------------


def test_reassignment(kafka):
    kafka.up(40, 41, 42, 43)
    kafka.topic("r", [40, 41])
    assert kafka.reassign("r", [41, 42, 43]) == (0, None)
    assert kafka.ongoing() == {("r", 0): ([41, 42, 43, 40], [42, 43], [40])}
    assert kafka.state("r") == (40, 0, (41, 42, 43, 40), (40, 41), (), ())
    text = "The replication factor is changed from 3 to "
    assert kafka.reassign("r", [41], allow=False) == (38, text + "1")
    assert kafka.reassign("r", [43, 42], allow=False) == (38, text + "2")
    assert kafka.reassign("r", [41, 42, 43], allow=False) == (0, None)
    assert kafka.reassign("r", [41, 42]) == (0, None)
    assert kafka.ongoing() == {("r", 0): ([41, 42, 40, 43], [42, 43], [40, 43])}
    assert kafka.reassign("r", None) == (0, None)
    assert kafka.ongoing() == {}
    assert kafka.state("r") == (40, 1, (41, 40), (40, 41), (), ())
    assert kafka.reassign("r", None) == (85, None)


def test_a_reassignment_is_complete_when_all_added_are_in_sync(kafka):
    kafka.up(40, 41, 42, 43)
    kafka.topic("r", [40, 41])
    kafka.reassign("r", [42, 43])
    assert kafka.alter("r", [40, 41, 42], 40, 0, 1) == (0, 40, 0, [40, 41, 42], 2)
    assert kafka.ongoing() == {("r", 0): ([42, 43, 40, 41], [42, 43], [40, 41])}
    assert kafka.alter("r", [40, 41, 42, 43], 40, 0, 2) == 108
    assert kafka.ongoing() == {}
    assert kafka.state("r") == (42, 1, (42, 43), (42, 43), (), ())
    assert kafka.reassign("r", [43]) == (0, None)
    assert kafka.state("r") == (43, 2, (43,), (43,), (), ())


def test_another_order_only(kafka):
    kafka.up(40, 41, 42)
    kafka.topic("r", [40, 41, 42])
    assert kafka.reassign("r", [42, 41, 40]) == (0, None)
    assert kafka.state("r") == (40, 0, (42, 41, 40), (40, 41, 42), (), ())
    assert kafka.ongoing() == {}
    assert kafka.elect("r", 0) == 0
    assert kafka.state("r") == (42, 1, (42, 41, 40), (40, 41, 42), (), ())


def test_calling_off_must_not_lose_what_is_in_sync(kafka):
    kafka.up(40, 41, 42, 43)
    kafka.topic("r", [42, 41, 40])
    kafka.reassign("r", [42, 41, 40, 43])
    for broker in (40, 41, 42):
        kafka.beat(broker, fence=True)
    assert kafka.state("r") == (-1, 1, (42, 41, 40, 43), (), (42,), (42,))
    assert kafka.reassign("r", None) == (
        39,
        "Unable to revert partition assignment for r:0 because it would require an unclean leader election.",
    )


def test_calling_off_is_unclean_only_for_somebody_who_leads_then(kafka):
    """Kafka names the first replica of before in sync, dead or alive."""
    kafka.up(40, 41, 42)
    kafka.topic("r", [40, 41], min_insync_replicas="1", unclean_leader_election_enable="true")
    kafka.reassign("r", [42])
    kafka.beat(41, fence=True)
    kafka.beat(40, fence=True)
    assert kafka.state("r")[:4] == (42, 1, (42, 40, 41), (42,))
    assert kafka.reassign("r", None)[0] == 39
    kafka.beat(41)
    assert kafka.reassign("r", None) == (0, None)
    assert kafka.state("r")[:4] == (41, 2, (40, 41), (41,))


def test_back_to_where_it_was(kafka):
    """Kafka's controller leaves such a reassignment open for ever: it waits for replicas that are to go."""
    kafka.up(40, 41, 42, 43)
    kafka.topic("r", [40, 41])
    kafka.reassign("r", [42, 43])
    assert kafka.reassign("r", [40, 41]) == (0, None)
    assert kafka.ongoing() == {}
    assert kafka.state("r")[2:] == ((40, 41), (40, 41), (), ())


def test_a_reassignment_changed_on_the_way_ends(kafka):
    """As the one before: the first target's replica is not waited for."""
    kafka.up(40, 41, 42, 43)
    kafka.topic("r", [40, 41])
    kafka.reassign("r", [41, 42, 43])
    kafka.reassign("r", [41, 42])
    assert kafka.alter("r", [40, 41, 42], 40, 0, 2) == 108
    assert kafka.state("r")[2:] == ((41, 42), (41, 42), (), ())


@pytest.mark.parametrize(
    ("replicas", "code", "message"),
    [
        ([42, 42], 39, "The manual partition assignment includes the broker 42 more than once."),
        (
            [42, 99],
            39,
            "The manual partition assignment includes broker 99, but no such broker is registered.",
        ),
        ([], 39, "The manual partition assignment includes an empty replica list."),
    ],
)
def test_reassignments_that_are_refused(kafka, replicas, code, message):
    kafka.up(40, 41, 42)
    kafka.topic("r", [40, 41])
    assert kafka.reassign("r", replicas) == (code, message)


# -- log directories ---------------------------------------------------------------------------------------


def test_directories(kafka):
    one, two, three = (directory(number) for number in (201, 202, 203))
    assert kafka.register(50, dirs=[one, two]) == kafka.register(51, dirs=[three]) == 0
    kafka.up(52)
    kafka.beat(50)
    kafka.beat(51)
    kafka.topic("d", [50, 51], [50, 51], [50, 51], min_insync_replicas="1")
    topic = kafka.image.topics.get("d").id
    answer = kafka.assign(50, {one: {topic: [0, 9], directory(7): [0]}, two: {topic: [1]}})
    assert answer == (0, [0, 3, 100, 0])
    assert kafka.assign(50, {}, epoch=1) == (77, [])
    assert kafka.assign(52, {directory(152): {topic: [0]}}) == (0, [6])
    assert kafka.assign(50, {directory(250): {topic: [2]}}) == (0, [0])
    both, other = (50, 51), (51,)
    assert [kafka.state("d", i)[:4] for i in range(3)] == [
        (50, 0, both, both),
        (50, 0, both, both),
        (51, 1, both, other),
    ]
    assert kafka.beat(50, offline_log_dirs=[two]) == UP
    assert kafka.state("d", 1)[:4] == (51, 1, both, other)
    assert kafka.state("d", 0)[:4] == (50, 0, both, both)
    assert kafka.image.brokers[50].log_dirs == (one,)
    epoch = kafka.image.topics.partition("d", 1).partition_epoch
    assert kafka.beat(50, offline_log_dirs=[two]) == UP
    assert kafka.image.topics.partition("d", 1).partition_epoch == epoch


def test_cordoned_directories(kafka):
    kafka.up(61, 62, 63)
    kafka.topic("x", [61, 62])
    assert kafka.beat(61, cordoned_log_dirs=[directory(161)]) == UP
    refused = (
        39,
        "The manual partition assignment includes broker 61, but all its log directories are cordoned.",
    )
    assert kafka.reassign("x", [61, 63]) == refused
    assert kafka.topic("y", [61]) == refused
    assert kafka.beat(61, cordoned_log_dirs=[]) == UP
    assert kafka.topic("y", [61]) == (0, None)


# -- unclean elections -------------------------------------------------------------------------------------


def test_an_unclean_election_when_asked_for(kafka):
    kafka.up(61, 62)
    kafka.topic("w", [61, 62], min_insync_replicas="1")
    kafka.beat(62, fence=True)
    kafka.beat(61, fence=True)
    kafka.beat(62)
    assert kafka.state("w") == (-1, 1, (61, 62), (), (61,), (61,))
    assert kafka.elect("w", 1) == 0
    assert kafka.state("w") == (62, 2, (61, 62), (62,), (), ())
    assert kafka.image.topics.partition("w", 0).leader_recovery_state == 1
    assert kafka.alter("w", [62], 62, 2, 3) == (0, 62, 2, [62], 4)


def test_an_unclean_election_when_it_becomes_allowed(kafka):
    """Kafka gets to it within unclean.leader.election.interval.ms, five minutes."""
    kafka.up(61, 62)
    kafka.topic("w", [61, 62], min_insync_replicas="1")
    kafka.beat(62, fence=True)
    kafka.beat(61, fence=True)
    kafka.beat(62)
    assert kafka.configure(2, "w", unclean_leader_election_enable="true") == 0
    kafka.world.advance(0)
    assert kafka.state("w") == (62, 2, (61, 62), (62,), (), ())
