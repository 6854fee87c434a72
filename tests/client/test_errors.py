"""What answers' error codes become."""

from __future__ import annotations

import pytest

from kbroker.client.errors import check
from kbroker.errors import ApiError

REFUSED = "Cluster authorization failed: it"


@pytest.mark.parametrize(
    ("code", "text", "says"),
    [
        (
            31,
            "Request Request(processor=1, …) needs ALTER permission.",
            f"{REFUSED} needs ALTER permission on Cluster",
        ),
        (31, "Request Request(a\nb) is not authorized.", f"{REFUSED} is not authorized"),
        (42, "Invalid operation ANY", "Invalid operation ANY"),
    ],
)
def test_kafkas_dump_of_a_request_is_left_out(code, text, says):
    with pytest.raises(ApiError) as caught:
        check(code, text, "ACLs")
    assert caught.value.text == f"ACLs: {says}"


@pytest.mark.parametrize(
    ("code", "text", "says"),
    [
        (29, None, 'Topic authorization failed: it needs READ permission on Topic "x"'),
        (29, "Authorization failed.", 'Authorization failed: it needs READ permission on Topic "x"'),
        (30, None, 'Group authorization failed: it needs READ permission on Group "x"'),
        (31, None, "Cluster authorization failed: it needs READ permission on Cluster"),
        (31, "Request Request(…) is not authorized.", f"{REFUSED} needs READ permission on Cluster"),
        (31, "Request Request(…) needs ALTER permission.", f"{REFUSED} needs ALTER permission on Cluster"),
        (53, None, 'Transactional Id authorization failed: it needs READ permission on TransactionalId "x"'),
        (42, "Invalid operation ANY", "Invalid operation ANY"),
    ],
)
def test_who_may_not_is_told_what_it_needs(code, text, says):
    with pytest.raises(ApiError) as caught:
        check(code, text, "this", needs="READ", on="x")
    assert caught.value.text == f"this: {says}"
