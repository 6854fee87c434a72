"""What the log says of proposals that the controller has refused."""

from __future__ import annotations

from unittest.mock import Mock

from kbroker.broker.alter_partition_sender import AlterPartitionSender
from kbroker.broker.deferred import Deferred
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.alter_partition_response import (
    AlterPartitionResponse,
    PartitionData,
    TopicData,
)
from kbroker.replication.isr import Proposal, Verdict
from kbroker.types import TopicPartition
from tests.broker.peer_world import ManualTimer

TOPIC_ID = b"t" * 16


def test_the_log_says_why_in_sync_sets_stay(caplog):
    caplog.set_level("INFO")
    timer, sent = ManualTimer(), []

    def to_controller(request, timeout_ms):
        sent.append(Deferred())
        return sent[-1]

    sender = AlterPartitionSender(1, lambda: 9, None, to_controller, timer, 1000)
    for index in range(3):
        proposal = Proposal(isr=(1, 2), leader_epoch=0, partition_epoch=0, joins=2)
        partition = Mock(
            topic_id=TOPIC_ID,
            topic_partition=TopicPartition("t", index),
            leader_state=Mock(in_sync=Mock(proposal=proposal), followers={}),
            isr_refused=lambda proposal, code: Verdict.REVERTED,
        )
        sender.propose(partition, proposal)
    timer.advance(0)
    codes = ErrorCode.INVALID_UPDATE_VERSION, ErrorCode.INELIGIBLE_REPLICA, ErrorCode.INVALID_UPDATE_VERSION
    answers = [PartitionData(partition_index=index, error_code=code) for index, code in enumerate(codes)]
    sent[0].resolve(AlterPartitionResponse(topics=[TopicData(topic_id=TOPIC_ID, partitions=answers)]))
    assert (
        "0 have grown, 0 have shrunk, 3 stay (INVALID_UPDATE_VERSION: 2, INELIGIBLE_REPLICA: 1)"
        in caplog.text
    )
