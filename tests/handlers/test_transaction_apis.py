"""Transactions through the dispatcher, on real logs. Numbers are the cases of docs/transactions.md."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.errors import ErrorCode as E
from kbroker.protocol.generated.add_partitions_to_txn_request import AddPartitionsToTxnTopic
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchTopic
from kbroker.protocol.generated.offset_fetch_request import OffsetFetchRequestTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kbroker.protocol.generated.write_txn_markers_request import WritableTxnMarker, WritableTxnMarkerTopic
from tests.handlers.node import Node, batch
from tests.handlers.transactional import Producer, fetched, log_of, offsets_of, state_of, with_transactions

ENDS = [(4, False), (5, True)]


@pytest.fixture
def node(tmp_path):
    node = with_transactions(Node(tmp_path / "data"))
    node.publish(FeatureLevelRecord(name="transaction.version", feature_level=2))
    node.topic("__consumer_offsets", partitions=2, cleanup_policy="compact")
    node.topic("__transaction_state", partitions=3, cleanup_policy="compact")
    node.topic("t", partitions=3)
    return node


@pytest.fixture
def client(node):
    return node.connect()


# -- producers and zombies ---------------------------------------------------------------------------------


def test_48_a_second_producer_fences_the_first(node, client):
    old = Producer(client)
    assert old.produce(b"a") == 0
    answer = client.ask("InitProducerId", 4, transactional_id="x", transaction_timeout_ms=60_000)
    assert answer.error_code == E.CONCURRENT_TRANSACTIONS
    new = Producer(client)
    assert (new.id, new.epoch) == (old.id, old.epoch + 2)
    assert old.produce(b"zombie") == E.INVALID_PRODUCER_EPOCH
    assert old.produce(b"zombie", partition=1) == E.INVALID_PRODUCER_EPOCH
    assert old.add(0) == [E.PRODUCER_FENCED]
    assert old.add(0, version=1) == [E.INVALID_PRODUCER_EPOCH]
    assert old.end().error_code == E.PRODUCER_FENCED
    assert old.end(version=1).error_code == E.INVALID_PRODUCER_EPOCH
    assert old.commit_offset(5) == E.INVALID_PRODUCER_EPOCH
    answer = client.ask(
        "AddOffsetsToTxn", 3, transactional_id="x", producer_id=old.id, producer_epoch=0, group_id="g"
    )
    assert answer.error_code == E.PRODUCER_FENCED
    found = fetched(client)
    assert found.last_stable_offset == found.high_watermark == 2
    assert [(each.producer_id, each.first_offset) for each in found.aborted_transactions] == [(old.id, 0)]


def test_49_a_late_end_is_of_an_epoch_that_is_over(client):
    producer = Producer(client)
    producer.produce(b"a")
    late = {"transactional_id": "x", "producer_id": producer.id, "producer_epoch": 0, "committed": False}
    producer.next()
    producer.produce(b"b")
    assert client.ask("EndTxn", 5, **late).error_code == E.PRODUCER_FENCED
    assert state_of(client).transaction_state == "Ongoing"


@pytest.mark.parametrize(("version", "code"), [(9, 48), (10, 48), (11, 120)])
def test_50_records_of_no_transaction_are_refused(node, client, version, code):
    producer = Producer(client, version=1)
    assert producer.produce(b"early", produce_version=version) == code
    producer.add(0)
    assert producer.produce(b"a", produce_version=version) == 0
    assert producer.produce(b"b", partition=1, produce_version=version) == code
    producer.next(commit=False)
    assert producer.produce(b"late", produce_version=version) == code
    assert log_of(node).last_stable_offset == log_of(node).high_watermark == 2
    assert log_of(node, 1).log_end_offset == 0


def test_50_verification_may_be_turned_off(node, client):
    producer = Producer(client, version=1)
    node.services.txns.verifier.wants = lambda level: False
    assert producer.produce(b"a") == 0


def test_produce_refuses_what_is_not_its_transaction(node, client):
    producer = Producer(client)
    assert producer.produce(b"a", producer_id=7) == E.INVALID_PRODUCER_ID_MAPPING
    assert producer.produce(b"a", producer_epoch=9) == E.INVALID_PRODUCER_EPOCH
    producer.name = "nobody"
    assert producer.produce(b"a") == E.INVALID_PRODUCER_ID_MAPPING
    assert log_of(node).log_end_offset == 0


def test_two_producers_in_one_request_are_refused(client):
    producer = Producer(client)
    data = [
        PartitionProduceData(
            index=index,
            records=batch(b"v", producer_id=number, producer_epoch=0, base_sequence=0, transactional=True),
        )
        for index, number in enumerate((producer.id, producer.id + 1))
    ]
    answer = client.ask(
        "Produce",
        12,
        transactional_id="x",
        acks=-1,
        timeout_ms=1000,
        topic_data=[TopicProduceData(name="t", partition_data=data)],
    )
    codes = [each.error_code for each in answer.responses[0].partition_responses]
    assert codes == [E.INVALID_PRODUCER_ID_MAPPING] * 2


def test_without_a_transactional_id_there_is_no_transaction(client):
    producer = Producer(client)
    producer.name = None
    assert producer.produce(b"a") == E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


# -- what readers see --------------------------------------------------------------------------------------


def test_51_52_53_what_readers_get(client):
    producer = Producer(client)
    producer.produce(b"a")
    producer.produce(b"b")
    open_ = fetched(client)
    assert (open_.last_stable_offset, open_.high_watermark, offsets_of(open_)) == (0, 2, [])
    assert offsets_of(fetched(client, committed=False)) == [0, 1]
    producer.next(commit=False)
    producer.produce(b"c")
    aborted = fetched(client)
    assert (aborted.last_stable_offset, offsets_of(aborted)) == (3, [0, 1, 2])
    assert [(each.producer_id, each.first_offset) for each in aborted.aborted_transactions] == [
        (producer.id, 0)
    ]
    everything = fetched(client, committed=False)
    assert offsets_of(everything) == [0, 1, 2, 3]
    assert everything.aborted_transactions is None


def test_51_a_parked_read_gets_the_aborted_list(node, client):
    producer = Producer(client)
    producer.produce(b"a")
    reader = node.connect()
    reader.send(
        reader.frame(
            "Fetch",
            11,
            max_wait_ms=5000,
            min_bytes=1,
            isolation_level=1,
            topics=[
                FetchTopic(topic="t", partitions=[FetchPartition(partition=0, partition_max_bytes=1 << 20)])
            ],
        )
    )
    assert reader.answers() == []
    producer.next(commit=False)
    (answer,) = reader.answers()
    (found,) = answer.responses[0].partitions
    assert offsets_of(found) == [0, 1]
    assert [(each.producer_id, each.first_offset) for each in found.aborted_transactions] == [
        (producer.id, 0)
    ]


def test_54_a_marker_takes_one_offset(node, client):
    producer = Producer(client)
    for value in (b"a", b"b", b"c"):
        producer.produce(value)
    producer.next()
    assert log_of(node).log_end_offset == 4


# -- the end -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "bumps"), ENDS)
@pytest.mark.parametrize("commit", [True, False])
def test_58_an_end_asked_again(client, version, bumps, commit):
    producer = Producer(client, version=2 if bumps else 1)
    if not bumps:
        producer.add(0)
    producer.produce(b"a")
    first = producer.end(commit)
    assert first.error_code == 0
    assert producer.end(commit) == first
    assert producer.end(not commit).error_code == E.INVALID_TXN_STATE
    assert first.producer_epoch == (producer.epoch + 1 if bumps else -1)


def test_55_56_the_coordinator_starts_anew_at_each_state(node, client):
    producer = Producer(client)
    producer.produce(b"a")
    producer.produce(b"b", partition=1)
    _restart_coordinator(node)
    assert state_of(client).transaction_state == "Ongoing"
    assert [(each.topic, each.partitions) for each in state_of(client).topics] == [("t", [0, 1])]
    _hold_markers(node)
    assert producer.end().error_code == 0
    assert state_of(client).transaction_state == "PrepareCommit"
    assert producer.end().error_code == E.CONCURRENT_TRANSACTIONS
    assert log_of(node).last_stable_offset == 0
    _release_markers(node)
    _restart_coordinator(node)
    assert state_of(client).transaction_state == "CompleteCommit"
    assert [log_of(node, index).last_stable_offset for index in range(2)] == [2, 2]
    assert offsets_of(fetched(client)) == [0, 1]


def _restart_coordinator(node, epoch=None):
    """Its partitions change their leader's epoch."""
    listener = node.services.txns.coordinator.on_leadership
    from kbroker.broker.replica_manager import Leadership

    for index in range(3):
        partition = node.replicas.get("__transaction_state", index)
        partition.leader_epoch += 1
        listener(Leadership(partition.topic_partition, partition.topic_id, partition.leader_epoch))
    node.advance(0)


def _hold_markers(node):
    link = node.services.txns.link
    node.held, node.local = [], link.local

    def hold(request):
        node.held.append(Deferred())
        return node.held[-1]

    link.local = {
        kind: hold if kind.NAME == "WriteTxnMarkersRequest" else do for kind, do in link.local.items()
    }


def _release_markers(node):
    node.services.txns.link.local = node.local


def test_57_a_transaction_that_takes_too_long(node, client):
    producer = Producer(client, timeout_ms=15_000)
    producer.produce(b"a")
    node.advance(10_000)
    assert state_of(client).transaction_state == "Ongoing"
    node.advance(10_000)
    assert state_of(client).transaction_state == "CompleteAbort"
    assert log_of(node).last_stable_offset == 2
    assert producer.produce(b"late") == E.INVALID_PRODUCER_EPOCH
    assert producer.end().error_code == E.INVALID_TXN_STATE
    assert producer.end(version=4).error_code == E.PRODUCER_FENCED


def test_61_time_outs_and_forgotten_ids(node, client):
    for timeout in (0, -1, 900_001):
        answer = client.ask("InitProducerId", 4, transactional_id="x", transaction_timeout_ms=timeout)
        assert answer.error_code == E.INVALID_TRANSACTION_TIMEOUT
    producer = Producer(client)
    week = 7 * 24 * 3_600_000
    node.advance(week)
    assert state_of(client).error_code == E.TRANSACTIONAL_ID_NOT_FOUND
    assert producer.produce(b"a") == E.INVALID_PRODUCER_ID_MAPPING
    assert Producer(client).id != producer.id


# -- offsets -----------------------------------------------------------------------------------------------


def committed_offset(client, require_stable=False):
    answer = client.ask(
        "OffsetFetch",
        7,
        group_id="g",
        topics=[OffsetFetchRequestTopic(name="t", partition_indexes=[0])],
        require_stable=require_stable,
    )
    (found,) = answer.topics[0].partitions
    return found.error_code, found.committed_offset


@pytest.mark.parametrize("commit", [True, False])
def test_60_offsets_are_true_when_the_transaction_commits(client, commit):
    producer = Producer(client)
    assert producer.commit_offset(11) == 0
    assert committed_offset(client) == (0, -1)
    assert committed_offset(client, require_stable=True) == (E.UNSTABLE_OFFSET_COMMIT, -1)
    producer.next(commit)
    expected = 11 if commit else -1
    assert committed_offset(client) == committed_offset(client, require_stable=True) == (0, expected)


def test_60_offsets_of_an_old_generation_are_refused(client):
    producer = Producer(client)
    code = producer.commit_offset(11, generation_id_or_member_epoch=4, member_id="nobody")
    assert code == E.ILLEGAL_GENERATION
    assert producer.commit_offset(11, group="") == E.INVALID_GROUP_ID
    assert producer.commit_offset(11, partition=9) == E.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(("version", "code"), [(3, 48), (4, 120)])
def test_60_offsets_of_no_transaction_are_refused(client, version, code):
    producer = Producer(client, version=1)
    assert producer.commit_offset(11, version=version) == code
    answer = client.ask(
        "AddOffsetsToTxn",
        3,
        transactional_id="x",
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        group_id="g",
    )
    assert answer.error_code == 0
    assert producer.commit_offset(11, version=version) == 0


# -- markers -----------------------------------------------------------------------------------------------


def mark(client, producer, commit=False, coordinator_epoch=0, version=1, topic="t", partition=0, **fields):
    answer = client.ask(
        "WriteTxnMarkers",
        version,
        markers=[
            WritableTxnMarker(
                producer_id=producer.id,
                producer_epoch=fields.pop("epoch", producer.epoch),
                transaction_result=commit,
                topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[partition])],
                coordinator_epoch=coordinator_epoch,
                **fields,
            )
        ],
    )
    return answer.markers[0].topics[0].partitions[0].error_code


def test_a_partition_named_twice_gets_one_marker(node, client):
    twice = WritableTxnMarkerTopic(name="t", partition_indexes=[0, 0])
    marker = WritableTxnMarker(
        producer_id=7, producer_epoch=0, transaction_result=True, topics=[twice, twice], coordinator_epoch=0
    )
    answer = client.ask("WriteTxnMarkers", 1, markers=[marker])
    found = [[part.error_code for part in topic.partitions] for topic in answer.markers[0].topics]
    assert found == [[0, 0], [0, 0]]
    assert log_of(node).log_end_offset == 1


def test_markers_with_negative_epochs_are_refused_even_of_unknown_producers(node, client):
    nobody = SimpleNamespace(id=4711, epoch=-3)
    assert mark(client, nobody) == E.INVALID_PRODUCER_EPOCH
    assert mark(client, nobody, epoch=0, coordinator_epoch=-3) == E.TRANSACTION_COORDINATOR_FENCED
    assert mark(client, nobody, epoch=0, coordinator_epoch=-1) == 0
    assert log_of(node).log_end_offset == 1


def test_55_markers_of_an_old_coordinator_are_refused(node, client):
    producer = Producer(client)
    producer.produce(b"a")
    assert mark(client, producer, coordinator_epoch=3) == 0
    assert mark(client, producer, coordinator_epoch=2) == E.TRANSACTION_COORDINATOR_FENCED
    assert mark(client, producer, topic="none") == E.UNKNOWN_TOPIC_OR_PARTITION
    assert mark(client, producer, partition=9) == E.UNKNOWN_TOPIC_OR_PARTITION
    assert log_of(node).log_end_offset == 2


def test_49_markers_of_version_2_have_an_epoch_above_the_data(node, client):
    producer = Producer(client)
    producer.produce(b"a")
    settings = {"version": 2, "transaction_version": 2}
    assert mark(client, producer, epoch=0, **settings) == E.INVALID_PRODUCER_EPOCH
    assert mark(client, producer, epoch=1, **settings) == 0
    assert mark(client, producer, epoch=1, **settings) == 0
    assert mark(client, producer, epoch=0, **settings) == E.INVALID_PRODUCER_EPOCH
    assert mark(client, producer, epoch=0, version=1) == E.INVALID_PRODUCER_EPOCH


def test_a_marker_ends_the_offsets_of_a_group(node, client):
    producer = Producer(client)
    producer.commit_offset(7)
    place = next(iter(node.services.txns.coordinator.describe("x").partitions["__consumer_offsets"]))
    assert mark(client, producer, commit=True, topic="__consumer_offsets", partition=place) == 0
    assert committed_offset(client, require_stable=True) == (0, 7)


def test_a_deleted_topic_needs_no_marker(node, client):
    gone = node.topic("gone")
    producer = Producer(client, version=1)
    producer.client.ask(
        "AddPartitionsToTxn",
        3,
        v3_and_below_transactional_id="x",
        v3_and_below_producer_id=producer.id,
        v3_and_below_producer_epoch=producer.epoch,
        v3_and_below_topics=[
            AddPartitionsToTxnTopic(name="gone", partitions=[0]),
            AddPartitionsToTxnTopic(name="t", partitions=[0]),
        ],
    )
    node.delete(gone)
    assert producer.end().error_code == 0
    assert state_of(client).transaction_state == "CompleteCommit"


def test_markers_are_written_again_where_the_leader_is_away(node, client):
    topic_id = node.cache.image.topics.get("t").id
    producer = Producer(client)
    producer.produce(b"a")
    producer.produce(b"b", partition=1)
    node.move_leader(topic_id, 0, 5)
    assert producer.end().error_code == 0
    assert state_of(client).transaction_state == "PrepareCommit"
    assert log_of(node, 1).last_stable_offset == 2
    node.advance(200)
    assert state_of(client).transaction_state == "PrepareCommit"
    node.move_leader(topic_id, 0, 1)
    node.advance(200)
    assert state_of(client).transaction_state == "CompleteCommit"


# -- verification that takes time --------------------------------------------------------------------------


def test_50_a_marker_makes_an_answer_void(node, client):
    """The coordinator's word comes after the transaction that it was about was aborted."""
    producer = Producer(client, version=1)
    producer.add(0)
    link = node.services.txns.link
    asked, local = [], link.local

    def slowly(do):
        def answer(request):
            done = do(request)
            asked.append((Deferred(), done))
            return asked[-1][0]

        return answer

    link.local = {
        kind: slowly(do) if kind.NAME == "AddPartitionsToTxnRequest" else do for kind, do in local.items()
    }
    slow = node.connect()
    slow.send(
        slow.frame(
            "Produce",
            9,
            transactional_id="x",
            acks=-1,
            timeout_ms=1000,
            topic_data=[
                TopicProduceData(
                    name="t",
                    partition_data=[
                        PartitionProduceData(
                            index=0,
                            records=batch(
                                b"late",
                                producer_id=producer.id,
                                producer_epoch=0,
                                base_sequence=0,
                                transactional=True,
                            ),
                        )
                    ],
                )
            ],
        )
    )
    assert slow.answers() == []
    assert producer.end(commit=False).error_code == 0
    (held, done) = asked[0]
    held.resolve(done.result())
    assert slow.answers() == []  # in a turn of its own: see broker/txn_link.py
    node.advance(0)
    (answer,) = slow.answers()
    assert answer.responses[0].partition_responses[0].error_code == E.INVALID_TXN_STATE
    assert log_of(node).last_stable_offset == log_of(node).log_end_offset == 1


# -- looking -----------------------------------------------------------------------------------------------


def test_listing_and_its_patterns(client):
    Producer(client, name="ab")
    Producer(client, name="ac").produce(b"a")
    ask = lambda **fields: client.ask("ListTransactions", 2, **fields)  # noqa: E731
    names = lambda answer: sorted(each.transactional_id for each in answer.transaction_states)  # noqa: E731
    assert names(ask()) == ["ab", "ac"]
    assert names(ask(state_filters=["Ongoing", "Dead", "Odd"])) == ["ac"]
    assert ask(state_filters=["Ongoing", "Odd"]).unknown_state_filters == ["Odd"]
    assert names(ask(transactional_id_pattern="a[b]")) == ["ab"]
    assert names(ask(transactional_id_pattern="a")) == []
    assert ask(transactional_id_pattern="[").error_code == E.INVALID_REGULAR_EXPRESSION
    assert ask(transactional_id_pattern="(?=a)").error_code == E.INVALID_REGULAR_EXPRESSION
    assert names(ask(transactional_id_pattern="(a+)+" * 5 + "z")) == []


def test_without_its_topic_there_is_no_coordinator(tmp_path):
    node = with_transactions(Node(tmp_path / "data"))
    client = node.connect()
    answer = client.ask("InitProducerId", 4, transactional_id="x", transaction_timeout_ms=1000)
    assert (answer.error_code, answer.producer_id) == (E.NOT_COORDINATOR, -1)
    assert state_of(client).error_code == E.NOT_COORDINATOR
    assert client.ask("ListTransactions", 0).transaction_states == []


def test_producer_ids_that_come_late(node, client):
    ids = []

    def later():
        ids.append(Deferred())
        return ids[-1]

    node.services.txns.coordinator._next_producer_id = later
    client.send(client.frame("InitProducerId", 4, transactional_id="x", transaction_timeout_ms=1000))
    assert client.answers() == []
    ids[0].resolve(77)
    (answer,) = client.answers()
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (0, 77, 0)


def test_batches_of_an_open_transaction_take_the_short_way(node, client):
    producer = Producer(client)
    assert producer.produce(b"a") == 0
    (meaning,) = client.core.produce_cache.by_bytes.values()
    assert meaning.in_transactions
    general = node.services.txns.verifier.verify
    node.services.txns.verifier.verify = None  # not to be asked
    assert producer.produce(b"b") == 0
    assert producer.produce(b"b", base_sequence=1) == 0
    assert producer.produce(b"far", base_sequence=9) == E.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log_of(node).log_end_offset == 2
    node.services.txns.verifier.verify = general
    old = producer.epoch
    producer.next(commit=False)
    assert producer.produce(b"late", producer_epoch=old) == E.INVALID_PRODUCER_EPOCH
    assert producer.produce(b"c") == 0
    assert list(client.core.produce_cache.by_bytes.values()) == [meaning]


def test_a_known_request_without_a_transactional_id_is_no_door(node, client):
    """The bytes before the records are those of a plain producer; the records claim a transaction."""
    producer = Producer(client)
    producer.produce(b"a")
    producer.name = None
    assert (
        producer.produce(b"plain", transactional=False, producer_id=-1, producer_epoch=-1, base_sequence=-1)
        == 0
    )
    assert producer.produce(b"b") == E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert log_of(node).log_end_offset == 2


def test_the_marker_of_the_transaction_before_voids_nothing(node, client):
    """A new client's next transaction asks while the last one's markers are still on their way."""
    producer = Producer(client)
    producer.produce(b"a")
    _hold_markers(node)
    producer.next()
    eager = node.connect()
    fields = {"producer_id": producer.id, "producer_epoch": producer.epoch, "base_sequence": 0}
    data = PartitionProduceData(index=0, records=batch(b"b", transactional=True, **fields))
    eager.send(
        eager.frame(
            "Produce",
            12,
            transactional_id="x",
            acks=-1,
            timeout_ms=1000,
            topic_data=[TopicProduceData(name="t", partition_data=[data])],
        )
    )
    assert eager.answers() == []  # asked again a little later
    assert mark(client, producer, commit=True) == 0
    _release_markers(node)
    _restart_coordinator(node)
    assert state_of(client).transaction_state == "CompleteCommit"
    node.advance(20)
    (answer,) = eager.answers()
    assert answer.responses[0].partition_responses[0].error_code == 0
    assert state_of(client).transaction_state == "Ongoing"
