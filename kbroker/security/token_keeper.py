"""Keeps a token, and gets another before it ends: as Kafka's clients do (KIP-255, KIP-768)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import count
from typing import TypeAlias

from kbroker.errors import ConfigError
from kbroker.plain import plain
from kbroker.security.sasl import LoginFailed

_log = logging.getLogger(__name__)
#: Until the next try when a renewal in good time has failed; Kafka's.
_AGAIN_MS = 10_000
#: As long a failure counts for all who ask: those who have waited meanwhile need not wait for the same again.
_SILENCE_S = 1.0
#: The least time between two renewals, whatever the settings say.
_LEAST_S = 1.0
_RETRY_MS, _RETRY_MOST_MS = "sasl.login.retry.backoff.ms", "sasl.login.retry.backoff.max.ms"


@plain(frozen=True)
class Token:
    """What one gets. `ends_ms` by its own word or the provider's, `starts_ms` by its own; None: no word."""

    text: str
    ends_ms: int | None
    starts_ms: int | None = None

    def __repr__(self) -> str:
        return f"Token(ends_ms={self.ends_ms})"


#: One attempt, by the wall clock in ms; raises LoginFailed, and MayPass where another may succeed.
Fetch: TypeAlias = Callable[[int], Token]
Setting: TypeAlias = Callable[[str], str]


class MayPass(LoginFailed):
    """Nothing is wrong with what was asked: it is worth asking again."""


@plain(frozen=True, kw_only=True)
class Outside:
    """What a keeper needs of the world.

    Attributes:
        now_ms: wall clock.
        clock_s: never runs backwards.
        sleep: for so many seconds, in the thread that asks; True: it is over, give up.
        chance: 0 <= x < 1.
        later: does something in a thread of its own, after so many seconds; None: whoever asks for a token
            renews it.
    """

    now_ms: Callable[[], int]
    clock_s: Callable[[], float]
    sleep: Callable[[float], bool]
    chance: Callable[[], float]
    later: Callable[[float, Callable[[], None]], None] | None = None


@plain(frozen=True)
class Retry:
    """sasl.login.retry.backoff.ms, and .max.ms: as in Kafka, after so long there is no further attempt."""

    first_ms: int = 100
    most_ms: int = 10_000

    def of(self, attempt: Callable[[], Token], outside: Outside) -> Token:
        """Its result, by the first attempt that succeeds; the pauses between them double.

        Raises:
            LoginFailed: it can only fail; or all that there was time for have failed.
        """
        ends_s = outside.clock_s() + self.most_ms / 1000
        pause_s = self.first_ms / 1000
        level = logging.INFO
        while True:
            try:
                return attempt()
            except MayPass as error:
                wait_s = min(pause_s, ends_s - outside.clock_s())
                if wait_s <= 0:
                    raise
                # Once for all attempts: several who need a token may wait for the same provider.
                _log.log(level, "%s; asking again in %d ms", error.reason, wait_s * 1000)
                level = logging.DEBUG
                if outside.sleep(wait_s):
                    raise
            pause_s *= 2


@plain(frozen=True)
class Refresh:
    """sasl.login.refresh.….

    Attributes:
        share, jitter: the part of a token's life after which there should be another: between the first, and
            the sum of both.
        least_ms: between two renewals.
        buffer_ms: before its end; this and `least_ms` count only for tokens that live longer than both.
    """

    share: float = 0.8
    jitter: float = 0.05
    least_ms: int = 60_000
    buffer_ms: int = 300_000

    def due_ms(self, now_ms: int, token: Token, chance: float) -> int:
        """When a token that has just come should be replaced; never after its end."""
        ends_ms = now_ms if token.ends_ms is None else token.ends_ms
        part = self.share + self.jitter * chance
        if now_ms + self.least_ms + self.buffer_ms > ends_ms:
            due = now_ms + int((ends_ms - now_ms) * part)
        else:
            starts_ms = now_ms if token.starts_ms is None else token.starts_ms
            due = starts_ms + int((ends_ms - starts_ms) * part)
            if due > ends_ms - self.buffer_ms:
                due = ends_ms - self.buffer_ms
            else:
                due = max(due, now_ms + self.least_ms)
        return max(now_ms, min(due, ends_ms))


def retry_of(setting: Setting, what: str) -> Retry:
    """By its settings.

    Raises:
        ConfigError: they do not do.
    """
    first = whole(setting, _RETRY_MS, 100, what)
    most = whole(setting, _RETRY_MOST_MS, 10_000, what)
    if first > most:
        raise ConfigError(f"{what}: {_RETRY_MOST_MS} ({most}) must not be less than {_RETRY_MS} ({first})")
    return Retry(first, most)


def refresh_of(setting: Setting, what: str) -> Refresh:
    """By its settings. Kafka's broker takes any numbers here: what is out of bounds counts as the bound.

    Raises:
        ConfigError: no numbers.
    """

    def number(name: str, default: float, most: float) -> float:
        text = setting(name)
        try:
            value = float(text) if text else default
        except ValueError:
            raise ConfigError(f"{what}: {name}: {text!r} is no number") from None
        return min(value, most) if value > 0 else 0.0

    return Refresh(
        number("sasl.login.refresh.window.factor", 0.8, 1.0),
        number("sasl.login.refresh.window.jitter", 0.05, 1.0),
        int(number("sasl.login.refresh.min.period.seconds", 60, 32_767) * 1000),
        int(number("sasl.login.refresh.buffer.seconds", 300, 32_767) * 1000),
    )


def whole(setting: Setting, name: str, default: int, what: str) -> int:
    """A setting that is a whole number, not negative.

    Raises:
        ConfigError: it is none.
    """
    text = setting(name)
    try:
        value = int(text) if text else default
    except ValueError:
        value = -1
    if value < 0:
        raise ConfigError(f"{what}: {name}: {text!r} is no whole number from 0 on")
    return value


class TokenKeeper:
    """Who logs in waits for a token only while there is none that holds.

    With `outside.later` a kept one is replaced in good time, in a thread of its own; without, by whoever asks
    for it then. May be asked by several threads.

    Args:
        fetch: one attempt to get another.
        retry: what comes of attempts that fail.
        refresh: asked anew for each token: these settings may change.
        outside: clocks, chance, threads.
    """

    def __init__(self, fetch: Fetch, retry: Retry, refresh: Callable[[], Refresh], outside: Outside) -> None:
        self._fetch, self._retry, self._refresh = fetch, retry, refresh
        self._outside = outside
        #: The kept one, and when it should be replaced. One value: threads set and read it.
        self._kept: tuple[Token, int] | None = None
        self._problem: tuple[str, float] | None = None
        #: Renewals that were planned before the last one do nothing.
        self._plans = count(1)
        self._plan = 0

    def token(self) -> str:
        """One that holds.

        Raises:
            LoginFailed: there is none.
        """
        outside, kept = self._outside, self._kept
        now_ms = outside.now_ms()
        if kept is None or kept[0].ends_ms is None or kept[0].ends_ms <= now_ms:
            return self._wait_for_one()
        token, due_ms = kept
        if outside.later is None and now_ms >= due_ms:
            try:
                token = self._keep(self._fetch(now_ms))
            except LoginFailed:
                # The old one is as good as long as it holds: the provider may be back by then.
                self._kept = token, now_ms + _AGAIN_MS
        return token.text

    def _wait_for_one(self) -> str:
        outside, problem = self._outside, self._problem
        if problem is not None and outside.clock_s() < problem[1]:
            raise LoginFailed(problem[0])
        try:
            return self._get().text
        except LoginFailed as error:
            self._problem = error.reason, outside.clock_s() + _SILENCE_S
            raise

    def _get(self) -> Token:
        return self._keep(self._retry.of(lambda: self._fetch(self._outside.now_ms()), self._outside))

    def _keep(self, token: Token) -> Token:
        outside = self._outside
        now_ms = outside.now_ms()
        if token.ends_ms is None or token.ends_ms <= now_ms:
            self._kept = None
            return token
        due_ms = self._refresh().due_ms(now_ms, token, outside.chance())
        self._kept = token, due_ms
        self._renew_in(due_ms - now_ms)
        return token

    def _renew_in(self, wait_ms: int) -> None:
        later = self._outside.later
        if later is not None:
            self._plan = plan = next(self._plans)
            later(max(wait_ms / 1000, _LEAST_S), lambda: self._renew(plan))

    def _renew(self, plan: int) -> None:
        if plan != self._plan:
            return
        try:
            self._get()
        except LoginFailed as error:
            _log.warning("no new token, trying again in %d s: %s", _AGAIN_MS // 1000, error.reason)
            self._renew_in(_AGAIN_MS)
