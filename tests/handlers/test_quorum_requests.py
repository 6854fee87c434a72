"""What the handlers of the quorum's requests add to the core's answers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.handlers.quorum_requests import answer
from kbroker.protocol.api_keys import ApiKey, response_class
from kbroker.protocol.generated import (
    begin_quorum_epoch_response,
    end_quorum_epoch_response,
    fetch_response,
    fetch_snapshot_response,
    vote_response,
)

MODULES = {
    ApiKey.FETCH: fetch_response,
    ApiKey.VOTE: vote_response,
    ApiKey.BEGIN_QUORUM_EPOCH: begin_quorum_epoch_response,
    ApiKey.END_QUORUM_EPOCH: end_quorum_epoch_response,
    ApiKey.FETCH_SNAPSHOT: fetch_snapshot_response,
}


@pytest.mark.parametrize("key", MODULES)
def test_an_old_version_gets_its_answer_without_the_endpoints_of_nodes(key):
    response_type = response_class(key)
    named = []
    for version in range(response_type.MIN_VERSION, response_type.MAX_VERSION + 1):
        endpoint = MODULES[key].NodeEndpoint(node_id=1, host="h", port=9)
        done = Deferred()
        done.resolve(response_type(node_endpoints=[endpoint]))
        services = SimpleNamespace(quorum=SimpleNamespace(answer=lambda request, listener, done=done: done))
        context = SimpleNamespace(api_key=key, version=version, listener_name="CONTROLLER")
        response = answer(services, context, None).result()
        if response_type.decode(bytes(response.encode(version)), version).node_endpoints:
            named.append(version)
    assert named
    assert named == list(range(named[0], response_type.MAX_VERSION + 1))
