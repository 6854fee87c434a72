"""A listener that answers as a test tells it to, for what a real broker would never do."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from kbroker.protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kbroker.protocol.generated.request_header import RequestHeader

#: (header, bytes behind the header) -> body behind the correlation id, or None to close.
Answer = Callable[[RequestHeader, bytes], bytes | None]


class FakeBroker:
    """Use as a context manager; `.bootstrap` is the address."""

    def __init__(self, answer: Answer | bytes) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.requests: list[RequestHeader] = []

    def __enter__(self) -> FakeBroker:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(ConnectionError):
            self._answer_all(connection)

    def _answer_all(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as file:
            while size := file.read(4):
                frame = file.read(int.from_bytes(size, "big"))
                if isinstance(self._answer, bytes):
                    connection.sendall(self._answer)
                    continue
                key = int.from_bytes(frame[:2], "big")
                version = int.from_bytes(frame[2:4], "big")
                flexible = (key == 18 and version >= 3) or (key == 3 and version >= 9)
                header, end = RequestHeader.decode_from(frame, 2 if flexible else 1, 0)
                self.requests.append(header)
                body = self._answer(header, frame[end:])
                if body is None:
                    return
                answer = frame[4:8] + body
                connection.sendall(len(answer).to_bytes(4, "big") + answer)


def versions(version: int, *apis: tuple[int, int, int], error: int = 0) -> bytes:
    """The body of an ApiVersions answer."""
    keys = [ApiVersion(api_key=key, min_version=low, max_version=high) for key, low, high in apis]
    return ApiVersionsResponse(error_code=error, api_keys=keys).encode(version)
