"""Links to a real ZooKeeper, over kazoo (extra `kbroker[zookeeper]`, imported when the first link is made).

kazoo works in threads of its own; whatever it has to tell goes to the event loop through one of them, so that
answers, watches and changes of its state stay in the order in which they came from the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kbroker.broker.zk_port import (
    Children,
    Exists,
    Get,
    LinkEvents,
    Multi,
    NodeStat,
    Watch,
    WatchEvent,
    ZkCode,
    ZkError,
    ZkNode,
    ZkRequest,
)
from kbroker.controller.zookeeper.paths import CONSUMERS
from kbroker.controller.zookeeper.tree import Check, Create, Delete, SetData, ZkOp
from kbroker.errors import ConfigError
from kbroker.plain import plain
from kbroker.server.outward_tls import trusting

_log = logging.getLogger(__name__)


@plain(frozen=True, kw_only=True)
class ZkSettings:
    """How ZooKeeper is reached.

    Attributes:
        servers: `host:port,host:port`, without a chroot.
        chroot: "" or "/path": all paths are below it.
        session_ms: zookeeper.session.timeout.ms.
        set_acl: zookeeper.set.acl: only who is logged in may write.
        tls: zookeeper.ssl.client.enable.
        ca_file, cert_file, key_file, key_password: PEM files.
        check_hostname: zookeeper.ssl.endpoint.identification.algorithm is HTTPS.
        user, password: for SASL (DIGEST-MD5), "" for none.
        kerberos: options of Krb5LoginModule for SASL (GSSAPI), None for none.
    """

    servers: str
    chroot: str = ""
    session_ms: int = 18_000
    set_acl: bool = False
    tls: bool = False
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    key_password: str | None = None
    check_hostname: bool = True
    user: str = ""
    password: str = ""
    kerberos: Mapping[str, str] | None = None


def split_connect(text: str) -> tuple[str, str]:
    """Servers and chroot of a zookeeper.connect.

    Raises:
        ConfigError: it cannot be one.
    """
    servers, slash, chroot = text.partition("/")
    chroot = f"/{chroot.strip('/')}" if slash and chroot.strip("/") else ""
    for server in servers.split(","):
        host, colon, port = server.strip().rpartition(":")
        if (not host and colon) or (colon and not port.isdigit()) or not server.strip():
            raise ConfigError(f"zookeeper.connect: {text!r} is not host:port,host:port/chroot")
    if "//" in chroot:
        raise ConfigError(f"zookeeper.connect: the chroot {chroot} has an empty part")
    if {".", ".."}.intersection(chroot.split("/")):
        raise ConfigError(f"zookeeper.connect: ZooKeeper has no . and .. in paths, as in the chroot {chroot}")
    return servers, chroot


def open_links(settings: ZkSettings) -> Callable[[], KazooLink]:
    """What makes the link of each new session.

    Raises:
        ConfigError: kazoo, or what it needs for SASL, is not installed; or the login cannot be one.
    """
    try:
        import kazoo.client  # noqa: F401
    except ImportError:
        raise ConfigError("ZooKeeper needs kazoo: pip install 'kbroker[zookeeper]'") from None
    sasl = _sasl_options(settings)
    loop = asyncio.get_running_loop()
    return lambda: KazooLink(settings, loop, sasl)


def _sasl_options(settings: ZkSettings) -> dict[str, Any] | None:
    if not settings.user and settings.kerberos is None:
        return None
    try:
        import puresasl  # noqa: F401
    except ImportError:
        raise ConfigError("SASL to ZooKeeper needs pure-sasl: pip install 'kbroker[zookeeper]'") from None
    if settings.kerberos is None:
        return {"mechanism": "DIGEST-MD5", "username": settings.user, "password": settings.password}
    from kbroker.server.zk_kerberos import kerberos_options

    return kerberos_options(settings.kerberos, "kbroker.zookeeper.sasl.jaas.config")


class KazooLink:
    """A `ZkLink` to a real ZooKeeper. To be made, and called, on the event loop's thread."""

    def __init__(
        self, settings: ZkSettings, loop: asyncio.AbstractEventLoop, sasl: dict[str, Any] | None = None
    ) -> None:
        self._settings = settings
        self._loop = loop
        self._events: LinkEvents | None = None
        self._client, self._tell = _client(settings, sasl)
        self._granted_ms = settings.session_ms
        self._learn_granted()

    # -- ZkLink ----------------------------------------------------------------------------------------------

    def open(self, events: LinkEvents) -> None:
        """See `ZkLink`."""
        self._events = events
        self._client.add_listener(self._state_changed)
        self._client.start_async()

    def submit(
        self, request: ZkRequest, watch: Watch | None, done: Callable[[Any, ZkError | None], None]
    ) -> None:
        """See `ZkLink`."""
        armed = None if watch is None else partial(self._watched, watch)
        client = self._client
        match request:
            case Get(path):
                asked = client.get_async(path, watch=armed)
            case Exists(path):
                asked = client.exists_async(path, watch=armed)
            case Children(path):
                asked = client.get_children_async(path, watch=armed)
            case Multi(operations):
                transaction = client.transaction()
                for operation in operations:
                    self._add(transaction, operation)
                asked = transaction.commit_async()
        asked.rawlink(lambda result: self._post(lambda: self._answered(request, result, done)))

    def close(self, then: Callable[[], None], *, abrupt: bool = False) -> None:
        """See `ZkLink`; kazoo waits for its threads and for the server, so not here."""
        self._events = None
        if abrupt:
            self._hang_up()
        threading.Thread(target=self._close, args=(then,), name="zookeeper-close", daemon=True).start()

    def _hang_up(self) -> None:
        """End the connection: kazoo sends what a client says that closes its session to nobody."""
        link = self._client._connection._socket
        if link is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(link, socket.SHUT_RDWR)

    def _close(self, then: Callable[[], None]) -> None:
        try:
            self._client.stop()
            self._client.close()
        except Exception as error:
            _log.debug("closing a link to ZooKeeper: %s", error)
        self._post(then)

    # -- inside ----------------------------------------------------------------------------------------------

    def _learn_granted(self) -> None:
        """kazoo tells nobody which time-out the servers have granted: take it from their answer."""
        connection = self._client._connection
        invoke = connection._invoke

        def listening(timeout: float, request: Any, *more: Any, **named: Any) -> Any:
            answer = invoke(timeout, request, *more, **named)
            if type(request).__name__ == "Connect" and answer[0].time_out > 0:
                self._granted_ms = answer[0].time_out
            return answer

        connection._invoke = listening

    def _post(self, callback: Callable[[], None]) -> None:
        """Call it on the loop; a loop that is closed wants to hear nothing."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback)

    def _add(self, transaction: Any, operation: ZkOp) -> None:
        match operation:
            case Create():
                acl = _acl(self._settings.set_acl and operation.path != CONSUMERS, operation.sensitive)
                transaction.create(
                    operation.path,
                    operation.data,
                    acl=acl,
                    ephemeral=operation.ephemeral,
                    sequence=operation.sequence,
                )
                if not operation.data:
                    # No data and empty data are not the same to ZooKeeper. Kafka's folders have none, and its
                    # migration to KRaft stops at an empty /latest_producer_id_block.
                    transaction.operations[-1] = transaction.operations[-1]._replace(data=None)
            case SetData():
                transaction.set_data(operation.path, operation.data, operation.version)
            case Delete():
                transaction.delete(operation.path, operation.version)
            case Check():
                transaction.check(operation.path, operation.version)

    def _answered(self, request: ZkRequest, result: Any, done: Callable[[Any, ZkError | None], None]) -> None:
        error = result.exception
        if error is not None:
            path = "" if isinstance(request, Multi) else request.path
            done(None, _zk_error(error, path))
            return
        try:
            value = _value(request, result.value)
        except ZkError as failed:
            done(None, failed)
            return
        done(value, None)

    def _watched(self, watch: Watch, event: Any) -> None:
        kind = _EVENTS.get(event.type, WatchEvent.UNSURE)
        self._post(lambda: watch(kind))

    def _state_changed(self, state: str) -> None:
        """In kazoo's connection thread; behind what has been read before."""
        from kazoo.protocol.states import KeeperState

        auth_failed = self._client.client_state == KeeperState.AUTH_FAILED
        client_id = self._client.client_id
        granted_ms = self._granted_ms
        self._tell(lambda: self._post(lambda: self._new_state(state, client_id, granted_ms, auth_failed)))

    def _new_state(
        self, state: str, client_id: tuple[int, bytes] | None, granted_ms: float, auth_failed: bool
    ) -> None:
        events = self._events
        if events is None:
            return
        if state == "CONNECTED" and client_id is not None:
            events.connected(client_id[0], granted_ms)
        elif state == "SUSPENDED":
            events.disconnected()
        elif state == "LOST":
            # kazoo would go on with a session of another number by itself.
            self._events = None
            events.over(ZkError(ZkCode.AUTH_FAILED if auth_failed else ZkCode.SESSION_OVER))


def _client(
    settings: ZkSettings, sasl: dict[str, Any] | None
) -> tuple[Any, Callable[[Callable[[], None]], None]]:
    """A kazoo client that tells everything in one thread, and the way into that thread."""
    from kazoo.client import KazooClient
    from kazoo.handlers.threading import SequentialThreadingHandler
    from kazoo.retry import KazooRetry

    told: set[str] = set()

    class Handler(SequentialThreadingHandler):  # type: ignore[misc]
        def dispatch_callback(self, callback: Any) -> None:
            self.completion_queue.put(lambda: callback.func(*callback.args))

        def create_connection(self, address: Any, hostname: str, timeout: float, **named: Any) -> Any:
            if not settings.tls:
                return super().create_connection(address, hostname=hostname, timeout=timeout, **named)
            try:
                return _tls_connection(settings, address, hostname, timeout)
            except ssl.SSLError as error:
                # kazoo tries again and says nothing.
                if str(error) not in told:
                    told.add(str(error))
                    _log.warning("no TLS with ZooKeeper at %s:%d: %s", hostname, address[1], error)
                raise

        def select(self, read: Any, write: Any, errors: Any, timeout: float | None = None) -> Any:
            # What one record of TLS held beside the answer that was read no longer shows on the socket.
            held = [each for each in read if isinstance(each, ssl.SSLSocket) and each.pending()]
            ready = super().select(read, write, errors, 0 if held else timeout)
            return ([*held, *(each for each in ready[0] if each not in held)], *ready[1:])

    handler = Handler()
    quiet = logging.getLogger("kbroker.zookeeper.kazoo")
    quiet.setLevel(logging.CRITICAL)
    client = KazooClient(
        hosts=settings.servers + settings.chroot,
        timeout=settings.session_ms / 1000,
        handler=handler,
        connection_retry=KazooRetry(max_tries=-1, delay=0.05, backoff=2, max_delay=1.0),
        sasl_options=None if sasl is None else dict(sasl),
        logger=quiet,
        use_ssl=settings.tls,
    )
    return client, handler.completion_queue.put


def _tls_connection(settings: ZkSettings, address: Any, hostname: str, timeout: float) -> ssl.SSLSocket:
    """A connection that trusts the authorities that are set, and only if none are those of the system."""
    context = trusting(settings.ca_file)
    context.check_hostname = settings.check_hostname
    if settings.cert_file is not None:
        # Never ask at a terminal for a password that was not given.
        context.load_cert_chain(settings.cert_file, settings.key_file, settings.key_password or "")
    plain_socket = socket.create_connection(address[:2], timeout)
    try:
        return context.wrap_socket(plain_socket, server_hostname=hostname)
    except BaseException:
        plain_socket.close()
        raise


def _acl(set_acl: bool, sensitive: bool) -> Any:
    from kazoo.security import CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

    if not set_acl:
        return OPEN_ACL_UNSAFE
    return CREATOR_ALL_ACL if sensitive else CREATOR_ALL_ACL + READ_ACL_UNSAFE


def _value(request: ZkRequest, value: Any) -> Any:
    match request:
        case Get():
            return ZkNode(value[0] or b"", _stat(value[1]))
        case Exists():
            return None if value is None else _stat(value)
        case Children():
            return list(value)
        case Multi(operations):
            return _multi_results(operations, value)


def _multi_results(operations: tuple[ZkOp, ...], values: list[Any]) -> list[Any]:
    """Results of a multi, or the error of the operation that it failed for."""
    from kazoo.exceptions import RolledBackError, RuntimeInconsistency

    failed = [(at, each) for at, each in enumerate(values) if isinstance(each, Exception)]
    for at, error in failed:
        if not isinstance(error, RolledBackError | RuntimeInconsistency):
            raise _zk_error(error, operations[at].path, at)
    if failed:
        raise ZkError(ZkCode.OTHER, operations[0].path, 0, "a multi was rolled back")
    results: list[Any] = []
    for operation, value in zip(operations, values):
        match operation:
            case Create():
                results.append(value)
            case SetData():
                results.append(_stat(value))
            case _:
                results.append(None)
    return results


def _stat(stat: Any) -> NodeStat:
    return NodeStat(stat.czxid, stat.version, stat.ephemeralOwner)


_EVENTS = {
    "CREATED": WatchEvent.CREATED,
    "DELETED": WatchEvent.DELETED,
    "CHANGED": WatchEvent.CHANGED,
    "CHILD": WatchEvent.CHILDREN,
}
_CODES = {
    "NoNodeError": ZkCode.NO_NODE,
    "NodeExistsError": ZkCode.NODE_EXISTS,
    "BadVersionError": ZkCode.BAD_VERSION,
    "NotEmptyError": ZkCode.NOT_EMPTY,
    "NoChildrenForEphemeralsError": ZkCode.NO_CHILDREN,
    "NoAuthError": ZkCode.NO_AUTH,
    "InvalidACLError": ZkCode.NO_AUTH,
    "AuthFailedError": ZkCode.AUTH_FAILED,
    "ConnectionLoss": ZkCode.CONNECTION_LOST,
    "OperationTimeoutError": ZkCode.CONNECTION_LOST,
    "SessionExpiredError": ZkCode.SESSION_OVER,
    "ConnectionClosedError": ZkCode.SESSION_OVER,
}


def _zk_error(error: Exception, path: str, operation: int = -1) -> ZkError:
    name = type(error).__name__
    code = _CODES.get(name, ZkCode.OTHER)
    return ZkError(code, path, operation, name if code is ZkCode.OTHER else "")
