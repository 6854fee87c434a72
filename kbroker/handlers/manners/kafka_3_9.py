"""What Kafka 3.9.2 in KRaft says otherwise than 4.4 does."""

from __future__ import annotations

from collections.abc import Mapping

from kbroker.errors import ErrorCode
from kbroker.handlers.manners.groups import commits_of_strangers
from kbroker.handlers.manners.manner import Around, Rule
from kbroker.handlers.manners.telemetry import unread_pushes
from kbroker.protocol.api_keys import ApiKey

_MALFORMED = ErrorCode.INVALID_REQUEST
_BY_CLIENT = (
    "This most likely occurs because of a request being malformed by the client library or the message was "
    "sent to an incompatible broker. See the broker logs for more details."
)
#: What an exception that nobody expected became.
_UNEXPECTED = ErrorCode.UNKNOWN_SERVER_ERROR

GENERAL_APIS: frozenset[int] = frozenset()

RULES = (
    Rule(
        ErrorCode.INVALID_REPLICATION_FACTOR,
        r"(.*) or some brokers have all their log directories cordoned\.",
        text="{1}.",
        api=ApiKey.CREATE_TOPICS,
    ),
    Rule(ErrorCode.POLICY_VIOLATION, "Excess.*", _UNEXPECTED, None, ApiKey.CREATE_PARTITIONS),
    # The share coordinator was not there yet, whatever the key.
    Rule(_MALFORMED, "", ErrorCode.COORDINATOR_NOT_AVAILABLE, api=ApiKey.FIND_COORDINATOR, since=6),
    Rule(ErrorCode.BROKER_ID_NOT_REGISTERED, text="", api=ApiKey.UNREGISTER_BROKER),
    Rule(_MALFORMED, "Group name must not be empty", text=_BY_CLIENT, api=ApiKey.DESCRIBE_CONFIGS),
    Rule(_MALFORMED, "Unknown operations type .*", _UNEXPECTED, None, api=ApiKey.INCREMENTAL_ALTER_CONFIGS),
    # It names its own id twice.
    Rule(
        _MALFORMED,
        r"(Unexpected node id\. Expected (-?\d+), but received ).*",
        text="{1}{2}",
        api=ApiKey.INCREMENTAL_ALTER_CONFIGS,
    ),
)

AROUND: Mapping[int, Around] = {
    ApiKey.TXN_OFFSET_COMMIT: commits_of_strangers,
    ApiKey.PUSH_TELEMETRY: unread_pushes,
}
