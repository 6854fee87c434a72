from __future__ import annotations

import pytest

from kbroker.controller.producer_ids import allocate_block
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.producer_ids_record import ProducerIdsRecord
from tests.controller.clusters import cluster


def test_blocks_follow_each_other():
    image = cluster(1)
    first = allocate_block(image, 1, 10)
    assert first.response == (0, 1000)
    second = allocate_block(image.apply(first.records), 1, 10)
    assert second.response == (1000, 1000)


@pytest.mark.parametrize(("broker", "epoch"), [(1, 9), (2, 10)])
def test_only_the_current_incarnation_gets_one(broker, epoch):
    with pytest.raises(ApiError) as caught:
        allocate_block(cluster(1), broker, epoch)
    assert caught.value.code is ErrorCode.STALE_BROKER_EPOCH


def test_the_end_of_all_ids():
    image = cluster(1).apply([ProducerIdsRecord(next_producer_id=2**63 - 900)])
    with pytest.raises(ApiError, match="Exhausted"):
        allocate_block(image, 1, 10)
