"""Asks an HTTP server who may do what, in a thread, so that nobody else waits for it."""

from __future__ import annotations

import asyncio
import http.client
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kbroker.broker.deferred import Deferred
from kbroker.errors import ConfigError
from kbroker.security.authorizer import Question
from kbroker.security.authorizer_http import (
    ANSWER_BYTES_MAX,
    QUESTIONS_MAX,
    HttpAuthorizer,
    decode_answers,
    encode_questions,
)
from kbroker.server.outward_tls import http_connection
from kbroker.server.quiet_log import QuietLog

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer

#: Requests under way; those beyond are answered as failures at once, so that nothing piles up.
ASKING_MAX = 64
_THREADS = 4

_log = QuietLog(logging.getLogger(__name__), monotonic)


class HttpAsker:
    """POSTs questions, tells the authorizer what came of it.

    Args:
        authorizer: keeps the answers.
        url: `http://` or `https://`, of the operator's choice alone: no client has a say in it.
        timeout_ms: for one request.
        on_old: answers are about to become old: what rests on them has to be decided anew.
        cache_ms: how long answers hold.
        timer: for that.

    Raises:
        ConfigError: the URL is none.
    """

    def __init__(
        self,
        authorizer: HttpAuthorizer,
        url: str,
        *,
        timeout_ms: int,
        on_old: Callable[[], None],
        cache_ms: int,
        timer: Timer,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"kbroker.authorizer.http.url: {url!r} is no http:// or https:// address")
        self._authorizer = authorizer
        self._parts = parts
        self._timeout_s = timeout_ms / 1000
        self._on_old = on_old
        self._cache_ms = cache_ms
        self._timer = timer
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="authorizer")
        self._asking = 0
        self._refresh = timer.call_later(cache_ms, self._old)

    def ask(self, questions: Iterable[Question]) -> Deferred[None]:
        """Done when all are decided, by an answer or by its failing."""
        wanted = list(dict.fromkeys(questions))
        parts = [wanted[at : at + QUESTIONS_MAX] for at in range(0, len(wanted), QUESTIONS_MAX)]
        done: Deferred[None] = Deferred()
        left = len(parts)

        def one_done() -> None:
            nonlocal left
            left -= 1
            if not left:
                done.resolve(None)

        for part in parts:
            self._ask_some(part, one_done)
        if not parts:
            done.resolve(None)
        return done

    def close(self) -> None:
        """Ask nothing more."""
        self._refresh.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _old(self) -> None:
        self._on_old()
        self._refresh = self._timer.call_later(self._cache_ms, self._old)

    def _ask_some(self, questions: list[Question], done: Callable[[], None]) -> None:
        if self._asking >= ASKING_MAX:
            self._authorizer.failed(questions)
            # Not from within: who asks begins anew at once, and would fill the stack.
            self._loop.call_soon(done)
            return
        self._asking += 1

        def finish(answers: list[bool | None] | Exception) -> None:
            self._asking -= 1
            if isinstance(answers, Exception):
                _log.info("the authorizer at %s does not answer: %s", self._parts.netloc, answers)
                self._authorizer.failed(questions)
            else:
                self._authorizer.answered(questions, answers)
            done()

        def work() -> None:
            result: list[bool | None] | Exception
            try:
                result = self._post(questions)
            except (OSError, ValueError, http.client.HTTPException) as error:
                result = error
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(finish, result)

        self._threads.submit(work)

    def _post(self, questions: list[Question]) -> list[bool | None]:
        parts = self._parts
        connection = http_connection(parts, self._timeout_s)
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            headers = {"Content-Type": "application/json"}
            connection.request("POST", path, encode_questions(questions), headers)
            response = connection.getresponse()
            data = response.read(ANSWER_BYTES_MAX + 1)
            if response.status != 200:
                raise ValueError(f"status {response.status}")
            if len(data) > ANSWER_BYTES_MAX:
                raise ValueError("the answer is too long")
            return decode_answers(data, len(questions))
        finally:
            connection.close()
