"""Puts the quotas of this node together."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, cast

from kbroker.broker.client_quotas import QuotaKeeper
from kbroker.handlers.context import BROKER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kbroker.broker.client_quotas import Metered
    from kbroker.broker.services import Services
    from kbroker.handlers.context import ConnectionContext


def open_quotas(services: Services) -> None:
    """Set `services.quotas`, as the metadata will say."""

    def connections() -> list[Metered]:
        # Who has not asked anything has perhaps not logged in; what comes to controllers is not metered.
        contexts = cast("Iterable[ConnectionContext]", services.clients.connections)
        return [each for each in contexts if each.used and each.role == BROKER]

    keeper = services.quotas = QuotaKeeper(
        services.config, services.clock, services.timer, perf_counter, connections
    )
    services.metadata.subscribe(keeper.on_metadata)
