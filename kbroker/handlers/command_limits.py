"""The command `limits`: what this broker does not do for the time being, and its figures.

No arguments. Result: see `Restrictions.describe`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext


def run(services: Services, context: RequestContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """See the module."""
    return {} if services.restrictions is None else services.restrictions.describe()
