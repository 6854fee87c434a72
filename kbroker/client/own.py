"""Questions that only kbroker answers: what Kafka's protocol has no request for (decision 8)."""

from __future__ import annotations

import json
from typing import Any

from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError, Unsupported, check
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.kbroker_command_request import KbrokerCommandRequest
from kbroker.protocol.generated.kbroker_command_response import KbrokerCommandResponse

#: Commands that ask for more than DESCRIBE on the cluster (`OPERATION` of handlers/command_*.py).
_ALTERING = ("audit", "disconnect")


class NoKbroker(Unsupported):
    """What answers is Apache Kafka, or another broker."""


def command(cluster: Cluster, node_id: int, name: str, **arguments: Any) -> Any:
    """Let one broker run a command of `handlers/kbroker_command.py`; its result.

    Raises:
        NoKbroker: it is none.
        ApiError: it refuses.
    """
    if not cluster.node(node_id).has(ApiKey.KBROKER_COMMAND):
        raise NoKbroker(f"broker {node_id} is no kbroker")
    request = KbrokerCommandRequest(command=name, arguments=json.dumps(arguments).encode())
    answer = cluster.ask_node(node_id, request, KbrokerCommandResponse)
    needs = "ALTER" if name in _ALTERING else "DESCRIBE"
    check(answer.error_code, answer.error_message, f"broker {node_id}", needs=needs)
    try:
        return json.loads(bytes(answer.result or b"null"))
    except ValueError:
        raise ClientError(f"cannot read the answer of broker {node_id}") from None
