"""From a frame to a handler and back: which way a request goes, and how its answer comes.

Law of this file: a handler is called once, when it may be, and whatever becomes of it is an answer in the
API's own shape, or closes the connection. What a handler is, and what its answers look like, is `routes.py`.
The `fast` paths of Produce, Fetch and OffsetCommit go around all this, for what a connection repeats; what
those stage, `finish_batch` completes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from struct import Struct
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.handlers.context import BROKER, RequestContext
from kbroker.handlers.metadata_cache import EncodedAnswer
from kbroker.protocol.bounded_decode import decode_request
from kbroker.security.authorizer import Undecided
from kbroker.server.routes import Routes

if TYPE_CHECKING:
    from kbroker.broker.access import Access
    from kbroker.broker.services import Services
    from kbroker.handlers.context import ConnectionContext
    from kbroker.metrics.requests import ApiStats
    from kbroker.server.connection import ConnectionCore
    from kbroker.server.frame_handler import Answer
    from kbroker.server.routes import Route

_KEY_AND_VERSION = Struct(">i")
_SIZE = Struct(">i")
_SIZE_AND_CORRELATION = Struct(">ii")
_API_VERSIONS = 18


class Dispatcher:
    """Answers request frames for all connections of one node that come to listeners of one kind.

    Args:
        services: the node.
        role: of the listeners (`ConnectionContext.role`).
    """

    def __init__(self, services: Services, role: str = BROKER) -> None:
        self.services = services
        self._requests = services.requests
        self._role = role
        routes = Routes(services, role)
        #: What is to be done with requests of a key (times 65536) and version; None: not served.
        self.find_route = routes.find
        self._routes = routes.known
        self._stagers = routes.stagers
        self._stats = routes.stats
        self._tasks: set[asyncio.Task[None]] = set()

    # -- what a connection calls --

    def request(self, connection: ConnectionCore, frame: memoryview) -> Answer | Deferred[Answer]:
        """See `FrameHandler.request`."""
        (key_and_version,) = _KEY_AND_VERSION.unpack_from(frame)
        # Records are large and their bytes are patched in place: no copy of a Produce.
        body = frame if 0 <= key_and_version < 0x10000 else bytes(frame)
        requests = self._requests
        if not requests.timed:
            answer = self._general(connection, body, key_and_version)
            stats = self._stats.get(key_and_version >> 16)
            if stats is not None:
                stats.versions[key_and_version & 0xFFFF] += 1
            return answer
        started_s = requests.now_s()
        answer = self._general(connection, body, key_and_version)
        stats = self._stats.get(key_and_version >> 16)
        if stats is not None:
            note(stats, connection, key_and_version & 0xFFFF, len(frame), started_s, answer)
            if self.services.request_log is not None:
                self.services.request_log.note(
                    connection.context,
                    stats.name,
                    key_and_version & 0xFFFF,
                    len(frame),
                    started_s,
                    requests.now_s(),
                    is_parked=isinstance(answer, Deferred) and not answer.done,
                )
        return answer

    def finish_batch(self, connection: ConnectionCore) -> None:
        """See `FrameHandler.finish_batch`."""
        path = self._stagers.get(connection.staged_key)
        log = self.services.request_log
        if log is None:
            if path is not None:
                path.finish_batch(connection)
        elif path is not None:
            key, times = connection.staged_key, len(connection.staged)
            path.finish_batch(connection)
            if connection.produce_cache is not None and not key:
                log.note(
                    connection.context,
                    "Produce",
                    connection.produce_cache.version,
                    connection.frame_size,
                    connection.began_s,
                    self.services.requests.now_s(),
                    times=times,
                    is_parked=connection.parked is not None,
                )

    def opened(self, connection: ConnectionContext) -> None:
        """See `FrameHandler.opened`."""
        self.services.clients.opened(connection, self.services.clock.now_ms())

    def closed(self, connection: ConnectionContext) -> None:
        """See `FrameHandler.closed`."""
        self.services.clients.closed(connection, self.services.clock.now_ms())
        if connection.meter is not None:
            connection.meter.closed()

    # -- the general path --

    def _general(
        self, connection: ConnectionCore, frame: bytes | memoryview, key_and_version: int
    ) -> Answer | Deferred[Answer]:
        route = self._routes.get(key_and_version) or self.find_route(key_and_version)
        if route is None:
            return self._refuse_version(connection, frame, key_and_version)
        context, position = route.read_header(connection.context, frame)
        if key_and_version not in connection.context.used:
            connection.context.used.add(key_and_version)
            connection.context.client_id = context.client_id
            quotas = self.services.quotas
            if quotas is not None and quotas.active and self._role == BROKER:
                quotas.attach(connection.context, connection)
        if connection.staged and route.api_key:
            self.finish_batch(connection)
        if route.raw is not None:
            return self._call_raw(route, connection, frame, position, context)
        if route.forwarded and self.services.forward is not None and not self.services.controller.active:
            return self._forward(route, bytes(frame), position, context)
        request, _ = decode_request(route.request_type, frame, route.version, position, route.elements_max)
        refusal = self.services.refusal
        if refusal is not None and self._role == BROKER:
            error = refusal(context, request)
            if error is not None:
                return self._encode_error(route, context, request, error)
        return self._call(route, context, request)

    def _call_raw(
        self,
        route: Route,
        connection: ConnectionCore,
        frame: bytes | memoryview,
        position: int,
        context: RequestContext,
    ) -> Answer | Deferred[Answer]:
        assert route.raw is not None
        try:
            answer: Answer | Deferred[Answer] = route.raw(connection, frame, position, context)
            return answer
        except ProtocolError:
            raise
        except Undecided as undecided:
            kept = bytes(frame)  # the connection uses its memory again
            return self._decided(
                undecided, lambda: self._call_raw(route, connection, kept, position, context)
            )
        except Exception as error:
            raise route.broken(error) from None

    def _decided(
        self, undecided: Undecided, again: Callable[[], Answer | Deferred[Answer]]
    ) -> Deferred[Answer]:
        """Begin anew when somebody outside has decided."""
        authorizer = self.services.authorizer
        assert authorizer is not None
        return asked(authorizer, undecided, again)

    def _forward(
        self, route: Route, frame: bytes, position: int, context: RequestContext
    ) -> Deferred[Answer]:
        """Relay to the controller and back, unread."""
        assert self.services.forward is not None
        answer: Deferred[Answer] = Deferred()

        def relay(done: Deferred[bytes]) -> None:
            try:
                response = done.result()
            except ApiError as error:
                if error.code is ErrorCode.UNSUPPORTED_VERSION:
                    answer.fail(
                        ProtocolError(f"the controller has no {route.request_type.NAME} {route.version}")
                    )
                    return
                try:
                    request, _ = decode_request(
                        route.request_type, frame, route.version, position, route.elements_max
                    )
                    answer.resolve(self._encode_error(route, context, request, error))
                except ProtocolError as problem:
                    answer.fail(problem)
            else:
                answer.resolve(_SIZE.pack(len(response)) + response)

        self.services.forward.frame(frame, context.principal, context.client_address).then(relay)
        return answer

    def _call(self, route: Route, context: RequestContext, request: Any) -> Answer | Deferred[Answer]:
        try:
            assert route.handle is not None
            result = route.handle(self.services, context, request)
        except ProtocolError:
            raise
        except Undecided as undecided:
            return self._decided(undecided, lambda: self._call(route, context, request))
        except Exception as error:
            return self._encode_error(route, context, request, error)
        if type(result) is route.response_type:
            return route.encode(context, result)
        if type(result) is EncodedAnswer:
            head = _SIZE_AND_CORRELATION.pack(
                len(result.data) + 4 + route.tagged_response_header, context.correlation_id
            )
            return b"".join((head, b"\0" * route.tagged_response_header, result.data))
        if result is None:
            return None
        if isinstance(result, Deferred):
            if result.succeeded:
                return self._encode_result(route, context, request, result)
            return self._encode_later(route, context, request, result)
        if type(result) is CoroutineType:
            return self._run(route, context, request, result)
        return route.encode(context, result)

    def _encode_result(
        self, route: Route, context: RequestContext, request: Any, result: Deferred[Any]
    ) -> bytes | None:
        try:
            response = result.result()
            return None if response is None else route.encode(context, response)
        except (ProtocolError, Undecided):
            raise
        except Exception as error:
            return self._encode_error(route, context, request, error)

    def _encode_later(
        self, route: Route, context: RequestContext, request: Any, result: Deferred[Any]
    ) -> Deferred[Answer]:
        answer: Deferred[Answer] = Deferred()
        answer.on_cancel = result.cancel

        def encode(done: Deferred[Any]) -> None:
            try:
                value = self._encode_result(route, context, request, done)
            except Undecided as undecided:
                self._decided(undecided, lambda: self._call(route, context, request)).then(answer.follow)
            except ProtocolError as error:
                answer.fail(error)
            else:
                answer.resolve(value)

        result.then(encode)
        return answer

    def _run(
        self, route: Route, context: RequestContext, request: Any, coroutine: Awaitable[Any]
    ) -> Deferred[Answer]:
        result: Deferred[Any] = Deferred()

        async def run() -> None:
            try:
                result.resolve(await coroutine)
            except Exception as error:
                result.fail(error)

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return self._encode_later(route, context, request, result)

    # -- errors --

    def _encode_error(self, route: Route, context: RequestContext, request: Any, error: Exception) -> bytes:
        return route.encode(context, route.error_answer(request, error))

    def _refuse_version(
        self, connection: ConnectionCore, frame: bytes | memoryview, key_and_version: int
    ) -> bytes:
        """ApiVersions is answered with what there is, in the shape of version 0; the rest close (KIP-511)."""
        api_key, version = key_and_version >> 16, key_and_version & 0xFFFF
        if api_key != _API_VERSIONS:
            raise ProtocolError(f"no API with key {api_key} and version {version}")
        if connection.staged:
            self.finish_batch(connection)
        route = self._routes.get(_API_VERSIONS << 16) or self.find_route(_API_VERSIONS << 16)
        if route is None:
            raise ProtocolError(f"Kafka {self.services.compatibility} has no ApiVersions")
        (correlation_id,) = _KEY_AND_VERSION.unpack_from(frame, 4)
        context = RequestContext(connection.context, _API_VERSIONS, 0, correlation_id)
        response = route.module.unsupported_version(self.services, self._role)
        return route.encode(context, response)


def note(
    stats: ApiStats, connection: ConnectionCore, version: int, size: int, started_s: float, answer: Any
) -> None:
    """A request was handled: how long it took, or that it is parked now."""
    connection.answered = stats
    if isinstance(answer, Deferred) and not answer.done:
        connection.waiting = stats.wait(version, size, connection.began_s, started_s=started_s)
    else:
        stats.done(version, size, started_s, read_s=connection.began_s)


def asked(authorizer: Access, undecided: Undecided, again: Callable[[], Any]) -> Deferred[Any]:
    """What `again` gives once somebody outside has decided; it may have further questions."""
    answer: Deferred[Any] = Deferred()

    def go_on(_: Deferred[None]) -> None:
        if answer.done:
            return
        try:
            result = again()
        except Exception as error:
            answer.fail(error)
            return
        answer.become(result)

    assert authorizer.ask is not None
    authorizer.ask(undecided.questions).then(go_on)
    return answer
