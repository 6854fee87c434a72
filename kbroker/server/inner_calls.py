"""Requests that come without a connection of their own: inside an Envelope, or from this node itself."""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.handlers.context import CONTROLLER, ConnectionContext, RequestContext
from kbroker.protocol.bounded_decode import decode_request
from kbroker.security.authorizer import Undecided
from kbroker.server.dispatch import asked

if TYPE_CHECKING:
    from kbroker.protocol.primitives import Message
    from kbroker.server.dispatch import Dispatcher
    from kbroker.server.routes import Route


class InnerCalls:
    """Calls the same handlers as the controller listeners do.

    Args:
        dispatcher: of the controller listeners.
        client_id: this node's, when it asks itself.
    """

    def __init__(self, dispatcher: Dispatcher, client_id: str) -> None:
        self._dispatcher = dispatcher
        self._client_id = client_id
        self._self = ConnectionContext("self", "127.0.0.1", role=CONTROLLER, privileged=True, trusted=True)
        self._tasks: set[asyncio.Task[None]] = set()

    def answer_frame(self, frame: bytes, connection: ConnectionContext) -> Deferred[bytes]:
        """The answer to the frame of a request, header and all, both without their lengths.

        It fails with ProtocolError if the bytes are no request, with ApiError UNSUPPORTED_VERSION if this
        node does not know it, NOT_CONTROLLER if it does not lead (any more).
        """
        failed: Deferred[bytes] = Deferred()
        if len(frame) < 8:
            failed.fail(ProtocolError("request header is cut short"))
            return failed
        route = self._dispatcher.find_route(int.from_bytes(frame[:4], "big"))
        if route is None:
            failed.fail(ApiError(ErrorCode.UNSUPPORTED_VERSION))
            return failed
        try:
            context, position = route.read_header(connection, frame)
            request, _ = decode_request(
                route.request_type, frame, route.version, position, route.elements_max
            )
        except ProtocolError as error:
            failed.fail(error)
            return failed
        return self._call(route, context, request).map(lambda response: route.encode(context, response)[4:])

    def ask(self, request: Message) -> Deferred[Any]:
        """The answer to a request of this node to itself; fails with ApiError NOT_CONTROLLER if it does not
        lead, UNSUPPORTED_VERSION if it has no such request."""
        key = request.API_KEY
        assert key is not None
        for version in range(request.MAX_VERSION, request.MIN_VERSION - 1, -1):
            route = self._dispatcher.find_route(key << 16 | version)
            if route is not None:
                return self._call(
                    route, RequestContext(self._self, key, version, 0, self._client_id), request
                )
        failed: Deferred[Any] = Deferred()
        failed.fail(ApiError(ErrorCode.UNSUPPORTED_VERSION))
        return failed

    def _call(self, route: Route, context: RequestContext, request: Any) -> Deferred[Any]:
        answer: Deferred[Any] = Deferred()
        services = self._dispatcher.services
        try:
            assert route.handle is not None
            result = route.handle(services, context, request)
        except Undecided as undecided:
            assert services.authorizer is not None
            return asked(services.authorizer, undecided, lambda: self._call(route, context, request))
        except Exception as error:
            _give_error(answer, route, request, error)
            return answer
        if isawaitable(result):
            self._run(result, answer, route, request)
        elif isinstance(result, Deferred):
            answer.on_cancel = result.cancel
            result.then(lambda done: _give(answer, route, request, done))
        else:
            answer.resolve(result)
        return answer

    def _run(self, coroutine: Any, answer: Deferred[Any], route: Route, request: Any) -> None:
        async def run() -> None:
            try:
                answer.resolve(await coroutine)
            except Exception as error:
                _give_error(answer, route, request, error)

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _give(answer: Deferred[Any], route: Route, request: Any, done: Deferred[Any]) -> None:
    try:
        answer.resolve(done.result())
    except Exception as error:
        _give_error(answer, route, request, error)


def _give_error(answer: Deferred[Any], route: Route, request: Any, error: Exception) -> None:
    if isinstance(error, ProtocolError) or (
        isinstance(error, ApiError) and error.code is ErrorCode.NOT_CONTROLLER
    ):
        answer.fail(error)
        return
    try:
        answer.resolve(route.error_answer(request, error))
    except ProtocolError as problem:
        answer.fail(problem)
