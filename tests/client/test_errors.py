"""What answers' error codes become."""

from __future__ import annotations

import pytest

from kbroker.client.errors import check
from kbroker.errors import ApiError

REFUSED = "Cluster authorization failed: it"


@pytest.mark.parametrize(
    ("code", "text", "says"),
    [
        (31, "Request Request(processor=1, …) needs ALTER permission.", f"{REFUSED} needs ALTER permission"),
        (31, "Request Request(a\nb) is not authorized.", f"{REFUSED} is not authorized"),
        (42, "Invalid operation ANY", "Invalid operation ANY"),
    ],
)
def test_kafkas_dump_of_a_request_is_left_out(code, text, says):
    with pytest.raises(ApiError) as caught:
        check(code, text, "ACLs")
    assert caught.value.text == f"ACLs: {says}"
