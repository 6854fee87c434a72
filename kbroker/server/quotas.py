"""Puts the quotas of this node together."""

from __future__ import annotations

from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from kbroker.broker.client_quotas import QuotaKeeper
from kbroker.broker.cluster_quotas import URL, ClusterQuotas
from kbroker.broker.restrictions import Restrictions
from kbroker.config.values import to_text
from kbroker.errors import ConfigError
from kbroker.handlers.context import BROKER
from kbroker.protocol.api_keys import FACTS, ApiKey
from kbroker.server.figures import Figures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kbroker.broker.client_quotas import Metered
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.handlers.context import ConnectionContext
    from kbroker.protocol.primitives import Message
    from kbroker.quotas.callback import QuotaCallback
    from kbroker.storage.disk import Disk
    from kbroker.storage.log_manager import LogManager

CALLBACK = "kbroker.quota.callback"


def open_quotas(services: Services) -> None:
    """Set `services.quotas`, as the metadata will say."""

    def connections() -> list[Metered]:
        # Who has not asked anything has perhaps not logged in; what comes to controllers is not metered.
        contexts = cast("Iterable[ConnectionContext]", services.clients.connections)
        return [each for each in contexts if each.used and each.role == BROKER]

    keeper = services.quotas = QuotaKeeper(
        services.config, services.clock, services.timer, perf_counter, connections
    )
    path = to_text(services.config.get(CALLBACK))
    if path:
        keeper.ask(_callback(path, services.config))
    services.metadata.subscribe(keeper.on_metadata)

    def throttled(key: int, delay_ms: int) -> None:
        name = "FetchConsumer" if key == ApiKey.FETCH else FACTS[key].name
        services.requests.of(name).throttle(delay_ms)

    keeper.on_throttled = throttled


def _callback(path: str, config: BrokerConfig) -> QuotaCallback:
    """What a class makes that is somewhere in Python's path. Raises ConfigError."""
    module, _, name = path.partition(":")
    if not (module and name):
        raise ConfigError(f"{CALLBACK} is package.module:Class, not {path}")
    try:
        made: QuotaCallback = getattr(import_module(module), name)(dict(config.static))
    except Exception as error:
        raise ConfigError(f"{CALLBACK}: {path}: {type(error).__name__}: {error}") from error
    for each in ("sharers", "limit", "quota_changed", "cluster_changed"):
        if not callable(getattr(made, each, None)):
            raise ConfigError(f"{CALLBACK}: {path} has no {each}()")
    return made


def open_restrictions(
    services: Services,
    logs: LogManager,
    disk: Disk,
    ask_broker: Callable[[int, Message], Deferred[Any]],
) -> Callable[[], None]:
    """Set `services.restrictions` and share quotas, as the settings say; gives what to call at the end."""
    keeper = services.quotas
    assert keeper is not None
    figures = Figures(disk, lambda: [each.path for each in logs.dirs if not each.offline])
    restrictions = services.restrictions = Restrictions(services, figures)

    def changed() -> None:
        keeper.restrict(restrictions)
        services.refusal = restrictions.refusal if restrictions.may_refuse else None

    restrictions.on_changed = changed
    restrictions.follow_settings()
    shared = services.extras["cluster_quotas"] = ClusterQuotas(services, ask_broker)
    url = to_text(services.config.get(URL))
    if url:
        from kbroker.server.central_quotas import CentralQuotas

        shared.central = CentralQuotas(keeper.quotas, url, services.cluster_id)
    shared.follow_settings()

    def close() -> None:
        shared.close()
        restrictions.close()

    return close
