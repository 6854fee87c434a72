"""What is known of each version of each API that is served: its handler, its codecs, its headers, its errors.

The handler contract (one module a request API under `kbroker.handlers`, named in `api_table.py`, imported
when its API is first asked for):

* `VERSIONS = (lowest, highest)`;
* `handle(services, context, request)` returns the response object or a `Deferred` of it, or is a coroutine
  function. None instead of a response sends no answer;
* optional `ELEMENTS_MAX`: fewer elements in a request than `bounded_decode` allows, where each costs more;
* optional `error_response(request, version, code, message)`: the API's own shape for an error that escapes.

Produce, Fetch and OffsetCommit take and give bytes themselves: `raw_path(services)` makes an object with
`request(connection, frame, position, context)`.

Law of this file: it is worked out when a version is first asked for, and does not change from request to
request.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from struct import Struct
from typing import TYPE_CHECKING, Any

from kbroker.broker.forwarding import FORWARDED
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.handlers.api_table import served_apis
from kbroker.handlers.context import BROKER, RequestContext
from kbroker.handlers.guards import guarded
from kbroker.handlers.manners.manner import manner_of
from kbroker.plain import plain
from kbroker.protocol.api_keys import (
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from kbroker.protocol.bounded_decode import REQUEST_ELEMENTS_MAX
from kbroker.protocol.primitives import read_unknown_tags
from kbroker.server.error_tally import Shape, shape_of, tally
from kbroker.server.long_texts import cut_long_texts

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import ConnectionContext
    from kbroker.handlers.manners.manner import Manner
    from kbroker.handlers.offset_commit import CommitPath
    from kbroker.handlers.produce import ProducePath
    from kbroker.metrics.requests import ApiStats

_log = logging.getLogger(__name__)
_HEADER = Struct(">iih")
_SIZE_AND_CORRELATION = Struct(">ii")
_CONTROLLED_SHUTDOWN = 7
_FETCH = 1
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
    #: How an older release answers, if this is to be one.
    manner: Manner | None

    def read_header(
        self, connection: ConnectionContext, frame: bytes | memoryview
    ) -> tuple[RequestContext, int]:
        """The rest of the request header (v1, or v2 with tags): client id, and where the body begins.

        A client id that is not UTF-8 is taken as it is, Kafka never looks inside.
        """
        if len(frame) < 10:
            raise ProtocolError("request header is cut short")
        _, correlation_id, length = _HEADER.unpack_from(frame)
        if self.api_key == _CONTROLLED_SHUTDOWN and self.version == 0:
            # The one request whose header has no client id.
            return RequestContext(connection, self.api_key, 0, correlation_id, None), 8
        position = 10
        client_id = None
        if length >= 0:
            position += length
            if position > len(frame):
                raise ProtocolError("client id is cut short")
            client_id = str(frame[10:position], "utf-8", "replace")
        if self.flexible_header:
            try:
                if frame[position]:
                    _, position = read_unknown_tags(frame, position)
                else:
                    position += 1
            except IndexError:
                raise ProtocolError("request header is cut short") from None
        context = RequestContext(connection, self.api_key, self.version, correlation_id, client_id)
        return context, position

    def encode(self, context: RequestContext, response: Any) -> bytes:
        """The answer with its length and header. Errors in it are counted.

        Raises:
            ProtocolError: it cannot be encoded; the connection closes.
        """
        out = bytearray(9 if self.tagged_response_header else 8)
        errors = self.errors
        if (
            errors is not None
            and type(response) is self.response_type
            and (errors.arrays or response.error_code)
        ):
            tally(errors, response, self.stats)
        try:
            self._write(response, out)
        except Exception as error:
            raise self.broken(error) from None
        _SIZE_AND_CORRELATION.pack_into(out, 0, len(out) - 4, context.correlation_id)
        return bytes(out)

    def _write(self, response: Any, out: bytearray) -> None:
        begin = len(out)
        try:
            response.encode_into(out, self.version)
        except ValueError:
            if not cut_long_texts(response):
                raise
            del out[begin:]
            response.encode_into(out, self.version)

    def error_answer(self, request: Any, error: Exception) -> Any:
        """The API's own shape for an error that escaped its handler.

        Raises:
            ProtocolError: it has no shape for errors; the connection closes.
        """
        if isinstance(error, ApiError):
            code, message = error.code, error.message
        else:
            self._log_bug(error)
            code, message = ErrorCode.UNKNOWN_SERVER_ERROR, None
        response = self._in_shape(request, code, message)
        return response if self.manner is None else self.manner.retell(response, self.version)

    def _in_shape(self, request: Any, code: ErrorCode, message: str | None) -> Any:
        shape = getattr(self.module, "error_response", None)
        if shape is not None:
            return shape(request, self.version, code, message)
        response = self.response_type()
        if not hasattr(response, "error_code"):
            raise ProtocolError(f"{self.request_type.NAME} v{self.version} failed ({code.name})")
        response.error_code = code
        if message is not None and hasattr(response, "error_message"):
            response.error_message = message
        return response

    def broken(self, error: Exception) -> ProtocolError:
        """Our own bug, where no answer in the API's shape is possible: the connection closes, the others go
        on.
        """
        self._log_bug(error)
        return ProtocolError(f"{self.request_type.NAME} v{self.version} failed here")

    def _log_bug(self, error: Exception) -> None:
        _log.error("%s v%d failed", self.request_type.NAME, self.version, exc_info=error)


class Routes:
    """The routes of one node's listeners of one kind.

    Args:
        services: the node.
        role: of the listeners (`ConnectionContext.role`).
    """

    def __init__(self, services: Services, role: str) -> None:
        self._services = services
        self._role = role
        self._apis = served_apis(services.compatibility, role, "zookeeper" in services.extras)
        self._raw_paths: dict[str, Any] = {}
        #: What was found before, by API key times 65536 and version.
        self.known: dict[int, Route] = {}
        #: By API key, the paths that stage what comes together.
        self.stagers: dict[int, ProducePath | CommitPath] = {}
        #: By API key; Fetch tells consumers and followers apart by itself.
        self.stats: dict[int, ApiStats] = {}

    def find(self, key_and_version: int) -> Route | None:
        """What is to be done with requests of that key (times 65536) and version; None: not served."""
        api_key, version = key_and_version >> 16, key_and_version & 0xFFFF
        name = self._apis.module(api_key, version)
        if name is None:
            return None
        module = import_module(f"kbroker.handlers.{name}")
        raw = self._raw_paths.get(name)
        if raw is None and hasattr(module, "raw_path"):
            raw = self._raw_paths[name] = module.raw_path(self._services)
            if name in _STAGING:
                self.stagers[api_key] = raw
        manner = manner_of(self._services.compatibility, api_key)
        handle = getattr(module, "handle", None)
        if handle is not None and manner is not None:
            handle = manner.wrap(handle)
        route = Route(
            api_key,
            version,
            module,
            None if handle is None else guarded(self._services, api_key, handle),
            request_class(api_key),
            response_class(api_key),
            request_header_version(api_key, version) >= 2,
            response_header_version(api_key, version) >= 1,
            None if raw is None else raw.request,
            getattr(module, "ELEMENTS_MAX", REQUEST_ELEMENTS_MAX),
            self._role == BROKER and api_key in FORWARDED,
            None if raw is not None else shape_of(response_class(api_key)),
            self._services.requests.of(request_class(api_key).NAME.removesuffix("Request")),
            manner,
        )
        if api_key != _FETCH:
            self.stats[api_key] = route.stats
        self.known[key_and_version] = route
        return route
