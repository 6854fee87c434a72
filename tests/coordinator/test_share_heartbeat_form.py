"""ShareGroupHeartbeat: what no member says is refused in Kafka's order."""

from __future__ import annotations

import pytest

from kbroker.coordinator.group.share_part import check_form
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.share_group_heartbeat_request import ShareGroupHeartbeatRequest

RIGHT = {"group_id": "g", "member_id": "m", "member_epoch": 0, "subscribed_topic_names": ["t"]}
#: Each is wrong in one more way than the next.
WRONG = [
    ({"member_id": ""}, None),
    ({"group_id": " "}, "GroupId can't be empty."),
    ({"rack_id": ""}, "RackId can't be empty."),
    ({"member_epoch": -3}, "MemberEpoch is invalid."),
]


def test_a_right_one():
    check_form(ShareGroupHeartbeatRequest(**RIGHT))


@pytest.mark.parametrize("first", range(len(WRONG)))
def test_the_first_of_several_errors_is_told(first):
    fields = dict(RIGHT)
    for wrong, _ in WRONG[first:]:
        fields.update(wrong)
    with pytest.raises(ApiError) as refused:
        check_form(ShareGroupHeartbeatRequest(**fields))
    assert (refused.value.code, refused.value.message) == (ErrorCode.INVALID_REQUEST, WRONG[first][1])
