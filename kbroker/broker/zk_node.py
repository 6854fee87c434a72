"""This node as a broker of a cluster in ZooKeeper: its session, what it knows, its part as the controller.

    connect -> a session, the chroot, the folders of a new cluster, the cluster's id
    read    -> everything, so that logs are opened with their settings
    enter   -> registered, standing for election; served when the own registration is in the metadata

It registers anew in each session. What the controller decides is true when ZooKeeper has it; where this node
is the controller its image comes from there, else of LeaderAndIsr and UpdateMetadata.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from kbroker.broker.controller_driver import ControllerDriver
from kbroker.broker.deferred import Deferred
from kbroker.broker.image_waits import ImageWaits
from kbroker.broker.zk_admin_requests import ZkAdminRequests
from kbroker.broker.zk_channel import ZkChannel
from kbroker.broker.zk_controller import ZkController
from kbroker.broker.zk_election import ZkElection
from kbroker.broker.zk_first_session import Reader, ZkFirstSession
from kbroker.broker.zk_memory import ZkMetadata
from kbroker.broker.zk_namesake import ZkNamesake
from kbroker.broker.zk_notifications import ZkNotifications
from kbroker.broker.zk_port import ZkCode, ZkError
from kbroker.broker.zk_registration import ZkRegistration
from kbroker.broker.zk_session import ZkClient
from kbroker.controller.zookeeper.node_znodes import BrokerZnode
from kbroker.controller.zookeeper.steps import log_dir_failed
from kbroker.errors import ConfigError
from kbroker.metadata.image import ClusterImage, Endpoint, TopicImage, TopicsImage
from kbroker.plain import plain, replace

if TYPE_CHECKING:
    from kbroker.broker.peer import Peers
    from kbroker.broker.timer import Timer
    from kbroker.broker.zk_port import ZkLink
    from kbroker.broker.zk_requests import Key
    from kbroker.clock import Clock
    from kbroker.controller.election_rules import ElectionRules
    from kbroker.metadata.cache import MetadataCache

_log = logging.getLogger(__name__)

#: Before a registration is tried again whose answer was lost.
_AGAIN_MS = 200.0
#: A start that takes longer tells what it waits for.
_SILENT_MS = 3000.0


@plain(frozen=True, kw_only=True)
class ZkSetup:
    """Who this node is.

    Attributes:
        endpoints: what clients and brokers are told, with real ports.
        new_cluster_id: what a new cluster is called.
        servers, chroot: of zookeeper.connect.
        session_ms, connect_ms: zookeeper.session.timeout.ms, zookeeper.connection.timeout.ms.
        listener: over which brokers reach each other.
        rules: what elections obey.
    """

    node_id: int
    endpoints: Sequence[Endpoint]
    new_cluster_id: str
    servers: str
    session_ms: float
    connect_ms: float
    listener: str
    rules: ElectionRules
    chroot: str = ""
    rack: str | None = None


class ZkNode:
    """See the module; a `SessionListener`.

    Args:
        open_link: to ZooKeeper, below the chroot.
        open_rootless: the same above it, to make the chroot.
    """

    def __init__(
        self,
        setup: ZkSetup,
        open_link: Callable[[], ZkLink],
        open_rootless: Callable[[], ZkLink],
        clock: Clock,
        timer: Timer,
        *,
        at_once: int = 500,
    ) -> None:
        self._setup = setup
        self.servers = setup.servers
        self._clock = clock
        self._timer = timer
        self.client = ZkClient(open_link, clock, timer, setup.session_ms)
        self.client.at_once = at_once
        self.registration = ZkRegistration(
            self.client,
            setup.node_id,
            self._describe,
            setup.new_cluster_id,
            timer,
            2 * setup.session_ms,
        )
        self.registration.on_lost = self._register
        #: From `open` on.
        self.metadata: ZkMetadata
        self.controller: ControllerDriver
        self._term: ZkController
        self._channel: ZkChannel
        self._election: ZkElection
        #: The whole cluster, as it was read at the start.
        self.expected_image = ClusterImage("")
        #: Told why this broker cannot go on, after it has served.
        self.on_refused: Callable[[str], object] = _log.error
        #: The partitions of this node's own log directories that have failed.
        self.offline_here: Callable[[], Collection[Key]] = tuple
        #: Told of topics that are gone from ZooKeeper, and were not deleted: logs are to stay.
        self.on_vanished: Callable[[TopicImage], object] = _nothing_of
        #: Whether this broker takes part in a migration to KRaft.
        self.migrates = False
        #: The epoch of the registration that the controller means; another one if it is not ZooKeeper's.
        self.own_epoch: Callable[[], int] = lambda: self.broker_epoch
        #: Told that this broker is registered in a new session.
        self.on_registered: Callable[[], object] = _nothing
        self._first = ZkFirstSession(setup, self.client, self.registration, open_rootless, clock, timer)
        self._reader = Reader(self.client, clock, timer, setup.connect_ms)
        self._entered: Deferred[None] = Deferred()
        self._notifications: ZkNotifications | None = None
        self._enters = False
        #: /controller was seen to be a quorum's.
        self._is_of_quorum = False
        self._stopped = False
        self._waits = ImageWaits(lambda: self.metadata.image)
        #: The first committed image from now on that passes a test; from `open` on.
        self.when = self._waits.when

    # -- the way in ------------------------------------------------------------------------------------------

    def connect(self) -> Deferred[None]:
        """Begin the first session; `registration.cluster_id` is known then. It fails with ConfigError."""
        self._first.awaited()
        self.client.listen(self)
        self.client.start()
        return self._first.done

    def generate_id(self, reserved_max: int) -> Deferred[int]:
        """Be given an id above that. It fails with ConfigError."""
        return self.registration.generate_id(reserved_max).map(self._is_given)

    def read(self) -> Deferred[None]:
        """Learn what ZooKeeper has. It fails with ConfigError."""
        return self._reader.cluster().map(self._expect)

    def exists(self, path: str) -> Deferred[bool]:
        """Whether ZooKeeper has such a node. It fails with ConfigError."""
        return self._reader.exists(path)

    def open(self, cache: MetadataCache, peers: Peers) -> ControllerDriver:
        """Make what keeps the metadata; topics and brokers are not known before a controller tells."""
        setup = self._setup
        self.metadata = ZkMetadata(cache, _settings_of(self.expected_image))
        self.metadata.on_image = self._waits.committed
        self.controller = ControllerDriver(setup.node_id, self._timer, self.metadata)
        self._term = ZkController(self.client, self.controller, self.metadata, self._timer, setup.rules)
        self._term.on_vanished = lambda topic: self.on_vanished(topic)
        self._election = ZkElection(self.client, setup.node_id, self._clock, self._timer, self._term)
        self._election.on_quorum = self._quorum_leads
        self._term.election = self._election
        self.registration.is_there = ZkNamesake(setup, self.registration, peers).lives
        channel = self._channel = ZkChannel(setup.node_id, peers, self._timer, setup.listener, self._term)
        self.controller.watch(channel)
        self.controller.watch(
            ZkAdminRequests(
                self.client,
                self.controller,
                self._timer,
                setup.rules,
                self._term.read_again,
                self._directory_failed_of,
            )
        )
        return self.controller

    def listen_to_changes(self) -> ZkNotifications:
        """Hear of settings that change, from now on and in each session."""
        self._notifications = ZkNotifications(
            self.client, self.metadata, self.controller, self._timer, self._term.read_again
        )
        self._listen()
        return self._notifications

    def enter(self) -> Deferred[None]:
        """Register; resolved when the registration is in the published metadata. It fails with ConfigError:
        the id is taken, or ZooKeeper refuses."""
        self._enters = True
        self._timer.call_later(_SILENT_MS, self._tell_waiting)
        if self.client.session_id:
            self._register()
        self.when(self._is_in).then(self._is_there)
        return self._entered

    def stop(self, *, abrupt: bool = False) -> Deferred[None]:
        """End the session: the registration goes, and /controller if it is this node's. Abrupt, as a killed
        process does: they go when the servers end the session.
        """
        if self._stopped:
            done: Deferred[None] = Deferred()
            done.resolve(None)
            return done
        self._stopped = True
        if self._enters:
            self.metadata.publish_no_more()
            self.session_over()
        return self.client.close(abrupt=abrupt)

    # -- what is known ---------------------------------------------------------------------------------------

    @property
    def broker_epoch(self) -> int:
        """Of the registration in force; -1: there is none."""
        return self.registration.epoch

    @property
    def has_session(self) -> bool:
        """False while the session may be over."""
        return self.client.live

    def is_heard(self) -> bool:
        """False while others may lead what this broker believes to lead: its session may be over, or was, and
        no controller has told it yet what became of that.
        """
        return self.client.live and self._is_in(self.metadata.image)

    def directory_failed(self) -> None:
        """A log directory of this node has failed: the controller is to hear of it."""
        self.client.multi([log_dir_failed(self._setup.node_id)]).then(self._directory_is_told)

    def tell_own_directories(self) -> None:
        """As the controller: what this node cannot lead, for want of a log directory, others do."""
        lost = self.offline_here()
        if lost:
            self._term.offline(self._setup.node_id, lost)

    def broker_lost(self, broker_id: int) -> None:
        """A broker refuses connections: as the controller, let others lead what it led."""
        self._term.lost(broker_id)

    def broker_gone(self, broker_id: int) -> None:
        """The same while this node is not the controller: if that one is, let there be another."""
        if self.metadata.image.controller_id == broker_id and not self._stopped:
            self._election.depose(broker_id)

    def newer_controller(self) -> None:
        """A request came of a controller that followed this one."""
        self._term.resigned()

    # -- SessionListener -------------------------------------------------------------------------------------

    def session_began(self, session_id: int) -> None:
        """See `SessionListener`."""
        if not self._first.done.done:
            self._first.began()
        else:
            # What another cluster's ZooKeeper says must not reach topics and their settings.
            self.registration.own_cluster().then(lambda done: self._goes_on(session_id, done))

    def session_over(self) -> None:
        """See `SessionListener`."""
        self.registration.session_over()
        if self._notifications is not None:
            self._notifications.session_over()
        if self._enters:
            self._election.session_over()

    # -- inside ----------------------------------------------------------------------------------------------

    def _directory_is_told(self, done: Deferred[Any]) -> None:
        try:
            done.result()
        except ZkError as error:
            if self._stopped:
                return
            # A controller that hears of it twice only asks twice.
            _log.warning("the controller does not hear of a failed log directory yet: %s", error)
            self._timer.call_later(5 * _AGAIN_MS, self.directory_failed)

    def _directory_failed_of(self, broker_id: int) -> None:
        """As the controller: a broker has said so."""
        if broker_id == self._setup.node_id:
            self.tell_own_directories()
        else:
            self._channel.ask_for_directories(broker_id)

    def _goes_on(self, session_id: int, done: Deferred[None]) -> None:
        try:
            done.result()
        except ZkError as error:
            if error.code is not ZkCode.SESSION_OVER and session_id == self.client.session_id:
                _log.warning("the cluster's id cannot be read from ZooKeeper: %s", error)
                self._timer.call_later(5 * _AGAIN_MS, lambda: self._look_again(session_id))
            return
        if self._notifications is not None:
            self._listen()
        if self._enters:
            self._register()

    def _look_again(self, session_id: int) -> None:
        if session_id == self.client.session_id and not self._stopped:
            self.session_began(session_id)

    def _listen(self) -> None:
        assert self._notifications is not None
        self._notifications.begin().then(self._listens)

    def _listens(self, done: Deferred[None]) -> None:
        try:
            done.result()
        except ZkError as error:
            if error.code is not ZkCode.SESSION_OVER and not self._stopped:
                _log.warning("changes of settings cannot be read from ZooKeeper: %s", error)
                self._timer.call_later(5 * _AGAIN_MS, self._listen)

    def _expect(self, image: ClusterImage) -> None:
        self.expected_image = image

    def _is_given(self, node_id: int) -> int:
        self._setup = replace(self._setup, node_id=node_id)
        return node_id

    def _describe(self) -> BrokerZnode:
        setup = self._setup
        return BrokerZnode(tuple(setup.endpoints), setup.rack, self._clock.now_ms())

    def _register(self) -> None:
        session_id = self.client.session_id
        self.registration.begin().then(lambda done: self._registered(session_id, done))

    def _registered(self, session_id: int, done: Deferred[int]) -> None:
        if self._stopped:
            return
        try:
            done.result()
        except ConfigError as error:
            if self._entered.done:
                self.on_refused(str(error))
            else:
                self._entered.fail(error)
        except ZkError as error:
            if error.code is ZkCode.CONNECTION_LOST:
                self._timer.call_later(_AGAIN_MS, lambda: self._register_again(session_id))
        else:
            self.on_registered()
            self._election.begin()

    def _register_again(self, session_id: int) -> None:
        if self.client.session_id == session_id and not self._stopped:
            self._register()

    def _is_in(self, image: ClusterImage) -> bool:
        broker = image.brokers.get(self._setup.node_id)
        return broker is not None and broker.epoch == self.own_epoch()

    def _is_there(self, done: Deferred[ClusterImage]) -> None:
        self.metadata.when_told(self._told)

    def _told(self) -> None:
        if not self._entered.done:
            self._entered.resolve(None)

    def _tell_waiting(self) -> None:
        if not self._entered.done and not self._stopped:
            what = "the registration" if self.broker_epoch < 0 else "the controller"
            if self._is_of_quorum and self.broker_epoch >= 0:
                what = "a controller of the KRaft quorum, which has the cluster: none tells this broker of it"
            _log.info("waiting for %s", what)

    def _quorum_leads(self) -> None:
        self._is_of_quorum = True
        if not self.migrates:
            _log.error(
                "the controller is a KRaft quorum's, which tells this broker nothing: it needs "
                "zookeeper.metadata.migration.enable=true, or process.roles=broker"
            )


def _settings_of(image: ClusterImage) -> ClusterImage:
    """What a broker knows before a controller has told it of topics and brokers."""
    return replace(image, topics=TopicsImage(), brokers={}, controller_id=-1)


def _nothing() -> None:
    """Nobody asked to be told."""


def _nothing_of(topic: TopicImage) -> None:
    """There are no logs yet."""
