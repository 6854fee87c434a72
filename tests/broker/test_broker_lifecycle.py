from __future__ import annotations

import pytest

from kbroker.broker.broker_lifecycle import BrokerLifecycle, BrokerState, LifecycleTimes
from kbroker.broker.deferred import Deferred
from kbroker.controller.brokers import NodeRegistration
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.errors import ApiError, ConfigError, ErrorCode
from kbroker.metadata.image import ClusterImage, Endpoint
from kbroker.protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kbroker.protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kbroker.protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.register_broker_record import RegisterBrokerRecord
from kbroker.protocol.generated.topic_record import TopicRecord
from tests.broker.peer_world import ManualTimer

NODE = NodeRegistration(
    3, b"i" * 16, [Endpoint("PLAINTEXT", "h", 9092)], SUPPORTED_FEATURES, "r", [b"d" * 16], 41
)
FENCED = BrokerHeartbeatResponse(is_caught_up=True, is_fenced=True)
UNFENCED = BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)
GO = BrokerHeartbeatResponse(is_fenced=True, should_shut_down=True)


class World:
    """The lifecycle of broker 3, its controller and its metadata."""

    def __init__(self, **more):
        self.timer = ManualTimer()
        self.sent = []
        self.image = ClusterImage("cluster")
        self.waiting = []
        self.knows_controller = True
        self.refused = []
        self.offline = []
        self.cordoned = []
        self.life = BrokerLifecycle(
            "cluster",
            NODE,
            self,
            self,
            self.timer,
            self.timer,
            LifecycleTimes(),
            offline_directories=lambda: self.offline,
            cordoned_directories=lambda: self.cordoned,
            applied_offset=lambda: 77,
            **more,
        )
        self.life.on_refused = self.refused.append

    def send(self, request, timeout_ms, *, channel):
        answer = Deferred()
        self.sent.append((request, answer))
        return answer

    def when(self, test):
        found = Deferred()
        if test(self.image):
            found.resolve(self.image)
        else:
            self.waiting.append((test, found))
        return found

    @property
    def request(self):
        return self.sent[-1][0]

    def answer(self, response):
        self.sent[-1][1].resolve(response)

    def refuse(self, code):
        self.sent[-1][1].fail(ApiError(code))

    def commit(self, epoch):
        record = RegisterBrokerRecord(broker_id=3, broker_epoch=epoch, fenced=True)
        old, self.image = self.image, self.image.apply([record])
        self.life.on_metadata(old, self.image, None)
        for test, found in self.waiting:
            if not found.done and test(self.image):
                found.resolve(self.image)

    def join(self, epoch=100):
        self.life.start()
        self.answer(BrokerRegistrationResponse(broker_epoch=epoch))
        self.commit(epoch)
        served = self.life.serve()
        self.answer(UNFENCED)
        assert served.done


@pytest.fixture
def world():
    return World()


def test_a_registration_says_who_the_broker_is(world):
    world.life.start()
    request = world.request
    assert (request.broker_id, request.cluster_id, request.rack) == (3, "cluster", "r")
    assert request.incarnation_id == b"i" * 16
    assert request.previous_broker_epoch == 41
    assert request.log_dirs == [b"d" * 16]
    assert [(each.name, each.host, each.port) for each in request.listeners] == [("PLAINTEXT", "h", 9092)]
    assert {feature.name for feature in request.features} == set(SUPPORTED_FEATURES)


def test_it_has_started_when_its_own_record_is_there(world):
    started = world.life.start()
    world.answer(BrokerRegistrationResponse(broker_epoch=100))
    world.commit(99)
    assert not started.done
    world.commit(100)
    assert started.done
    assert world.life.state is BrokerState.RECOVERY


def test_it_asks_to_be_unfenced_when_it_can_serve(world):
    world.life.start()
    world.answer(BrokerRegistrationResponse(broker_epoch=100))
    world.commit(100)
    assert len(world.sent) == 1
    served = world.life.serve()
    assert (world.request.broker_epoch, world.request.want_fence) == (100, False)
    assert world.request.current_metadata_offset == 77
    world.answer(FENCED)
    assert not served.done
    world.timer.advance(10)
    world.answer(UNFENCED)
    assert served.done
    assert world.life.state is BrokerState.RUNNING


def test_a_broker_that_takes_long_to_be_ready_is_alive(world):
    world.life.start()
    world.answer(BrokerRegistrationResponse(broker_epoch=100))
    world.commit(100)
    world.timer.advance(2000)
    assert world.request.want_fence


def test_heartbeats_come_every_interval(world):
    world.join()
    for _ in range(5):
        before = len(world.sent)
        world.timer.advance(1999)
        assert len(world.sent) == before
        world.timer.advance(1)
        assert len(world.sent) == before + 1
        world.answer(UNFENCED)


def test_failed_directories_are_told(world):
    world.join()
    world.offline = [b"x" * 16]
    world.life.beat_now()
    assert world.request.offline_log_dirs == [b"x" * 16]


def test_while_a_heartbeat_is_on_its_way_no_other_is_sent_but_one_follows(world):
    world.join()
    world.life.beat_now()
    sent = len(world.sent)
    world.life.beat_now()
    world.life.beat_now()
    assert len(world.sent) == sent
    world.answer(UNFENCED)
    assert len(world.sent) == sent + 1


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (ErrorCode.INCONSISTENT_CLUSTER_ID, "another cluster than cluster"),
        (ErrorCode.UNSUPPORTED_VERSION, "this release cannot serve the cluster"),
        (ErrorCode.INVALID_REGISTRATION, "refuses the registration"),
    ],
)
def test_refusals_that_stay_end_the_start(world, code, words):
    started = world.life.start()
    while not started.done and world.timer.now < 9_000:
        world.answer(BrokerRegistrationResponse(error_code=code))
        world.timer.advance(250)
    with pytest.raises(ConfigError, match=words):
        started.result()


def test_features_that_the_cluster_has_and_this_release_does_without_are_registered(world):
    world.life.start()
    world.image = world.image.apply([FeatureLevelRecord(name="group.version", feature_level=1)])
    world.answer(BrokerRegistrationResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
    world.timer.advance(10)
    assert "group.version" in {feature.name for feature in world.request.features}


def test_an_answer_that_was_long_on_its_way_does_not_tell_that_the_id_is_still_in_use(world):
    """Seed 5064: the earlier life of this node had lost its session while the refusal was held up."""
    started = world.life.start()
    world.answer(BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION))
    world.timer.advance(250)
    world.timer.advance(20_000)
    world.answer(BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION))
    assert not started.done
    world.timer.advance(250)
    world.answer(BrokerRegistrationResponse(broker_epoch=200))
    world.commit(200)
    assert started.done


def test_an_id_that_is_in_use_is_tried_for_as_long_as_a_session_may_last(world, caplog):
    caplog.set_level("INFO")
    started = world.life.start()
    while not started.done:
        world.answer(BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION))
        world.timer.advance(250)
    with pytest.raises(ConfigError, match=r"another broker with node.id 3 is running"):
        started.result()
    assert 13_000 < world.timer.now - 1_000 < 15_000
    assert caplog.messages == ["waiting, as the controller knows a broker with id 3 already"]


def test_an_earlier_life_that_has_lost_its_session_is_no_obstacle(world):
    started = world.life.start()
    for _ in range(20):
        world.answer(BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION))
        world.timer.advance(250)
    world.answer(BrokerRegistrationResponse(broker_epoch=100))
    world.commit(100)
    assert started.done


def test_without_a_controller_the_start_ends_after_the_registration_time_out(world):
    started = world.life.start()
    world.timer.advance(60_000)
    world.refuse(ErrorCode.REQUEST_TIMED_OUT)
    with pytest.raises(ConfigError, match="no controller has taken the registration"):
        started.result()


def test_a_broker_fenced_by_mistake_says_so_at_once(world):
    world.join()
    old = world.image
    new = old.apply([BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=100, fenced=-1)])
    fenced = new.apply([BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=100, fenced=1)])
    sent = len(world.sent)
    world.life.on_metadata(new, fenced, None)
    assert len(world.sent) == sent + 1


def test_when_another_broker_leaves_it_is_told_at_once_that_this_one_knows(world):
    world.join()
    record = RegisterBrokerRecord(broker_id=5, broker_epoch=50, fenced=False)
    there = world.image.apply([record])
    leaving = there.apply(
        [BrokerRegistrationChangeRecord(broker_id=5, broker_epoch=50, in_controlled_shutdown=1)]
    )
    sent = len(world.sent)
    world.life.on_metadata(there, leaving, None)
    assert len(world.sent) == sent + 1
    world.answer(UNFENCED)
    # It gives up its partitions step by step: what counts is that this one knows the last.
    moved = leaving.apply([TopicRecord(name="t", topic_id=b"t" * 16)]).at(500, 1)
    world.life.on_metadata(leaving, moved, None)
    assert len(world.sent) == sent + 2
    assert world.request.current_metadata_offset == 500


@pytest.mark.parametrize("code", [ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED])
def test_a_broker_that_is_forgotten_registers_anew(world, code):
    world.join()
    world.timer.advance(2000)
    world.answer(BrokerHeartbeatResponse(error_code=code))
    assert world.request.incarnation_id == b"i" * 16
    world.answer(BrokerRegistrationResponse(broker_epoch=200))
    world.commit(200)
    assert world.request.broker_epoch == 200
    world.answer(UNFENCED)
    assert not world.life.fenced


def test_a_broker_whose_id_another_one_has_taken_stops(world):
    world.join()
    world.timer.advance(2000)
    world.answer(BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
    for _ in range(60):
        world.answer(BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION))
        world.timer.advance(250)
    assert world.refused == ["another broker with node.id 3 is running"]


def test_it_leaves_when_the_controller_lets_it(world):
    world.join()
    left = world.life.leave()
    assert world.request.want_shut_down
    for _ in range(3):
        world.answer(FENCED)
        assert not left.done
        world.timer.advance(250)
        assert world.request.want_shut_down
    world.answer(GO)
    assert left.done
    sent = len(world.sent)
    world.timer.advance(10_000)
    assert len(world.sent) == sent


def test_it_hands_over_the_office_before_it_asks_for_leave(world):
    world.join()
    handed_over = Deferred()
    world.life.hand_over = lambda: handed_over
    asked = len(world.sent)
    left = world.life.leave()
    assert len(world.sent) == asked
    handed_over.resolve(None)
    assert world.request.want_shut_down
    world.answer(GO)
    assert left.done


def test_it_leaves_without_asking_where_there_is_no_controller(world):
    world.join()
    left = world.life.leave()
    world.knows_controller = False
    world.timer.advance(400)
    assert left.done


def test_it_leaves_when_the_controller_does_not_answer(world):
    world.join()
    left = world.life.leave()
    world.timer.advance(4500)
    world.refuse(ErrorCode.REQUEST_TIMED_OUT)
    assert world.request.want_shut_down
    assert not left.done
    world.timer.advance(5500)
    world.refuse(ErrorCode.REQUEST_TIMED_OUT)
    assert left.done


def test_a_broker_of_a_quorum_of_one_need_not_ask(world):
    assert world.life.adopt(9).done
    assert world.life.serve().done
    assert world.sent == []
    world.timer.advance(2000)
    assert world.request.broker_epoch == 9


def test_it_is_heard_for_half_a_session_after_it_sent_what_was_accepted(world):
    world.join()
    assert world.life.is_heard()
    world.timer.advance(2000)
    asked = len(world.sent)
    world.timer.advance(2400)
    assert world.life.is_heard()
    world.answer(UNFENCED)  # Of a heartbeat of 2,400 ms ago.
    world.timer.advance(1900)
    assert world.life.is_heard()
    world.timer.advance(300)
    assert not world.life.is_heard()
    assert len(world.sent) > asked
    world.answer(UNFENCED)
    assert world.life.is_heard()


@pytest.mark.parametrize("is_fenced", [True, False])
def test_who_lags_behind_what_was_taken_from_it_is_not_heard(world, is_fenced):
    world.join()
    world.timer.advance(2000)
    world.timer.advance(8000)
    assert not world.life.is_heard()
    world.answer(BrokerHeartbeatResponse(is_caught_up=is_fenced, is_fenced=is_fenced))
    assert not world.life.is_heard()
    world.answer(UNFENCED)
    assert world.life.is_heard()


def test_a_start_that_takes_long_tells_which_controllers_are_not_reached(world, caplog):
    world.life.troubles = lambda: ["node 2 at nohost:9093 cannot be reached"]
    world.life.start()
    with caplog.at_level("INFO"):
        world.timer.advance(3000)
    assert "waiting for a controller to register with: node 2 at nohost:9093 cannot" in caplog.text


def test_who_comes_before_its_turn_in_a_migration_is_told_why_it_waits(world, caplog):
    started = world.life.start()
    while not started.done:
        world.answer(BrokerRegistrationResponse(error_code=ErrorCode.BROKER_ID_NOT_REGISTERED))
        world.timer.advance(250)
    why = "the quorum has not taken the cluster over from ZooKeeper yet, and until then it takes only "
    assert [each for each in caplog.messages if each.startswith(f"waiting: {why}")]
    with pytest.raises(ConfigError, match=f"BROKER_ID_NOT_REGISTERED.; {why}"):
        started.result()


def test_a_controller_that_is_a_broker_waits_for_its_own_migration(world):
    world.life.registration.outwaits_migration = True
    started = world.life.start()
    for _ in range(400):
        world.answer(BrokerRegistrationResponse(error_code=ErrorCode.BROKER_ID_NOT_REGISTERED))
        world.timer.advance(250)
    assert not started.done
    world.answer(BrokerRegistrationResponse(broker_epoch=200))
    world.commit(200)
    assert started.done


def test_a_failed_directory_that_no_controller_hears_of_stops_the_broker(world):
    world.join()
    world.life.beat_now()
    world.offline = [b"d" * 16]
    world.life.directory_failed()
    # The answer to what was said before tells nothing of it; the next heartbeat goes at once.
    world.answer(UNFENCED)
    assert world.request.offline_log_dirs == [b"d" * 16]
    world.refuse(ErrorCode.REQUEST_TIMED_OUT)
    world.timer.advance(29_000)
    assert not world.refused
    world.timer.advance(1_000)
    assert "log.dir.failure.timeout.ms" in world.refused[0]
    assert world.life.state is BrokerState.SHUTTING_DOWN


def test_a_failed_directory_that_the_controller_knows_is_no_reason_to_stop(world):
    world.join()
    world.offline = [b"d" * 16]
    world.life.directory_failed()
    world.answer(UNFENCED)
    sent = len(world.sent)
    for _ in range(20):
        world.timer.advance(2_000)
        world.answer(UNFENCED)
    assert len(world.sent) > sent
    assert not world.refused


def test_a_directory_that_failed_before_the_broker_joined_counts_from_when_it_serves(world):
    world.offline = [b"d" * 16]
    world.life.start()
    world.answer(BrokerRegistrationResponse(broker_epoch=100))
    world.commit(100)
    world.life.serve()
    world.refuse(ErrorCode.REQUEST_TIMED_OUT)
    world.timer.advance(30_000)
    assert world.refused


def test_heartbeats_tell_which_directories_are_cordoned(world):
    world.join()
    world.cordoned = [b"d" * 16]
    world.life.beat_now()
    assert world.request.cordoned_log_dirs == [b"d" * 16]
    world.answer(UNFENCED)
    world.cordoned = None
    world.life.beat_now()
    assert world.request.cordoned_log_dirs is None


# -- a broker in ZooKeeper whose cluster moves to KRaft --


@pytest.fixture
def migrating():
    return World(migrating=True)


def test_a_migrating_broker_says_so(migrating, world):
    migrating.life.start()
    assert migrating.request.is_migrating_zk_broker
    world.life.start()
    assert not world.request.is_migrating_zk_broker


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.BROKER_ID_NOT_REGISTERED,
        ErrorCode.INCONSISTENT_CLUSTER_ID,
        ErrorCode.DUPLICATE_BROKER_REGISTRATION,
        ErrorCode.UNSUPPORTED_VERSION,
    ],
)
def test_a_migrating_broker_serves_without_the_quorum_and_asks_until_it_is_taken(migrating, code):
    started = migrating.life.start()
    for _ in range(500):
        migrating.refuse(code)
        migrating.timer.advance(250)
    assert not started.done
    assert migrating.life.registration.refusal
    assert len(migrating.sent) == 501
    migrating.answer(BrokerRegistrationResponse(broker_epoch=100))
    migrating.commit(100)
    assert started.done
    assert migrating.life.registration.refusal == ""
    assert migrating.refused == []


def test_a_migrating_broker_registers_anew_with_a_quorum_that_was_made_anew(migrating):
    migrating.life.start()
    migrating.answer(BrokerRegistrationResponse(broker_epoch=100))
    migrating.commit(100)
    migrating.life.serve()
    migrating.answer(BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
    assert migrating.request.is_migrating_zk_broker
    migrating.answer(BrokerRegistrationResponse(broker_epoch=5))
    migrating.commit(5)
    assert migrating.request.broker_epoch == 5
    migrating.answer(UNFENCED)
    assert migrating.life.state is BrokerState.RUNNING
