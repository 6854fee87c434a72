"""What is said to producers that want transactions, while there are none.

TRANSACTIONAL_ID_AUTHORIZATION_FAILED is the one error that no client tries again after: librdkafka, Java,
kafka-python and aiokafka fail at once. With any other, librdkafka asks again until the application's timeout.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

_log = logging.getLogger(__name__)
MESSAGE = "transactions are not supported yet"
#: So many transactional ids get a line in the log; a stranger can make up any number.
_TOLD_MAX = 20


def refusal(services: Services, context: RequestContext, transactional_id: str) -> ApiError:
    """The error for a request about a transactional id; the first of an id leaves a line in the log."""
    told: set[str] = services.extras.setdefault("transactional ids that were refused", set())
    if transactional_id not in told and len(told) < _TOLD_MAX:
        told.add(transactional_id)
        address, shown = context.connection.client_address, transactional_id[:100]
        _log.warning("%s: transactional.id %r of %s is refused", MESSAGE, shown, address)
    return ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, MESSAGE)
