"""From a frame to a handler and back: headers, versions, codecs, errors.

The handler contract (one module a request API under `kbroker.handlers`, named in `api_table.py`, imported
when its API is first asked for):

* `VERSIONS = (lowest, highest)`;
* `handle(services, context, request)` returns the response object or a `Deferred` of it, or is a coroutine
  function. None instead of a response sends no answer;
* optional `ELEMENTS_MAX`: fewer elements in a request than `bounded_decode` allows, where each costs more;
* optional `error_response(request, version, code, message)`: the API's own shape for an error that escapes.

Produce, Fetch and OffsetCommit take and give bytes themselves: `raw_path(services)` makes an object with
`request(connection, frame, position, context)`; their `fast` paths are for what a connection repeats, and
what those stage, `finish_batch` completes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib import import_module
from struct import Struct
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.forwarding import FORWARDED
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.handlers.api_table import served_apis
from kbroker.handlers.context import BROKER, RequestContext
from kbroker.handlers.guards import guarded
from kbroker.handlers.metadata_cache import EncodedAnswer
from kbroker.plain import plain
from kbroker.protocol.api_keys import (
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from kbroker.protocol.bounded_decode import REQUEST_ELEMENTS_MAX, decode_request
from kbroker.protocol.primitives import read_unknown_tags
from kbroker.security.authorizer import Undecided
from kbroker.server.error_tally import Shape, shape_of, tally

if TYPE_CHECKING:
    from kbroker.broker.access import Access
    from kbroker.broker.services import Services
    from kbroker.handlers.context import ConnectionContext
    from kbroker.handlers.offset_commit import CommitPath
    from kbroker.handlers.produce import ProducePath
    from kbroker.metrics.requests import ApiStats
    from kbroker.server.connection import Answer, ConnectionCore

_log = logging.getLogger(__name__)
_HEADER = Struct(">iih")
_KEY_AND_VERSION = Struct(">i")
_SIZE = Struct(">i")
_SIZE_AND_CORRELATION = Struct(">ii")
_CONTROLLED_SHUTDOWN = 7
_FETCH = 1
_API_VERSIONS = 18
#: Handlers whose raw path has a `finish_batch`.
_STAGING = ("produce", "offset_commit")


@plain(frozen=True)
class Route:
    """Everything about one version of one API that does not change from request to request."""

    api_key: int
    version: int
    module: Any
    #: The module's `handle`, behind its guard if there is an authorizer.
    handle: Callable[[Any, Any, Any], Any] | None
    request_type: Any
    response_type: Any
    flexible_header: bool
    tagged_response_header: bool
    raw: Callable[[Any, Any, int, RequestContext], Any] | None
    elements_max: int
    #: Only the active controller decides: other nodes pass it on.
    forwarded: bool
    #: Where its errors are, and where they are counted.
    errors: Shape | None
    stats: ApiStats


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
        self._apis = served_apis(services.compatibility, role, "zookeeper" in services.extras)
        self._routes: dict[int, Route] = {}
        self._raw_paths: dict[str, Any] = {}
        #: By API key, the paths that stage what comes together.
        self._stagers: dict[int, ProducePath | CommitPath] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        #: By API key; Fetch tells consumers and followers apart by itself.
        self._stats: dict[int, ApiStats] = {}

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
        context, position = read_header(connection.context, frame, route)
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
            raise _broken(route, error) from None

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
            return encode_answer(route, context, result)
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
        return encode_answer(route, context, result)

    def _encode_result(
        self, route: Route, context: RequestContext, request: Any, result: Deferred[Any]
    ) -> bytes | None:
        try:
            response = result.result()
            return None if response is None else encode_answer(route, context, response)
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
        return encode_answer(route, context, error_answer(route, request, error))

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
        return encode_answer(route, context, response)

    # -- routes --

    def find_route(self, key_and_version: int) -> Route | None:
        """What is to be done with requests of that key (times 65536) and version; None: not served."""
        api_key, version = key_and_version >> 16, key_and_version & 0xFFFF
        name = self._apis.module(api_key, version)
        if name is None:
            return None
        module = import_module(f"kbroker.handlers.{name}")
        raw = self._raw_paths.get(name)
        if raw is None and hasattr(module, "raw_path"):
            raw = self._raw_paths[name] = module.raw_path(self.services)
            if name in _STAGING:
                self._stagers[api_key] = raw
        route = Route(
            api_key,
            version,
            module,
            guarded(self.services, api_key, module.handle) if hasattr(module, "handle") else None,
            request_class(api_key),
            response_class(api_key),
            request_header_version(api_key, version) >= 2,
            response_header_version(api_key, version) >= 1,
            None if raw is None else raw.request,
            getattr(module, "ELEMENTS_MAX", REQUEST_ELEMENTS_MAX),
            self._role == BROKER and api_key in FORWARDED,
            None if raw is not None else shape_of(response_class(api_key)),
            self.services.requests.of(request_class(api_key).NAME.removesuffix("Request")),
        )
        if api_key != _FETCH:
            self._stats[api_key] = route.stats
        self._routes[key_and_version] = route
        return route


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


def error_answer(route: Route, request: Any, error: Exception) -> Any:
    """The API's own shape for an error that escaped its handler.

    Raises:
        ProtocolError: it has no shape for errors; the connection closes.
    """
    if isinstance(error, ApiError):
        code, message = error.code, error.message
    else:
        _log_bug(route, error)
        code, message = ErrorCode.UNKNOWN_SERVER_ERROR, None
    shape = getattr(route.module, "error_response", None)
    if shape is not None:
        return shape(request, route.version, code, message)
    response = route.response_type()
    if not hasattr(response, "error_code"):
        raise ProtocolError(f"{route.request_type.NAME} v{route.version} failed ({code.name})")
    response.error_code = code
    if message is not None and hasattr(response, "error_message"):
        response.error_message = message
    return response


def read_header(
    connection: ConnectionContext, frame: bytes | memoryview, route: Route
) -> tuple[RequestContext, int]:
    """The rest of the request header (v1, or v2 with tags): client id, and where the body begins.

    A client id that is not UTF-8 is taken as it is, Kafka never looks inside.
    """
    if len(frame) < 10:
        raise ProtocolError("request header is cut short")
    _, correlation_id, length = _HEADER.unpack_from(frame)
    if route.api_key == _CONTROLLED_SHUTDOWN and route.version == 0:
        # The one request whose header has no client id.
        return RequestContext(connection, route.api_key, 0, correlation_id, None), 8
    position = 10
    client_id = None
    if length >= 0:
        position += length
        if position > len(frame):
            raise ProtocolError("client id is cut short")
        client_id = str(frame[10:position], "utf-8", "replace")
    if route.flexible_header:
        try:
            if frame[position]:
                _, position = read_unknown_tags(frame, position)
            else:
                position += 1
        except IndexError:
            raise ProtocolError("request header is cut short") from None
    context = RequestContext(connection, route.api_key, route.version, correlation_id, client_id)
    return context, position


def encode_answer(route: Route, context: RequestContext, response: Any) -> bytes:
    out = bytearray(9 if route.tagged_response_header else 8)
    errors = route.errors
    if (
        errors is not None
        and type(response) is route.response_type
        and (errors.arrays or response.error_code)
    ):
        tally(errors, response, route.stats)
    try:
        response.encode_into(out, route.version)
    except Exception as error:
        raise _broken(route, error) from None
    _SIZE_AND_CORRELATION.pack_into(out, 0, len(out) - 4, context.correlation_id)
    return bytes(out)


def _log_bug(route: Route, error: Exception) -> None:
    _log.error("%s v%d failed", route.request_type.NAME, route.version, exc_info=error)


def _broken(route: Route, error: Exception) -> ProtocolError:
    """Our own bug, where no answer in the API's shape is possible: the connection closes, the others go
    on.
    """
    _log_bug(route, error)
    return ProtocolError(f"{route.request_type.NAME} v{route.version} failed here")
