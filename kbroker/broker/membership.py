"""This node among the others: its way to the controller and to brokers, its life as one of them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kbroker.broker.among_brokers import AmongBrokers
from kbroker.broker.broker_lifecycle import BrokerLifecycle, LifecycleTimes
from kbroker.broker.controller_registration import ControllerRegistration
from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import AS_CONTROLLER, PeerAddress, Peers
from kbroker.controller.brokers import CORDON_LEVEL, NodeRegistration
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.errors import ApiError
from kbroker.raft.messages import ResignRequested

if TYPE_CHECKING:
    from kbroker.broker.controller_chores import ControllerChores
    from kbroker.broker.kraft_node import KraftNode, KraftSetup, Leader
    from kbroker.broker.log_directories import LogDirectories
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.cache import MetadataCache
    from kbroker.types import Uuid

_log = logging.getLogger(__name__)

#: How long a controller that stops waits for its successor.
_HAND_OVER_MS = 1500.0


class Membership(AmongBrokers):
    """See the module. To be made before the first metadata is published.

    Args:
        setup: who this node is.
        kraft: its part in the quorum.
        controller_listener, broker_listener: over which controllers, and brokers, are reached.
        previous_broker_epoch: as the logs on the disk have it.
        directories: the log directories of this node.
    """

    def __init__(
        self,
        config: BrokerConfig,
        setup: KraftSetup,
        kraft: KraftNode,
        metadata: MetadataCache,
        chores: ControllerChores,
        peers: Peers,
        clock: Clock,
        timer: Timer,
        *,
        controller_listener: str,
        broker_listener: str,
        previous_broker_epoch: int,
        directories: LogDirectories,
    ) -> None:
        self._setup = setup
        self._kraft = kraft
        self._clock = clock
        self._controller_listener = controller_listener
        self._foreign: set[PeerAddress] = set()
        super().__init__(
            setup.node_id,
            kraft.controller,
            metadata,
            peers,
            clock,
            timer,
            broker_lost=lambda broker_id, epoch: _quiet(chores.broker_lost(broker_id, epoch)),
            listener=broker_listener,
            request_timeout_ms=config.get_int("request.timeout.ms"),
        )
        kraft.on_leader_changed(lambda _: self.channel.leader_changed())
        kraft.previous_broker_epoch = previous_broker_epoch
        node = NodeRegistration(
            setup.node_id,
            setup.incarnation_id,
            setup.broker_endpoints,
            SUPPORTED_FEATURES,
            setup.rack,
            setup.log_dir_ids,
            previous_broker_epoch,
            zk_migration_ready=setup.migrates,
        )
        self.lifecycle: BrokerLifecycle | None = None
        if setup.is_broker:
            self.lifecycle = BrokerLifecycle(
                setup.cluster_id,
                node,
                self.channel,
                kraft,
                clock,
                timer,
                _times(config),
                offline_directories=directories.offline,
                cordoned_directories=lambda: self._cordoned(directories),
                applied_offset=lambda: kraft.metadata.told_offset,
            )
            self.lifecycle.registration.outwaits_migration = setup.migrates
            metadata.subscribe(self.lifecycle.on_metadata)
            self.lifecycle.hand_over = self._hand_over
            directories.on_cordoned = self.lifecycle.beat_now
            kraft.controller.producer_ids = self._ids_of_producers()
        self._registration: ControllerRegistration | None = None
        if setup.is_controller:
            self._registration = ControllerRegistration(node, setup, self.channel, kraft, timer)
            kraft.controller.watch(self)

    def _cordoned(self, directories: LogDirectories) -> list[Uuid] | None:
        level = self._kraft.metadata.image.metadata_version
        return directories.cordoned() if level >= CORDON_LEVEL else None

    def start(self) -> Deferred[None]:
        """Enter the cluster, after the quorum has been joined; resolved when metadata may be published."""
        if self._registration is not None and not self._kraft.is_lone:
            self._registration.start()
        if self.lifecycle is None:
            done: Deferred[None] = Deferred()
            done.resolve(None)
            return done
        if self._kraft.is_lone:
            return self.lifecycle.adopt(self._kraft.metadata.image.brokers[self._setup.node_id].epoch)
        return self.lifecycle.start()

    def broker_epoch(self) -> int:
        """Of this process's registration as a broker; -1: it has none yet."""
        broker = self._kraft.metadata.image.brokers.get(self._setup.node_id)
        if self._kraft.is_lone and broker is not None:
            # It publishes its first metadata before the lifecycle begins.
            return broker.epoch if broker.incarnation_id == self._setup.incarnation_id else -1
        return -1 if self.lifecycle is None else self.lifecycle.epoch

    def stop(self) -> None:
        """Say and hear nothing any more."""
        if self.lifecycle is not None:
            self.lifecycle.stop()
        if self._registration is not None:
            self._registration.stop()
        super().stop()

    def _hand_over(self) -> Deferred[None]:
        """Let another node be the active controller, if one can: it decides who leads what this broker leads,
        while this one goes on to serve. Resolved when there is one, or none was found in time.
        """
        done: Deferred[None] = Deferred()
        raft = self._kraft.raft
        if not self._kraft.controller.active or not raft.node.may_hand_over(self._clock.monotonic_ms()):
            done.resolve(None)
            return done
        _log.info("another node is to be the active controller, as this one stops")
        alarm = self._timer.call_later(_HAND_OVER_MS, lambda: done.resolve(None))

        def heard(leader: Leader) -> None:
            if leader.node_id >= 0:
                alarm.cancel()
                done.resolve(None)

        self._kraft.on_leader_changed(heard)
        raft.step(ResignRequested(raft.node.epoch))
        return done

    def foreign(self, address: PeerAddress) -> None:
        """That node of the quorum belongs to another cluster; if all do, it is this node that is wrong."""
        if address in self._foreign:
            return
        self._foreign.add(address)
        _log.error("%s belongs to another cluster than %s", address, self._setup.cluster_id)
        asked = [voter for voter in self._setup.static_voters if voter.id != self._setup.node_id]
        if len(self._foreign) >= len(asked or self._setup.bootstrap_controllers):
            text = (
                f"the controllers belong to another cluster than {self._setup.cluster_id}: {address} says so"
            )
            if self.lifecycle is not None:
                self.lifecycle.refuse(text)

    # -- inside ----------------------------------------------------------------------------------------------

    def _find_controller(self) -> PeerAddress | None:
        leader = self._kraft.leader()
        if leader.node_id < 0:
            if self.lifecycle is not None and self._kraft.raft.node.namesake_leads:
                self.lifecycle.namesake_leads()
            return None
        if leader.node_id == self._setup.node_id:
            return PeerAddress(leader.node_id, "", 0)
        for endpoint in leader.endpoints:
            if endpoint.name == self._controller_listener:
                return PeerAddress(leader.node_id, endpoint.host, endpoint.port, AS_CONTROLLER)
        first = next(iter(leader.endpoints), None)
        return None if first is None else PeerAddress(leader.node_id, first.host, first.port, AS_CONTROLLER)


def _times(config: BrokerConfig) -> LifecycleTimes:
    return LifecycleTimes(
        heartbeat_ms=config.get_int("broker.heartbeat.interval.ms"),
        session_ms=config.get_int("broker.session.timeout.ms"),
        registration_ms=config.get_int("initial.broker.registration.timeout.ms"),
        directory_failure_ms=config.get_int("log.dir.failure.timeout.ms"),
    )


def _quiet(done: Deferred[None]) -> None:
    def heard(done: Deferred[None]) -> None:
        try:
            done.result()
        except ApiError as error:
            _log.debug("a broker that is gone was not fenced: %s", error.code.name)

    done.then(heard)
