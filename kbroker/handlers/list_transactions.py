"""ListTransactions (66): the transactional ids that this coordinator keeps (KIP-664).

v0 first; v1 those that run for some time (KIP-994); v2 a pattern of ids (KIP-1152).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.coordinator.transaction.state import STATES_BY_LABEL
from kbroker.coordinator.transaction.transaction_shard import Listing
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.list_transactions_response import ListTransactionsResponse, TransactionState

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.list_transactions_request import ListTransactionsRequest

VERSIONS = (0, 2)

_PATTERN_BYTES_MAX = 1 << 20


def handle(
    services: Services, context: RequestContext, request: ListTransactionsRequest
) -> ListTransactionsResponse:
    """States that do not exist are named, and let nothing through."""
    response = ListTransactionsResponse(
        unknown_state_filters=[
            name for name in dict.fromkeys(request.state_filters) if name not in STATES_BY_LABEL
        ]
    )
    states = None
    if request.state_filters:
        states = frozenset(STATES_BY_LABEL[name] for name in request.state_filters if name in STATES_BY_LABEL)
    wanted = Listing(
        frozenset(request.producer_id_filters),
        states,
        request.duration_filter,
        _matcher(request.transactional_id_pattern),
    )
    response.transaction_states = [
        TransactionState(
            transactional_id=txn.transactional_id,
            producer_id=txn.producer_id,
            transaction_state=txn.state.label,
        )
        for txn in services.txns.coordinator.list(wanted)
    ]
    return response


def _matcher(pattern: str | None) -> Callable[[str], bool] | None:
    if not pattern:
        return None
    # Kafka's dialect; and no pattern takes more than linear time. Imported late: few ask.
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_BYTES_MAX
    try:
        compiled = re2.compile(pattern, options)
    except re2.error:
        raise ApiError(ErrorCode.INVALID_REGULAR_EXPRESSION) from None
    return lambda text: compiled.fullmatch(text) is not None


def error_response(
    request: ListTransactionsRequest, version: int, code: ErrorCode, message: str | None
) -> ListTransactionsResponse:
    """Just the code."""
    return ListTransactionsResponse(error_code=code)
