"""A broker's replication, as its settings want it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kbroker.broker.replica_fetcher import FetchSettings
from kbroker.broker.replication import Replication
from kbroker.replication.throttle import ReplicationQuota

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbroker.broker.membership import Membership
    from kbroker.broker.services import Services
    from kbroker.broker.zk_membership import ZkMembership
    from kbroker.config.broker_config import BrokerConfig

_FETCHERS = "num.replica.fetchers"


def open_replication(services: Services, membership: Membership | ZkMembership) -> Callable[[], None]:
    """Let this broker follow others and be followed; the answer ends it."""
    config, setting = services.config, services.config.get_int
    assert services.peers is not None
    replication = Replication(
        services.replicas,
        services.metadata,
        services.peers,
        partial(membership.channel.send, channel="in-sync"),
        services.timer,
        listener=membership.broker_listener,
        broker_epoch=membership.broker_epoch,
        lag_time_max_ms=setting("replica.lag.time.max.ms"),
        fetchers=setting(_FETCHERS),
        settings=FetchSettings(
            wait_max_ms=setting("replica.fetch.wait.max.ms"),
            bytes_min=setting("replica.fetch.min.bytes"),
            response_bytes_max=setting("replica.fetch.response.max.bytes"),
            partition_bytes_max=setting("replica.fetch.max.bytes"),
            backoff_ms=setting("replica.fetch.backoff.ms"),
            timeout_ms=setting("replica.socket.timeout.ms"),
        ),
    )
    services.replication = replication
    services.replicas.leader_quota = _replication_quota(config, "leader")
    services.replicas.follower_quota = _replication_quota(config, "follower")
    config.subscribe(lambda _: replication.resize(setting(_FETCHERS)), (_FETCHERS,))
    return replication.stop


def _replication_quota(config: BrokerConfig, side: str) -> ReplicationQuota:
    return ReplicationQuota(
        partial(config.get_int, f"{side}.replication.throttled.rate"),
        config.get_int("replication.quota.window.size.seconds") * 1000,
    )
